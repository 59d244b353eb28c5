import fc from 'fast-check';
import {
  type Abi,
  type AbiParameter,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../lib/errors.ts';
import type { DynamicValue } from '../../../policy/index.ts';
import { checkContractInterface } from '../../contract-interface.ts';
import { type EthereumCall, ethereumFacts } from '../facts.ts';

const CONTRACT = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const FROM = `0x${'11'.repeat(20)}`;

const read = (abi: unknown) =>
  checkContractInterface('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', CONTRACT, JSON.stringify(abi));

function refusal(abi: unknown): string {
  try {
    read(abi);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('INVALID_CONTRACT_INTERFACE');
    return (error as ApiError).message;
  }
  throw new Error('it was accepted');
}

const call = (data: string, to = CONTRACT.toLowerCase()): EthereumCall => ({
  type: 'TYPE_2',
  chainId: 1n,
  nonce: 0n,
  to,
  value: 0n,
  data,
  selector: data.length >= 10 ? data.slice(0, 10) : '',
  gas: 0n,
  gasPrice: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  maxFeePerBlobGas: 0n,
});

const fn = (inputs: readonly unknown[], name = 'f') => ({
  type: 'function',
  name,
  inputs,
  outputs: [],
  stateMutability: 'view',
});

function factsOf(abi: unknown, data: string, to?: string) {
  const parsed = read(abi);
  if (parsed.type !== 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM') throw new Error('not an ABI');
  return ethereumFacts(call(data, to), FROM, parsed);
}

const argsOf = (abi: unknown, data: string) => factsOf(abi, data).contract_call_args;

const hex = (text: string): DynamicValue => ({ kind: 'hex', text });
const uint = (value: bigint): DynamicValue => ({ kind: 'uint', value });
const word = (value: bigint | number): string => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');

const ERC20 = [
  fn(
    [
      { type: 'address', name: 'dst' },
      { type: 'uint256', name: 'wad' },
    ],
    'transfer',
  ),
  fn([{ type: 'address' }, { type: 'uint', name: '' }], 'approve'),
  { type: 'event', name: 'Transfer', inputs: [] },
  { type: 'constructor', inputs: [] },
  { type: 'fallback' },
];

describe('a call of an uploaded function', () => {
  const to = `0x${'AB'.repeat(20)}`;
  const transfer = `0xa9059cbb${word(BigInt(to))}${word(5)}`;

  test('has its name, selector and arguments', () => {
    const facts = factsOf(ERC20, transfer);
    expect([facts.function_name, facts.function_signature]).toEqual(['transfer', '0xa9059cbb']);
    expect(facts.contract_call_args).toEqual(
      new Map([
        ['dst', hex(to.toLowerCase())],
        ['wad', uint(5n)],
      ]),
    );
  });

  test('unnamed inputs go by position, and uint is uint256', () => {
    const args = argsOf(ERC20, `0x095ea7b3${word(BigInt(to))}${word(7)}`);
    expect(args).toEqual(
      new Map([
        ['arg0', hex(to.toLowerCase())],
        ['arg1', uint(7n)],
      ]),
    );
  });

  test.each([
    ['another contract', transfer, `0x${'22'.repeat(20)}`],
    ['a contract creation', transfer, ''],
    ['an unknown selector', `0xdeadbeef${transfer.slice(10)}`, undefined],
    ['no selector', '0xa9059c', undefined],
    ['no data', '0x', undefined],
  ])('%s has none of them', (_, data, target) => {
    const facts = factsOf(ERC20, data, target);
    expect([facts.function_name, facts.function_signature]).toEqual(['', '']);
    expect(facts).not.toHaveProperty('contract_call_args');
  });

  test.each([
    ['too short', transfer.slice(0, -2)],
    ['a word too short', transfer.slice(0, -64)],
    ['a byte too long', `${transfer}00`],
    ['a word too long', `${transfer}${word(0)}`],
    ['an address with dirty padding', `0xa9059cbb${word(BigInt(to) + 2n ** 160n)}${word(5)}`],
  ])('%s: the function is known, its arguments are not', (_, data) => {
    const facts = factsOf(ERC20, data);
    expect(facts.function_name).toBe('transfer');
    expect(facts).not.toHaveProperty('contract_call_args');
  });

  test('overloads are told apart by their selectors', () => {
    const abi = [fn([{ type: 'uint256', name: 'a' }]), fn([{ type: 'uint256[]', name: 'b' }]), fn([])];
    const one = `${toFunctionSelector('f(uint256)')}${word(1)}`;
    const many = `${toFunctionSelector('f(uint256[])')}${word(32)}${word(2)}${word(3)}${word(4)}`;
    expect(argsOf(abi, one)).toEqual(new Map([['a', uint(1n)]]));
    expect(argsOf(abi, many)).toEqual(new Map([['b', [uint(3n), uint(4n)]]]));
    expect(argsOf(abi, toFunctionSelector('f()'))).toEqual(new Map());
  });
});

describe('data that lies', () => {
  const selector = (types: string) => toFunctionSelector(`f(${types})`);
  const one = (type: string) => [fn([{ type, name: 'a' }])];

  test.each([
    ['a flag of two', 'bool', word(2)],
    ['a number too wide', 'uint8', word(256)],
    ['a sign that does not go up', 'int8', word(128)],
    ['bytes4 with a fifth', 'bytes4', 'aabbccdd01'.padEnd(64, '0')],
    ['bytes with dirty padding', 'bytes', `${word(32)}${word(1)}${'ff01'.padEnd(64, '0')}`],
    ['a text that is not UTF-8', 'string', `${word(32)}${word(1)}${'ff'.padEnd(64, '0')}`],
    ['an offset into the head', 'bytes', `${word(0)}${word(0)}`],
    ['an offset that skips', 'bytes', `${word(64)}${word(0)}${word(0)}`],
    ['an offset behind the end', 'bytes', word(2n ** 255n)],
    ['a negative offset', 'bytes', word(-32n)],
    ['more elements than there can be', 'uint256[]', `${word(32)}${word(2n ** 32n)}`],
    ['more elements than there are', 'uint256[]', `${word(32)}${word(2)}${word(1)}`],
    ['a length beyond 32 bits', 'bytes', `${word(32)}${word(2n ** 64n + 1n)}${word(0)}`],
    ['elements that share one tail', 'bytes[]', `${word(32)}${word(2)}${word(64)}${word(64)}${word(0)}`],
    ['tails in another order', 'bytes[]', `${word(32)}${word(2)}${word(96)}${word(64)}${word(0)}${word(0)}`],
  ])('%s', (_, type, data) => {
    expect(argsOf(one(type), `${selector(type)}${data}`)).toBeUndefined();
  });

  test('a bomb of pointers is not followed', () => {
    // Each level names the same data a hundred times: read by offsets it would be a hundred to the power of six values.
    const type = 'uint256[][][][][][]';
    const level = `${word(100)}${word(100 * 32).repeat(100)}`;
    expect(argsOf(one(type), `${selector(type)}${word(32)}${level.repeat(6)}`)).toBeUndefined();
  });
});

interface Sample {
  readonly parameter: AbiParameter;
  readonly value: fc.Arbitrary<unknown>;
}

const hexBytes = (min: number, max: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);

const parameter = (type: string, name: string, components?: readonly AbiParameter[]): AbiParameter =>
  (components === undefined ? { type, name } : { type, name, components }) as AbiParameter;

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);
const leaf: fc.Arbitrary<Sample> = fc.oneof(
  bits.map((width) => ({
    parameter: parameter(`uint${width}`, 'x'),
    value: fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }),
  })),
  bits.map((width) => {
    const half = 2n ** BigInt(width - 1);
    return { parameter: parameter(`int${width}`, 'x'), value: fc.bigInt({ min: -half, max: half - 1n }) };
  }),
  fc.constant({ parameter: parameter('address', 'x'), value: hexBytes(20, 20) }),
  fc.constant({ parameter: parameter('bool', 'x'), value: fc.boolean() }),
  fc
    .integer({ min: 1, max: 32 })
    .map((length) => ({ parameter: parameter(`bytes${length}`, 'x'), value: hexBytes(length, length) })),
  fc.constant({ parameter: parameter('bytes', 'x'), value: hexBytes(0, 70) }),
  fc.constant({ parameter: parameter('string', 'x'), value: fc.string({ unit: 'grapheme', maxLength: 40 }) }),
);

