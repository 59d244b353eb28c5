import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderPrivateKey } from '../render.ts';
import { PrivateKeyShape } from '../shapes.ts';
import { PrivateKeyReader } from '../store/private-keys.ts';

export const listPrivateKeys = defineQuery({
  name: 'list_private_keys',
  summary: 'The public sides of the private keys of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ privateKeys: Type.Array(PrivateKeyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(PrivateKeyReader).page(actor.organizationId, request);
    return { privateKeys: items.map(renderPrivateKey), pageInfo };
  },
});
