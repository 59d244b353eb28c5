import { Buffer } from 'node:buffer';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import { encodeFields, KEY_BYTES, KEY_ID_BYTES, keyIdText, NONCE_BYTES, TAG_BYTES } from './layout.ts';

// The ring file of SPEC.md, section 2. It is binary, because keys read as text become strings, which cannot be wiped.

const MAGIC = 'CUSTOSKR';
/**
 * The first version has no retired keys and no wrapped ones. It is written for one key alone: programs that know no other
 * version destroy the earlier keys of a ring.
 */
const FIRST_VERSION = 1;
const SECOND_VERSION = 2;
/** Has the ids of integrity keys. Programs that know no such section would drop it, so they must not know its version. */
const THIRD_VERSION = 3;
export const KEYS_MAX = 16;
export const INTEGRITY_IDS_MAX = 16;
export const SALT_BYTES = 32;
const CHECK_BYTES = 32;
const TIME_BYTES = 8;
/** At the end of a later version than the first: nothing else would notice a time, or a retired key, that is damaged. */
const DIGEST_BYTES = 32;
const HEADER_BYTES = MAGIC.length + 3 + KEY_ID_BYTES;

/**
 * How the key of an entry comes from its material: it is the material, or scrypt of a passphrase with it as salt, or it
 * is encrypted in it under scrypt of a passphrase with the salt of the ring.
 */
export const RING_PROVIDERS = { file: 1, passphrase: 2, wrapped: 3 } as const;
export type RingProvider = keyof typeof RING_PROVIDERS;

const MATERIAL_BYTES = {
  file: KEY_BYTES,
  passphrase: KEY_BYTES,
  wrapped: NONCE_BYTES + KEY_BYTES + TAG_BYTES,
} as const satisfies Record<RingProvider, number>;

export const RING_BYTES_MAX =
  HEADER_BYTES +
  SALT_BYTES +
  KEYS_MAX * (KEY_ID_BYTES + TIME_BYTES + MATERIAL_BYTES.wrapped + CHECK_BYTES) +
  integrityBytesOf(INTEGRITY_IDS_MAX) +
  DIGEST_BYTES;

export interface RingEntry {
  readonly id: Uint8Array;
  readonly material: Uint8Array;
  readonly check: Uint8Array;
  /** When the key was retired: it opens nothing since then. Absent for keys in use. */
  readonly retiredAtMs?: number;
}

export interface Ring {
  readonly provider: RingProvider;
  readonly activeId: Uint8Array;
  readonly entries: readonly RingEntry[];
  /** Of a ring of wrapped keys. */
  readonly salt?: Uint8Array;
  /** The integrity keys whose rows must be authenticated. */
  readonly requiresIntegrity?: readonly Uint8Array[];
}

interface Layout {
  readonly keysOffset: number;
  readonly timeBytes: number;
  readonly materialBytes: number;
  readonly entryBytes: number;
  readonly digestBytes: number;
}

function layoutOf(version: number, provider: RingProvider): Layout {
  const keysOffset = HEADER_BYTES + (provider === 'wrapped' ? SALT_BYTES : 0);
  const timeBytes = version === FIRST_VERSION ? 0 : TIME_BYTES;
  const materialBytes = MATERIAL_BYTES[provider];
  return {
    keysOffset,
    timeBytes,
    materialBytes,
    entryBytes: KEY_ID_BYTES + timeBytes + materialBytes + CHECK_BYTES,
    digestBytes: version === FIRST_VERSION ? 0 : DIGEST_BYTES,
  };
}

/** The section is there only where there is an id. */
function integrityBytesOf(count: number): number {
  return count === 0 ? 0 : 1 + count * KEY_ID_BYTES;
}

/** The lowest that can hold the ring, so that older programs go on reading what they know. */
function versionOf({ provider, entries, requiresIntegrity = [] }: Ring): number {
  if (requiresIntegrity.length > 0) return THIRD_VERSION;
  return provider !== 'wrapped' && entries.length <= 1 ? FIRST_VERSION : SECOND_VERSION;
}

export function encodeRing(ring: Ring): Uint8Array {
  const { provider, activeId, entries, salt, requiresIntegrity = [] } = ring;
  const version = versionOf(ring);
  const { keysOffset, timeBytes, materialBytes, entryBytes, digestBytes } = layoutOf(version, provider);
  const keysEnd = keysOffset + entries.length * entryBytes;
  const contentEnd = keysEnd + integrityBytesOf(requiresIntegrity.length);
  const bytes = new Uint8Array(contentEnd + digestBytes);
  bytes.set(Buffer.from(MAGIC, 'latin1'));
  bytes.set([version, RING_PROVIDERS[provider], entries.length], MAGIC.length);
  bytes.set(activeId, MAGIC.length + 3);
  if (salt !== undefined) bytes.set(salt, HEADER_BYTES);
  entries.forEach((entry, index) => {
    const start = keysOffset + index * entryBytes;
    const material = start + KEY_ID_BYTES + timeBytes;
    bytes.set(entry.id, start);
    if (timeBytes > 0) new DataView(bytes.buffer).setBigUint64(start + KEY_ID_BYTES, BigInt(entry.retiredAtMs ?? 0));
    bytes.set(entry.material, material);
    bytes.set(entry.check, material + materialBytes);
  });
  if (contentEnd > keysEnd) bytes[keysEnd] = requiresIntegrity.length;
  for (const [index, id] of requiresIntegrity.entries()) bytes.set(id, keysEnd + 1 + index * KEY_ID_BYTES);
  if (digestBytes > 0) bytes.set(digestOf(bytes.subarray(0, contentEnd)), contentEnd);
  return bytes;
}

