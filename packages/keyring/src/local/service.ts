import { setImmediate } from 'node:timers/promises';
import { type AppProof, signAppProof as signProof } from '../bundle/app-proof.ts';
import { hexOf } from '../bundle/encoding.ts';
import { signWebhook } from '../bundle/webhook-signature.ts';
import { copyOf } from '../check/shape.ts';
import { generatePrivateKeyOf, publicKeyOf } from '../derive/public-key.ts';
import { KeyringError } from '../errors.ts';
import type { CreatedServiceKey, SealedServiceKey, ServiceRole, WebhookToSign } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import * as layout from '../seal/layout.ts';
import { Secret } from '../secret.ts';
import { curveOfRole, type OpenedServiceKey } from '../service-keys.ts';
import { installationHolder } from './installation-holder.ts';
import type { Keys } from './keys.ts';
import { TURN } from './turn.ts';

/** Others get their turn after so many characters of webhooks, too. */
const TURN_LENGTH = 256 * 1024;

export async function createServiceKey(
  keys: Keys,
  organizationKey: Uint8Array,
  role: ServiceRole,
): Promise<CreatedServiceKey> {
  const keyId = layout.keyIdText(keys.random(layout.KEY_ID_BYTES));
  const curve = curveOfRole(role);
  const encoding = encodingOf(role);
  return new Secret(generatePrivateKeyOf(curve, keys.random)).use(async (key) => {
    const publicKey = hexOf(publicKeyOf(curve, key, encoding === 'raw' ? undefined : encoding));
    const plaintext = material.encodeServiceKey(role, key);
    const sealed = await keys.seal(installationHolder(organizationKey, keyId), KIND.serviceKey, plaintext);
    return { keyId, sealed, publicKey, encoding };
  });
}

export async function loadServiceKeys(
  keys: Keys,
  organizationKey: Uint8Array,
  serviceKeys: readonly SealedServiceKey[],
): Promise<void> {
  const opened: OpenedServiceKey[] = [];
  try {
    for (const { role, keyId, sealed } of serviceKeys) {
      await keys.unseal(installationHolder(organizationKey, keyId), KIND.serviceKey, sealed, (bytes) => {
        const found = material.decodeServiceKey(bytes);
        if (found.role !== role) throw new KeyringError('INVALID_KEY', 'a service key has another role');
        opened.push({ role, keyId, key: copyOf(found.key) });
      });
    }
    keys.checkOpen();
    keys.service.load(opened);
  } finally {
    for (const { key } of opened) key.fill(0);
  }
}

export async function signWebhooks(keys: Keys, keyId: string, webhooks: readonly WebhookToSign[]): Promise<string[]> {
  const signatures: string[] = [];
  let length = 0;
  for (const [index, webhook] of webhooks.entries()) {
    if (index > 0 && (index % TURN === 0 || length > TURN_LENGTH)) {
      await setImmediate();
      keys.checkOpen();
      length = 0;
    }
    length += webhook.body.length;
    // Asked for each time, since it may have been taken away between two turns.
    signatures.push(signWebhook(keys.service.webhookSigner(keyId), keyId, webhook));
  }
  return signatures;
}

export async function signAppProof({ proof }: Keys, payload: string): Promise<AppProof> {
  const { signer, encryptionPublicKey } = proof.pair;
  return signProof(signer, encryptionPublicKey, payload);
}

function encodingOf(role: ServiceRole): CreatedServiceKey['encoding'] {
  if (curveOfRole(role) === 'CURVE_ED25519') return 'raw';
  return role === 'on-ramp-secret' ? 'compressed' : 'uncompressed';
}