const renamed = (inner: AbiParameter, name: string): AbiParameter => ({ ...inner, name }) as AbiParameter;

function tupleOf(members: readonly Sample[]): Sample {
  const components = members.map((member, index) => renamed(member.parameter, `c${index}`));
  const values = fc.tuple(...members.map(({ value }) => value));
  return {
    parameter: parameter('tuple', 'x', components),
    value: values.map((list) => Object.fromEntries(list.map((value, index) => [`c${index}`, value]))),
  };
}

function arrayOf({ parameter: inner, value }: Sample, length: number | undefined): Sample {
  const type = `${inner.type}[${length ?? ''}]`;
  const bounds = length === undefined ? { maxLength: 3 } : { minLength: length, maxLength: length };
  return { parameter: { ...inner, type } as AbiParameter, value: fc.array(value, bounds) };
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc
      .tuple(tie('sample'), fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }))
      .map(([inner, n]) => arrayOf(inner, n)),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map(tupleOf),
  ),
}));

const calls = fc.array(sample, { maxLength: 4 }).chain((samples) =>
  fc.tuple(...samples.map(({ value }) => value)).map((values) => ({
    abi: [fn(samples.map((one, index) => renamed(one.parameter, `p${index}`)))] as unknown as Abi,
    values: values as readonly unknown[],
  })),
);

