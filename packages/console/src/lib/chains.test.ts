import { describe, expect, it } from 'vitest';
import type { Format } from '../../../keyring/src/address/format.ts';
import { FORMATS } from '../../../keyring/src/address/formats.ts';
import { accountOf, chainName, familyOf, formatName, nextIndex, PRESETS } from './chains.ts';

const formats = FORMATS as readonly Format[];

describe('presets', () => {
  it.each(PRESETS.map((preset) => [preset.id, preset] as const))(
    '%s makes the account that most wallets have first',
    (_, preset) => {
      const format = formats.find(({ name }) => name === preset.addressFormat);
      expect(format?.curves).toContain(preset.curve);
      expect(accountOf(preset)).toMatchObject({ path: format?.usualPath, pathFormat: 'PATH_FORMAT_BIP32' });
    },
  );

  it('continue after the accounts that are there', () => {
    const [ethereum, solana] = PRESETS;
    if (ethereum === undefined || solana === undefined) throw new Error('two presets at least');
    const accounts = [accountOf(ethereum), accountOf(ethereum, 1), accountOf(solana)];
    expect(nextIndex(ethereum, accounts)).toBe(2);
    expect(nextIndex(solana, accounts)).toBe(1);
    expect(nextIndex(solana, [])).toBe(0);
  });
});

it('knows a family of every format but plain keys', () => {
  const unknown = formats.filter(({ name }) => familyOf(name).mark === 'KEY').map(({ name }) => name);
  expect(unknown).toEqual(['ADDRESS_FORMAT_UNCOMPRESSED', 'ADDRESS_FORMAT_COMPRESSED']);
  expect(formatName('ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH')).toBe('Bitcoin P2WPKH');
});

it('calls a chain by its name, or by its number', () => {
  expect(chainName('eip155:8453')).toBe('Base');
  expect(chainName('eip155:31337')).toBe('Chain 31337');
});
