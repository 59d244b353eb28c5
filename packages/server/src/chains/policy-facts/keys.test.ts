import { expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import type { PrivateKeyId, SecretId, TagId, WalletId } from '../../lib/ids.ts';
import { checkContractInterface, createInterfaceCache, interfaceAddress } from '../contract-interface.ts';
import { privateKeyFacts, secretFacts, walletAccountFacts, walletFacts } from './keys.ts';

test('a wallet', () => {
  const wallet = { id: 'w1' as WalletId, name: 'Treasury', imported: true, exported: false };
  expect(walletFacts(wallet)).toEqual({ id: 'w1', imported: true, exported: false, label: 'Treasury' });
});

test.each([
  ["m/44'/60'/0'/0/7", [44n, 60n, 0n, 0n, 7n], [true, true, true, false, false]],
  ['m/0', [0n], [false]],
  ["m/2147483647'", [2147483647n], [true]],
])('the account at %s', (pathKey, path_indexes, path_hardened) => {
  expect(walletAccountFacts({ address: '0xAb', pathKey })).toEqual({ address: '0xAb', path_indexes, path_hardened });
});

test.each(['m', '', 'm/44h', 'm//0', 'm/x'])('a path that was never stored: %j', (pathKey) => {
  expect(() => walletAccountFacts({ address: '', pathKey })).toThrow('canonical form');
});

test('a private key', () => {
  const key = { id: 'k1' as PrivateKeyId, name: 'Hot', tagIds: ['t1' as TagId], imported: false, exported: true };
  expect(privateKeyFacts(key)).toEqual({ id: 'k1', tags: ['t1'], imported: false, exported: true, label: 'Hot' });
});

test('a secret, whose properties have one value or none', () => {
  const property = (key: string, value: string) => ({ key, value });
  const staticProperties = [property('env', 'prod'), property('team', 'a'), property('team', 'b')];
  expect(secretFacts({ id: 's1' as SecretId, name: undefined, staticProperties })).toEqual({
    id: 's1',
    name: '',
    static_properties: new Map([['env', 'prod']]),
  });
  expect(secretFacts({ id: 's1' as SecretId, name: 'db', staticProperties: [] }).name).toBe('db');
});

const ETHEREUM = 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM';
const SOLANA = 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';

test('the address of an interface', () => {
  expect(interfaceAddress(ETHEREUM, `0x${'aB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`);
  expect(interfaceAddress(SOLANA, '1'.repeat(32))).toBe('1'.repeat(32));
  const wrong = [
    [ETHEREUM, 'ab'.repeat(20)],
    [ETHEREUM, '1'.repeat(32)],
    [SOLANA, `0x${'ab'.repeat(20)}`],
    [SOLANA, '1'.repeat(33)],
    [SOLANA, '0'.repeat(32)],
  ] as const;
  for (const [type, address] of wrong) expect(() => checkContractInterface(type, address, '[]')).toThrow(ApiError);
});

test('a stored interface is read once while it is among the last used', () => {
  const cache = createInterfaceCache(2);
  const stored = (id: string) => ({ id, type: ETHEREUM, address: `0x${'ab'.repeat(20)}`, text: '[]' }) as const;
  const first = cache.read(stored('a'));
  expect(first).toEqual({ type: ETHEREUM, address: `0x${'ab'.repeat(20)}`, functions: new Map() });
  cache.read(stored('b'));
  expect(cache.read(stored('a'))).toBe(first);
  cache.read(stored('c'));
  expect(cache.read(stored('a'))).toBe(first);
  cache.read(stored('d'));
  cache.read(stored('e'));
  expect(cache.read(stored('a'))).not.toBe(first);
});