/** What viem reads, in the values of the policy language. */
function expected(one: AbiParameter, value: unknown): DynamicValue {
  const array = /^(.*)\[[0-9]*\]$/.exec(one.type);
  if (array !== null) {
    return (value as unknown[]).map((element) =>
      expected({ ...one, type: array[1] as string } as AbiParameter, element),
    );
  }
  if (one.type === 'tuple') {
    const components = (one as { readonly components: readonly AbiParameter[] }).components;
    const items = components.map((component) =>
      expected(component, (value as Record<string, unknown>)[component.name ?? '']),
    );
    return { kind: 'tuple', items };
  }
  if (one.type.startsWith('uint')) return uint(BigInt(value as bigint));
  if (one.type.startsWith('int')) return { kind: 'int', value: BigInt(value as bigint) };
  if (one.type === 'bool' || one.type === 'string') return value as boolean | string;
  return hex((value as string).toLowerCase());
}

function expectedArgs(abi: Abi, values: readonly unknown[]): ReadonlyMap<string, DynamicValue> {
  const [entry] = abi as unknown as readonly [{ readonly inputs: readonly AbiParameter[] }];
  return new Map(entry.inputs.map((one, index) => [one.name ?? '', expected(one, values[index])]));
}

const encode = (abi: Abi, args: readonly unknown[]): Hex => encodeFunctionData({ abi, functionName: 'f', args });

/** viem's reading, when the data is exactly what viem would write for it. */
function viemReads(abi: Abi, data: Hex): readonly unknown[] | undefined {
  try {
    const args = (decodeFunctionData({ abi, data }).args ?? []) as readonly unknown[];
    return encode(abi, args) === data ? args : undefined;
  } catch {
    return undefined;
  }
}

describe('held to viem', () => {
  test('what viem writes is read as viem reads it', () => {
    fc.assert(
      fc.property(calls, ({ abi, values }) => {
        const data = encode(abi, values);
        const read = decodeFunctionData({ abi, data }).args ?? [];
        expect(argsOf(abi, data)).toEqual(expectedArgs(abi, read as readonly unknown[]));
      }),
      { numRuns: 400 },
    );
  });

  test('damaged data is read when it is still the one encoding of its values, and not at all otherwise', () => {
    const damage = fc.record({
      at: fc.nat(),
      byte: fc.integer({ min: 1, max: 255 }),
      cut: fc.oneof(fc.constant(0), fc.nat(64)),
      extra: fc.oneof(
        fc.constant(''),
        hexBytes(1, 64).map((text) => text.slice(2)),
      ),
    });
    let read = 0;
    let refused = 0;
    fc.assert(
      fc.property(calls, damage, ({ abi, values }, { at, byte, cut, extra }) => {
        const body = Buffer.from(encode(abi, values).slice(10), 'hex');
        if (body.length > 0) body[at % body.length] = (body[at % body.length] as number) ^ byte;
        const damaged = `${body.subarray(0, Math.max(0, body.length - cut)).toString('hex')}${extra}`;
        const data = `${encode(abi, values).slice(0, 10)}${damaged}` as Hex;
        const oracle = viemReads(abi, data);
        expect(argsOf(abi, data)).toEqual(oracle === undefined ? undefined : expectedArgs(abi, oracle));
        if (oracle === undefined) refused += 1;
        else read += 1;
      }),
      { numRuns: 600 },
    );
    expect(read).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(20);
  });

  test('random bytes: never a crash', () => {
    fc.assert(
      fc.property(calls, hexBytes(0, 300), ({ abi, values }, bytes) => {
        const data = `${encode(abi, values).slice(0, 10)}${bytes.slice(2)}` as Hex;
        const oracle = viemReads(abi, data);
        expect(argsOf(abi, data)).toEqual(oracle === undefined ? undefined : expectedArgs(abi, oracle));
      }),
      { numRuns: 300 },
    );
  });
});

