import Type from 'typebox';
import { notServed } from '../../lib/errors.ts';
import { treeRoot } from '../../lib/model.ts';
import { defineActivity } from '../define.ts';
import { IdShape, textShape } from '../shapes/basic.ts';
import { PhoneOrEmptyShape } from '../shapes/users.ts';
import { changePhone } from './changes.ts';
import { normalizePhone } from './new-users.ts';

export const updateUserPhoneNumber = defineActivity({
  name: 'update_user_phone_number',
  type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
  summary: 'Change the phone number of a user; the empty string removes it.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  parameters: Type.Object({
    userId: IdShape,
    userPhoneNumber: PhoneOrEmptyShape,
    verificationToken: Type.Optional(textShape(16_384)),
  }),
  secrets: ['verificationToken'],
  result: Type.Object({ userId: Type.String() }),
  check({ verificationToken }) {
    if (verificationToken !== undefined) throw notServed('verificationToken');
  },
  async execute({ store, actor, nowMs }, { userId, userPhoneNumber }) {
    const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
    await changePhone(store, place, userId, normalizePhone(userPhoneNumber), nowMs);
    return { userId };
  },
});
