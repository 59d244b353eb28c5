import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderUser } from '../render/user.ts';
import { UserShape } from '../shapes/users.ts';
import { UserReader } from '../store/users.ts';

export const getUser = defineQuery({
  name: 'get_user',
  summary: 'One user with its credentials and tags.',
  parameters: Type.Object({ organizationId: IdShape, userId: IdShape }),
  response: Type.Object({ user: UserShape }),
  async run({ read, actor }, { userId }) {
    return { user: renderUser(await read(UserReader).record(actor.organizationId, userId)) };
  },
});
