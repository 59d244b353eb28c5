import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderPolicy } from '../render.ts';
import { PolicyShape } from '../shapes.ts';
import { PolicyReader } from '../store/policies.ts';

export const listPolicies = defineQuery({
  name: 'list_policies',
  summary: 'Policies of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ policies: Type.Array(PolicyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(PolicyReader).page(actor.organizationId, request);
    return { policies: items.map(renderPolicy), pageInfo };
  },
});
