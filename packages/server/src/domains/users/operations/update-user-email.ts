import Type from 'typebox';
import { VerificationTokenShape } from '../../../authn/shapes.ts';
import { treeRoot } from '../../../core/model.ts';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { changeEmail, readProofOf } from '../changes.ts';
import { normalizeEmail } from '../new-users.ts';
import { claimContact } from '../proven-contact.ts';
import { EmailOrEmptyShape } from '../shapes/users.ts';
import { UserReader } from '../store/users.ts';

export const updateUserEmail = defineActivity({
  name: 'update_user_email',
  type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
  summary: 'Change the email of a user; the empty string removes it. A verificationToken for it marks it as verified.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  credentials: 'redirects',
  parameters: Type.Object({
    userId: IdShape,
    userEmail: EmailOrEmptyShape,
    verificationToken: Type.Optional(VerificationTokenShape),
  }),
  secrets: ['verificationToken'],
  sentence: ({ userId, userEmail }, { names }) => {
    const user = nameOf(names, 'user', userId);
    return userEmail === ''
      ? lookClosely(
          say`Remove the email of ${user}.`,
          'changes how somebody logs in',
          'This user can then not log in by email. I want that.',
        )
      : lookClosely(
          say`Set the email of ${user} to ${named(userEmail)}: codes that log ${user} in go there.`,
          'changes how somebody logs in',
          'Whoever reads this mailbox may log in as this user. I know that it is theirs.',
        );
  },
  result: Type.Object({ userId: Type.String() }),
  async describe(context, { userId, userEmail, verificationToken }) {
    await context.read(UserReader).get(context.actor.organizationId, userId);
    return await readProofOf(context, verificationToken, { email: normalizeEmail(userEmail) });
  },
  prepare: async (_context, _parameters, proven) => proven,
  async execute(context, { userId, userEmail }, proven) {
    const { store, actor, nowMs } = context;
    const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
    await changeEmail(store, place, userId, normalizeEmail(userEmail), nowMs);
    if (proven !== undefined) await claimContact(context, place, userId, proven, 'contact');
    return { userId };
  },
});
