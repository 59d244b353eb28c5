import { expect, test } from 'vitest';
import type { PrepareContext } from '../../engine/define.ts';
import { type Signer, signAs } from './signer.ts';

test('more payloads than the keyring takes in a call are signed in several, in order', async () => {
  const sizes: number[] = [];
  const keyring = {
    sign: async (_holder: unknown, _key: unknown, _scheme: unknown, payloads: readonly Uint8Array[]) => {
      sizes.push(payloads.length);
      return payloads.map((payload) => ({ r: payload, s: payload, v: 0 as const }));
    },
  };
  const actor = { organizationId: 'o', organization: { wrappedKey: new Uint8Array() } };
  const context = { keyring, actor } as unknown as PrepareContext;
  const account = {
    curve: 'CURVE_SECP256K1' as const,
    publicKey: new Uint8Array(33),
    address: '',
    addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
  };
  const signer = { account, addresses: [account], ownerId: 'w', key: {} } as unknown as Signer;
  const payloads = Array.from({ length: 2400 }, (_, index) => Uint8Array.of(index >> 8, index & 255));
  const signatures = await signAs(context, signer, account, payloads);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
  expect(signatures.map(({ r }) => r)).toEqual(payloads);
});
