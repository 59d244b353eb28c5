import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderMfaPolicy } from '../render/mfa.ts';
import { MfaPolicyShape } from '../shapes/mfa.ts';
import { MfaReader } from '../store/mfa.ts';
import { UserReader } from '../store/users.ts';

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
    await read(UserReader).get(actor.organizationId, userId);
    const policies = await read(MfaReader).ofUser(actor.organizationId, userId);
    const { items, pageInfo } = pageOfList(policies, paginationOptions, config.listMax, ({ id }) => id);
    return { mfaPolicies: items.map(renderMfaPolicy), pageInfo };
  },
});
