import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdShape, listShape } from '../../../lib/shapes.ts';
import { addAuthenticators, checkAuthenticators, verifyAuthenticators } from '../new-credentials.ts';
import { newCredentialSentence } from '../sentences.ts';
import { AuthenticatorParamsShape, AuthenticatorParamsV1Shape, fromBrowserStyle } from '../shapes/credentials.ts';
import { UserReader, UserStore } from '../store/users.ts';

export const createAuthenticators = defineActivity({
  name: 'create_authenticators',
  type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
  summary: 'Add passkeys to a user; each registration is verified.',
  bodyLimit: 512 * 1024,
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'CREATE' },
  credentials: 'mints',
  // The user's row is held; a new passkey changes no decision that is being taken.
  lock: 'shared',
  parameters: Type.Object({ userId: IdShape, authenticators: listShape(AuthenticatorParamsShape, 1) }),
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_AUTHENTICATORS',
      Type.Object({ userId: IdShape, authenticators: listShape(AuthenticatorParamsV1Shape, 1) }),
      ({ userId, authenticators }) => {
        if (authenticators.some((item) => item.userId && item.userId.toLowerCase() !== userId)) {
          throw invalidField('parameters.authenticators', 'names another user than userId does');
        }
        return { userId, authenticators: fromBrowserStyle(authenticators) };
      },
    ),
  ],
  sentence: ({ userId, authenticators }, context) =>
    newCredentialSentence(
      context,
      userId,
      authenticators.map(({ authenticatorName }) => authenticatorName),
      'passkey',
    ),
  result: Type.Object({ authenticatorIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  check: ({ authenticators }) => checkAuthenticators(authenticators, 'parameters.authenticators'),
  describe: ({ read, actor }, { userId }) => read(UserReader).get(actor.organizationId, userId),
  prepare: (context, { authenticators }) => verifyAuthenticators(context, authenticators),
  async execute(context, { userId, authenticators }, verified) {
    const { store, actor, nowMs } = context;
    const { organizationId } = actor;
    await store(UserStore).lock(organizationId, userId, nowMs);
    const place = { organizationId, rootId: treeRoot(actor.organization) };
    const added = await addAuthenticators(context, place, userId as UserId, authenticators, verified);
    return { authenticatorIds: added.map((authenticator) => authenticator.id) };
  },
});
