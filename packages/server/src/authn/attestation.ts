// Longer than most files: the statement formats share one decoder and one set of checks, and are best read together.

import { constants, type KeyObject, X509Certificate } from 'node:crypto';
import {
  convertAAGUIDToString,
  decodeAttestationObject,
  getCertificateInfo,
  type ParsedAuthenticatorData,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers';
import { ApiError } from '../lib/errors.ts';
import { verifyOnPool } from './public-key.ts';
import { decodeBase64 } from './stamp-headers.ts';
import {
  checkOrigin,
  equalBytes,
  importCoseKey,
  type PasskeyKey,
  parseClientData,
  sha256,
  verifyWithPasskey,
} from './webauthn-stamp.ts';

export interface AttestationInput {
  readonly challenge: string;
  readonly credentialId: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
}

export interface VerifiedAuthenticator {
  /** base64url of the raw id, without padding. */
  readonly credentialId: string;
  /** COSE_Key bytes. */
  readonly publicKey: Uint8Array;
  readonly rpIdHash: Uint8Array;
  /** In the form of a UUID. */
  readonly aaguid: string;
  /** The `fmt` of the attestation object. */
  readonly attestationType: string;
  readonly signCount: number;
}

interface Attested {
  readonly fmt: string;
  readonly statement: Map<unknown, unknown>;
  readonly authData: Uint8Array;
  readonly rpIdHash: Uint8Array;
  readonly aaguid: Uint8Array;
  readonly credentialId: Uint8Array;
  readonly passkey: PasskeyKey;
  readonly coseKey: Uint8Array;
  readonly clientDataHash: Uint8Array;
  readonly signCount: number;
}

const INPUT_CHARACTERS_MAX = {
  challenge: 1024,
  credentialId: 1400,
  clientDataJson: 8192,
  attestationObject: 65_536,
} as const satisfies Record<keyof AttestationInput, number>;

const CREDENTIAL_ID_BYTES_MAX = 1023;
const CBOR_DEPTH_MAX = 8;
const CERTIFICATES_MAX = 8;

/** OID 1.3.6.1.4.1.45724.1.1.4: the certificate names the authenticator model it belongs to. */
const AAGUID_EXTENSION = '1.3.6.1.4.1.45724.1.1.4';

// The characters that WebAuthn, section 8.1, allows in a format identifier.
const FORMAT_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,32}$/;

/**
 * Checks the registration of a passkey (protocol/stamps 4.2 and 4.3) and answers what to store. The signature of the
 * statement is verified; a certificate that comes with it proves nothing about the maker, because no chain is trusted.
 */
export async function verifyAttestation(
  input: AttestationInput,
  origins: readonly string[] | null,
): Promise<VerifiedAuthenticator> {
  try {
    checkLengths(input);
    const attested = readAttestation(input, origins);
    await verifyStatement(attested);
    return {
      credentialId: Buffer.from(attested.credentialId).toString('base64url'),
      publicKey: attested.coseKey,
      rpIdHash: attested.rpIdHash,
      aaguid: convertAAGUIDToString(new Uint8Array(attested.aaguid)),
      attestationType: attested.fmt,
      signCount: attested.signCount,
    };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // Every input is the caller's, so whatever a decoder throws means that the input is malformed.
    throw refuse('attestation is malformed', error);
  }
}

function checkLengths(input: AttestationInput): void {
  for (const [field, max] of Object.entries(INPUT_CHARACTERS_MAX)) {
    const value: unknown = input[field as keyof AttestationInput];
    if (typeof value !== 'string' || value.length === 0) throw refuse(`${field} must be a non-empty string`);
    if (value.length > max) throw refuse(`${field} is longer than ${max} characters`);
  }
}

function readAttestation(input: AttestationInput, origins: readonly string[] | null): Attested {
  const clientDataJson = bytesOf(input, 'clientDataJson');
  const clientData = parseClientData(clientDataJson);
  if (clientData === undefined) throw refuse('clientDataJson is not a JSON object with type, challenge and origin');
  if (clientData.type !== 'webauthn.create') throw refuse('client data type is not webauthn.create');
  if (!isSameChallenge(input.challenge, clientData.challenge)) throw refuse('challenge does not match the client data');

  const { fmt, statement, authData } = readAttestationObject(bytesOf(input, 'attestationObject'));
  const parsed = readAuthenticatorData(authData);
  const { rpIdHash, flags, aaguid, credentialID: credentialId, credentialPublicKey: coseKey, counter } = parsed;
  const originProblem = checkOrigin(clientData.origin, rpIdHash, origins);
  if (originProblem !== undefined) throw refuse(originProblem);
  if (!flags.up) throw refuse('user was not present');
  if (!flags.at || aaguid === undefined || credentialId === undefined || coseKey === undefined) {
    throw refuse('authenticator data holds no credential');
  }
  if (credentialId.length === 0 || credentialId.length > CREDENTIAL_ID_BYTES_MAX) {
    throw refuse(`credential id must have 1 to ${CREDENTIAL_ID_BYTES_MAX} bytes`);
  }
  if (!isSameCredentialId(bytesOf(input, 'credentialId'), credentialId)) {
    throw refuse('credentialId differs from the one in the authenticator data');
  }
  return {
    fmt,
    statement,
    authData,
    rpIdHash,
    aaguid,
    credentialId,
    passkey: readKey(coseKey),
    coseKey,
    clientDataHash: sha256(clientDataJson),
    signCount: counter,
  };
}

