import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Hex, keccak256, serializeTransaction, type TransactionSerializable, toHex, toRlp } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { parseSignedEthereumTransaction } from './signed-transaction.ts';

const account = privateKeyToAccount(generatePrivateKey());
const TO = `0x${'cd'.repeat(20)}` as const;
const common = { chainId: 31337, nonce: 7, gas: 21_000n, to: TO, value: 5n, data: '0xa9059cbb00' } as const;
const fees = { maxFeePerGas: 30n, maxPriorityFeePerGas: 2n };
const accessList = [{ address: TO, storageKeys: [`0x${'01'.repeat(32)}` as const] }];
const authorizationList = [
  await account.signAuthorization({ chainId: 31337, contractAddress: TO, nonce: 8 }),
  await account.signAuthorization({ chainId: 0, contractAddress: TO, nonce: 0 }),
];

const KINDS: readonly (readonly [string, string, TransactionSerializable])[] = [
  ['a legacy transaction', 'LEGACY', { ...common, type: 'legacy', gasPrice: 9n }],
  ['a legacy one on a chain with a large id', 'LEGACY', { ...common, type: 'legacy', gasPrice: 9n, chainId: 2 ** 40 }],
  ['one with an access list', 'TYPE_1', { ...common, type: 'eip2930', gasPrice: 9n, accessList }],
  ['one with a base fee', 'TYPE_2', { ...common, ...fees, type: 'eip1559', accessList }],
  ['one with authorizations', 'TYPE_4', { ...common, ...fees, type: 'eip7702', authorizationList }],
];

const signed = (tx: TransactionSerializable): Promise<Hex> => account.signTransaction(tx);

/** The fields of a type 2 transaction, signed with whatever r, s and parity are given. */
function typed(parity: Hex, r: Hex, s: Hex): Hex {
  const list = toRlp(['0x7a69', '0x07', '0x02', '0x1e', '0x5208', TO, '0x05', '0x', [], parity, r, s]);
  return `0x02${list.slice(2)}`;
}
const codeOf = (hex: string): string => {
  try {
    parseSignedEthereumTransaction(hex);
    return 'taken';
  } catch (error) {
    return (error as ApiError).code;
  }
};

describe('a signed transaction', () => {
  test.each(KINDS)('%s is read as it was written', async (_name, type, tx) => {
    const raw = await signed(tx);
    const parsed = parseSignedEthereumTransaction(raw);
    expect(parsed.from).toBe(account.address.toLowerCase());
    expect(parsed.hash).toBe(keccak256(raw));
    expect(parsed.raw).toBe(raw);
    expect(parsed.transaction).toMatchObject({
      type,
      chainId: BigInt(tx.chainId ?? 0),
      nonce: 7n,
      to: TO,
      value: 5n,
      data: common.data,
      selector: '0xa9059cbb',
      gas: 21_000n,
      maxFeePerGas: 'maxFeePerGas' in tx ? 30n : 9n,
    });
    expect(parsed.transaction.authorizationList).toHaveLength('authorizationList' in tx ? 2 : 0);
  });

  test('is the same without 0x and in capitals', async () => {
    const raw = await signed({ ...common, ...fees, type: 'eip1559' });
    const spelled = raw.slice(2).toUpperCase();
    expect(parseSignedEthereumTransaction(spelled)).toEqual(parseSignedEthereumTransaction(raw));
  });

  test('has the sender whose key signed it, each time', async () => {
    for (let nonce = 0; nonce < 20; nonce++) {
      const other = privateKeyToAccount(generatePrivateKey());
      const raw = await other.signTransaction({ ...common, ...fees, type: 'eip1559', nonce });
      expect(parseSignedEthereumTransaction(raw).from).toBe(other.address.toLowerCase());
    }
  });

  test('may create a contract', async () => {
    const { to: _to, ...rest } = common;
    const raw = await signed({ ...rest, ...fees, type: 'eip1559' });
    expect(parseSignedEthereumTransaction(raw).transaction.to).toBe('');
  });
});

