import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderTag } from '../render/user.ts';
import { TagShape } from '../shapes/users.ts';
import { TagReader } from '../store/tags.ts';

export const listUserTags = defineQuery({
  name: 'list_user_tags',
  summary: 'User tags of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ userTags: Type.Array(TagShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(TagReader).page(actor.organizationId, 'TAG_TYPE_USER', request);
    return { userTags: items.map(renderTag), pageInfo };
  },
});
