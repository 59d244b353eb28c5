import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderUser } from '../render/user.ts';
import { UserShape } from '../shapes/users.ts';
import { UserReader } from '../store/users.ts';

export const listUsers = defineQuery({
  name: 'list_users',
  summary: 'Users of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  madeOf: ['users'],
  response: Type.Object({ users: Type.Array(UserShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { items, pageInfo } = await read(UserReader).page(
      actor.organizationId,
      toPageRequest(paginationOptions, config.listMax),
    );
    return { users: items.map(renderUser), pageInfo };
  },
});