describe('what is refused', () => {
  test('a legacy transaction that names no chain', async () => {
    const { chainId: _chainId, ...rest } = common;
    expect(codeOf(await signed({ ...rest, type: 'legacy', gasPrice: 9n }))).toBe('INVALID_TRANSACTION');
  });

  test.each(KINDS)('%s without a signature', (_name, _type, tx) => {
    expect(codeOf(serializeTransaction(tx))).toBe('INVALID_TRANSACTION');
  });

  test.each(KINDS)('%s with anything behind or cut off', async (_name, _type, tx) => {
    const raw = await signed(tx);
    expect(codeOf(raw)).toBe('taken');
    for (const broken of [`${raw}00`, raw.slice(0, -2), raw.slice(0, -1), `00${raw.slice(2)}`, '0x', 'zz']) {
      expect(codeOf(broken), broken).toBe('INVALID_TRANSACTION');
    }
  });

  test('a high s, which is the same signature in another spelling', async () => {
    const { yParity, r, s } = await sign();
    expect(codeOf(typed(yParity, toHex(r), toHex(s)))).toBe('taken');
    const flipped = yParity === '0x' ? '0x01' : '0x';
    expect(codeOf(typed(flipped, toHex(r), toHex(secp256k1.Point.Fn.ORDER - s)))).toBe('INVALID_TRANSACTION');
  });

  test('signatures that are out of range or not canonical', async () => {
    const { yParity, r, s } = await sign();
    const order = toHex(secp256k1.Point.Fn.ORDER);
    const tooLong: Hex = `0x01${'00'.repeat(32)}`;
    for (const [parity, one, other] of [
      [yParity, '0x', toHex(s)],
      [yParity, toHex(r), '0x'],
      [yParity, order, toHex(s)],
      [yParity, toHex(r), order],
      [yParity, tooLong, toHex(s)],
      ['0x02', toHex(r), toHex(s)],
      ['0x1b', toHex(r), toHex(s)],
      ['0x00', toHex(r), toHex(s)],
      [yParity, `0x00${toHex(r).slice(2)}`, toHex(s)],
    ] as const) {
      expect(codeOf(typed(parity, one, other))).toBe('INVALID_TRANSACTION');
    }
  });

  test('a point that is on no curve', () => {
    // No point has the x coordinate 5.
    expect(codeOf(typed('0x', '0x05', '0x01'))).toBe('INVALID_TRANSACTION');
  });

  test('blobs, and types that nobody knows', async () => {
    expect(codeOf('0x03c0')).toBe('UNSUPPORTED_TRANSACTION_TYPE');
    const raw = await signed({ ...common, ...fees, type: 'eip1559' });
    for (const type of ['00', '05', '7f', '80', 'bf']) {
      expect(codeOf(`0x${type}${raw.slice(4)}`), type).toBe('INVALID_TRANSACTION');
    }
    expect(() => parseSignedEthereumTransaction('0x03c0')).toThrow(ApiError);
  });

  async function sign(): Promise<{ yParity: Hex; r: bigint; s: bigint }> {
    const unsigned = toRlp(['0x7a69', '0x07', '0x02', '0x1e', '0x5208', TO, '0x05', '0x', []]);
    const { r, s, yParity } = await privateKeySign(keccak256(`0x02${unsigned.slice(2)}`));
    return { yParity: yParity === 1 ? '0x01' : '0x', r: BigInt(r), s: BigInt(s) };
  }
  async function privateKeySign(hash: Hex) {
    const signature = secp256k1.sign(Buffer.from(hash.slice(2), 'hex'), secp256k1.utils.randomSecretKey(), {
      prehash: false,
      format: 'recovered',
    });
    const { r, s, recovery } = secp256k1.Signature.fromBytes(signature, 'recovered');
    return { r, s, yParity: recovery };
  }
});
