import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { ethereumAddress } from '../../chains/ethereum/address.ts';
import { earnAaveWrapperBytecode, earnWrapperBytecode } from '../../chains/ethereum/contract-artifacts.ts';
import { CREATE2_PROXY, type WrapperTerms, wrapperDeployment } from './contract-addresses.ts';

// The words of the ABI are written out here, so that the encoder of the code is held to something else than itself.

const ORGANIZATION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const VAULT = 'a1'.repeat(20);
const CLIENT = ethereumAddress(secp256k1.getPublicKey(new Uint8Array(32).fill(3))).slice(2);
const SERVICE = 'c3'.repeat(20);
const NOBODY = '0'.repeat(40);

const TERMS: WrapperTerms = {
  organizationId: ORGANIZATION,
  chainId: 31337n,
  vaultAddress: `0x${VAULT}`,
  provider: 'EARN_PROVIDER_MORPHO',
  clientFeeBps: 1500,
  clientFeeWallet: `0x${CLIENT}`,
  serviceFeeBps: 500,
  serviceFeeWallet: `0x${SERVICE}`,
};
const ALONE: WrapperTerms = { ...TERMS, serviceFeeBps: 0, serviceFeeWallet: undefined };

const word = (value: number | string): string =>
  (typeof value === 'number' ? value.toString(16) : value).padStart(64, '0');
const text = (value: string): string => {
  const hex = Buffer.from(value).toString('hex');
  return word(value.length) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0');
};
const keccak = (hex: string): string => Buffer.from(keccak_256(Buffer.from(hex, 'hex'))).toString('hex');

/** protocol/earn 2.2: organization, chain, vault, the client's fee and wallet, the service's. */
const saltOf = (service: readonly [number, string]): string =>
  keccak(
    [word(7 * 32), word(31337), word(VAULT), word(1500), word(CLIENT), word(service[0]), word(service[1])].join('') +
      text(ORGANIZATION),
  );
/** vault, total fee, payees, shares. */
const argumentsOf = (payees: readonly string[], shares: readonly number[]): string =>
  [
    word(VAULT),
    word(shares.reduce((sum, share) => sum + share, 0)),
    word(4 * 32),
    word((5 + payees.length) * 32),
    word(payees.length),
    ...payees.map(word),
    word(shares.length),
    ...shares.map(word),
  ].join('');
const create2 = (salt: string, initCode: string): string =>
  `0x${keccak(`ff${CREATE2_PROXY.slice(2)}${salt}${keccak(initCode)}`).slice(24)}`;
/** The RLP of an address and the nonce 1. */
const create = (from: string): string => `0x${keccak(`d694${from.slice(2)}01`).slice(24)}`;

function addressesOf(terms: WrapperTerms): readonly [string, string] {
  const { wrapperAddress, splitterAddress } = wrapperDeployment(terms);
  return [wrapperAddress.toLowerCase(), splitterAddress.toLowerCase()];
}

describe.each([
  ['with a fee of the service', TERMS, saltOf([500, SERVICE]), argumentsOf([CLIENT, SERVICE], [1500, 500])],
  ['without one', ALONE, saltOf([0, NOBODY]), argumentsOf([CLIENT], [1500])],
])('a wrapper %s', (_, terms, salt, args) => {
  const initCode = earnWrapperBytecode.slice(2) + args;

  test('is deployed through the proxy by its salt and its code', () => {
    expect(wrapperDeployment(terms)).toMatchObject({ to: CREATE2_PROXY, data: `0x${salt}${initCode}` });
  });

  test('is where CREATE2 puts it, and its splitter where its first CREATE does', () => {
    const wrapperAddress = create2(salt, initCode);
    expect(addressesOf(terms)).toEqual([wrapperAddress, create(wrapperAddress)]);
  });
});

test('over an Aave reserve it is another contract with the same arguments', () => {
  const { data } = wrapperDeployment({ ...ALONE, provider: 'EARN_PROVIDER_AAVE' });
  expect(data).toBe(`0x${saltOf([0, NOBODY])}${earnAaveWrapperBytecode.slice(2)}${argumentsOf([CLIENT], [1500])}`);
});

test.each<[string, Partial<WrapperTerms>]>([
  ['organization', { organizationId: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }],
  ['chain', { chainId: 1n }],
  ['vault', { vaultAddress: `0x${'a2'.repeat(20)}` }],
  ['provider', { provider: 'EARN_PROVIDER_AAVE' }],
  ['fee', { clientFeeBps: 1501 }],
  ['wallet', { clientFeeWallet: `0x${SERVICE}` }],
  ['fee of the service', { serviceFeeBps: 501 }],
  ['wallet of the service', { serviceFeeWallet: `0x${CLIENT}` }],
])('another %s is another address', (_, other) => {
  const [wrapper, splitter] = addressesOf(TERMS);
  const [otherWrapper, otherSplitter] = addressesOf({ ...TERMS, ...other });
  expect(otherWrapper).not.toBe(wrapper);
  expect(otherSplitter).not.toBe(splitter);
});
