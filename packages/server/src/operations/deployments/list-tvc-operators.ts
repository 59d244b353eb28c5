import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { renderOperator } from '../../wire/deployments.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { TvcOperatorShape } from '../shapes/deployments.ts';

export const listTvcOperators = defineQuery({
  name: 'list_tvc_operators',
  summary: 'Operators of the organization with their public keys, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ tvcOperators: Type.Array(TvcOperatorShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read.tvc.operators(organizationId, request);
    return { tvcOperators: items.map(renderOperator), pageInfo };
  },
});
