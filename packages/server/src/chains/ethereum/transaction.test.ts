import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import {
  type Hex,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
  toRlp,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import type { RawSignature, SignerAccount } from '../signable.ts';
import { CHAIN_ID_MAX, NONCE_MAX, UINT64_MAX, UINT256_MAX } from './fields.ts';
import { decodeRlp, encodeRlp, type RlpItem, TRANSACTION_BYTES_MAX } from './rlp.ts';
import {
  type EthereumTransaction,
  parseEthereumTransaction,
  serializeEthereumTransaction,
  signableEthereum,
} from './transaction.ts';

// The private key of the example in EIP-155.
const KEY = `0x${'46'.repeat(32)}` as const;
const ADDRESS = privateKeyToAddress(KEY);
const KEY_BYTES = Buffer.from(KEY.slice(2), 'hex');
const SIGNER: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(KEY_BYTES),
  address: ADDRESS,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

function sign(digest: Uint8Array): RawSignature {
  const bytes = secp256k1.sign(digest, KEY_BYTES, { prehash: false, format: 'recovered' });
  return { v: bytes[0] === 0 ? 0 : 1, r: bytes.slice(1, 33), s: bytes.slice(33) };
}

function signed(hex: string): string {
  const signable = signableEthereum(hex, SIGNER);
  return signable.attach(signable.payloads.map(sign));
}

function refusal(hex: string): string {
  try {
    parseEthereumTransaction(hex);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('INVALID_TRANSACTION');
    expect(error.message).toContain('failed to parse transaction');
    return error.message;
  }
  throw new Error('not refused');
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
type HexTree = string | HexTree[];
const hexTree = (item: RlpItem): HexTree => (item instanceof Uint8Array ? `0x${hexOf(item)}` : item.map(hexTree));
const listHex = (items: RlpItem): string => hexOf(encodeRlp(items));
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

const TO = '0x3535353535353535353535353535353535353535';
const ACCESS_LIST = [{ address: TO, storageKeys: [`0x${'ab'.repeat(32)}`] }] as const;
const BLOB_HASH = `0x01${'cd'.repeat(31)}` as const;
const AUTHORIZATION = {
  chainId: 1,
  address: TO,
  nonce: 3,
  r: `0x00${'11'.repeat(31)}`,
  s: `0x${'22'.repeat(32)}`,
  yParity: 1,
} as const;

const SAMPLES: Record<string, TransactionSerializable> = {
  'legacy without replay protection': { type: 'legacy', nonce: 0, gasPrice: 1n, gas: 21000n, to: TO, value: 1n },
  'legacy creation': { type: 'legacy', chainId: 1, nonce: 1, gasPrice: 1n, gas: 21000n, data: '0x60006000' },
  'EIP-155 with a large chain id': { type: 'legacy', chainId: 2 ** 50, nonce: 1, gasPrice: 1n, gas: 9n, to: TO },
  'EIP-2930': { type: 'eip2930', chainId: 1, nonce: 7, gasPrice: 5n, gas: 30000n, to: TO, accessList: ACCESS_LIST },
  'EIP-1559': {
    type: 'eip1559',
    chainId: 8453,
    nonce: 785,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    gas: 100_000n,
    to: TO,
    value: 10n ** 18n,
    data: '0xa9059cbb00',
    accessList: ACCESS_LIST,
  },
  'EIP-1559 creation': { type: 'eip1559', chainId: 1, data: '0x00' },
  'EIP-4844': {
    type: 'eip4844',
    chainId: 1,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
    maxFeePerBlobGas: 9n,
    gas: 21000n,
    to: TO,
    blobVersionedHashes: [BLOB_HASH],
  },
  'EIP-7702': {
    type: 'eip7702',
    chainId: 1,
    nonce: 1,
    maxFeePerGas: 2n,
    gas: 90000n,
    to: TO,
    authorizationList: [AUTHORIZATION, { ...AUTHORIZATION, chainId: 0, nonce: 0, yParity: 0 }],
  },
};

describe('published examples', () => {
  test('EIP-155: digest, signature and signed form', () => {
    const unsigned = 'ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080';
    const signable = signableEthereum(unsigned, SIGNER);
    expect(hexOf(signable.payloads[0]!)).toBe('daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53');
    expect(signed(`0x${unsigned}`)).toBe(
      'f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025' +
        'a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276' +
        'a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    );
    expect(parseEthereumTransaction(unsigned)).toEqual({
      type: 'LEGACY',
      chainId: 1n,
      nonce: 9n,
      to: TO,
      value: 10n ** 18n,
      data: '0x',
      selector: '',
      gas: 21000n,
      gasPrice: 20_000_000_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 20_000_000_000n,
      maxFeePerBlobGas: 0n,
      accessList: [],
      blobVersionedHashes: [],
      authorizationList: [],
    });
  });
});

describe('agreement with viem', () => {
  test.each(Object.entries(SAMPLES))('%s', async (_name, sample) => {
    const unsigned = serializeTransaction(sample);
    const tx = parseEthereumTransaction(unsigned);
    expect(`0x${serializeEthereumTransaction(tx)}`).toBe(unsigned);
    const signable = signableEthereum(unsigned, SIGNER);
    expect(`0x${hexOf(signable.payloads[0]!)}`).toBe(keccak256(unsigned));
    const signature = sign(signable.payloads[0]!);
    const result = `0x${signable.attach([signature])}` as TransactionSerialized;
    const expected = serializeTransaction(sample, {
      r: `0x${hexOf(signature.r)}`,
      s: `0x${hexOf(signature.s)}`,
      v: BigInt(27 + signature.v),
      yParity: signature.v,
    });
    expect(result).toBe(expected);
    expect(await recoverTransactionAddress({ serializedTransaction: result })).toBe(ADDRESS);
    expect(refusal(result)).toContain('already contains a signature');
  });

  test('the parsed members', () => {
    expect(parseEthereumTransaction(serializeTransaction(SAMPLES['EIP-1559']!))).toMatchObject({
      type: 'TYPE_2',
      chainId: 8453n,
      to: TO,
      data: '0xa9059cbb00',
      selector: '0xa9059cbb',
      gasPrice: 2_000_000_000n,
      maxFeePerGas: 2_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      accessList: ACCESS_LIST,
    });
    expect(parseEthereumTransaction(serializeTransaction(SAMPLES['EIP-1559 creation']!))).toMatchObject({ to: '' });
    expect(parseEthereumTransaction(serializeTransaction(SAMPLES['EIP-4844']!))).toMatchObject({
      type: 'TYPE_3',
      maxFeePerBlobGas: 9n,
      blobVersionedHashes: [BLOB_HASH],
    });
    const { authorizationList } = parseEthereumTransaction(serializeTransaction(SAMPLES['EIP-7702']!));
    expect(authorizationList).toEqual([
      { chainId: 1n, address: TO, nonce: 3n, yParity: 1n, r: BigInt(AUTHORIZATION.r), s: BigInt(AUTHORIZATION.s) },
      { chainId: 0n, address: TO, nonce: 0n, yParity: 0n, r: BigInt(AUTHORIZATION.r), s: BigInt(AUTHORIZATION.s) },
    ]);
  });

  test('leading zeros of r and s are dropped and v counts in any position', () => {
    const unsigned = serializeTransaction(SAMPLES['EIP-1559']!);
    const short = { r: bytes(`0000${'11'.repeat(30)}`), s: bytes(`00${'22'.repeat(31)}`), v: 0 } as const;
    const fields = decodeRlp(bytes(signableEthereum(unsigned, SIGNER).attach([short]).slice(2))) as RlpItem[];
    expect(fields.slice(-3).map((item) => (item as Uint8Array).length)).toEqual([0, 30, 31]);
  });
});

describe('refusals', () => {
  const legacy = [bytes('09'), bytes('01'), bytes('5208'), bytes(TO.slice(2)), bytes('01'), bytes('')];
  const typed = (type: string, fields: RlpItem[]) => `${type}${listHex(fields)}`;
  const dynamic = decodeRlp(bytes(serializeTransaction(SAMPLES['EIP-1559']!).slice(4))) as RlpItem[];
  const blob = decodeRlp(bytes(serializeTransaction(SAMPLES['EIP-4844']!).slice(4))) as RlpItem[];
  const setCode = decodeRlp(bytes(serializeTransaction(SAMPLES['EIP-7702']!).slice(4))) as RlpItem[];
  const access = decodeRlp(bytes(serializeTransaction(SAMPLES['EIP-2930']!).slice(4))) as RlpItem[];

  test.each<[string, string, string]>([
    ['nothing', '', 'empty'],
    ['only the prefix', '0x', 'empty'],
    ['an odd number of digits', '0xc', 'odd number'],
    ['digits that are not hex', '0xzz', 'not hexadecimal'],
    ['characters whose low byte is a digit', '\u0130\u0130', 'not hexadecimal'],
    ['a prefix in upper case', '0Xc0', 'not hexadecimal'],
    ['too many bytes', '00'.repeat(TRANSACTION_BYTES_MAX + 1), 'longer than'],
    ['a byte string', '83aabbcc', 'unknown transaction type 0x83'],
    ['an unknown type', '05c0', 'unknown transaction type 0x05'],
    ['a Tempo transaction', '76c0', 'unknown transaction type 0x76'],
    ['a type without a list', '02', 'RLP ends'],
    ['a type with a byte string', '0280', 'not a list'],
    ['an empty list', 'c0', '0 fields, expected 6 or 9'],
    ['bytes after the end', `${listHex(legacy)}00`, 'bytes after the end'],
    ['a list that is cut', listHex(legacy).slice(0, -2), 'longer than what contains it'],
    ['a length longer than the text', 'f9ffff', 'longer than what contains it'],
    ['a length of eight bytes', 'ffffffffffffffffff', 'longer than what contains it'],
    ['a length with leading zeros', 'f90001aa', 'leading zeros'],
    ['a long length for a short item', 'f801aa', 'a long length'],
    ['a prefix for a small byte', 'c28109', 'a byte with a prefix'],
    ['lists nested too deep', `${'f8c9c8c7c6c5c4c3c2c1c0'.replace('f8', 'ca')}`, 'nested deeper'],
    ['too many items', listHex(Array.from({ length: 65_537 }, () => bytes('01'))), 'more than 65536'],
    ['an integer with leading zeros', listHex([bytes('0009'), ...legacy.slice(1)]), 'nonce has leading zeros'],
    ['zero as a byte', listHex([bytes('00'), ...legacy.slice(1)]), 'nonce has leading zeros'],
    ['a nonce beyond EIP-2681', listHex([bytes('ff'.repeat(8)), ...legacy.slice(1)]), 'nonce is out of range'],
    ['a value of 33 bytes', listHex(legacy.with(4, bytes('11'.repeat(33)))), 'value is out of range'],
    ['gas beyond 64 bits', listHex(legacy.with(2, bytes('11'.repeat(9)))), 'gas is out of range'],
    ['a list as nonce', listHex([[], ...legacy.slice(1)]), 'nonce is a list'],
    ['a list as data', listHex([...legacy.slice(0, 5), []]), 'data is a list'],
    ['an address of 19 bytes', listHex(legacy.with(3, bytes('35'.repeat(19)))), 'to has 19 bytes'],
    ['seven fields', listHex([...legacy, bytes('01')]), '7 fields'],
    ['EIP-155 with chain id 0', listHex([...legacy, bytes(''), bytes(''), bytes('')]), 'chainId is 0'],
    ['EIP-155 with r only', listHex([...legacy, bytes('25'), bytes('01'), bytes('')]), 'already contains a signature'],
    ['EIP-155 with a list as r', listHex([...legacy, bytes('01'), [], bytes('')]), 'r is a list'],
    [
      'a chain id beyond EIP-2294',
      listHex([...legacy, bytes('7fffffffffffffdc'), bytes(''), bytes('')]),
      'chainId is out of range',
    ],
    ['chain id 0 in a typed transaction', typed('02', dynamic.with(0, bytes(''))), 'chainId is 0'],
    ['a typed transaction with a field too few', typed('02', dynamic.slice(0, 8)), '8 fields, expected 9'],
    ['the signed form of another count', typed('02', [...dynamic, bytes('')]), '10 fields, expected 9'],
    ['an access list that is a string', typed('02', dynamic.with(8, bytes(''))), 'accessList is not a list'],
    ['an access list entry of one item', typed('01', access.with(7, [[bytes('')]])), 'has 1 items'],
    ['a storage key of 31 bytes', typed('01', access.with(7, [[bytes(TO.slice(2)), [bytes('11'.repeat(31))]]])), '31'],
    ['an access list address of 0 bytes', typed('01', access.with(7, [[bytes(''), []]])), 'has 0 bytes'],
    ['the EIP-4844 network form', typed('03', [blob, [], [], []]), 'network form'],
    ['the EIP-7594 network form', typed('03', [blob, bytes('01'), [], [], []]), 'network form'],
    ['EIP-4844 without blobs', typed('03', blob.with(10, [])), 'blobVersionedHashes is empty'],
    ['EIP-4844 with another version', typed('03', blob.with(10, [bytes('02'.repeat(32))])), 'byte 01'],
    ['EIP-4844 creation', typed('03', blob.with(5, bytes(''))), 'to has 0 bytes'],
    ['EIP-7702 creation', typed('04', setCode.with(5, bytes(''))), 'to has 0 bytes'],
    ['EIP-7702 without authorizations', typed('04', setCode.with(9, [])), 'authorizationList is empty'],
    ['an authorization of three items', typed('04', setCode.with(9, [[bytes(''), bytes(''), bytes('')]])), 'has 3'],
  ])('%s', (_name, hex, reason) => {
    expect(refusal(hex)).toContain(reason);
  });

  test('keys on other curves', () => {
    const unsigned = serializeTransaction(SAMPLES['EIP-1559']!);
    for (const curve of ['CURVE_ED25519', 'CURVE_P256'] as const) {
      expect(() => signableEthereum(unsigned, { ...SIGNER, curve })).toThrow('CURVE_SECP256K1');
    }
  });

  test('a wrong number of signatures is a mistake of ours', () => {
    const signable = signableEthereum(serializeTransaction(SAMPLES['EIP-1559']!), SIGNER);
    const signature = sign(signable.payloads[0]!);
    expect(() => signable.attach([])).toThrow('assertion failed');
    expect(() => signable.attach([signature, signature])).toThrow('assertion failed');
    expect(() => signable.attach([{ ...signature, r: signature.r.slice(1) }])).toThrow('assertion failed');
  });
});

const hexArbitrary = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((value) => `0x${hexOf(value)}`);
const uint = (max: bigint) => fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max }));
const address = hexArbitrary(20);
const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hexArbitrary(32), { maxLength: 3 }) }), {
  maxLength: 3,
});
const authorization = fc.record({
  chainId: uint(UINT256_MAX),
  address,
  nonce: uint(UINT64_MAX),
  yParity: fc.bigInt({ min: 0n, max: 255n }),
  r: uint(UINT256_MAX - 1n),
  s: uint(UINT256_MAX - 1n),
});
const base = fc.record({
  chainId: fc.bigInt({ min: 1n, max: CHAIN_ID_MAX }),
  nonce: uint(NONCE_MAX),
  to: address,
  value: uint(UINT256_MAX),
  data: fc.oneof(hexArbitrary(0, 5), hexArbitrary(0, 400)),
  gas: uint(UINT64_MAX),
  gasPrice: uint(UINT256_MAX),
  maxPriorityFeePerGas: uint(UINT256_MAX),
  maxFeePerBlobGas: uint(UINT256_MAX),
  accessList,
  blobVersionedHashes: fc.array(
    hexArbitrary(31).map((hash) => `0x01${hash.slice(2)}`),
    { minLength: 1, maxLength: 6 },
  ),
  authorizationList: fc.array(authorization, { minLength: 1, maxLength: 3 }),
  creation: fc.boolean(),
  protection: fc.boolean(),
  type: fc.constantFrom<EthereumTransaction['type']>('LEGACY', 'TYPE_1', 'TYPE_2', 'TYPE_3', 'TYPE_4'),
});
const transactions: fc.Arbitrary<EthereumTransaction> = base.map(({ creation, protection, ...tx }) => {
  const oldFee = tx.type === 'LEGACY' || tx.type === 'TYPE_1';
  return {
    ...tx,
    chainId: tx.type === 'LEGACY' && !protection ? 0n : tx.chainId,
    to: creation && tx.type !== 'TYPE_3' && tx.type !== 'TYPE_4' ? '' : tx.to,
    selector: tx.data.length >= 10 ? tx.data.slice(0, 10) : '',
    maxFeePerGas: tx.gasPrice,
    maxPriorityFeePerGas: oldFee ? tx.gasPrice : tx.maxPriorityFeePerGas,
    maxFeePerBlobGas: tx.type === 'TYPE_3' ? tx.maxFeePerBlobGas : 0n,
    accessList: tx.type === 'LEGACY' ? [] : tx.accessList,
    blobVersionedHashes: tx.type === 'TYPE_3' ? tx.blobVersionedHashes : [],
    authorizationList: tx.type === 'TYPE_4' ? tx.authorizationList : [],
  };
});

