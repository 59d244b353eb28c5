import { createDecipheriv, createECDH, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import {
  CLIENT_SECRET_ENVELOPE,
  CLIENT_SECRET_NONCE,
  OAUTH_SECRET_PUBLIC_KEY,
} from '../../test/fixtures/login-vectors.ts';
import { readAgreement } from '../bundle/agreement.ts';
import { type Bytes, fromHex, toHex, toUtf8 } from '../bytes.ts';
import { sealClientSecret, sealEnvelope } from './client-secret.ts';

const bytes = (hex: string): Bytes => fromHex(hex) as Bytes;

/** The receiving side, written from protocol/bundles 4.2 with other means than the sending side. */
function openEnvelope(hex: string): string {
  const envelope = Buffer.from(hex, 'hex');
  const [nonce, ephemeral] = [envelope.subarray(0, 12), envelope.subarray(12, 77)];
  expect(envelope.readUInt32LE(77)).toBe(envelope.length - 81);
  const receiver = createECDH('prime256v1');
  receiver.setPrivateKey(labelled('vector tls fetcher encryption'));
  const own = receiver.getPublicKey();
  const material = Buffer.concat([ephemeral, own, receiver.computeSecret(ephemeral)]);
  const key = createHmac('sha512', material).update('qos_encryption_hmac_message').digest().subarray(0, 32);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce);
  decipher.setAAD(Buffer.concat([ephemeral, Buffer.of(65), own, Buffer.of(65)]));
  decipher.setAuthTag(envelope.subarray(-16));
  return Buffer.concat([decipher.update(envelope.subarray(81, -16)), decipher.final()]).toString('utf8');
}

test('the vector of the public clients', async () => {
  const ephemeral = await readAgreement(toHex(Uint8Array.from(labelled('vector qos ephemeral'))));
  const receiver = bytes(OAUTH_SECRET_PUBLIC_KEY);
  const envelope = await sealEnvelope(receiver, toUtf8('client-secret-123'), ephemeral, bytes(CLIENT_SECRET_NONCE));
  expect(toHex(envelope)).toBe(CLIENT_SECRET_ENVELOPE);
  expect(openEnvelope(CLIENT_SECRET_ENVELOPE)).toBe('client-secret-123');
});

test('a secret opens for the service, and no two envelopes are alike', async () => {
  const oauthSecretPublicKey = OAUTH_SECRET_PUBLIC_KEY;
  const serviceKeys = [
    { role: 'oauth-secret', publicKey: OAUTH_SECRET_PUBLIC_KEY, encoding: 'uncompressed', keyId: 'one' },
  ] as const;
  const sealed = [
    await sealClientSecret({ clientSecret: 'passwörd ✓', oauthSecretPublicKey }),
    await sealClientSecret({ clientSecret: 'passwörd ✓', serviceKeys }),
  ];
  expect(sealed.map(openEnvelope)).toEqual(['passwörd ✓', 'passwörd ✓']);
  expect(new Set(sealed.map((hex) => hex.slice(0, 154))).size).toBe(2);
});

test.each([
  ['no secret', { clientSecret: '' }, 'INVALID_OPTION'],
  ['half a character', { clientSecret: '\ud83d' }, 'INVALID_OPTION'],
  ['no key', { oauthSecretPublicKey: undefined }, 'INVALID_OPTION'],
  // A compressed key gives an envelope that nobody opens.
  ['a compressed key', { oauthSecretPublicKey: `03${OAUTH_SECRET_PUBLIC_KEY.slice(2, 66)}` }, 'INVALID_KEY'],
  ['a point elsewhere', { oauthSecretPublicKey: `04${'11'.repeat(64)}` }, 'INVALID_KEY'],
])('%s is refused', async (_name, changes, code) => {
  const options = { clientSecret: 'secret', oauthSecretPublicKey: OAUTH_SECRET_PUBLIC_KEY, ...changes };
  await expect(sealClientSecret(options as Parameters<typeof sealClientSecret>[0])).rejects.toMatchObject({ code });
});
