import { expect, test } from 'vitest';
import { newKeyPair } from '../../harness/client.ts';
import { times } from '../fixtures/access.ts';
import { keyParams, LISTS, ProxyWorld, refusal } from '../fixtures/proxy.ts';

const account = (index: number) => ({
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
});

test('a sign-up with many accounts is let in, and counts as the many calls that it costs', async () => {
  await using world = await ProxyWorld.open('sqlite', { CUSTOS_PROXY_REQUESTS_PER_MINUTE: '6' });
  const signUp = (count: number) =>
    world.proxy.call('signup_v2', {
      ...LISTS,
      apiKeys: [keyParams(newKeyPair())],
      wallet: { walletName: 'Wallet', accounts: times(count, account) },
    });
  for (const count of [38, 38, 200]) expect((await signUp(count)).status).toBe(200);
  expect(refusal(await signUp(1))).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
});
