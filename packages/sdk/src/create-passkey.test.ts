import { expect, test } from 'vitest';
import { createPasskey } from './create-passkey.ts';

const OPTIONS = {
  rp: { id: 'app.example', name: 'App' },
  user: { name: 'alice@example.com' },
  authenticatorName: 'Phone',
} as const;

test('answers the parameters of a registration', async () => {
  const asked: PublicKeyCredentialCreationOptions[] = [];
  const create = async (options?: CredentialCreationOptions) => {
    asked.push(options?.publicKey as PublicKeyCredentialCreationOptions);
    return {
      rawId: Uint8Array.of(1, 2).buffer,
      response: {
        clientDataJSON: Uint8Array.of(3).buffer,
        attestationObject: Uint8Array.of(4).buffer,
        getTransports: () => ['internal', 'hybrid', 'cable', 'smart-card'],
      },
    } as unknown as Credential;
  };
  const made = await createPasskey({ ...OPTIONS, credentials: { create } });
  expect(made).toEqual({
    authenticatorName: 'Phone',
    challenge: Buffer.from(asked[0]?.challenge as Uint8Array).toString('base64url'),
    attestation: {
      credentialId: 'AQI',
      clientDataJson: 'Aw',
      attestationObject: 'BA',
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
    },
  });
  expect(asked[0]).toMatchObject({
    rp: OPTIONS.rp,
    user: { name: 'alice@example.com', displayName: 'alice@example.com' },
    pubKeyCredParams: [
      { type: 'public-key', alg: -7 },
      { type: 'public-key', alg: -257 },
    ],
  });
  expect(asked[0]?.challenge.byteLength).toBe(32);
});

test('a refusal is a CustosError', async () => {
  const create = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
  await expect(createPasskey({ ...OPTIONS, credentials: { create } })).rejects.toMatchObject({
    code: 'PASSKEY_FAILED',
  });
});
