import Type from 'typebox';
import { removedBy } from '../../../core/actor.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { nameOf, namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape, IdShape } from '../../../lib/shapes.ts';
import { CredentialStore } from '../store/credentials.ts';
import { UserStore } from '../store/users.ts';

export const deleteAuthenticators = defineActivity({
  name: 'delete_authenticators',
  type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
  summary: 'Delete passkeys of a user, all or nothing.',
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'DELETE' },
  credentials: 'removes',
  parameters: Type.Object({ userId: IdShape, authenticatorIds: IdListShape }),
  sentence: ({ userId, authenticatorIds }, { names }) =>
    lookClosely(
      say`Take passkey ${namesOf(names, 'authenticator', authenticatorIds)} away from ${nameOf(names, 'user', userId)}.`,
      'takes a credential away',
      'What this user can still log in with is enough, or should end. I want that.',
    ),
  result: Type.Object({ authenticatorIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  async execute({ store, actor, nowMs }, { userId, authenticatorIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(authenticatorIds)];
    await store(UserStore).lock(organizationId, userId, nowMs);
    const owned = new Set<string>(
      (await store(CredentialStore).authenticatorsOfUser(organizationId, userId)).map((item) => item.id),
    );
    if (ids.some((id) => !owned.has(id)))
      throw new ApiError('RESOURCE_NOT_FOUND', 'authenticator not found on this user');
    await store(CredentialStore).deleteCredentials('authenticator', organizationId, userId, ids, removedBy(actor));
    await store(TreeStore).remove(organizationId, ids);
    return { authenticatorIds: ids };
  },
});
