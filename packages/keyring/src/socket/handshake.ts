import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { encodeFields } from '../seal/layout.ts';

// How a service and a keyring on a socket prove to each other that they hold the same key: SPEC.md, section 9. What is
// sent before both have proven it has a fixed length, and none of it is secret.

const MAGIC = Buffer.from('CUSTOSKS', 'latin1');
const VERSION = 1;
const NONCE_BYTES = 32;
const PROOF_BYTES = 32;
export const SESSION_BYTES = 16;
const NO_SESSION = Buffer.alloc(SESSION_BYTES);

/** What a connection is to be: it carries the messages of a session, or the calls to one of its threads. */
export const CONNECTION = { session: 1, line: 2 } as const;
export type ConnectionKind = (typeof CONNECTION)[keyof typeof CONNECTION];

/** Why a keyring takes no connection. */
export const ANSWERED = { accepted: 0, wrongKey: 1, full: 2, noSession: 3 } as const;
export type Answered = (typeof ANSWERED)[keyof typeof ANSWERED];

export const GREETING_BYTES = MAGIC.length + 1 + NONCE_BYTES;
export const CLAIM_BYTES = MAGIC.length + 1 + 1 + SESSION_BYTES + 1 + NONCE_BYTES + PROOF_BYTES;
export const REPLY_BYTES = 1 + SESSION_BYTES + PROOF_BYTES;

/** What a connection claims to be. */
export interface Claim {
  readonly kind: ConnectionKind;
  /** Of a line the session that it belongs to. */
  readonly session: Buffer;
  /** Of a line its thread. */
  readonly index: number;
}

export const newSession = (): Buffer => randomBytes(SESSION_BYTES);

export const claimSession = (): Claim => ({ kind: CONNECTION.session, session: NO_SESSION, index: 0 });

/** The keyring's first words, with a nonce that it uses once. */
export function greet(): { readonly bytes: Buffer; readonly nonce: Buffer } {
  const nonce = randomBytes(NONCE_BYTES);
  return { bytes: Buffer.concat([MAGIC, Buffer.of(VERSION), nonce]), nonce };
}

/** The keyring's nonce; undefined for what is no greeting of this version. */
export function readGreeting(bytes: Buffer): Buffer | undefined {
  return isOurs(bytes, GREETING_BYTES) ? bytes.subarray(MAGIC.length + 1) : undefined;
}

/** The service's answer to a greeting, which proves that it holds the key. */
export function makeClaim(key: Uint8Array, claim: Claim, keyringNonce: Buffer) {
  const nonce = randomBytes(NONCE_BYTES);
  const head = Buffer.concat([MAGIC, Buffer.of(VERSION, claim.kind), claim.session, Buffer.of(claim.index), nonce]);
  return { bytes: Buffer.concat([head, proofOf('service', key, claim, keyringNonce, nonce)]), nonce };
}

/** A claim whose proof is right for this key and this nonce; undefined for any other. */
export function checkClaim(
  key: Uint8Array,
  bytes: Buffer,
  keyringNonce: Buffer,
): (Claim & { nonce: Buffer }) | undefined {
  if (!isOurs(bytes, CLAIM_BYTES)) return undefined;
  const kind = bytes[MAGIC.length + 1] as ConnectionKind;
  const start = MAGIC.length + 2;
  const session = bytes.subarray(start, start + SESSION_BYTES);
  const index = bytes[start + SESSION_BYTES] as number;
  const nonce = bytes.subarray(start + SESSION_BYTES + 1, CLAIM_BYTES - PROOF_BYTES);
  const claim = { kind, session, index, nonce };
  const expected = proofOf('service', key, claim, keyringNonce, nonce);
  if (!timingSafeEqual(expected, bytes.subarray(CLAIM_BYTES - PROOF_BYTES))) return undefined;
  return kind === CONNECTION.session || kind === CONNECTION.line ? claim : undefined;
}

/** The keyring's proof, over the session that the connection has from now on. */
export function accept(
  key: Uint8Array,
  claim: Claim & { nonce: Buffer },
  session: Buffer,
  keyringNonce: Buffer,
): Buffer {
  const proof = proofOf('keyring', key, { ...claim, session }, keyringNonce, claim.nonce);
  return Buffer.concat([Buffer.of(ANSWERED.accepted), session, proof]);
}

export const refuse = (answered: Answered): Buffer => Buffer.concat([Buffer.of(answered)], REPLY_BYTES);

/** The session, if the keyring has proven that it holds the key; else why not. */
export function checkReply(
  key: Uint8Array,
  bytes: Buffer,
  claim: Claim,
  keyringNonce: Buffer,
  nonce: Buffer,
): { readonly session: Buffer } | { readonly refused: Answered } {
  const answered = bytes[0] as Answered;
  if (answered !== ANSWERED.accepted) return { refused: answered };
  const session = bytes.subarray(1, 1 + SESSION_BYTES);
  const proof = proofOf('keyring', key, { ...claim, session }, keyringNonce, nonce);
  const isProven = timingSafeEqual(proof, bytes.subarray(1 + SESSION_BYTES));
  const isSame = claim.kind === CONNECTION.session || session.equals(claim.session);
  return isProven && isSame ? { session } : { refused: ANSWERED.wrongKey };
}

const isOurs = (bytes: Buffer, length: number): boolean =>
  bytes.length === length && bytes.subarray(0, MAGIC.length).equals(MAGIC) && bytes[MAGIC.length] === VERSION;

/** Over all that both have said, and who says it: a proof is good for one side of one connection. */
function proofOf(
  by: 'service' | 'keyring',
  key: Uint8Array,
  { kind, session, index }: Claim,
  keyringNonce: Buffer,
  serviceNonce: Buffer,
): Buffer {
  const said = [Uint8Array.of(VERSION, kind, index), session, keyringNonce, serviceNonce];
  return createHmac('sha256', key)
    .update(encodeFields([`custos.keyring.socket.${by}`, ...said]))
    .digest();
}
