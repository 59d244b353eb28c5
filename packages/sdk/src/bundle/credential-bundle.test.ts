import { describe, expect, test } from 'vitest';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import { CREDENTIAL_BUNDLE, CREDENTIAL_PRIVATE_KEY } from '../../test/fixtures/login-vectors.ts';
import { ApiKeyStamper } from '../api-key-stamper.ts';
import { fromBase58Check } from '../base58.ts';
import { toHex, toUtf8 } from '../bytes.ts';
import { openBearerToken, openCredentialBundle } from './credential-bundle.ts';

const targetPrivateKey = toHex(Uint8Array.from(labelled('vector receiver')));
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

describe('base58 with a checksum', () => {
  test('published addresses', async () => {
    // The address of the first Bitcoin block, and a payload of a single zero.
    const genesis = await fromBase58Check('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa');
    expect(toHex(genesis!)).toBe('0062e907b15cbf27d5425399ebf6f0fb50ebb88f18');
    expect(toHex((await fromBase58Check('1Wh4bh'))!)).toBe('00');
    expect(await fromBase58Check('3QJmnh')).toEqual(new Uint8Array(0));
  });

  test.each(['', '1', '1111', '1Wh4bi', '0Wh4bh', '1Wh4bh ', 'é'])('%j is none', async (text) => {
    expect(await fromBase58Check(text)).toBeUndefined();
  });
});

describe('a credential bundle', () => {
  test('holds a key that stamps', async () => {
    const pair = await openCredentialBundle({ credentialBundle: CREDENTIAL_BUNDLE, targetPrivateKey });
    expect(pair.privateKey).toBe(CREDENTIAL_PRIVATE_KEY);
    // The halves are checked to belong together before the first stamp.
    await expect(new ApiKeyStamper(pair).stamp(toUtf8('{}'))).resolves.toMatchObject({ headerName: 'X-Stamp' });
  });

  test('with any other character is refused', async () => {
    for (let index = 0; index < CREDENTIAL_BUNDLE.length; index += 1) {
      const next = ALPHABET[(ALPHABET.indexOf(CREDENTIAL_BUNDLE[index]!) + 1) % ALPHABET.length]!;
      const credentialBundle = CREDENTIAL_BUNDLE.slice(0, index) + next + CREDENTIAL_BUNDLE.slice(index + 1);
      await expect(openCredentialBundle({ credentialBundle, targetPrivateKey })).rejects.toMatchObject({
        code: 'BUNDLE_INVALID',
        check: 'form',
      });
    }
  });

  test('opens for its key alone', async () => {
    const other = toHex(Uint8Array.from(labelled('vector import target')));
    await expect(
      openCredentialBundle({ credentialBundle: CREDENTIAL_BUNDLE, targetPrivateKey: other }),
    ).rejects.toMatchObject({ check: 'decryption' });
    await expect(
      openCredentialBundle({ credentialBundle: CREDENTIAL_BUNDLE, targetPrivateKey: '' }),
    ).rejects.toMatchObject({ code: 'INVALID_KEY' });
  });

  test.each(['', '1Wh4bh', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'])(
    '%j is too short for one',
    async (credentialBundle) => {
      await expect(openCredentialBundle({ credentialBundle, targetPrivateKey })).rejects.toMatchObject({
        check: 'form',
      });
    },
  );

  test('a key is no bearer token', async () => {
    await expect(openBearerToken({ bearerToken: CREDENTIAL_BUNDLE, targetPrivateKey })).rejects.toMatchObject({
      check: 'content',
    });
  });
});
