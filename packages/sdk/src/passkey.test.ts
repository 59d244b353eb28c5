import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestServer } from '../../server/test/harness/server.ts';
import { ApiKeyStamper } from './api-key-stamper.ts';
import { createClient } from './client.ts';
import { createPasskey } from './create-passkey.ts';
import { PasskeyStamper } from './passkey-stamper.ts';
import { verifyVote } from './verify-vote.ts';

const RP_ID = 'app.example';

/** A browser with an authenticator that answers at once: one ES256 passkey, attestation format none. */
function softwareAuthenticator(): Pick<CredentialsContainer, 'create' | 'get'> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();
  const clientData = (type: string, challenge: BufferSource): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: Buffer.from(challenge as Uint8Array).toString('base64url'),
        origin: `https://${RP_ID}`,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (flags: number, ...rest: Uint8Array[]): Buffer =>
    Buffer.concat([sha256(RP_ID), Uint8Array.of(flags, 0, 0, 0, 0), ...rest]);
  return {
    async create(options) {
      const cose = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const data = authenticatorData(0x45, new Uint8Array(16), Uint8Array.of(0, id.length), id, cose);
      const attestationObject = Buffer.concat([
        Uint8Array.of(0xa3),
        Buffer.from('\x63fmt\x64none\x67attStmt\xa0\x68authData', 'latin1'),
        Uint8Array.of(0x58, data.length),
        data,
      ]);
      const clientDataJSON = clientData('webauthn.create', options?.publicKey?.challenge as BufferSource);
      return { rawId: id, response: { clientDataJSON, attestationObject } } as unknown as Credential;
    },
    async get(options) {
      const data = authenticatorData(0x05);
      const clientDataJSON = clientData('webauthn.get', options?.publicKey?.challenge as BufferSource);
      const signature = sign('sha256', Buffer.concat([data, sha256(clientDataJSON)]), privateKey);
      return { rawId: id, response: { authenticatorData: data, clientDataJSON, signature } } as unknown as Credential;
    },
  };
}

test('a passkey is made, registered, used, and its vote verified', async () => {
  await using server = await TestServer.start();
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = server.credentials;
  const common = { baseUrl: server.baseUrl, organizationId };
  const byKey = createClient({
    ...common,
    stamper: new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey }),
  });
  const credentials = softwareAuthenticator();
  const passkey = await createPasskey({
    rp: { id: RP_ID, name: 'App' },
    user: { name: 'root' },
    authenticatorName: 'Phone',
    credentials,
  });
  await byKey.createAuthenticators({ userId, authenticators: [passkey] });

  const byPasskey = createClient({ ...common, stamper: new PasskeyStamper({ rpId: RP_ID, credentials }) });
  expect(await byPasskey.whoami()).toMatchObject({ userId });
  const { activity } = await byPasskey.createUserTag({ userTagName: 'Approvers', userIds: [] });
  const [vote] = activity.votes;
  expect(vote?.scheme).toBe('SIGNATURE_SCHEME_TK_WEBAUTHN');
  expect(await verifyVote(vote!, activity)).toBe(true);
  expect(await verifyVote({ ...vote!, message: `${vote!.message} ` }, activity)).toBe(false);
});
