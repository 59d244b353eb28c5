import { AcceptedBundleStore } from '../../core/store/accepted-bundles.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { holderOf } from '../../engine/holder.ts';
import type { FiatOnRampCredentialId } from '../../lib/ids.ts';
import { checkKey } from './coinbase.ts';
import type { OnRampCredential, OnRampProvider } from './model.ts';

interface CredentialParameters {
  readonly onrampProvider: OnRampProvider;
  readonly projectId?: string | undefined;
  readonly publishableApiKey: string;
  readonly encryptedSecretApiKey: string;
  readonly encryptedPrivateApiKey?: string | undefined;
}

/** What a request replaces of a credential. */
type CredentialContent = Omit<OnRampCredential, 'id' | 'isSandbox' | 'createdAtMs' | 'updatedAtMs'>;

/** In the transaction: nothing that another organization has sent may be used by this one. */
export async function keepBundles(
  { store, actor, nowMs }: ExecuteContext,
  { encryptedSecretApiKey, encryptedPrivateApiKey }: CredentialContent,
): Promise<void> {
  const bundles = [encryptedSecretApiKey, ...(encryptedPrivateApiKey === undefined ? [] : [encryptedPrivateApiKey])];
  await store(AcceptedBundleStore).keep(actor.organizationId, bundles, nowMs);
}

/** Opens what came encrypted and seals it for the credential; what does not open, or is no key, is refused here. */
export async function sealSecrets(
  context: PrepareContext,
  id: FiatOnRampCredentialId,
  { onrampProvider, projectId, encryptedPrivateApiKey, ...rest }: CredentialParameters,
): Promise<CredentialContent> {
  const { keyring, config, nowMs } = context;
  const holder = holderOf(context, id);
  const sealedSecretKey = await keyring.importOnRampSecret(holder, rest.encryptedSecretApiKey);
  const sealedPrivateKey = encryptedPrivateApiKey
    ? await keyring.importOnRampSecret(holder, encryptedPrivateApiKey)
    : undefined;
  const content: CredentialContent = {
    provider: onrampProvider,
    projectId: projectId || undefined,
    encryptedPrivateApiKey: encryptedPrivateApiKey || undefined,
    ...rest,
    sealedSecretKey,
    sealedPrivateKey,
  };
  // A key that cannot sign would otherwise be noticed by the first buyer.
  if (onrampProvider === 'FIAT_ON_RAMP_PROVIDER_COINBASE') {
    await checkKey({ config, keyring, credential: content, holder, nowMs });
  }
  return content;
}
