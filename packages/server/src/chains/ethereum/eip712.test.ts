import fc from 'fast-check';
import { hashTypedData, serializeTypedData } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { type HashedTypedData, hashTypedDataJson, type TypedValue } from './eip712.ts';

type Json = Record<string, unknown>;
type Viem = Parameters<typeof hashTypedData>[0];

const digestOf = (text: string): string => `0x${Buffer.from(hashTypedDataJson(text).digest).toString('hex')}`;
const digest = (document: unknown): string => digestOf(JSON.stringify(document));
const viemDigest = (document: unknown): string => hashTypedData(document as Viem);

function refusal(text: string): string {
  try {
    hashTypedDataJson(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('INVALID_PAYLOAD_ENCODING');
    expect(error.message).toContain('invalid payload encoding');
    return error.message;
  }
  throw new Error('not refused');
}

// The example in EIP-712.
const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const MAIL = {
  types: {
    EIP712Domain: DOMAIN_TYPE,
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};
const MAIL_DIGEST = '0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2';

/** A document with one struct of one member. */
const single = (type: string, value: unknown, more: Json = {}) => ({
  types: { EIP712Domain: [], T: [{ name: 'v', type }], ...more },
  primaryType: 'T',
  domain: {},
  message: { v: value },
});

describe('published examples', () => {
  test('Mail of EIP-712', () => {
    expect(digest(MAIL)).toBe(MAIL_DIGEST);
  });

  test('Mail with lists, as in the tests of the first implementation', () => {
    const document = {
      types: {
        EIP712Domain: DOMAIN_TYPE,
        Person: [
          { name: 'name', type: 'string' },
          { name: 'wallets', type: 'address[]' },
        ],
        Mail: [
          { name: 'from', type: 'Person' },
          { name: 'to', type: 'Person[]' },
          { name: 'contents', type: 'string' },
        ],
        Group: [
          { name: 'name', type: 'string' },
          { name: 'members', type: 'Person[]' },
        ],
      },
      domain: MAIL.domain,
      primaryType: 'Mail',
      message: {
        from: {
          name: 'Cow',
          wallets: ['0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826', '0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF'],
        },
        to: [
          {
            name: 'Bob',
            wallets: [
              '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB',
              '0xB0BdaBea57B0BDABeA57b0bdABEA57b0BDabEa57',
              '0xB0B0b0b0b0b0B000000000000000000000000000',
            ],
          },
        ],
        contents: 'Hello, Bob!',
      },
    };
    expect(digest(document)).toBe('0xa85c2e2b118698e88db68a8105b794a8cc7cec074e89ef991cb4f5f533819cc2');
  });

  test('the parsed form', () => {
    const parsed = hashTypedDataJson(JSON.stringify(MAIL));
    expect(parsed.domain).toEqual({
      name: 'Ether Mail',
      version: '1',
      chainId: 1n,
      verifyingContract: '0xcccccccccccccccccccccccccccccccccccccccc',
    });
    expect(parsed.primaryType).toBe('Mail');
    expect([...parsed.message.keys()]).toEqual(['from', 'to', 'contents']);
    expect(parsed.message.get('from')).toEqual({
      kind: 'struct',
      value: new Map<string, TypedValue>([
        ['name', { kind: 'string', value: 'Cow' }],
        ['wallet', { kind: 'hex', value: '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826' }],
      ]),
    });
    expect(parsed.types.get('Mail')).toEqual(MAIL.types.Mail);
  });
});

describe('spellings of the clients', () => {
  const permit = {
    types: {
      PermitBatch: [
        { name: 'permitted', type: 'Token[]' },
        { name: 'sigDeadline', type: 'uint256' },
        { name: 'delta', type: 'int64' },
        { name: 'salt', type: 'bytes32' },
        { name: 'extra', type: 'bytes' },
        { name: 'ok', type: 'bool' },
      ],
      Token: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint160' },
      ],
    },
    primaryType: 'PermitBatch',
    domain: { name: 'Permit2', chainId: 8453, verifyingContract: '0x000000000022D473030F116dDEE9F6B43aC78BA3' },
    message: {
      permitted: [{ token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', amount: 2n ** 160n - 1n }],
      sigDeadline: 2n ** 256n - 1n,
      delta: -5n,
      salt: `0x${'AB'.repeat(32)}`,
      extra: '0xDEADbeef',
      ok: true,
    },
  } as const;
  const domainType = [
    { name: 'name', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ];

  test('viem, which writes integers as decimal text', () => {
    const whole = { ...permit, types: { EIP712Domain: domainType, ...permit.types } };
    expect(digestOf(serializeTypedData(whole as never))).toBe(viemDigest(permit));
    expect(hashTypedDataJson(serializeTypedData(whole as never)).message.get('sigDeadline')).toEqual({
      kind: 'uint',
      value: 2n ** 256n - 1n,
    });
  });

  test('viem, which empties the domain when its type is not given: what was sent is hashed', () => {
    const text = serializeTypedData(permit as never);
    expect(JSON.parse(text).domain).toEqual({});
    expect(digestOf(text)).toBe(viemDigest({ ...permit, domain: {} }));
    expect(hashTypedDataJson(text).domain).toEqual({});
  });

  test('ethers, which writes lower-case addresses and may write the chain id as hex', () => {
    const payload = {
      types: { EIP712Domain: domainType, ...permit.types },
      primaryType: 'PermitBatch',
      domain: { name: 'Permit2', chainId: '0x2105', verifyingContract: '0x000000000022d473030f116ddee9f6b43ac78ba3' },
      message: {
        permitted: [
          {
            token: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
            amount: '1461501637330902918203684832716283019655932542975',
          },
        ],
        sigDeadline: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        delta: '-5',
        salt: `0x${'ab'.repeat(32)}`,
        extra: '0xdeadbeef',
        ok: true,
      },
    };
    expect(digest(payload)).toBe(viemDigest(permit));
    expect(hashTypedDataJson(JSON.stringify(payload)).domain.chainId).toBe(8453n);
  });

  test('the domain type is built from the members that are present, in the order of the EIP', () => {
    const salt = `0x${'11'.repeat(32)}`;
    const contract = MAIL.domain.verifyingContract;
    for (const domain of [
      {},
      { name: 'A' },
      { salt, chainId: 5, name: 'A' },
      { verifyingContract: contract, version: '2', salt },
      { chainId: 0 },
    ]) {
      const { EIP712Domain: _, ...types } = MAIL.types;
      expect(digest({ ...MAIL, types, domain })).toBe(viemDigest({ ...MAIL, types, domain }));
    }
    const { EIP712Domain: _, ...types } = MAIL.types;
    expect(digest({ ...MAIL, types, domain: { name: 'A', version: null, other: 1 } })).toBe(
      viemDigest({ ...MAIL, types, domain: { name: 'A' } }),
    );
    expect(digest({ ...MAIL, types, domain: undefined })).toBe(viemDigest({ ...MAIL, types, domain: {} }));
  });

  test('integers in every spelling hash alike', () => {
    const expected = viemDigest(single('uint256', 255n));
    for (const value of [255, '255', '0xff', '0xFF', '0x00ff', '0255']) {
      expect(digest(single('uint256', value))).toBe(expected);
    }
    expect(digest(single('int8', '-128'))).toBe(viemDigest(single('int8', -128n)));
  });

  test('addresses in any case, even with a wrong checksum', () => {
    const expected = digest(MAIL);
    const wallet = '0xcd2A3D9f938e13cd947ec05abc7fe734df8dd826';
    expect(digest({ ...MAIL, message: { ...MAIL.message, from: { name: 'Cow', wallet } } })).toBe(expected);
  });

  test('a primary type with a colon, as some exchanges use', () => {
    const name = 'HyperliquidTransaction:UsdSend';
    const document = {
      types: { [name]: [{ name: 'amount', type: 'string' }] },
      primaryType: name,
      domain: { name: 'HyperliquidSignTransaction', version: '1', chainId: 42161 },
      message: { amount: '1' },
    };
    expect(digest(document)).toBe(viemDigest(document));
  });

  test('lists of lists, lists of a fixed length, structs without members', () => {
    expect(digest(single('uint8[2][]', [[1, 2]]))).toBe(viemDigest(single('uint8[2][]', [[1, 2]])));
    expect(digest(single('string[]', []))).toBe(viemDigest(single('string[]', [])));
    expect(digest(single('Empty', {}, { Empty: [] }))).toBe(viemDigest(single('Empty', {}, { Empty: [] })));
  });

  test('the domain alone as primary type', () => {
    const document = { ...MAIL, primaryType: 'EIP712Domain', message: {} };
    expect(digest(document)).toBe(viemDigest(document));
    expect(hashTypedDataJson(JSON.stringify(document)).message.size).toBe(0);
  });
});

describe('what a policy may trust', () => {
  test('members that are not hashed are not in the result', () => {
    const document = {
      ...MAIL,
      types: { ...MAIL.types, EIP712Domain: [{ name: 'name', type: 'string' }] },
      message: { ...MAIL.message, contents: 'x', amount: 5 },
    };
    const parsed = hashTypedDataJson(JSON.stringify(document));
    expect(parsed.domain).toEqual({ name: 'Ether Mail' });
    expect(parsed.message.has('amount')).toBe(false);
    expect(digest(document)).toBe(viemDigest({ ...document, message: { ...MAIL.message, contents: 'x' } }));
  });

  test('a domain member of an unusual type is hashed as declared and reported only where its kind fits', () => {
    const types = {
      ...MAIL.types,
      EIP712Domain: [
        { name: 'verifyingContract', type: 'string' },
        { name: 'chainId', type: 'string' },
        { name: 'name', type: 'bytes32' },
      ],
    };
    const domain = { verifyingContract: 'cosmos', chainId: '1', name: `0x${'11'.repeat(32)}` };
    expect(hashTypedDataJson(JSON.stringify({ ...MAIL, types, domain })).domain).toEqual({
      verifyingContract: 'cosmos',
    });
  });

  test('names that every object inherits', () => {
    const types = '"types":{"EIP712Domain":[],"__proto__":[{"name":"toString","type":"string"}]}';
    const text = (message: string) => `{${types},"primaryType":"__proto__","domain":{},"message":${message}}`;
    expect(refusal(text('{}'))).toContain('message.toString is missing');
    expect(hashTypedDataJson(text('{"toString":"a"}')).message.get('toString')).toEqual({ kind: 'string', value: 'a' });
    expect(refusal(JSON.stringify({ ...MAIL, primaryType: 'constructor' }))).toContain('unknown type');
  });
});

const chain = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `S${index}`,
      index + 1 < count ? [{ name: 'n', type: `S${index + 1}[]` }] : [],
    ]),
  );

describe('refusals', () => {
  test.each<[string, unknown, string]>([
    ['a list', [], 'not an object'],
    ['no types', { ...MAIL, types: undefined }, 'types is missing'],
    ['types that are a list', { ...MAIL, types: [] }, 'types is not an object'],
    ['a type that is not a list', { ...MAIL, types: { Mail: {} } }, 'not a list of members'],
    ['a member that is text', { ...MAIL, types: { Mail: ['string a'] } }, 'not an object'],
    ['a member without a name', { ...MAIL, types: { Mail: [{ type: 'string' }] } }, 'member without a name'],
    ['a member without a type', { ...MAIL, types: { Mail: [{ name: 'a' }] } }, 'has no type'],
    ['no primary type', { ...MAIL, primaryType: undefined }, 'primaryType is missing'],
    ['an unknown primary type', { ...MAIL, primaryType: 'Male' }, 'unknown type "Male"'],
    ['an array as primary type', { ...MAIL, primaryType: 'Mail[]' }, 'unknown type'],
    ['an atomic primary type', { ...MAIL, primaryType: 'string' }, 'unknown type'],
    ['no message', { ...MAIL, message: undefined }, 'message is missing'],
    ['null as message', { ...MAIL, message: null }, 'message is not an object'],
    ['text as domain', { ...MAIL, domain: 'x' }, 'domain is not an object'],
    ['a domain without a declared member', { ...MAIL, domain: { name: 'x' } }, 'domain.version is missing'],
    ['a missing member', { ...MAIL, message: { ...MAIL.message, to: undefined } }, 'message.to is missing'],
    ['a missing member within', { ...MAIL, message: { ...MAIL.message, to: { name: 'x' } } }, 'message.to.wallet is'],
    ['null as struct', { ...MAIL, message: { ...MAIL.message, to: null } }, 'message.to is not an object'],
    ['an unknown type', single('Foo', 1), 'unknown type "Foo"'],
    ['an unknown type that is not used', single('bool', true, { X: [{ name: 'a', type: 'Foo' }] }), 'unknown type'],
    ['a type that contains itself', single('T', {}), 'contains itself'],
    ['a type that contains a list of itself', single('T[]', []), 'contains itself'],
    ['types in a circle', single('A', {}, { A: [{ name: 'a', type: 'T' }] }), 'contains itself'],
    ['a struct with an atomic name', single('bool', true, { uint256: [] }), 'cannot be the name'],
    ['a struct with the name of a list', single('bool', true, { 'X[]': [] }), 'cannot be the name'],
    ['a struct name that closes its definition', single('bool', true, { 'X()Y': [] }), 'cannot be the name'],
    ['an empty struct name', single('bool', true, { '': [] }), 'cannot be the name'],
    ['a member name that adds a member', single('bool', true, { X: [{ name: 'a,bool b', type: 'bool' }] }), 'a name'],
    ['two members of one name', single('bool', true, { X: Array(2).fill({ name: 'a', type: 'bool' }) }), 'two members'],
    ['a struct inside a name with a colon', single('A:B', {}, { 'A:B': [] }), 'no plain name'],
    ['uint without a width', single('uint', 1), 'unknown type'],
    ['int without a width', single('int', 1), 'unknown type'],
    ['uint7', single('uint7', 1), 'unknown type'],
    ['uint264', single('uint264', 1), 'unknown type'],
    ['uint0', single('uint0', 1), 'unknown type'],
    ['uint08', single('uint08', 1), 'unknown type'],
    ['bytes33', single('bytes33', '0x'), 'unknown type'],
    ['bytes0', single('bytes0', '0x'), 'unknown type'],
    ['fixed128x18', single('fixed128x18', 1), 'unknown type'],
    ['a list of length 0', single('bool[0]', []), 'unknown type'],
    ['a type with spaces', single(' bool', true), 'unknown type'],
    ['a type with a line break', single('bool\n', true), 'unknown type'],
    ['too many dimensions', single(`bool${'[]'.repeat(9)}`, []), 'dimensions'],
    ['uint8 of 256', single('uint8', 256), 'out of range'],
    ['uint of -1', single('uint256', -1), 'out of range'],
    ['uint256 of 2^256', single('uint256', String(2n ** 256n)), 'out of range'],
    ['int8 of 128', single('int8', '0x80'), 'out of range'],
    ['int8 of -129', single('int8', '-129'), 'out of range'],
    ['an integer of too many digits', single('uint256', '1'.repeat(100_000)), 'not an integer'],
    ['a hexadecimal integer of 65 digits', single('uint256', `0x${'0'.repeat(65)}`), 'not an integer'],
    ['a fraction', single('uint256', 1.5), 'not an integer'],
    ['an inexact number', single('uint256', 2 ** 53), 'too large unless given as text'],
    ['an empty integer', single('uint256', ''), 'not an integer'],
    ['an integer with spaces', single('uint256', ' 1'), 'not an integer'],
    ['an integer with an exponent', single('uint256', '1e3'), 'not an integer'],
    ['a boolean as integer', single('uint256', true), 'not an integer'],
    ['a prefix as integer', single('uint256', '0x'), 'not an integer'],
    ['a number as boolean', single('bool', 1), 'not true or false'],
    ['text as boolean', single('bool', 'true'), 'not true or false'],
    ['a number as text', single('string', 1), 'not text'],
    ['bytes without 0x', single('bytes', 'aabb'), 'not hexadecimal'],
    ['bytes of an odd length', single('bytes', '0xabc'), 'not hexadecimal'],
    ['a list of numbers as bytes', single('bytes', [1, 2]), 'not hexadecimal'],
    ['bytes4 of 3 bytes', single('bytes4', '0xaabbcc'), 'has 3 bytes, expected 4'],
    ['bytes4 of 5 bytes', single('bytes4', '0xaabbccddee'), 'has 5 bytes, expected 4'],
    ['an address of 19 bytes', single('address', `0x${'11'.repeat(19)}`), 'has 19 bytes, expected 20'],
    ['a number as address', single('address', 1), 'not hexadecimal'],
    ['an object as list', single('bool[]', {}), 'not a list'],
    ['a list of another length', single('bool[2]', [true]), 'has 1 elements, expected 2'],
    ['too many types', single('bool', true, chain(257)), 'more than 256 types'],
    [
      'too many members',
      single('bool', true, {
        X: Array(3000)
          .fill(0)
          .map((_, i) => ({ name: `m${i}`, type: 'bool' })),
      }),
      'more than 2048 members',
    ],
    ['too many values', single('bool[]', Array(20_000).fill(true)), 'too many values'],
    ['too long a text', single('string', 'a'.repeat(600_000)), 'longer than'],
  ])('%s', (_name, document, reason) => {
    expect(refusal(JSON.stringify(document))).toContain(reason);
  });

  test.each<[string, string, string]>([
    ['nothing', '', 'refused'],
    ['no JSON', '{', 'refused'],
    ['a comment', '/**/{}', 'refused'],
    ['members given twice', '{"types":{},"types":{}}', 'duplicate'],
    ['a message nested too deep', `{"message":${'['.repeat(40)}${']'.repeat(40)}}`, 'nesting'],
    ['half a surrogate pair', '{"message":"\ud800"}', 'surrogate'],
    ['an escaped half of a surrogate pair', '{"message":"\\ud800"}', 'surrogate'],
    ['a number out of range', '{"message":1e999}', 'out of range'],
  ])('%s', (_name, text, reason) => {
    expect(refusal(text)).toContain(reason);
  });

  test('types that many others refer to are not encoded without end', () => {
    const long = (index: number) => `${'x'.repeat(190)}${index}`;
    const big = Array.from({ length: 1000 }, (_, index) => ({ name: long(index), type: 'bool' }));
    const wrappers = Array.from({ length: 200 }, (_, index) => `W${index}`);
    const types: Json = { Big: big, Top: wrappers.map((name) => ({ name, type: name })) };
    for (const name of wrappers) types[name] = [{ name: 'b', type: 'Big[]' }];
    const message = Object.fromEntries(wrappers.map((name) => [name, { b: [] }]));
    expect(refusal(JSON.stringify({ types, primaryType: 'Top', domain: {}, message }))).toContain('too often');
  });

  test('a long chain of types is fine as far as the text goes', () => {
    const document = { types: chain(250), primaryType: 'S0', domain: {}, message: { n: [] } };
    expect(digest(document)).toBe(viemDigest(document));
  });
});

interface Sample {
  readonly type: string;
  readonly value: unknown;
}

/** A type with a value of it, built from the structs below it. */
function samples(structs: readonly { name: string; value: fc.Arbitrary<unknown> }[]): fc.Arbitrary<Sample> {
  const hex = (length: number) =>
    fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  const atomic: fc.Arbitrary<Sample>[] = [
    fc
      .integer({ min: 1, max: 32 })
      .chain((n) =>
        fc.bigInt({ min: 0n, max: 2n ** BigInt(8 * n) - 1n }).map((value) => ({ type: `uint${8 * n}`, value })),
      ),
    fc.integer({ min: 1, max: 32 }).chain((n) => {
      const max = 2n ** BigInt(8 * n - 1);
      return fc.bigInt({ min: -max, max: max - 1n }).map((value) => ({ type: `int${8 * n}`, value }));
    }),
    fc.integer({ min: 1, max: 32 }).chain((n) => hex(n).map((value) => ({ type: `bytes${n}`, value }))),
    fc.nat({ max: 70 }).chain((n) => hex(n).map((value) => ({ type: 'bytes', value }))),
    hex(20).map((value) => ({ type: 'address', value })),
    fc.boolean().map((value) => ({ type: 'bool', value })),
    fc.string({ unit: 'grapheme' }).map((value) => ({ type: 'string', value })),
  ];
  const struct = structs.map(({ name, value }) => value.map((inner) => ({ type: name, value: inner })));
  const one = fc.oneof(...atomic, ...struct);
  const list = one.chain(({ type, value }) =>
    fc.tuple(fc.nat({ max: 3 }), fc.boolean()).map(([length, fixed]) => ({
      type: fixed && length > 0 ? `${type}[${length}]` : `${type}[]`,
      value: Array(length).fill(value),
    })),
  );
  return fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: list });
}