/** The entries and ids are views of the bytes; what the bytes cannot show, their check values do. */
export function decodeRing(bytes: Uint8Array, expected: 'file' | 'passphrase', path: string): Ring {
  const refuse = (problem: string): KeyringError => new KeyringError('ROOT_KEY_INVALID', `${path} ${problem}`);
  const magic = Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1');
  if (magic !== MAGIC) throw refuse('is not a key ring');
  const version = bytes[MAGIC.length];
  if (version !== FIRST_VERSION && version !== SECOND_VERSION && version !== THIRD_VERSION)
    throw refuse('is a key ring of an unknown version');
  const provider = providerOf(version, bytes[MAGIC.length + 1]);
  if (provider !== expected && !(provider === 'wrapped' && expected === 'passphrase'))
    throw refuse(`is not a key ring for '${expected}'`);
  const { keysOffset, timeBytes, materialBytes, entryBytes, digestBytes } = layoutOf(version, provider);
  const count = bytes[MAGIC.length + 2] ?? 0;
  const keysEnd = keysOffset + count * entryBytes;
  const integrityCount = version === THIRD_VERSION ? (bytes[keysEnd] ?? 0) : 0;
  const contentEnd = keysEnd + integrityBytesOf(integrityCount);
  if (count < 1 || count > KEYS_MAX || bytes.length !== contentEnd + digestBytes) throw refuse('is damaged');
  if (version === THIRD_VERSION && (integrityCount < 1 || integrityCount > INTEGRITY_IDS_MAX))
    throw refuse('is damaged');
  if (digestBytes > 0 && !digestOf(bytes.subarray(0, contentEnd)).equals(bytes.subarray(contentEnd)))
    throw refuse('is damaged');
  const activeId = bytes.subarray(MAGIC.length + 3, HEADER_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: RingEntry[] = [];
  for (let start = keysOffset; start < keysEnd; start += entryBytes) {
    const time = start + KEY_ID_BYTES;
    const material = time + timeBytes;
    const check = material + materialBytes;
    const retiredAtMs = timeBytes === 0 ? 0 : Number(view.getBigUint64(time));
    if (!Number.isSafeInteger(retiredAtMs)) throw refuse('is damaged');
    entries.push({
      id: bytes.subarray(start, time),
      material: bytes.subarray(material, check),
      check: bytes.subarray(check, check + CHECK_BYTES),
      ...(retiredAtMs > 0 && { retiredAtMs }),
    });
  }
  const ids = new Set(entries.map((entry) => keyIdText(entry.id)));
  const active = entries.find((entry) => keyIdText(entry.id) === keyIdText(activeId));
  if (ids.size !== count || active === undefined || active.retiredAtMs !== undefined) throw refuse('is damaged');
  const requiresIntegrity = Array.from({ length: integrityCount }, (_, index) => {
    const start = keysEnd + 1 + index * KEY_ID_BYTES;
    return bytes.subarray(start, start + KEY_ID_BYTES);
  });
  if (new Set(requiresIntegrity.map(keyIdText)).size !== integrityCount) throw refuse('is damaged');
  return {
    provider,
    activeId,
    entries,
    ...(provider === 'wrapped' && { salt: bytes.subarray(HEADER_BYTES, keysOffset) }),
    ...(integrityCount > 0 && { requiresIntegrity }),
  };
}

const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

function providerOf(version: number, number: number | undefined): RingProvider | undefined {
  const names = Object.keys(RING_PROVIDERS) as RingProvider[];
  const found = names.find((name) => RING_PROVIDERS[name] === number);
  return version === FIRST_VERSION && found === 'wrapped' ? undefined : found;
}

/** Tells a damaged entry, or a wrong passphrase, from the right key without giving anything of the key away. */
export function checkValue(provider: RingProvider, id: Uint8Array, key: Uint8Array): Uint8Array {
  const version = Uint8Array.of(FIRST_VERSION);
  const fields = ['custos.keyring.root-key-check', version, Uint8Array.of(RING_PROVIDERS[provider]), id];
  return createHmac('sha256', key).update(encodeFields(fields)).digest();
}

export function isRightKey(provider: RingProvider, entry: RingEntry, key: Uint8Array): boolean {
  return timingSafeEqual(checkValue(provider, entry.id, key), entry.check);
}
