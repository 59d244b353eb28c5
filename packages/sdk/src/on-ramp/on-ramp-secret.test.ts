import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyring, type Holder, type Keyring } from '../../../keyring/src/index.ts';
import { deploy } from '../../../keyring/test/fixtures/client.ts';
import { sealOnRampSecret } from './on-ramp-secret.ts';

// What is sealed here is opened by the keyring, which is asked to sign with it.

let folder: string;
let keyring: Keyring;
let holder: Holder;
let publicKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-sdk-on-ramp-'));
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'ring')}`, create: true });
  const deployment = await deploy(keyring);
  publicKey = deployment.publicKeys['on-ramp-secret'];
  holder = deployment.holder('credential');
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

const signed = async (encrypted: string): Promise<string> =>
  keyring.signMoonpayQuery(holder, await keyring.importOnRampSecret(holder, encrypted), '?a=b');
const expected = (secret: string): string => createHmac('sha256', secret).update('?a=b').digest('base64');

test('any secret opens for the service, and no two are sealed alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 150 }), async (secret) => {
      expect(await signed(await sealOnRampSecret({ secret, onRampSecretPublicKey: publicKey }))).toBe(expected(secret));
    }),
    { numRuns: 20 },
  );
  const serviceKeys = [{ role: 'on-ramp-secret', publicKey, encoding: 'compressed', keyId: 'one' }] as const;
  const sealed = [
    await sealOnRampSecret({ secret: 'sk_test', serviceKeys }),
    await sealOnRampSecret({ secret: 'sk_test', onRampSecretPublicKey: publicKey }),
  ];
  expect(new Set(sealed).size).toBe(2);
  for (const text of sealed) expect(await signed(text)).toBe(expected('sk_test'));
  const longest = 'x'.repeat(1920);
  expect(await signed(await sealOnRampSecret({ secret: longest, serviceKeys }))).toBe(expected(longest));
});

test.each([
  ['no secret', { secret: '' }, 'INVALID_OPTION'],
  ['half a character', { secret: '\ud83d' }, 'INVALID_OPTION'],
  ['a secret that is too long', { secret: 'x'.repeat(1921) }, 'INVALID_OPTION'],
  ['no key', { onRampSecretPublicKey: undefined }, 'INVALID_OPTION'],
  ['an uncompressed key', { onRampSecretPublicKey: `04${'11'.repeat(64)}` }, 'INVALID_KEY'],
  ['a point elsewhere', { onRampSecretPublicKey: `02${'00'.repeat(31)}01` }, 'INVALID_KEY'],
])('%s is refused', async (_name, changes, code) => {
  const options = { secret: 'secret', onRampSecretPublicKey: publicKey, ...changes };
  await expect(sealOnRampSecret(options as Parameters<typeof sealOnRampSecret>[0])).rejects.toMatchObject({ code });
});