/** Either refused as the caller's mistake, or understood in full: what was parsed serialises to what was given. */
function expectWholeOrNothing(input: Uint8Array): void {
  const hex = hexOf(input);
  let tx: EthereumTransaction;
  try {
    tx = parseEthereumTransaction(hex);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INVALID_TRANSACTION') return;
    throw error;
  }
  expect(serializeEthereumTransaction(tx)).toBe(hex);
}

/** viem keeps ids and nonces in numbers and refuses a priority fee above the fee. */
function exactForViem(tx: EthereumTransaction): EthereumTransaction {
  const typed = tx.type !== 'LEGACY';
  const small = 2n ** 40n;
  return {
    ...tx,
    chainId: (tx.chainId % small) + (typed ? 1n : 0n),
    nonce: tx.nonce % small,
    maxPriorityFeePerGas: typed ? 0n : tx.gasPrice,
    authorizationList: tx.authorizationList.map((entry) => ({
      ...entry,
      chainId: entry.chainId % small,
      nonce: entry.nonce % small,
      yParity: entry.yParity % 2n,
      r: entry.r + 1n,
      s: entry.s + 1n,
    })),
  };
}

describe('any input', () => {
  test('a transaction survives the round trip, in either case of the hex', () => {
    fc.assert(
      fc.property(transactions, (tx) => {
        const hex = serializeEthereumTransaction(tx);
        expect(parseEthereumTransaction(hex)).toEqual(tx);
        expect(parseEthereumTransaction(`0x${hex.toUpperCase()}`)).toEqual(tx);
      }),
      { numRuns: 300 },
    );
  });

  test('what is signed recovers to the signer', async () => {
    await fc.assert(
      fc.asyncProperty(transactions, async (tx) => {
        const safe = exactForViem(tx);
        const unsigned = serializeEthereumTransaction(safe);
        expect(hexOf(signableEthereum(unsigned, SIGNER).payloads[0]!)).toBe(keccak256(`0x${unsigned}`).slice(2));
        const result = `0x${signed(unsigned)}` as Hex as TransactionSerialized;
        expect(await recoverTransactionAddress({ serializedTransaction: result })).toBe(ADDRESS);
      }),
      { numRuns: 60 },
    );
  });

  test('random bytes', () => {
    const prefix = fc.constantFrom('', '01f8', '02f8', '03f8', '04f8', 'f8', 'c9', '02c9');
    fc.assert(
      fc.property(prefix, fc.uint8Array({ maxLength: 120 }), (start, rest) => {
        expectWholeOrNothing(Buffer.concat([bytes(start), rest]));
      }),
      { numRuns: 1500 },
    );
  });

  test('random RLP', () => {
    const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
      item: fc.oneof({ maxDepth: 3 }, fc.uint8Array({ maxLength: 33 }), fc.array(tie('item'), { maxLength: 6 })),
    }));
    fc.assert(
      fc.property(fc.constantFrom('', '01', '02', '03', '04'), fc.array(item, { maxLength: 14 }), (type, fields) => {
        const encoded = encodeRlp(fields);
        expect(hexOf(encodeRlp(decodeRlp(encoded)))).toBe(hexOf(encoded));
        expect(hexOf(encoded)).toBe(toRlp(hexTree(fields) as Hex[]).slice(2));
        expectWholeOrNothing(bytes(`${type}${hexOf(encoded)}`));
      }),
      { numRuns: 300 },
    );
  });

  test('valid bytes with changes', () => {
    const change = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom('set', 'insert', 'remove', 'cut', 'flip'),
      byte: fc.nat({ max: 255 }),
    });
    fc.assert(
      fc.property(transactions, fc.array(change, { minLength: 1, maxLength: 3 }), (tx, changes) => {
        let input = [...bytes(serializeEthereumTransaction(tx))];
        for (const { at, kind, byte } of changes) {
          const index = at % (input.length + 1);
          if (kind === 'set') input[Math.min(index, input.length - 1)] = byte;
          if (kind === 'flip') input[Math.min(index, input.length - 1)]! ^= 1 << (byte % 8);
          if (kind === 'insert') input.splice(index, 0, byte);
          if (kind === 'remove') input.splice(index, 1);
          if (kind === 'cut') input = input.slice(0, index);
          if (input.length === 0) input = [0];
        }
        expectWholeOrNothing(Uint8Array.from(input));
      }),
      { numRuns: 1500 },
    );
  });
});
