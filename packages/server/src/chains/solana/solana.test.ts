import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import type { SignerAccount } from '../signable.ts';
import { parseSolana, signableSolana } from './solana.ts';

// An independent encoder: just concatenation, with lengths below 128 as one byte.
type Bytes = readonly number[] | Uint8Array;
const cat = (...parts: (Bytes | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const array = (items: readonly Bytes[]): Uint8Array => cat(items.length, ...items);
const u64 = (value: bigint): Uint8Array => new Uint8Array(new BigUint64Array([value]).buffer);
const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const instruction = (program: number, accounts: readonly number[], data: Bytes): Uint8Array =>
  cat(program, accounts.length, accounts, data.length, data);

const SYSTEM = new Uint8Array(32);
const TOKEN = base58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022 = base58.decode('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const BLOCKHASH = key(0xbb);

const seed = new Uint8Array(32).fill(8);
const payer = ed25519.getPublicKey(seed);

interface MessageParts {
  readonly header?: readonly number[];
  readonly keys?: readonly Uint8Array[];
  readonly instructions: readonly Uint8Array[];
  readonly lookups?: readonly Uint8Array[];
}

function message(parts: MessageParts): Uint8Array {
  const { header = [1, 0, 1], keys = [payer, key(2), SYSTEM], instructions, lookups } = parts;
  const body = cat(header, array(keys), BLOCKHASH, array(instructions));
  return lookups === undefined ? body : cat(0x80, body, array(lookups));
}

const wire = (bytes: Uint8Array, slots: readonly Uint8Array[] = [new Uint8Array(64)]): string =>
  hexOf(cat(array(slots), bytes));

const account = (publicKey: Uint8Array): SignerAccount => ({
  curve: 'CURVE_ED25519',
  publicKey,
  address: base58.encode(publicKey),
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
});

function sign(hex: string, secret: Uint8Array): string {
  const signable = signableSolana(hex, account(ed25519.getPublicKey(secret)));
  expect(signable.payloads).toHaveLength(1);
  const signature = ed25519.sign(signable.payloads[0]!, secret);
  return signable.attach([{ r: signature.subarray(0, 32), s: signature.subarray(32), v: 0 }]);
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('INVALID_TRANSACTION');
    return (error as ApiError).message;
  }
  throw new Error('it was accepted');
}

const transfer = (lamports: bigint): Uint8Array => instruction(2, [0, 1], cat(2, 0, 0, 0, u64(lamports)));

// A signed transfer of 49 lamports, from the tests of @solana/web3.js; the sender's seed is 32 times 8.
const PUBLISHED = Buffer.from(
  'AVuErQHaXv0SG0/PchunfxHKt8wMRfMZzqV0tkC5qO6owYxWU2v871AoWywGoFQr4z+q/7mE8lIufNl/kxj+nQ0BAAEDE5j2LG0aRXxRumpLXz29' +
    'L2n8qTIWIY3ImX5Ba9F9k8r9Q5/Mtmcn8onFxt47xKj+XdXXd3C8j/FcPu7csUrz/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAxJrn' +
    'dgN4IFTxep3s6kO0ROug7bEsbx0xxuDkqEvwUusBAgIAAQwCAAAAMQAAAAAAAAA=',
  'base64',
).toString('hex');

const V0 = message({
  header: [2, 1, 2],
  keys: [payer, key(3), key(4), TOKEN, SYSTEM],
  instructions: [
    instruction(4, [0, 5], cat(2, 0, 0, 0, u64(7n))),
    instruction(3, [6, 8, 7, 1], cat(12, u64(1000n), 6)),
  ],
  lookups: [cat(key(0x71), 2, 10, 11, 1, 20), cat(key(0x72), 0, 1, 30)],
});

describe('a legacy transfer', () => {
  test('reads what it does', () => {
    const parsed = parseSolana(PUBLISHED);
    const [from, to] = [base58.encode(payer), 'J3dxNj7nDRRqRRXuEMynDG57DkZK4jYRuv3Garmb1i99'];
    expect(parsed).toEqual({
      version: 'legacy',
      header: { requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: 1 },
      accountKeys: [from, to, base58.encode(SYSTEM)],
      programKeys: [base58.encode(SYSTEM)],
      recentBlockhash: 'EETubP5AKHgjPAhzPAFcb8BAY1hMH639CWCFTqi3hq1k',
      instructions: [
        {
          programKey: base58.encode(SYSTEM),
          accounts: [
            { accountKey: from, signer: true, writable: true },
            { accountKey: to, signer: false, writable: true },
          ],
          dataHex: '020000003100000000000000',
          addressTableLookups: [],
        },
      ],
      addressTableLookups: [],
      transfers: [{ from, to, amount: 49n }],
      splTransfers: [],
    });
  });

  test('is signed as the public library signs it', () => {
    const unsigned = `01${'00'.repeat(64)}${PUBLISHED.slice(2 + 128)}`;
    expect(sign(unsigned, seed)).toBe(PUBLISHED);
    expect(sign(`0x${unsigned.toUpperCase()}`, seed)).toBe(PUBLISHED);
  });

  test('may come as its message alone', () => {
    const bare = PUBLISHED.slice(2 + 128);
    expect(parseSolana(bare)).toEqual(parseSolana(PUBLISHED));
    expect(sign(bare, seed)).toBe(PUBLISHED);
  });
});

describe('a version 0 message', () => {
  test('keeps accounts of tables apart from those it names', () => {
    const parsed = parseSolana(wire(V0, [new Uint8Array(64), new Uint8Array(64)]));
    expect(parsed.version).toBe(0);
    expect(parsed.accountKeys).toEqual([
      ...[payer, key(3), key(4), TOKEN, SYSTEM].map((bytes) => base58.encode(bytes)),
      ...Array.from({ length: 4 }, () => 'ADDRESS_TABLE_LOOKUP'),
    ]);
    const first = { addressTableKey: base58.encode(key(0x71)), writableIndexes: [10, 11], readonlyIndexes: [20] };
    const second = { addressTableKey: base58.encode(key(0x72)), writableIndexes: [], readonlyIndexes: [30] };
    expect(parsed.addressTableLookups).toEqual([first, second]);
    expect(parsed.instructions.map((one) => one.addressTableLookups)).toEqual([
      [{ ...first, writableIndexes: [10], readonlyIndexes: [] }],
      [{ ...first, writableIndexes: [11] }, second],
    ]);
    expect(parsed.instructions[1]!.accounts).toEqual([
      { accountKey: 'ADDRESS_TABLE_LOOKUP', signer: false, writable: true },
      { accountKey: 'ADDRESS_TABLE_LOOKUP', signer: false, writable: false },
      { accountKey: 'ADDRESS_TABLE_LOOKUP', signer: false, writable: false },
      { accountKey: base58.encode(key(3)), signer: true, writable: false },
    ]);
    expect(parsed.transfers).toEqual([{ from: base58.encode(payer), to: 'ADDRESS_TABLE_LOOKUP', amount: 7n }]);
    expect(parsed.splTransfers).toEqual([
      {
        from: 'ADDRESS_TABLE_LOOKUP',
        to: 'ADDRESS_TABLE_LOOKUP',
        amount: 1000n,
        owner: base58.encode(key(3)),
        signers: [],
        tokenMint: 'ADDRESS_TABLE_LOOKUP',
      },
    ]);
  });

  test('is signed in the slot of the signer, and the other slot stays', () => {
    const other = new Uint8Array(64).fill(0x5a);
    const signed = Buffer.from(sign(wire(V0, [new Uint8Array(64), other]), seed), 'hex');
    expect(signed[0]).toBe(2);
    expect(ed25519.verify(signed.subarray(1, 65), signed.subarray(129), payer)).toBe(true);
    expect(Uint8Array.from(signed.subarray(65, 129))).toEqual(other);
    expect(Uint8Array.from(signed.subarray(129))).toEqual(V0);
  });

  test('may come bare, and the missing slots are zero', () => {
    const signed = Buffer.from(sign(hexOf(V0), seed), 'hex');
    expect(hexOf(signed.subarray(65, 129))).toBe('00'.repeat(64));
    expect(ed25519.verify(signed.subarray(1, 65), V0, payer)).toBe(true);
  });

  test('must not take a program from a table', () => {
    const bytes = message({ instructions: [instruction(3, [], [])], lookups: [cat(key(9), 1, 0, 0)] });
    expect(refusal(() => parseSolana(wire(bytes)))).toMatch(/program from an address look-up table/);
  });
});

describe('token transfers', () => {
  const keys = [payer, key(1), key(2), key(3), key(4), TOKEN, TOKEN_2022];
  const names = keys.map((bytes) => base58.encode(bytes));
  const read = (...instructions: Uint8Array[]) =>
    parseSolana(wire(message({ header: [1, 0, 2], keys, instructions }))).splTransfers;

  test('are read from all three instructions of both programs', () => {
    const checked = { from: names[1], tokenMint: names[2], to: names[3], owner: names[0], signers: [] };
    expect(
      read(
        instruction(5, [1, 2, 3, 0, 4], cat(3, u64(5n))),
        instruction(6, [1, 2, 3, 0], cat(12, u64(6n), 9)),
        instruction(6, [1, 2, 3, 0], cat(26, 1, u64(7n), 9, u64(1n))),
      ),
    ).toEqual([
      { from: names[1], to: names[2], amount: 5n, owner: names[3], signers: [names[0], names[4]], tokenMint: '' },
      { ...checked, amount: 6n },
      { ...checked, amount: 7n },
    ]);
  });

  test('are recognised in spite of padding', () => {
    expect(read(instruction(5, [1, 2, 0], cat(3, u64(5n), 0, 0)))).toHaveLength(1);
    const bytes = message({ instructions: [instruction(2, [0, 1], cat(2, 0, 0, 0, u64(1n), 99))] });
    expect(parseSolana(wire(bytes)).transfers).toEqual([
      { from: base58.encode(payer), to: base58.encode(key(2)), amount: 1n },
    ]);
  });

  test('that cannot succeed are errors', () => {
    expect(refusal(() => read(instruction(5, [1, 2], cat(3, u64(5n)))))).toMatch(/too few accounts/);
    expect(refusal(() => read(instruction(5, [1, 2, 3], cat(3, 1))))).toMatch(/ends too early/);
    expect(refusal(() => read(instruction(6, [1, 2, 3, 0], cat(12, u64(6n)))))).toMatch(/ends too early/);
  });

  test('leave other instructions alone', () => {
    expect(read(instruction(5, [1], [9]), instruction(5, [], []), instruction(5, [1], [26, 1]))).toEqual([]);
  });
});

test('a transfer from a derived address counts as a transfer', () => {
  const keys = [payer, key(2), key(3), SYSTEM];
  const data = cat(11, 0, 0, 0, u64(77n), u64(1n), 0x61, SYSTEM);
  const parsed = parseSolana(wire(message({ keys, instructions: [instruction(3, [1, 0, 2], data)] })));
  expect(parsed.transfers).toEqual([{ from: base58.encode(key(2)), to: base58.encode(key(3)), amount: 77n }]);
});

describe('what is not a transaction', () => {
  const plain = message({ instructions: [transfer(1n)] });
  const cases: Record<string, string> = {
    'no bytes': '0x',
    'odd hex': wire(plain).slice(1),
    'other letters': `${wire(plain)}zz`,
    'left-over bytes': `${wire(plain)}00`,
    'a missing byte': wire(plain).slice(0, -2),
    'two slots for one signer': wire(plain, [new Uint8Array(64), new Uint8Array(64)]),
    'no slots': wire(plain, []),
    'a count in a longer form': hexOf(cat(0x81, 0x00, new Uint8Array(64), plain)),
    'an empty list in a longer form': wire(cat(message({ instructions: [] }).subarray(0, -1), 0x80, 0x00)),
    'no signer': wire(message({ header: [0, 0, 1], instructions: [transfer(1n)] }), []),
    'a fee payer that is read-only': wire(message({ header: [1, 1, 1], instructions: [transfer(1n)] })),
    'more accounts in the header than there are': wire(message({ header: [1, 0, 3], instructions: [] })),
    'an account twice': wire(message({ keys: [payer, payer, SYSTEM], instructions: [] })),
    'a program out of range': wire(message({ instructions: [instruction(3, [], [])] })),
    'the fee payer as program': wire(message({ instructions: [instruction(0, [], [])] })),
    'an account out of range': wire(message({ instructions: [instruction(2, [3], [])] })),
    'an unknown version': hexOf(cat(1, new Uint8Array(64), 0x81, plain, 0)),
    'a look-up of nothing': wire(message({ instructions: [], lookups: [cat(key(9), 0, 0)] })),
    'a packet that is too long': wire(message({ instructions: Array.from({ length: 80 }, () => transfer(1n)) })),
  };
  test.each(Object.entries(cases))('%s', (_, hex) => {
    expect(refusal(() => parseSolana(hex))).toMatch(/^failed to parse transaction: /);
  });

  test('a transaction of exactly one packet is accepted', () => {
    const filler = (length: number) => message({ instructions: [instruction(2, [], new Uint8Array(length))] });
    // The length of the data takes two bytes from 128 on, which the encoder of this test does not write.
    const head = cat(filler(0).subarray(0, -1));
    const size = 1232 - 65 - head.length - 2;
    const bytes = cat(head, (size & 0x7f) | 0x80, size >> 7, new Uint8Array(size));
    expect(parseSolana(wire(bytes)).instructions).toHaveLength(1);
    const more = cat(head, ((size + 1) & 0x7f) | 0x80, (size + 1) >> 7, new Uint8Array(size + 1));
    expect(refusal(() => parseSolana(wire(more)))).toMatch(/1232/);
  });
});

describe('who may sign', () => {
  const unsigned = wire(message({ instructions: [transfer(1n)] }));
  test('only a required signer', () => {
    expect(refusal(() => signableSolana(unsigned, account(key(2))))).toMatch(/required signers/);
    expect(refusal(() => signableSolana(unsigned, account(key(0x66))))).toMatch(/required signers/);
  });
  test('only an Ed25519 key', () => {
    const signer = { ...account(payer), curve: 'CURVE_SECP256K1' as const };
    expect(refusal(() => signableSolana(unsigned, signer))).toMatch(/Ed25519/);
  });
});

describe('arbitrary bytes', () => {
  const check = (bytes: Uint8Array): void => {
    try {
      const parsed = parseSolana(hexOf(bytes));
      const keys = parsed.accountKeys.length;
      expect(parsed.header.requiredSignatures).toBeLessThanOrEqual(keys);
      expect(parsed.instructions.every((one) => parsed.programKeys.includes(one.programKey))).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
    }
  };

  test('give a transaction or an error of the API', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), check));
  });

  test('so do valid transactions with a few bytes changed, cut or added', () => {
    const valid = [
      Buffer.from(PUBLISHED, 'hex'),
      Buffer.from(
        wire(
          V0,
          [key(1), key(2)].map((k) => cat(k, k)),
        ),
        'hex',
      ),
    ];
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...valid), edits, fc.nat(3), (original, changes, cut) => {
        const bytes = Uint8Array.from(original);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        check(bytes.subarray(0, bytes.length - cut));
        check(cat(bytes, new Uint8Array(cut)));
      }),
      { numRuns: 500 },
    );
  });
});
