import Type from 'typebox';
import { VerificationTokenShape } from '../../../authn/shapes.ts';
import { treeRoot } from '../../../core/model.ts';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { changePhone, readProofOf } from '../changes.ts';
import { normalizePhone } from '../new-users.ts';
import { claimContact } from '../proven-contact.ts';
import { PhoneOrEmptyShape } from '../shapes/users.ts';
import { UserReader } from '../store/users.ts';

export const updateUserPhoneNumber = defineActivity({
  name: 'update_user_phone_number',
  type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
  summary:
    'Change the phone number of a user; the empty string removes it. A verificationToken for it marks it as verified.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  credentials: 'redirects',
  parameters: Type.Object({
    userId: IdShape,
    userPhoneNumber: PhoneOrEmptyShape,
    verificationToken: Type.Optional(VerificationTokenShape),
  }),
  secrets: ['verificationToken'],
  sentence: ({ userId, userPhoneNumber }, { names }) => {
    const user = nameOf(names, 'user', userId);
    return userPhoneNumber === ''
      ? lookClosely(
          say`Remove the phone number of ${user}.`,
          'changes how somebody logs in',
          'This user can then not log in by text message. I want that.',
        )
      : lookClosely(
          say`Set the phone number of ${user} to ${named(userPhoneNumber)}: codes that log ${user} in go there.`,
          'changes how somebody logs in',
          'Whoever reads messages to this number may log in as this user. I know that it is theirs.',
        );
  },
  result: Type.Object({ userId: Type.String() }),
  async describe(context, { userId, userPhoneNumber, verificationToken }) {
    await context.read(UserReader).get(context.actor.organizationId, userId);
    return await readProofOf(context, verificationToken, { phone: normalizePhone(userPhoneNumber) });
  },
  prepare: async (_context, _parameters, proven) => proven,
  async execute(context, { userId, userPhoneNumber }, proven) {
    const { store, actor, nowMs } = context;
    const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
    await changePhone(store, place, userId, normalizePhone(userPhoneNumber), nowMs);
    if (proven !== undefined) await claimContact(context, place, userId, proven, 'contact');
    return { userId };
  },
});
