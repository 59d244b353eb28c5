import Type from 'typebox';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { randomToken, sha256Hex } from '../../../lib/encoding.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { CredentialStore } from '../../users/store/credentials.ts';
import { UserStore } from '../../users/store/users.ts';

export const createReadOnlySession = defineActivity({
  name: 'create_read_only_session',
  type: 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
  summary: 'Make a token that reads, and nothing else, as yourself for an hour.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  // The token outlives the key that asked for it and carries no profile.
  credentials: 'mints',
  lock: 'shared',
  findsSubOrganization: true,
  parameters: Type.Object({}),
  sentence: () => say`Open a session that can only read, for an hour.`,
  result: Type.Object({
    organizationId: Type.String(),
    organizationName: Type.String(),
    userId: Type.String(),
    username: Type.String(),
    session: Type.String(),
    sessionExpiry: Type.String(),
  }),
  secretResults: ['session'],
  ownAccount: 'any-credential',
  managesCredentialsOf: (_parameters, proposer) => proposer.userId,
  prepare: async ({ nowMs }) => ({ session: randomToken(), expiresAtMs: nowMs + LIMITS.readSessionSeconds * 1000 }),
  secretResult: ({ session, expiresAtMs }) => ({ values: { session }, expiresAtMs }),
  async execute({ store, actor, nowMs }, _parameters, { session, expiresAtMs }) {
    const { organization, organizationId, user, userId } = actor;
    await store(UserStore).lock(organizationId, userId, nowMs);
    await store(CredentialStore).insertReadSession(
      organizationId,
      { tokenHash: sha256Hex(session), userId, expiresAtMs },
      nowMs,
    );
    return {
      organizationId,
      organizationName: organization.name,
      userId,
      username: user.name,
      session,
      sessionExpiry: String(Math.floor(expiresAtMs / 1000)),
    };
  },
});