function bytesOf(input: AttestationInput, field: 'credentialId' | 'clientDataJson' | 'attestationObject'): Uint8Array {
  const bytes = decodeBase64(input[field]);
  if (bytes === undefined || bytes.length === 0) throw refuse(`${field} is not base64url`);
  return bytes;
}

/** A client may treat the field as base64, or as text whose bytes are the challenge. */
function isSameChallenge(field: string, challenge: string): boolean {
  const signed = decodeBase64(challenge);
  if (signed === undefined || signed.length === 0) return false;
  const decoded = decodeBase64(field);
  return (decoded !== undefined && equalBytes(decoded, signed)) || equalBytes(Buffer.from(field), signed);
}

/** Most clients send the id as it is, others wrap it in a CBOR byte string (protocol/stamps 4.2). */
function isSameCredentialId(sent: Uint8Array, attested: Uint8Array): boolean {
  if (equalBytes(sent, attested)) return true;
  const { length } = attested;
  const head = length < 24 ? [0x40 | length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 0xff];
  return equalBytes(sent, Buffer.concat([Uint8Array.from(head), attested]));
}

function readAttestationObject(bytes: Uint8Array): Pick<Attested, 'fmt' | 'statement' | 'authData'> {
  // The decoder neither limits depth nor notices a string that runs past the end, nor bytes after the item.
  if (cborEnd(bytes, 0, CBOR_DEPTH_MAX) !== bytes.length) throw refuse('attestationObject is not one CBOR item');
  const decoded: unknown = decodeAttestationObject(new Uint8Array(bytes));
  if (!(decoded instanceof Map)) throw refuse('attestationObject is not a CBOR map');
  const fmt: unknown = decoded.get('fmt');
  const statement: unknown = decoded.get('attStmt');
  const authData: unknown = decoded.get('authData');
  if (typeof fmt !== 'string' || !FORMAT_PATTERN.test(fmt)) throw refuse('attestation format is not valid');
  if (!(statement instanceof Map)) throw refuse('attestation statement is not a CBOR map');
  if (!(authData instanceof Uint8Array)) throw refuse('authenticator data is not a byte string');
  return { fmt, statement, authData };
}

function readAuthenticatorData(authData: Uint8Array): ParsedAuthenticatorData {
  try {
    return parseAuthenticatorData(new Uint8Array(authData));
  } catch (cause) {
    throw refuse('authenticator data is malformed', cause);
  }
}

function readKey(coseKey: Uint8Array): PasskeyKey {
  let passkey: PasskeyKey;
  try {
    passkey = importCoseKey(coseKey);
  } catch (cause) {
    throw refuse(`credential public key: ${cause instanceof Error ? cause.message : 'malformed'}`, cause);
  }
  if (passkey.algorithm === -8) throw refuse('credential public key: EdDSA is not supported, use ES256 or RS256');
  return passkey;
}

async function verifyStatement(attested: Attested): Promise<void> {
  switch (attested.fmt) {
    case 'none':
      if (attested.statement.size > 0) throw refuse('statement of format none must be empty');
      return;
    case 'packed':
      return verifyPacked(attested);
    case 'fido-u2f':
      return verifyFidoU2f(attested);
    default:
      // Other formats only make sense with trusted chains, so their statement is ignored and the name recorded.
      return;
  }
}

/** WebAuthn, section 8.2, without trust in the chain and therefore without its dates. */
async function verifyPacked({ statement, authData, clientDataHash, aaguid, passkey }: Attested): Promise<void> {
  const algorithm = statement.get('alg');
  const signature = statement.get('sig');
  if (typeof algorithm !== 'number') throw refuse('packed statement has no algorithm');
  if (!(signature instanceof Uint8Array)) throw refuse('packed statement has no signature');
  const signed = Buffer.concat([authData, clientDataHash]);
  if (statement.has('x5c')) {
    const leaf = readLeaf(statement.get('x5c'));
    checkPackedCertificate(leaf.der, aaguid);
    if (!(await verifyWithCertificate(leaf.key, algorithm, signed, signature))) {
      throw refuse('packed statement: signature of the certificate is not valid');
    }
    return;
  }
  if (statement.has('ecdaaKeyId')) throw refuse('packed statement: ECDAA is not supported');
  if (algorithm !== passkey.algorithm) throw refuse('packed statement: algorithm differs from that of the key');
  if (!(await verifyWithPasskey(passkey, signed, signature))) {
    throw refuse('packed statement: signature of the key is not valid');
  }
}