interface Struct {
  readonly members: readonly { name: string; type: string }[];
  readonly value: Json;
}

function structOf(below: readonly { name: string; value: fc.Arbitrary<unknown> }[]): fc.Arbitrary<Struct> {
  return fc.array(samples(below), { maxLength: 5 }).map((list) => ({
    members: list.map(({ type }, index) => ({ name: `m${index}`, type })),
    value: Object.fromEntries(list.map(({ value }, index) => [`m${index}`, value])),
  }));
}

const documents = structOf([]).chain((leaf) => {
  const leafOf = { name: 'Leaf', value: fc.constant(leaf.value) };
  return structOf([leafOf]).chain((middle) =>
    structOf([leafOf, { name: 'Aaa', value: fc.constant(middle.value) }]).map((top) => ({
      types: { EIP712Domain: DOMAIN_TYPE, Top: top.members, Aaa: middle.members, Leaf: leaf.members },
      primaryType: 'Top',
      domain: MAIL.domain,
      message: top.value,
    })),
  );
});

const stringify = (document: unknown): string =>
  JSON.stringify(document, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));

describe('any input', () => {
  test('random documents hash as with viem', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(digestOf(stringify(document))).toBe(viemDigest(document));
      }),
      { numRuns: 150 },
    );
  });

  /** Refused as the caller's mistake, or hashed; nothing else may come out. */
  function hashOrRefuse(text: string): HashedTypedData | undefined {
    try {
      const parsed = hashTypedDataJson(text);
      expect(parsed.digest.length).toBe(32);
      return parsed;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'INVALID_PAYLOAD_ENCODING') return undefined;
      throw error;
    }
  }

  test('random text and random JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        hashOrRefuse(text);
      }),
      { numRuns: 500 },
    );
  });

  test('documents whose parts are replaced', () => {
    const hostile = fc.oneof(
      fc.constantFrom(null, '', 'T', 'Mail', 'Mail[]', '__proto__', 'constructor', '0x', -0, 1e308, [], {}, '\u0000'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), hostile), { minLength: 1, maxLength: 3 }), (changes) => {
        let document: unknown = structuredClone(MAIL);
        for (const [at, value] of changes) {
          let seen = 0;
          const total = JSON.stringify(document).length;
          document = JSON.parse(
            JSON.stringify(document, (_key, part) => (seen++ === at % Math.min(total, 40) ? value : part)) ?? 'null',
          );
        }
        const parsed = hashOrRefuse(JSON.stringify(document));
        if (parsed !== undefined) expect(parsed.types.has(parsed.primaryType)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
