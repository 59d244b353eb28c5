import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { pageOfList, toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { DescribedPolicyShape } from '../shapes.ts';
import { PolicyReader } from '../store/policies.ts';
import { describeStored, namesOfPolicies } from '../words/described.ts';

export const describePolicies = defineQuery({
  name: 'describe_policies',
  ours: true,
  summary:
    'The policies of the organization as sentences, oldest first, or those of the given ids; unknown ids are left out.',
  parameters: Type.Object({
    organizationId: IdShape,
    policyIds: Type.Optional(Type.Array(IdShape, { minItems: 1, maxItems: 100 })),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ descriptions: Type.Array(DescribedPolicyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config, expressions, nowMs }, { policyIds, paginationOptions }) {
    const { organizationId } = actor;
    const input = { read, organizationId, chains: config.chains, expressions, nowMs };
    const { items, pageInfo } =
      policyIds === undefined
        ? await read(PolicyReader).page(organizationId, toPageRequest(paginationOptions, config.listMax))
        : pageOfList(
            await read(PolicyReader).many(organizationId, policyIds),
            paginationOptions,
            config.listMax,
            ({ id }) => id,
          );
    const names = await namesOfPolicies(input, items);
    return {
      descriptions: items.map((policy) => ({ policyId: policy.id, ...describeStored(input, policy, names) })),
      pageInfo,
    };
  },
});
