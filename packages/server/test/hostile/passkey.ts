import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type Cbor = Parameters<typeof isoCBOR.encode>[0];

const HOST = 'app.example';
const ORIGIN = `https://${HOST}`;

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const b64u = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');
const rpIdHash = sha256(HOST);

export interface Passkey {
  readonly credentialId: string;
  readonly privateKey: KeyObject;
}

/** A software passkey and what its registration sends: the fields of every version at once. */
export function newPasskey(
  authenticatorName: string,
  aaguid = '00000000-0000-0000-0000-000000000000',
): { passkey: Passkey; registration: Record<string, unknown> } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const coordinate = (value: string | undefined) => new Uint8Array(Buffer.from(value ?? '', 'base64url'));
  const coseKey = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(jwk.x)],
      [-3, coordinate(jwk.y)],
    ]) as Cbor,
  );
  const id = randomBytes(24);
  // User present, user verified, attested credential data follows; no counter.
  const model = Buffer.from(aaguid.replaceAll('-', ''), 'hex');
  const head = Buffer.concat([rpIdHash, Buffer.of(0x45), Buffer.alloc(4), model, Buffer.of(0, id.length)]);
  const attestationObject = b64u(
    isoCBOR.encode(
      new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(Buffer.concat([head, id, coseKey]))],
      ]) as Cbor,
    ),
  );
  const challenge = b64u(randomBytes(32));
  const clientDataJson = b64u(JSON.stringify({ type: 'webauthn.create', challenge, origin: ORIGIN }));
  const credentialId = b64u(id);
  const transports = ['AUTHENTICATOR_TRANSPORT_INTERNAL'];
  const response = { clientDataJson, attestationObject, transports };
  const attestation = { credentialId, ...response, id: credentialId, rawId: credentialId, response };
  return { passkey: { credentialId, privateKey }, registration: { authenticatorName, challenge, attestation } };
}

/** The X-Stamp-WebAuthn value of a body. */
export function passkeyStamp(body: Uint8Array, { credentialId, privateKey }: Passkey): string {
  const challenge = b64u(sha256(body).toString('hex'));
  const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin: ORIGIN }));
  const authenticatorData = Buffer.concat([rpIdHash, Buffer.of(0x05), Buffer.alloc(4)]);
  const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), privateKey);
  return JSON.stringify({
    authenticatorData: b64u(authenticatorData),
    clientDataJson: b64u(clientData),
    credentialId,
    signature: b64u(signature),
  });
}
