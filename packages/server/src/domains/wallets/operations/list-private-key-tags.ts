import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderTag } from '../../users/render/user.ts';
import { TagShape } from '../../users/shapes/users.ts';
import { TagReader } from '../../users/store/tags.ts';

export const listPrivateKeyTags = defineQuery({
  name: 'list_private_key_tags',
  summary: 'Private key tags of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ privateKeyTags: Type.Array(TagShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(TagReader).page(actor.organizationId, 'TAG_TYPE_PRIVATE_KEY', request);
    return { privateKeyTags: items.map(renderTag), pageInfo };
  },
});
