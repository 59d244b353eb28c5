import Type from 'typebox';
import { removedBy } from '../../../core/actor.ts';
import { treeRoot } from '../../../core/model.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { addAuthenticators, verifyAuthenticators } from '../../users/new-credentials.ts';
import { AuthenticatorParamsShape } from '../../users/shapes/credentials.ts';
import { CredentialStore } from '../../users/store/credentials.ts';
import { UserReader, UserStore } from '../../users/store/users.ts';

const RECOVERY_KEY = 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';

/** protocol/login 6.3. */
export const recoverUser = defineActivity({
  name: 'recover_user',
  type: 'ACTIVITY_TYPE_RECOVER_USER',
  summary: 'Complete the recovery of a user: adds a passkey and ends the recovery.',
  policy: { governedBy: 'policy', resource: 'RECOVERY', action: 'UPDATE' },
  credentials: 'mints',
  // The user's row is held; a new passkey changes no decision that is being taken.
  lock: 'shared',
  accepts: { recovery: true },
  parameters: Type.Object({ authenticator: AuthenticatorParamsShape, userId: IdShape }),
  sentence: ({ userId, authenticator }, { names }) =>
    lookClosely(
      say`Recover ${nameOf(names, 'user', userId)} with the new passkey ${named(authenticator.authenticatorName)}.`,
      'a new way in',
      'Whoever has this passkey can then act as this user. I want that.',
    ),
  result: Type.Object({ authenticatorId: Type.Array(Type.String()) }),
  // Without a policy only with a recovery key of this user, which the decision itself looks for (protocol/policies 8.3,
  // step 7).
  ownAccount: 'recovery-key',
  managesCredentialsOf: ({ userId }) => userId,
  async describe({ read, actor: { credential, organizationId } }, { userId }) {
    const isRecovery = credential.kind === 'api-key' && credential.apiKey.type === RECOVERY_KEY;
    if (isRecovery && credential.apiKey.userId !== userId) {
      throw new ApiError('REQUEST_NOT_AUTHORIZED', 'the key of a recovery recovers its own user');
    }
    await read(UserReader).get(organizationId, userId);
  },
  prepare: (context, { authenticator }) => verifyAuthenticators(context, [authenticator]),
  async execute(context, { authenticator, userId }, verified) {
    const { store, actor, nowMs } = context;
    const { organizationId, credential } = actor;
    await store(UserStore).lock(organizationId, userId, nowMs);
    const keys = await store(CredentialStore).apiKeysOfUser(organizationId, userId as UserId);
    const recoveryIds = keys.filter(({ type }) => type === RECOVERY_KEY).map(({ id }) => id);
    // Looked for with the user held: a key that is used twice at the same time recovers once.
    if (
      credential.kind === 'api-key' &&
      credential.apiKey.type === RECOVERY_KEY &&
      !recoveryIds.includes(credential.apiKey.id)
    ) {
      throw new ApiError('REQUEST_NOT_AUTHORIZED', 'this recovery is over, or it is the recovery of another user');
    }
    const place = { organizationId, rootId: treeRoot(actor.organization) };
    // The name may be that of the lost passkey, which may still be found and stays.
    const added = await addAuthenticators(context, place, userId as UserId, [authenticator], verified, 'number-taken');
    await store(CredentialStore).deleteReplacedKeys(organizationId, userId, recoveryIds, removedBy(actor));
    await store(TreeStore).remove(organizationId, recoveryIds);
    return { authenticatorId: added.map(({ id }) => id) };
  },
});
