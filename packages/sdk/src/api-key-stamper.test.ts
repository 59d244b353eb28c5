import { createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateApiKey } from './api-key.ts';
import { ApiKeyStamper } from './api-key-stamper.ts';
import { toUtf8 } from './bytes.ts';
import { readPublicKey } from './p256.ts';

const BODY = toUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}');

test('a generated key stamps what Node verifies', async () => {
  for (let round = 0; round < 20; round += 1) {
    const pair = await generateApiKey();
    expect(pair).toEqual({
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      privateKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { headerName, headerValue } = await new ApiKeyStamper(pair).stamp(BODY);
    expect(headerName).toBe('X-Stamp');
    const stamp = JSON.parse(Buffer.from(headerValue, 'base64url').toString('utf8'));
    expect(stamp).toMatchObject({ publicKey: pair.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256' });
    const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', ...readPublicKey(pair.publicKey) } });
    expect(verify('sha256', BODY, key, Buffer.from(stamp.signature, 'hex'))).toBe(true);
  }
});

test('halves that do not belong together are refused before anything is sent', async () => {
  const [one, other] = [await generateApiKey(), await generateApiKey()];
  const stamper = new ApiKeyStamper({ publicKey: one.publicKey, privateKey: other.privateKey });
  await expect(stamper.stamp(BODY)).rejects.toMatchObject({ code: 'INVALID_KEY' });
});

test.each(['', 'no hex', '00'.repeat(31), '00'.repeat(32), 'ff'.repeat(32)])(
  'private key %j is refused',
  async (privateKey) => {
    const { publicKey } = await generateApiKey();
    await expect(new ApiKeyStamper({ publicKey, privateKey }).stamp(BODY)).rejects.toMatchObject({
      code: 'INVALID_KEY',
    });
  },
);

test('the stamper shows no key material', async () => {
  const pair = await generateApiKey();
  const stamper = new ApiKeyStamper(pair);
  await stamper.stamp(BODY);
  expect(JSON.stringify(stamper)).not.toContain(pair.privateKey);
  const { inspect } = await import('node:util');
  expect(inspect(stamper, { depth: 9, showHidden: true })).not.toContain(pair.privateKey);
});
