import { setImmediate } from 'node:timers/promises';
import type { StoredSecret } from '../keyring.ts';
import { checkLayout } from '../material.ts';
import * as envelope from '../seal/envelope.ts';
import { type Binding, decodeSealedSecret, type SealedSecret } from '../seal/layout.ts';
import { Secret } from '../secret.ts';
import type { Keys } from './keys.ts';
import { tryOpen } from './try-open.ts';
import { TURN } from './turn.ts';

export async function seal(
  keys: Keys,
  organizationKey: Uint8Array,
  binding: Binding,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  return keys.withOrganizationKey(organizationKey, binding.organizationId, (key) =>
    envelope.sealSecret(key, binding, plaintext, keys.random),
  );
}

export async function open(
  keys: Keys,
  organizationKey: Uint8Array,
  binding: Binding,
  sealed: SealedSecret,
): Promise<Uint8Array> {
  return keys.withOrganizationKey(organizationKey, binding.organizationId, (key) =>
    envelope.openSecret(key, binding, sealed),
  );
}

export async function canOpen(
  keys: Keys,
  organizationKey: Uint8Array,
  organizationId: string,
  secrets: readonly StoredSecret[],
): Promise<boolean[]> {
  await keys.withOrganizationKey(organizationKey, organizationId, () => {});
  const answers: boolean[] = [];
  for (const { ownerId, kind, sealed } of secrets) {
    if (answers.length % TURN === TURN - 1) await setImmediate();
    const opened = await keys.withOrganizationKey(organizationKey, organizationId, (key) =>
      tryOpen(() => {
        const parsed = decodeSealedSecret(sealed);
        const plaintext = envelope.openSecret(key, { organizationId, ownerId, kind }, parsed);
        new Secret(plaintext).use((bytes) => checkLayout(kind, bytes));
        return true;
      }),
    );
    answers.push(opened === true);
  }
  return answers;
}
