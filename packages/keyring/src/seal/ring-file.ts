import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import { encodeFields, KEY_BYTES, KEY_ID_BYTES, keyIdText } from './layout.ts';

// The ring file of SPEC.md, section 2. It is binary, because keys read as text become strings, which cannot be wiped.

const MAGIC = 'CUSTOSKR';
const RING_VERSION = 1;
export const KEYS_MAX = 16;
const CHECK_BYTES = 32;
const KEYS_OFFSET = MAGIC.length + 3 + KEY_ID_BYTES;
const ENTRY_BYTES = KEY_ID_BYTES + KEY_BYTES + CHECK_BYTES;

export const RING_BYTES_MAX = KEYS_OFFSET + KEYS_MAX * ENTRY_BYTES;

/** How the key of an entry comes from its material: it is the material, or scrypt of a passphrase with it as salt. */
export const RING_PROVIDERS = { file: 1, passphrase: 2 } as const;
export type RingProvider = keyof typeof RING_PROVIDERS;

export interface RingEntry {
  readonly id: Uint8Array;
  readonly material: Uint8Array;
  readonly check: Uint8Array;
}

export interface Ring {
  readonly provider: RingProvider;
  readonly activeId: Uint8Array;
  readonly entries: readonly RingEntry[];
}

export function encodeRing(ring: Ring): Uint8Array {
  const bytes = new Uint8Array(KEYS_OFFSET + ring.entries.length * ENTRY_BYTES);
  bytes.set(Buffer.from(MAGIC, 'latin1'));
  bytes.set([RING_VERSION, RING_PROVIDERS[ring.provider], ring.entries.length], MAGIC.length);
  bytes.set(ring.activeId, MAGIC.length + 3);
  ring.entries.forEach((entry, index) => {
    const start = KEYS_OFFSET + index * ENTRY_BYTES;
    bytes.set(entry.id, start);
    bytes.set(entry.material, start + KEY_ID_BYTES);
    bytes.set(entry.check, start + KEY_ID_BYTES + KEY_BYTES);
  });
  return bytes;
}

/** The entries are views of the bytes; what the bytes cannot show, their check values do. */
export function decodeRing(bytes: Uint8Array, provider: RingProvider, path: string): Ring {
  const refuse = (problem: string): KeyringError => new KeyringError('ROOT_KEY_INVALID', `${path} ${problem}`);
  const magic = Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1');
  if (magic !== MAGIC) throw refuse('is not a key ring');
  if (bytes[MAGIC.length] !== RING_VERSION) throw refuse('is a key ring of an unknown version');
  if (bytes[MAGIC.length + 1] !== RING_PROVIDERS[provider]) throw refuse(`is not a key ring for '${provider}'`);
  const count = bytes[MAGIC.length + 2] ?? 0;
  if (count < 1 || count > KEYS_MAX || bytes.length !== KEYS_OFFSET + count * ENTRY_BYTES) throw refuse('is damaged');
  const activeId = bytes.subarray(MAGIC.length + 3, KEYS_OFFSET);
  const entries: RingEntry[] = [];
  for (let start = KEYS_OFFSET; start < bytes.length; start += ENTRY_BYTES) {
    const material = start + KEY_ID_BYTES;
    const check = material + KEY_BYTES;
    entries.push({
      id: bytes.subarray(start, material),
      material: bytes.subarray(material, check),
      check: bytes.subarray(check, check + CHECK_BYTES),
    });
  }
  const ids = new Set(entries.map((entry) => keyIdText(entry.id)));
  if (ids.size !== count || !ids.has(keyIdText(activeId))) throw refuse('is damaged');
  return { provider, activeId, entries };
}

/** Tells a damaged entry, or a wrong passphrase, from the right key without giving anything of the key away. */
export function checkValue(provider: RingProvider, id: Uint8Array, key: Uint8Array): Uint8Array {
  const version = Uint8Array.of(RING_VERSION);
  const fields = ['custos.keyring.root-key-check', version, Uint8Array.of(RING_PROVIDERS[provider]), id];
  return createHmac('sha256', key).update(encodeFields(fields)).digest();
}

export function isRightKey(provider: RingProvider, entry: RingEntry, key: Uint8Array): boolean {
  return timingSafeEqual(checkValue(provider, entry.id, key), entry.check);
}
