import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderOperator } from '../render.ts';
import { TvcOperatorShape } from '../shapes.ts';
import { TvcReader } from '../store.ts';

export const listTvcOperators = defineQuery({
  name: 'list_tvc_operators',
  summary: 'Operators of the organization with their public keys, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ tvcOperators: Type.Array(TvcOperatorShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(TvcReader).operators(organizationId, request);
    return { tvcOperators: items.map(renderOperator), pageInfo };
  },
});
