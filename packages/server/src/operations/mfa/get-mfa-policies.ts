import Type from 'typebox';
import { renderMfaPolicy } from '../../domains/users/render/mfa.ts';
import { MfaPolicyShape } from '../../domains/users/shapes/mfa.ts';
import { pageOfList } from '../../lib/pagination.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';

export const getMfaPolicies = defineQuery({
  name: 'get_mfa_policies',
  summary: 'The MFA policies of a user, in the order in which they are asked.',
  parameters: Type.Object({
    organizationId: IdShape,
    userId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ mfaPolicies: Type.Array(MfaPolicyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { userId, paginationOptions }) {
    await read.users.get(actor.organizationId, userId);
    const policies = await read.mfa.ofUser(actor.organizationId, userId);
    const { items, pageInfo } = pageOfList(policies, paginationOptions, config.listMax, ({ id }) => id);
    return { mfaPolicies: items.map(renderMfaPolicy), pageInfo };
  },
});
