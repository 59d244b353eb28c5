import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../lib/errors.ts';
import type { DynamicValue } from '../../../policy/index.ts';
import { checkContractInterface } from '../../contract-interface.ts';
import type { SolanaInstruction } from '../message.ts';
import { parseInstructionData } from './interface.ts';

const PROGRAM = base58.encode(new Uint8Array(32).fill(7));

function read(idl: unknown) {
  const parsed = checkContractInterface('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', PROGRAM, JSON.stringify(idl));
  if (parsed.type !== 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA') throw new Error('not an IDL');
  return parsed.instructions;
}

function refusal(idl: unknown): string {
  try {
    read(idl);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('INVALID_CONTRACT_INTERFACE');
    return (error as ApiError).message;
  }
  throw new Error('it was accepted');
}

const key = (fill: number): string => base58.encode(new Uint8Array(32).fill(fill));

const instruction = (dataHex: string, accounts: readonly string[] = []): SolanaInstruction => ({
  programKey: PROGRAM,
  accounts: accounts.map((accountKey) => ({ accountKey, signer: false, writable: false })),
  dataHex,
  addressTableLookups: [],
});

const parse = (idl: unknown, dataHex: string, accounts?: readonly string[], values = 1_000) =>
  parseInstructionData(read(idl), instruction(dataHex, accounts), { values });

const argsOf = (type: unknown, body: string, types: readonly unknown[] = []) =>
  parse({ types, instructions: [{ name: 'go', discriminator: [1], args: [{ name: 'a', type }] }] }, `01${body}`)
    ?.program_call_args;
const valueIn = (type: unknown, body: string, types?: readonly unknown[]) => argsOf(type, body, types)?.get('a');

const uint = (value: bigint): DynamicValue => ({ kind: 'uint', value });
const int = (value: bigint): DynamicValue => ({ kind: 'int', value });
const NOTHING: DynamicValue = { kind: 'tuple', items: [] };

describe('values', () => {
  const types = [
    {
      name: 'Point',
      type: {
        kind: 'struct',
        fields: [
          { name: 'x', type: 'u8' },
          { name: 'y', type: { option: 'i16' } },
        ],
      },
    },
    { name: 'Pair', type: { kind: 'struct', fields: ['u8', { defined: 'Point' }] } },
    { name: 'Empty', type: { kind: 'struct' } },
    { name: 'Amount', type: { kind: 'alias', value: 'u64' } },
    { name: 'Newer', type: { kind: 'type', alias: { defined: { name: 'Amount' } } } },
    {
      name: 'Side',
      type: {
        kind: 'enum',
        variants: [
          { name: 'Bid' },
          { name: 'Limit', fields: [{ name: 'price', type: 'u8' }] },
          { name: 'Both', fields: ['u8', 'bool'] },
        ],
      },
    },
  ];

  test.each<[unknown, string, DynamicValue]>([
    ['bool', '01', true],
    ['u8', 'ff', uint(255n)],
    ['i8', 'ff', int(-1n)],
    ['u16', '0102', uint(0x0201n)],
    ['u32', '01000000', uint(1n)],
    ['i64', 'feffffffffffffff', int(-2n)],
    ['u64', 'ffffffffffffffff', uint(2n ** 64n - 1n)],
    ['u128', 'ff'.repeat(16), uint(2n ** 128n - 1n)],
    ['i128', `${'00'.repeat(15)}80`, int(-(2n ** 127n))],
    ['f32', '0000803f', NOTHING],
    ['f64', '000000000000f03f', NOTHING],
    ['bytes', '02000000ABCD', { kind: 'hex', text: 'abcd' }],
    ['string', '03000000e282ac', '€'],
    ['publicKey', '07'.repeat(32), key(7)],
    ['pubkey', '07'.repeat(32), key(7)],
    [{ array: ['u8', 2] }, '0102', [uint(1n), uint(2n)]],
    [{ vec: 'bool' }, '020000000100', [true, false]],
    [{ option: 'u8' }, '0105', uint(5n)],
    [{ vec: { option: 'u8' } }, '02000000000105', [NOTHING, uint(5n)]],
    [
      { defined: 'Point' },
      '0101feff',
      new Map([
        ['x', uint(1n)],
        ['y', int(-2n)],
      ]),
    ],
    [{ defined: 'Point' }, '0100', new Map([['x', uint(1n)]])],
    [{ defined: { name: 'Pair' } }, '090100', { kind: 'tuple', items: [uint(9n), new Map([['x', uint(1n)]])] }],
    [{ defined: 'Empty' }, '', new Map()],
    [{ defined: 'Amount' }, '0500000000000000', uint(5n)],
    [{ defined: 'Newer' }, '0500000000000000', uint(5n)],
    [{ defined: 'Side' }, '00', 'Bid'],
    [{ defined: 'Side' }, '0107', new Map([['Limit', new Map([['price', uint(7n)]])]])],
    [{ defined: 'Side' }, '020701', new Map([['Both', { kind: 'tuple', items: [uint(7n), true] }]])],
  ])('%j %s', (type, body, value) => {
    expect(valueIn(type, body.toLowerCase(), types)).toEqual(value);
    // One byte more or less is not the same data.
    expect(argsOf(type, `${body}00`, types)).toBeUndefined();
    if (body !== '') expect(argsOf(type, body.slice(0, -2), types)).toBeUndefined();
  });

  test('an option that is not set has no name', () => {
    expect(argsOf({ option: 'u8' }, '00')).toEqual(new Map());
    expect(argsOf({ option: { option: 'u8' } }, '0100')).toEqual(new Map());
  });

  test.each([
    ['a flag of two', 'bool', '02'],
    ['an option of two', { option: 'u8' }, '0205'],
    ['a variant that is not there', { defined: 'Side' }, '03'],
    ['a text that is not UTF-8', 'string', '01000000ff'],
    ['a length beyond the data', 'bytes', 'ffffffff00'],
    ['a count beyond the data', { vec: 'u8' }, 'ffffffff00'],
    ['a float that is no number', 'f32', '0000c07f'],
  ])('%s', (_, type, body) => {
    expect(argsOf(type, body, types)).toBeUndefined();
  });

  test('values without bytes cannot be counted without end', () => {
    expect(argsOf({ vec: { defined: 'Empty' } }, 'ffffffff', types)).toBeUndefined();
    expect(valueIn({ vec: { defined: 'Empty' } }, '02000000', types)).toEqual([new Map(), new Map()]);
    const doubling = Array.from({ length: 30 }, (_, level) => ({
      name: `T${level}`,
      type: {
        kind: 'struct',
        fields: level === 29 ? [] : [{ defined: `T${level + 1}` }, { defined: `T${level + 1}` }],
      },
    }));
    expect(argsOf({ defined: 'T0' }, '', doubling)).toBeUndefined();
  });
});

describe('instructions', () => {
  // As Anchor wrote IDLs before 0.30.
  const older = {
    version: '0.1.0',
    name: 'swap',
    instructions: [
      {
        name: 'sharedAccountsRoute',
        accounts: [
          { name: 'tokenProgram', isMut: false, isSigner: false },
          { name: 'users', accounts: [{ name: 'payer', isMut: true, isSigner: true }] },
          { name: 'fee', isMut: true, isSigner: false, isOptional: true },
        ],
        args: [{ name: 'inAmount', type: 'u64' }],
      },
      { name: 'initialize', accounts: [], args: [] },
    ],
    types: [],
  };
  const route = createHash('sha256').update('global:shared_accounts_route').digest('hex').slice(0, 16);

  test('by the discriminator that Anchor derives from the name', () => {
    expect(parse(older, `${route}0500000000000000`, [key(1), key(2), key(3), key(4)])).toEqual({
      instruction_name: 'sharedAccountsRoute',
      discriminator: route,
      named_accounts: new Map([
        ['tokenProgram', key(1)],
        ['users.payer', key(2)],
        ['fee', key(3)],
      ]),
      program_call_args: new Map([['inAmount', uint(5n)]]),
    });
    // Published for every program that has an instruction of this name.
    expect(parse(older, 'afaf6d1f0d989bed')?.instruction_name).toBe('initialize');
  });

  test('an optional account may be left off at the end, another may not', () => {
    const named = (accounts: readonly string[]) => parse(older, `${route}0500000000000000`, accounts)?.named_accounts;
    expect(named([key(1), key(2)])).toEqual(
      new Map([
        ['tokenProgram', key(1)],
        ['users.payer', key(2)],
      ]),
    );
    expect(named([key(1)])).toBeUndefined();
  });

  test.each([['afaf6d1f0d989b'], [''], ['0000000000000000'], ['afaf6d1f0d989bed00']])('%s is none', (data) => {
    expect(parse(older, data)).toBeUndefined();
  });

  test.each([
    ['initializeV2', 'initialize_v2'],
    ['initialize_v2', 'initialize_v2'],
    ['swapExactABCIn', 'swap_exact_abc_in'],
    ['route2Pool', 'route2_pool'],
  ])('%s is hashed as %s', (name, snake) => {
    const discriminator = createHash('sha256').update(`global:${snake}`).digest('hex').slice(0, 16);
    expect(parse({ types: [], instructions: [{ name }] }, discriminator)?.instruction_name).toBe(name);
  });

  test('since 0.30, with discriminators of any length', () => {
    const newer = {
      address: PROGRAM,
      metadata: { name: 'x', version: '1', spec: '0.1.0' },
      instructions: [
        { name: 'one', discriminator: [1], accounts: [{ name: 'a', writable: true, signer: true }], args: [] },
        { name: 'two', discriminator: [2, 0, 3], accounts: [{ name: 'b', optional: true }], args: [] },
      ],
      types: [],
    };
    expect(parse(newer, '01', [key(1)])?.instruction_name).toBe('one');
    expect(parse(newer, '020003')).toMatchObject({ instruction_name: 'two', discriminator: '020003' });
    expect(parse(newer, '0200')).toBeUndefined();
  });
});

describe('an IDL at upload', () => {
  const withArg = (type: unknown, types: readonly unknown[] = []) => ({
    types,
    instructions: [{ name: 'go', args: [{ name: 'a', type }] }],
  });
  const struct = (name: string, fields: readonly unknown[]) => ({ name, type: { kind: 'struct', fields } });
  const chain = (length: number) =>
    Array.from({ length }, (_, level) =>
      struct(`T${level}`, level === length - 1 ? [] : [{ defined: `T${level + 1}` }]),
    );

  test.each<[unknown, string]>([
    [[], 'a Solana interface is not an object'],
    [{ instructions: [] }, 'a Solana interface needs the key types, which may be an empty list'],
    [{ types: {}, instructions: [] }, 'types is not a list'],
    [{ types: [] }, 'instructions is not a list'],
    [{ types: [], instructions: [{}] }, 'instruction 0 has no name'],
    [{ types: [struct('T', []), struct('T', [])], instructions: [] }, 'type "T" is declared twice'],
    [
      { types: [], instructions: [{ name: 'a', discriminant: { type: 'u8', value: 1 } }] },
      'instruction "a" has a discriminant; only discriminators of Anchor are supported',
    ],
    [
      { types: [], instructions: [{ name: 'a', discriminator: [] }] },
      'discriminator of instruction "a" is not 1 to 32 bytes',
    ],
    [
      { types: [], instructions: [{ name: 'a', discriminator: [256] }] },
      'discriminator of instruction "a" is not 1 to 32 bytes',
    ],
    [
      {
        types: [],
        instructions: [
          { name: 'a', discriminator: [1] },
          { name: 'c', discriminator: [2] },
          { name: 'b', discriminator: [1, 2] },
        ],
      },
      'instructions "a" and "b" cannot be told apart by their discriminators',
    ],
    [
      { types: [], instructions: [{ name: 'a' }, { name: 'a' }] },
      'instructions "a" and "a" cannot be told apart by their discriminators',
    ],
    [
      { types: [], instructions: [{ name: 'a', accounts: [{ name: 'x' }, { name: 'x' }] }] },
      'accounts of instruction "a" has "x" twice',
    ],
    [
      {
        types: [],
        instructions: [
          {
            name: 'a',
            args: [
              { name: 'x', type: 'u8' },
              { name: 'x', type: 'u8' },
            ],
          },
        ],
      },
      'instruction "a" has "x" twice',
    ],
    [withArg('u7'), '"a" of instruction "go" is of the type "u7"'],
    [withArg('toString'), '"a" of instruction "go" is of the type "toString"'],
    [withArg({ coption: 'u8' }), '"a" of instruction "go" is of the type "coption", which is not supported'],
    [withArg({ vec: 'u8', option: 'u8' }), 'the type of "a" of instruction "go" does not say one thing'],
    [
      withArg({ array: ['u8', { generic: 'N' }] }),
      '"a" of instruction "go" is an array without a length from 0 to 65536',
    ],
    [withArg({ array: ['u8', -1] }), '"a" of instruction "go" is an array without a length from 0 to 65536'],
    [withArg({ defined: 'T' }), '"a" of instruction "go" is of the type "T", which is not in types'],
    [
      withArg({ defined: { name: 'T', generics: [{ kind: 'type', type: 'u8' }] } }, [struct('T', [])]),
      '"a" of instruction "go" is of a generic type',
    ],
    [
      withArg({ defined: 'T' }, [struct('T', [{ name: 'next', type: { option: { defined: 'T' } } }])]),
      'type "T" contains itself',
    ],
    [
      withArg({ defined: 'T' }, [{ ...struct('T', []), serialization: 'bytemuck' }]),
      'type "T" is an argument, but not serialised with borsh',
    ],
    [withArg({ defined: 'T' }, [{ name: 'T', type: { kind: 'union' } }]), 'type "T" is no struct, enum or alias'],
    [withArg({ defined: 'T' }, [{ name: 'T', type: { kind: 'enum', variants: [] } }]), 'type "T" has 0 variants'],
    [withArg({ defined: 'T0' }, chain(4_000)), 'types nested deeper than 64 in'],
  ])('%j', (idl, message) => {
    expect(refusal(idl)).toContain(`invalid smart contract interface: ${message}`);
  });

  test('a deep type is as deep when it was met before', () => {
    const types = [struct('Wrap', [{ vec: { vec: { vec: { vec: { defined: 'T0' } } } } }]), ...chain(31)];
    const args = (...names: string[]) => ({
      types,
      instructions: [{ name: 'go', args: names.map((name) => ({ name, type: { defined: name } })) }],
    });
    expect(() => read(args('T0'))).not.toThrow();
    expect(refusal(args('Wrap'))).toContain('types nested deeper than 64');
    expect(refusal(args('T0', 'Wrap'))).toContain('types nested deeper than 64');
  });

  test('types that no argument uses may be of any kind', () => {
    const unused = {
      ...struct('Account', [{ generic: 'T' }]),
      serialization: 'bytemuck',
      generics: [{ kind: 'type' }],
    };
    expect(() => read(withArg('u8', [unused]))).not.toThrow();
  });

  test('anything at all: read or refused, never a crash', () => {
    const anyType = fc.oneof(fc.constantFrom('u8', 'string', 'x'), fc.jsonValue({ maxDepth: 4 }));
    const idl = fc.record({
      types: fc.array(
        fc.record({
          name: fc.constantFrom('A', 'B'),
          type: fc.record({
            kind: fc.constantFrom('struct', 'enum', 'alias', 'type'),
            fields: fc.array(anyType),
            variants: fc.array(fc.record({ name: fc.string(), fields: anyType })),
            value: anyType,
            alias: anyType,
          }),
        }),
        { maxLength: 2 },
      ),
      instructions: fc.array(
        fc.record({
          name: fc.string(),
          args: fc.array(
            fc.record({
              name: fc.string(),
              type: fc.oneof(anyType, fc.constantFrom({ defined: 'A' }, { vec: { defined: 'B' } })),
            }),
          ),
        }),
      ),
    });
    fc.assert(
      fc.property(fc.oneof(idl, fc.jsonValue()), (value) => {
        try {
          read(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** A type of an IDL with an independent encoder for it and what a policy is to see. */
interface Sample {
  readonly type: unknown;
  readonly types: readonly unknown[];
  readonly value: fc.Arbitrary<{ readonly bytes: readonly number[]; readonly seen: DynamicValue | undefined }>;
}

const little = (value: bigint, size: number): number[] =>
  Array.from({ length: size }, (_, index) => Number((BigInt.asUintN(size * 8, value) >> BigInt(8 * index)) & 255n));
const counted = (bytes: readonly number[], count = bytes.length): number[] => [...little(BigInt(count), 4), ...bytes];
const simple = (type: unknown, value: Sample['value']): Sample => ({ type, types: [], value });

const sizes = fc.constantFrom(1, 2, 4, 8, 16);
const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc.constant(
    simple(
      'bool',
      fc.boolean().map((seen) => ({ bytes: [seen ? 1 : 0], seen })),
    ),
  ),
  sizes.map((size) =>
    simple(
      `u${size * 8}`,
      fc
        .bigInt({ min: 0n, max: 2n ** BigInt(size * 8) - 1n })
        .map((value) => ({ bytes: little(value, size), seen: uint(value) })),
    ),
  ),
  sizes.map((size) => {
    const half = 2n ** BigInt(size * 8 - 1);
    return simple(
      `i${size * 8}`,
      fc.bigInt({ min: -half, max: half - 1n }).map((value) => ({ bytes: little(value, size), seen: int(value) })),
    );
  }),
  fc.constant(
    simple(
      'string',
      fc.string({ unit: 'grapheme', maxLength: 9 }).map((seen) => ({ bytes: counted([...Buffer.from(seen)]), seen })),
    ),
  ),
  fc.constant(
    simple(
      'bytes',
      fc
        .uint8Array({ maxLength: 9 })
        .map((raw) => ({ bytes: counted([...raw]), seen: { kind: 'hex', text: Buffer.from(raw).toString('hex') } })),
    ),
  ),
  fc.constant(
    simple(
      'pubkey',
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((raw) => ({ bytes: [...raw], seen: base58.encode(raw) })),
    ),
  ),
);

let names = 0;
function define(kind: object, types: readonly unknown[], value: Sample['value']): Sample {
  const name = `T${names++}`;
  return { type: { defined: name }, types: [...types, { name, type: kind }], value };
}

const tupleSeen = (seen: readonly (DynamicValue | undefined)[]): DynamicValue => ({
  kind: 'tuple',
  items: seen.map((one) => one ?? NOTHING),
});
const mapSeen = (seen: readonly (DynamicValue | undefined)[]): DynamicValue =>
  new Map(seen.flatMap((one, index) => (one === undefined ? [] : [[`m${index}`, one] as const])));
const all = (members: readonly Sample[]) => fc.tuple(...members.map(({ value }) => value));
const bytesIn = (values: readonly { readonly bytes: readonly number[] }[]) => values.flatMap(({ bytes }) => bytes);
const typesIn = (members: readonly Sample[]) => members.flatMap(({ types }) => types);
const fieldsOf = (members: readonly Sample[]) => members.map(({ type }, index) => ({ name: `m${index}`, type }));

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie('sample').map(({ type, types, value }) => ({
      type: { vec: type },
      types,
      value: fc.array(value, { maxLength: 3 }).map((values) => ({
        bytes: counted(bytesIn(values), values.length),
        seen: values.map(({ seen }) => seen ?? NOTHING),
      })),
    })),
    fc.tuple(tie('sample'), fc.nat(3)).map(([{ type, types, value }, length]) => ({
      type: { array: [type, length] },
      types,
      value: fc
        .array(value, { minLength: length, maxLength: length })
        .map((values) => ({ bytes: bytesIn(values), seen: values.map(({ seen }) => seen ?? NOTHING) })),
    })),
    tie('sample').map(({ type, types, value }) => ({
      type: { option: type },
      types,
      value: fc
        .option(value, { nil: undefined })
        .map((one) =>
          one === undefined ? { bytes: [0], seen: undefined } : { bytes: [1, ...one.bytes], seen: one.seen },
        ),
    })),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map((members) =>
      define(
        { kind: 'struct', fields: fieldsOf(members) },
        typesIn(members),
        all(members).map((values) => ({ bytes: bytesIn(values), seen: mapSeen(values.map(({ seen }) => seen)) })),
      ),
    ),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map((members) => {
      const variants = [
        { name: 'Unit' },
        { name: 'Named', fields: fieldsOf(members) },
        { name: 'Tuple', fields: members.map(({ type }) => type) },
      ];
      const value = fc.tuple(fc.nat(2), all(members)).map(([variant, values]) => {
        const seen = values.map((one) => one.seen);
        if (variant === 0) return { bytes: [0], seen: 'Unit' };
        const inner = variant === 1 ? mapSeen(seen) : tupleSeen(seen);
        return { bytes: [variant, ...bytesIn(values)], seen: new Map([[variant === 1 ? 'Named' : 'Tuple', inner]]) };
      });
      return define({ kind: 'enum', variants }, typesIn(members), value);
    }),
  ),
}));

const calls = fc.array(sample, { maxLength: 3 }).chain((members) =>
  all(members).map((values) => ({
    idl: { types: typesIn(members), instructions: [{ name: 'go', discriminator: [1], args: fieldsOf(members) }] },
    bytes: bytesIn(values),
    seen: mapSeen(values.map(({ seen }) => seen)),
  })),
);

describe('held to an encoder of borsh', () => {
  const hexOf = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex');

  test('what is written is read, and nothing shorter or longer', () => {
    fc.assert(
      fc.property(calls, fc.nat(), ({ idl, bytes, seen }, cut) => {
        expect(parse(idl, hexOf([1, ...bytes]))?.program_call_args).toEqual(seen);
        expect(parse(idl, hexOf([1, ...bytes, 0]))).toBeUndefined();
        if (bytes.length > 0) expect(parse(idl, hexOf([1, ...bytes.slice(0, cut % bytes.length)]))).toBeUndefined();
      }),
      { numRuns: 400 },
    );
  });

  test('random bytes: never a crash, never a value for bytes that were not read', () => {
    fc.assert(
      fc.property(calls, fc.uint8Array({ maxLength: 60 }), ({ idl }, random) => {
        const parsed = parse(idl, hexOf([1, ...random]));
        if (parsed !== undefined) expect(parse(idl, hexOf([1, ...random, 0]))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
