import Type from 'typebox';
import { notServed } from '../../lib/errors.ts';
import { treeRoot } from '../../lib/model.ts';
import { defineActivity } from '../define.ts';
import { IdShape, textShape } from '../shapes/basic.ts';
import { EmailOrEmptyShape } from '../shapes/users.ts';
import { changeEmail } from './changes.ts';
import { normalizeEmail } from './new-users.ts';

export const updateUserEmail = defineActivity({
  name: 'update_user_email',
  type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
  summary: 'Change the email of a user; the empty string removes it.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  parameters: Type.Object({
    userId: IdShape,
    userEmail: EmailOrEmptyShape,
    verificationToken: Type.Optional(textShape(16_384)),
  }),
  secrets: ['verificationToken'],
  result: Type.Object({ userId: Type.String() }),
  check({ verificationToken }) {
    if (verificationToken !== undefined) throw notServed('verificationToken');
  },
  async execute({ store, actor, nowMs }, { userId, userEmail }) {
    const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
    await changeEmail(store, place, userId, normalizeEmail(userEmail), nowMs);
    return { userId };
  },
});
