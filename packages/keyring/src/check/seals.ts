import { invalid } from '../derive/check.ts';
import { SERVICE_ROLES, type SealedServiceKey, type ServiceRole, type StoredSecret } from '../keyring.ts';
import { CALLER_KINDS } from '../kinds.ts';
import { type Binding, checkBinding, checkBytes, PLAINTEXT_BYTES_MAX } from '../seal/layout.ts';
import { checkSealed } from './keys.ts';
import { bytesOf, listOf, membersOf, nameOf } from './shape.ts';

// What is sealed for callers, and the service's own keys.

/** A role may have many: what deliveries are signed with is replaced from time to time. */
const SERVICE_KEYS_MAX = 256;
const STORED_SECRETS_MAX = 1000;
const ROOT_KEYS_MAX = 256;

/** Callers seal and open their own kinds: nobody gets key material by naming its kind, nor puts some in its place. */
export function checkCallerBinding(binding: unknown): Binding {
  const bound = checkBinding(binding);
  if (!CALLER_KINDS.has(bound.kind)) throw invalid('this kind is not one that callers seal and open');
  return bound;
}

/** Not a copy, since it may have megabytes. */
export function checkPlaintext(plaintext: unknown): Uint8Array {
  checkBytes(plaintext, 'plaintext');
  if (plaintext.length > PLAINTEXT_BYTES_MAX) throw invalid(`plaintext is longer than ${PLAINTEXT_BYTES_MAX} bytes`);
  return plaintext;
}

/** The bytes may be of any length: what is too long does not open. */
export function checkStoredSecrets(secrets: unknown): StoredSecret[] {
  return listOf(secrets, 'secrets', 0, STORED_SECRETS_MAX).map((secret) => {
    const { ownerId, kind, sealed } = membersOf<StoredSecret>(secret, 'a secret');
    return { ownerId: nameOf(ownerId, 'ownerId'), kind: nameOf(kind, 'kind'), sealed: bytesOf(sealed, 'sealed') };
  });
}

export function checkRole(role: unknown): ServiceRole {
  const known = SERVICE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw invalid('unknown role of a service key');
  return known;
}

export function checkServiceKeys(keys: unknown): SealedServiceKey[] {
  return listOf(keys, 'keys', 0, SERVICE_KEYS_MAX).map((key) => {
    const { role, keyId, sealed } = membersOf<SealedServiceKey>(key, 'a service key');
    const id = nameOf(keyId, 'keyId');
    return { role: checkRole(role), keyId: id, sealed: checkSealed(sealed, 'a sealed service key') };
  });
}

const KEY_ID = /^[0-9a-f]{32}$/;

/** An id in its one spelling, so that its bytes are its name. */
export function checkKeyId(id: unknown): string {
  if (typeof id !== 'string' || !KEY_ID.test(id)) throw invalid('keyId must be 32 lower-case hexadecimal digits');
  return id;
}

/** Generations of the integrity key count from 1; a database holds them in four bytes. */
const GENERATION_MAX = 2 ** 31 - 1;

export function checkGeneration(generation: unknown): number {
  if (!Number.isInteger(generation) || (generation as number) < 1 || (generation as number) > GENERATION_MAX)
    throw invalid(`generation must be an integer from 1 to ${GENERATION_MAX}`);
  return generation as number;
}

export const checkKeyIds = (ids: unknown): string[] =>
  listOf(ids, 'ids', 0, ROOT_KEYS_MAX).map((id) => nameOf(id, 'id'));

/** Until then and 30 days more there are dates that can be shown. */
const RETIREMENT_MS_MAX = Date.UTC(9999, 0, 1);

export function checkRetirementTime(timeMs: unknown): number {
  if (!Number.isSafeInteger(timeMs) || (timeMs as number) < 0 || (timeMs as number) > RETIREMENT_MS_MAX)
    throw invalid('the time of a retirement must be in milliseconds, before the year 9999');
  return timeMs as number;
}
