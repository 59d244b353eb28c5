import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { renderPolicy } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { PolicyShape } from '../shapes/access.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';

export const listPolicies = defineQuery({
  name: 'list_policies',
  summary: 'Policies of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ policies: Type.Array(PolicyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read.policies.page(actor.organizationId, request);
    return { policies: items.map(renderPolicy), pageInfo };
  },
});
