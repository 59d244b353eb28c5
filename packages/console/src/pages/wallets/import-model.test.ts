import { describe, expect, it } from 'vitest';
import { importBundleIn, keyProblem, readKey, wordsProblem } from './import-model.ts';

const KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';

describe('words', () => {
  it('are counted, whatever stands between them', () => {
    expect(wordsProblem(` ${'abandon \n\t'.repeat(11)} about`)).toBeUndefined();
    expect(wordsProblem('abandon '.repeat(13))).toContain('13 words');
    expect(wordsProblem('  ')).toContain('Type the words');
  });
});

describe('keys', () => {
  it.each([KEY, `0x${KEY}`, ` ${KEY.toUpperCase()} `])('reads %s', (text) => {
    expect(Buffer.from(readKey(text, 'CURVE_SECP256K1') ?? []).toString('hex')).toBe(KEY);
  });

  it('takes the seed out of what Solana wallets write', () => {
    const text = '2AXDGYSE4f2sz7tvMMzyHvUfcoJmxudvdhBcmiUSo6ijwfYmfZYsKRxboQMPh3R4kUhXRVdtSXFXMheka4Rc4P2';
    expect(readKey(text, 'CURVE_ED25519')?.length).toBe(32);
    expect(readKey(text, 'CURVE_SECP256K1')).toBeUndefined();
  });

  it.each(['', 'abc', `${KEY}00`, 'hello world'])('says what is wrong with "%s"', (text) => {
    expect(keyProblem(text, 'CURVE_SECP256K1')).toEqual(expect.any(String));
  });
});

it('finds a bundle in a result of any name', () => {
  expect(importBundleIn({ initImportWalletResult: { importBundle: '{}' } })).toBe('{}');
  expect(importBundleIn(undefined)).toBeUndefined();
  expect(importBundleIn({ other: null })).toBeUndefined();
});
