import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { renderUser } from '../../wire/user.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { UserShape } from '../shapes/users.ts';

export const listUsers = defineQuery({
  name: 'list_users',
  summary: 'Users of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ users: Type.Array(UserShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { items, pageInfo } = await read.users.page(
      actor.organizationId,
      toPageRequest(paginationOptions, config.listMax),
    );
    return { users: items.map(renderUser), pageInfo };
  },
});
