import type { CreatedPrivateKey } from '@custos/keyring';
import type { NewId, UserId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { CredentialStore } from '../users/store/credentials.ts';
import { PrincipalReader } from '../users/store/principals.ts';
import { UserStore } from '../users/store/users.ts';
import type { SignUpProxyConfig } from './model.ts';
import { SignUpProxyStore } from './store.ts';

export type ProxyIdentity = NonNullable<SignUpProxyConfig['identity']>;

const USER_NAME = 'Sign-up proxy';

/** The user and key of the proxy, if both are still there: anybody who manages users may delete them. */
export async function usableIdentity(
  store: Stores,
  { organizationId, identity }: SignUpProxyConfig,
): Promise<ProxyIdentity | undefined> {
  if (identity === undefined) return undefined;
  const principal = await store(PrincipalReader).byApiKey(organizationId, identity.publicKey, '');
  return principal?.holder?.user.id === identity.userId ? identity : undefined;
}

/** Gives the proxy a user, its own if it still has one, with a key. The transaction holds the organization. */
export async function putIdentity(
  store: Stores,
  config: SignUpProxyConfig,
  { sealedKey, publicKey }: CreatedPrivateKey,
  newId: NewId,
  nowMs: number,
): Promise<ProxyIdentity> {
  const { organizationId } = config;
  const known = config.identity && (await store(UserStore).find(organizationId, config.identity.userId));
  const userId: UserId = known?.id ?? newId();
  if (known === undefined) {
    await store(UserStore).insert(
      organizationId,
      [{ id: userId, name: USER_NAME, email: undefined, phone: undefined }],
      nowMs,
    );
  }
  await store(CredentialStore).insertApiKeys(organizationId, [
    {
      id: newId(),
      userId,
      // Whoever looks after the user may have given it a key with a plain name.
      name: `${USER_NAME} ${publicKey.slice(-8)}`,
      type: 'CREDENTIAL_TYPE_API_KEY_P256',
      publicKey,
      sessionProfileId: undefined,
      expirationSeconds: undefined,
      expiresAtMs: undefined,
      firstUsedAtMs: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    },
  ]);
  if (known !== undefined) await store(UserStore).touch(organizationId, [userId], nowMs);
  const identity: ProxyIdentity = { userId, publicKey, sealedKey };
  await store(SignUpProxyStore).update({ ...config, identity, updatedAtMs: nowMs });
  return identity;
}