describe('an ABI at upload', () => {
  test.each([
    [{ abi: [] }, 'an Ethereum interface is not a list'],
    ['f()', 'an Ethereum interface is not a list'],
    [[1], 'entry 0 is not an object'],
    [[{ type: 'struct' }], 'entry 0 is of no known type'],
    [[fn([], '')], 'the function of entry 0 has no name'],
    [[fn([], 'f(uint256)')], 'the function of entry 0 has no name'],
    [[fn([{ name: 'a' }])], 'input 0 of "f" has no type'],
    [[fn([{ type: 'uint7', name: 'a' }])], 'input 0 of "f" is of the type "uint7", which is not supported'],
    [[fn([{ type: 'uint264' }])], 'input 0 of "f" is of the type "uint264", which is not supported'],
    [[fn([{ type: 'bytes33' }])], 'input 0 of "f" is of the type "bytes33", which is not supported'],
    [[fn([{ type: 'fixed128x18' }])], 'input 0 of "f" is of the type "fixed128x18", which is not supported'],
    [[fn([{ type: 'constructor' }])], 'input 0 of "f" is of the type "constructor", which is not supported'],
    [[fn([{ type: 'uint256[0]' }])], 'input 0 of "f" is an array of 0 elements'],
    [[fn([{ type: 'uint256[01]' }])], 'input 0 of "f" is an array of 01 elements'],
    [[fn([{ type: 'uint8[99999999]' }])], 'input 0 of "f" is larger than any transaction'],
    [[fn([{ type: `uint8${'[]'.repeat(9)}` }])], 'input 0 of "f" has more than 8 dimensions'],
    [[fn([{ type: 'tuple' }])], 'components of input 0 of "f" is not a list'],
    [[fn([{ type: 'tuple[]', components: [] }])], 'input 0 of "f" is a tuple without components'],
    [[fn([{ type: 'bool', name: 'arg1' }, { type: 'bool' }])], 'function "f" has "arg1" twice'],
    [[fn([{ type: 'bool', name: 5 }])], 'input 0 of "f" has a name that is no text'],
    [
      [fn([{ type: 'bool', name: 'a' }]), fn([{ type: 'bool', name: 'b' }])],
      'f(bool) is declared twice with different names',
    ],
  ])('%j', (abi, message) => {
    expect(refusal(abi)).toBe(`invalid smart contract interface: ${message}`);
  });

  test('two functions with one selector', () => {
    const abi = [
      fn([{ type: 'uint256' }], 'burn'),
      fn([{ type: 'address' }, { type: 'bytes32' }], 'collate_propagate_storage'),
    ];
    const other = [fn([{ type: 'uint256' }], 'burn'), fn([{ type: 'bytes16' }], 'collate_propagate_storage')];
    expect(() => read(abi)).not.toThrow();
    expect(refusal(other)).toContain('have the same selector 0x42966c68');
  });

  test('at most 2,000 functions and 400,000 characters, once each name', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }));
    expect(() => read(many(2_000))).not.toThrow();
    expect(refusal(many(2_001))).toContain('more than 2000 functions');
    const text = JSON.stringify([fn([])]);
    const type = 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM';
    expect(() => checkContractInterface(type, CONTRACT, text.padEnd(400_000))).not.toThrow();
    expect(() => checkContractInterface(type, CONTRACT, text.padEnd(400_001))).toThrow('longer than 400000 characters');
    for (const bad of ['', '  ', '[', '[{"name":"f","name":"g"}]', `${'['.repeat(99)}${']'.repeat(99)}`]) {
      expect(() => checkContractInterface(type, CONTRACT, bad)).toThrow('invalid smart contract interface');
    }
  });

  test('anything at all: read or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ maxDepth: 8 }), fc.string()), (text) => {
        try {
          checkContractInterface('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', CONTRACT, text);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});