/** WebAuthn, section 8.6. */
async function verifyFidoU2f(attested: Attested): Promise<void> {
  const { statement, rpIdHash, clientDataHash, credentialId, passkey, aaguid } = attested;
  const signature = statement.get('sig');
  if (!(signature instanceof Uint8Array)) throw refuse('fido-u2f statement has no signature');
  const certificates: unknown = statement.get('x5c');
  if (!Array.isArray(certificates) || certificates.length !== 1) {
    throw refuse('fido-u2f statement must have exactly one certificate');
  }
  const leaf = readLeaf(certificates);
  if (leaf.key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw refuse('fido-u2f statement: key of the certificate is not on P-256');
  }
  if (passkey.algorithm !== -7) throw refuse('fido-u2f statement: credential key must be ES256');
  if (aaguid.some((byte) => byte !== 0)) throw refuse('fido-u2f statement: aaguid must be zero');
  const { x = '', y = '' } = passkey.key.export({ format: 'jwk' });
  const point = Buffer.concat([Uint8Array.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const signed = Buffer.concat([Uint8Array.of(0), rpIdHash, clientDataHash, credentialId, point]);
  if (!(await verifyWithCertificate(leaf.key, -7, signed, signature))) {
    throw refuse('fido-u2f statement: signature of the certificate is not valid');
  }
}

function readLeaf(certificates: unknown): { der: Uint8Array; key: KeyObject } {
  if (!Array.isArray(certificates) || certificates.length === 0 || certificates.length > CERTIFICATES_MAX) {
    throw refuse(`statement must have 1 to ${CERTIFICATES_MAX} certificates`);
  }
  const der: unknown = certificates[0];
  if (!(der instanceof Uint8Array)) throw refuse('certificate of the statement is not a byte string');
  try {
    return { der, key: new X509Certificate(der).publicKey };
  } catch (cause) {
    throw refuse('certificate of the statement is malformed', cause);
  }
}

/** WebAuthn, section 8.2.1. */
function checkPackedCertificate(der: Uint8Array, aaguid: Uint8Array): void {
  let info: ReturnType<typeof getCertificateInfo>;
  try {
    info = getCertificateInfo(new Uint8Array(der));
  } catch (cause) {
    throw refuse('certificate of the statement is malformed', cause);
  }
  const { C, O, OU, CN } = info.subject;
  if (info.version !== 2) throw refuse('packed statement: certificate must have version 3');
  if (!C || !O || !CN || OU !== 'Authenticator Attestation') {
    throw refuse('packed statement: subject of the certificate is not that of an attestation certificate');
  }
  if (info.basicConstraintsCA) throw refuse('packed statement: certificate is that of an authority');
  const extension = info.parsedCertificate.tbsCertificate.extensions?.find((one) => one.extnID === AAGUID_EXTENSION);
  if (extension === undefined) return;
  // The extension value is an OCTET STRING of 16 bytes.
  const expected = Buffer.concat([Uint8Array.of(0x04, 0x10), aaguid]);
  if (!equalBytes(new Uint8Array(extension.extnValue.buffer), expected)) {
    throw refuse('packed statement: certificate belongs to another authenticator model');
  }
}

async function verifyWithCertificate(
  key: KeyObject,
  algorithm: number,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const curve = details?.namedCurve;
  switch (algorithm) {
    case -7:
      return curve === 'prime256v1' && verifyOnPool('sha256', data, { key }, signature);
    case -35:
      return curve === 'secp384r1' && verifyOnPool('sha384', data, { key }, signature);
    case -36:
      return curve === 'secp521r1' && verifyOnPool('sha512', data, { key }, signature);
    case -8:
      return type === 'ed25519' && verifyOnPool(null, data, { key }, signature);
    case -257:
      return type === 'rsa' && verifyOnPool('sha256', data, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
    default:
      throw refuse('signature algorithm of the statement is not supported');
  }
}

/** The offset after the CBOR item (RFC 8949) at `start`; undefined when it is malformed, too deep or of open length. */
function cborEnd(bytes: Uint8Array, start: number, depth: number): number | undefined {
  const initial = bytes[start];
  if (initial === undefined || depth === 0) return undefined;
  const major = initial >> 5;
  const additional = initial & 0x1f;
  if (additional > 27) return undefined;
  const argumentBytes = additional < 24 ? 0 : 2 ** (additional - 24);
  let end = start + 1 + argumentBytes;
  if (end > bytes.length) return undefined;
  let argument = additional;
  if (argumentBytes > 0) argument = bytes.subarray(start + 1, end).reduce((sum, byte) => sum * 256 + byte, 0);
  if (major === 2 || major === 3) return end + argument <= bytes.length ? end + argument : undefined;
  const items = major === 4 ? argument : major === 5 ? 2 * argument : major === 6 ? 1 : 0;
  for (let item = 0; item < items; item += 1) {
    const next = cborEnd(bytes, end, depth - 1);
    if (next === undefined) return undefined;
    end = next;
  }
  return end;
}

function refuse(why: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_ATTESTATION', why, { cause });
}
