import { createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { toUtf8 } from './bytes.ts';
import { readPublicKey } from './p256.ts';
import { SessionKey } from './session-key.ts';

const BODY = toUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}');
const nodeKey = (hex: string) =>
  createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', ...readPublicKey(hex) } });

test('stamps what Node verifies, with a key that nobody reads', async () => {
  const key = await SessionKey.generate();
  expect(key.publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
  const { headerName, headerValue } = await key.stamp(BODY);
  expect(headerName).toBe('X-Stamp');
  const stamp = JSON.parse(Buffer.from(headerValue, 'base64url').toString('utf8'));
  expect(stamp).toMatchObject({ publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256' });
  expect(verify('sha256', BODY, nodeKey(key.publicKey), Buffer.from(stamp.signature, 'hex'))).toBe(true);
  await expect(globalThis.crypto.subtle.exportKey('jwk', key.keyPair.privateKey)).rejects.toThrow();
});

test('is the same key when its pair comes back from storage', async () => {
  const key = await SessionKey.generate();
  const again = await SessionKey.from(structuredClone(key.keyPair));
  expect(again.publicKey).toBe(key.publicKey);
  const signature = await again.sign(BODY);
  expect(verify('sha256', BODY, { key: nodeKey(key.publicKey), dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
});

test.each([
  ['another curve', { name: 'ECDSA', namedCurve: 'P-384' }, ['sign', 'verify']],
  ['another use', { name: 'ECDH', namedCurve: 'P-256' }, ['deriveBits']],
] as const)('%s is refused', async (_name, algorithm, usages) => {
  const pair = (await globalThis.crypto.subtle.generateKey(algorithm, false, [...usages])) as CryptoKeyPair;
  await expect(SessionKey.from(pair)).rejects.toMatchObject({ code: 'INVALID_KEY' });
});
