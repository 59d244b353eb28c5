import { encodeFunctionData, erc20Abi, getAddress, hashMessage, stringToBytes } from 'viem';
import { describe, expect, it } from 'vitest';
import { toHex } from './bytes.ts';
import { joinSignature, personalMessage, toChecksum, transferData } from './evm.ts';
import { keccak256 } from './keccak.ts';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('toChecksum', () => {
  it.each([
    TO,
    '0xde709f2102306220921060314715629080e2fb77',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  ])('writes the capitals of %s', (address) => {
    expect(toChecksum(address.toLowerCase())).toBe(getAddress(address));
  });
});

describe('transferData', () => {
  it.each([0n, 1n, 4_000_000_000n, 2n ** 256n - 1n])('encodes %i as other encoders do', (amount) => {
    expect(transferData(TO, amount)).toBe(
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, amount] }),
    );
  });

  it('refuses what does not fit', () => {
    expect(() => transferData(TO, 2n ** 256n)).toThrow(RangeError);
    expect(() => transferData(TO, -1n)).toThrow(RangeError);
    expect(() => transferData('0x1234', 1n)).toThrow(RangeError);
  });
});

describe('personalMessage', () => {
  it.each(['hello', '', 'Grüße, 世界 🌍', 'a\nb'])('counts bytes, not characters: %s', (message) => {
    expect(`0x${toHex(keccak256(stringToBytes(personalMessage(message))))}`).toBe(hashMessage(message));
  });
});

it('joins a signature with 27 or 28', () => {
  expect(joinSignature({ r: 'aa', s: 'bb', v: '00' })).toBe('0xaabb1b');
  expect(joinSignature({ r: 'aa', s: 'bb', v: '01' })).toBe('0xaabb1c');
});
