import { type Bytes, concat, fromBase64url, fromHex, sha256, toBase64url, toUtf8 } from './bytes.ts';
import { type PasskeyKey, readCoseKey } from './cose.ts';
import { CustosError } from './errors.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Activity, Vote } from './generated/operations.ts';
import { importPublicKey, readPublicKey, verifyDer } from './p256.ts';
import { challengeOf } from './passkey-stamper.ts';

type SignedVote = Pick<Vote, 'message' | 'publicKey' | 'signature' | 'scheme' | 'webauthn'>;
type CastVote = SignedVote & Pick<Vote, 'selection'>;

const FLAG_USER_PRESENT = 0x01;

/**
 * Whether the signature of a vote is by its key over its message. With `activity`, also whether the message is that vote
 * on that activity. Votes whose message holds a digest in place of a secret cannot be verified from outside. Of a large
 * request that was denied the service keeps only the digest: that is a `CustosError` with `VOTE_BODY_OMITTED`, since such
 * a vote is neither valid nor invalid without the bytes that its sender has.
 */
export async function verifyVote(vote: CastVote, activity?: Pick<Activity, 'fingerprint'>): Promise<boolean> {
  if (isOmitted(vote.message)) {
    throw new CustosError(
      'VOTE_BODY_OMITTED',
      'the service keeps only the digest of what this vote signed: put the original body in place of the message',
    );
  }
  const isSigned = await verifySignature(vote);
  return isSigned && (activity === undefined || (await concerns(vote, activity.fingerprint)));
}

/** A request has a type, and what stands in its place has none. */
function isOmitted(message: string): boolean {
  const { type, omittedBody } = parseObject(message);
  return type === undefined && typeof omittedBody === 'object' && omittedBody !== null;
}

async function verifySignature(vote: SignedVote): Promise<boolean> {
  switch (vote.scheme) {
    case 'SIGNATURE_SCHEME_TK_API_P256':
      return await verifyApiKeyVote(vote);
    case 'SIGNATURE_SCHEME_TK_WEBAUTHN':
      return await verifyPasskeyVote(vote);
    default:
      throw new CustosError('UNSUPPORTED_SCHEME', `votes with ${vote.scheme} cannot be verified here`);
  }
}

async function verifyApiKeyVote({ message, publicKey, signature }: SignedVote): Promise<boolean> {
  const der = fromHex(signature);
  if (der === undefined) return false;
  return await verifyDer(await importPublicKey(readPublicKey(publicKey)), der, toUtf8(message));
}

/**
 * A passkey signs its authenticator data and the digest of the client data, which names the message (protocol/stamps
 * 3.3).
 */
async function verifyPasskeyVote({ message, publicKey, signature, webauthn }: SignedVote): Promise<boolean> {
  const clientData = fromBase64url(webauthn?.clientDataJson ?? '');
  const authenticatorData = fromBase64url(webauthn?.authenticatorData ?? '');
  const signatureBytes = fromBase64url(signature);
  if (!clientData || !authenticatorData || !signatureBytes || !(await isAssertionOf(clientData, message))) return false;
  if (((authenticatorData[32] ?? 0) & FLAG_USER_PRESENT) === 0) return false;
  const key = readCoseKey(fromHex(publicKey) ?? new Uint8Array());
  if (key === undefined) throw new CustosError('UNSUPPORTED_SCHEME', 'the algorithm of this passkey is not supported');
  return await verifyByPasskey(key, signatureBytes, concat(authenticatorData, await sha256(clientData)));
}

async function verifyByPasskey(
  { jwk, algorithm, isEcdsa }: PasskeyKey,
  signature: Bytes,
  signed: Bytes,
): Promise<boolean> {
  const key = await globalThis.crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  return isEcdsa
    ? await verifyDer(key, signature, signed)
    : await globalThis.crypto.subtle.verify(algorithm.name, key, signature, signed);
}

async function isAssertionOf(clientData: Bytes, message: string): Promise<boolean> {
  const { type, challenge } = parseObject(new TextDecoder().decode(clientData));
  return type === 'webauthn.get' && challenge === toBase64url(await challengeOf(toUtf8(message)));
}

/** A vote is the activity's own body, signed again, or a body that names the activity and approves or rejects it. */
async function concerns({ message, selection }: CastVote, fingerprint: string): Promise<boolean> {
  const isApproval = selection === 'VOTE_SELECTION_APPROVED';
  if ((await fingerprintOf(message)) === fingerprint) return isApproval;
  const { type, parameters } = parseObject(message);
  const expected = isApproval ? 'ACTIVITY_TYPE_APPROVE_ACTIVITY' : 'ACTIVITY_TYPE_REJECT_ACTIVITY';
  return type === expected && (parameters as { fingerprint?: unknown } | null)?.fingerprint === fingerprint;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
