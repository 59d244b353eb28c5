// Functions of contracts with random parameters and arguments, encoded by viem and ethers.
import { type DynamicValue, hexText, intValue, tupleOf, uintValue } from '@custos/server/policy';
import { Interface } from 'ethers';
import fc from 'fast-check';
import { type Abi, type AbiFunction, encodeFunctionData, type Hex } from 'viem';
import { hexOf } from './policy-facts-damage.ts';

/** A parameter as an ABI declares it, with values for it. */
interface Parameter {
  readonly type: string;
  readonly components?: readonly NamedParameter[];
}

interface NamedParameter extends Parameter {
  readonly name: string;
}

export interface Call {
  readonly abi: readonly [AbiFunction];
  readonly args: readonly unknown[];
  readonly data: Hex;
}

export const hexBytes = (constraints: fc.IntArrayConstraints): fc.Arbitrary<Hex> =>
  fc.uint8Array(constraints).map((bytes): Hex => `0x${hexOf(bytes)}`);
export const address = hexBytes({ minLength: 20, maxLength: 20 });
export const uint = (bits: number): fc.Arbitrary<bigint> =>
  fc.oneof(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), fc.constantFrom(0n, 1n, 2n ** BigInt(bits) - 1n));

const widths = fc.integer({ min: 1, max: 32 });
const named = (parameter: Parameter, index: number): NamedParameter => ({ ...parameter, name: `member${index}` });

const { parameter } = fc.letrec<{ parameter: Parameter }>((tie) => ({
  parameter: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'abi' },
    widths.map((width) => ({ type: `uint${width * 8}` })),
    widths.map((width) => ({ type: `int${width * 8}` })),
    widths.map((width) => ({ type: `bytes${width}` })),
    fc.constantFrom('address', 'bool', 'bytes', 'string').map((type) => ({ type })),
    fc
      .tuple(tie('parameter'), fc.constantFrom('', '1', '2', '3'))
      .map(([element, length]) => ({ ...element, type: `${element.type}[${length}]` })),
    fc
      .array(tie('parameter'), { minLength: 1, maxLength: 3 })
      .map((members) => ({ type: 'tuple', components: members.map(named) })),
  ),
}));

export function values(declared: Parameter): fc.Arbitrary<unknown> {
  const array = arrayOf(declared);
  if (array !== undefined) {
    const { element, length } = array;
    return fc.array(values(element), { minLength: length ?? 0, maxLength: length ?? 3 });
  }
  if (declared.components !== undefined) return fc.tuple(...declared.components.map(values));
  const [, kind, digits] = /^([a-z]+)(\d*)$/.exec(declared.type) ?? [];
  const size = Number(digits);
  switch (kind) {
    case 'uint':
      return uint(size);
    case 'int':
      return uint(size).map((value) => BigInt.asIntN(size, value));
    case 'bytes':
      return digits === '' ? hexBytes({ maxLength: 70 }) : hexBytes({ minLength: size, maxLength: size });
    case 'address':
      return address;
    case 'bool':
      return fc.boolean();
    default:
      return fc.string({ unit: 'grapheme', maxLength: 40 });
  }
}

/** Calls of functions with up to four parameters. */
export const call: fc.Arbitrary<Call> = fc
  .tuple(fc.constantFrom('transfer', 'execute', 'f', '_$run9'), fc.array(parameter, { maxLength: 4 }), fc.boolean())
  .chain(([name, parameters, byEthers]) =>
    fc.tuple(fc.constant({ name, byEthers, inputs: parameters.map(named) }), fc.tuple(...parameters.map(values))),
  )
  .map(([{ name, byEthers, inputs }, args]) => {
    const abi = [{ type: 'function', name, inputs, outputs: [], stateMutability: 'payable' }] as const;
    const data = byEthers
      ? (new Interface(abi).encodeFunctionData(name, args) as Hex)
      : encodeFunctionData({
          abi: abi as unknown as Abi,
          functionName: name,
          args: inputs.map((input, index) => forViem(input, args[index])),
        });
    return { abi: abi as unknown as Call['abi'], args, data };
  });

/** viem wants small integers as numbers and tuples with names as objects. */
function forViem(declared: Parameter, value: unknown): unknown {
  const array = arrayOf(declared);
  if (array !== undefined) return (value as unknown[]).map((one) => forViem(array.element, one));
  if (declared.components !== undefined) {
    const members = declared.components.map((member, index) => [
      member.name,
      forViem(member, (value as unknown[])[index]),
    ]);
    return Object.fromEntries(members);
  }
  const bits = /^u?int(\d+)$/.exec(declared.type)?.[1];
  return bits !== undefined && Number(bits) <= 48 ? Number(value) : value;
}

export function arrayOf(declared: Parameter): { element: Parameter; length: number | undefined } | undefined {
  const [, type, digits] = /^(.*)\[(\d*)\]$/.exec(declared.type) ?? [];
  if (type === undefined) return undefined;
  return { element: { ...declared, type }, length: digits === '' ? undefined : Number(digits) };
}

/** A value as a policy sees it. */
export function valueFacts(declared: Parameter, value: unknown): DynamicValue {
  const array = arrayOf(declared);
  if (array !== undefined) return (value as unknown[]).map((one) => valueFacts(array.element, one));
  if (declared.components !== undefined) {
    const members = value as unknown[];
    return tupleOf(declared.components.map((member, index) => valueFacts(member, members[index])));
  }
  if (declared.type.startsWith('uint')) return uintValue(value as bigint);
  if (declared.type.startsWith('int')) return intValue(value as bigint);
  if (declared.type === 'bool') return value as boolean;
  if (declared.type === 'string') return value as string;
  return hexText((value as string).toLowerCase());
}

export const argumentFacts = ([{ inputs }]: Call['abi'], args: readonly unknown[]): ReadonlyMap<string, DynamicValue> =>
  new Map(inputs.map((input, index) => [input.name ?? '', valueFacts(input as Parameter, args[index])]));

/** The arguments in call data, if ethers would encode them in exactly these bytes. */
export function decodedByEthers(abi: Call['abi'], data: string): readonly unknown[] | undefined {
  const [{ name }] = abi;
  const contract = new Interface(abi as never);
  try {
    const args = contract.decodeFunctionData(name, data).toArray(true);
    return contract.encodeFunctionData(name, args) === data ? args : undefined;
  } catch {
    return undefined;
  }
}
