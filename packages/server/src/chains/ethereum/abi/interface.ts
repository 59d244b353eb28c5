import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../../lib/encoding.ts';
import type { JsonValue } from '../../../lib/strict-json.ts';
import type { DynamicValue } from '../../../policy/index.ts';
import { asList, asObject, member, refuseInterface, refuseRepeated, shown } from '../../interface-json.ts';
import { decodeAbi } from './decode.ts';
import { type AbiType, readAbiType } from './types.ts';

export interface AbiFunction {
  readonly name: string;
  /** `transfer(address,uint256)`. */
  readonly signature: string;
  /** Unnamed inputs are called by their position: `arg0`, `arg1`. */
  readonly inputNames: readonly string[];
  readonly inputTypes: readonly AbiType[];
}

/** The functions of a contract by their selector, in lower-case hex with 0x. */
export type AbiFunctions = ReadonlyMap<string, AbiFunction>;

const ENTRY_TYPES = new Set(['function', 'constructor', 'receive', 'fallback', 'event', 'error']);
const IDENTIFIER = /^[A-Za-z$_][A-Za-z0-9$_]{0,255}$/;
/** Each costs a hash when the interface is read. */
const FUNCTIONS_MAX = 2_000;

/**
 * The functions of a standard JSON ABI; what else it declares plays no part. Refuses what cannot be told apart later.
 */
export function readAbi(json: JsonValue): AbiFunctions {
  const functions = new Map<string, AbiFunction>();
  for (const [index, value] of asList(json, 'an Ethereum interface').entries()) {
    const where = `entry ${index}`;
    const entry = asObject(value, where);
    // The specification lets the type of a function be left out.
    const type = member(entry, 'type') ?? 'function';
    if (typeof type !== 'string' || !ENTRY_TYPES.has(type)) refuseInterface(`${where} is of no known type`);
    if (type !== 'function') continue;
    if (functions.size === FUNCTIONS_MAX) refuseInterface(`more than ${FUNCTIONS_MAX} functions`);
    const name = member(entry, 'name');
    if (typeof name !== 'string' || !IDENTIFIER.test(name))
      return refuseInterface(`the function of ${where} has no name`);
    addFunction(functions, readFunction(name, asList(member(entry, 'inputs') ?? [], `inputs of ${shown(name)}`)));
  }
  return functions;
}

function readFunction(name: string, inputs: readonly JsonValue[]): AbiFunction {
  const types = inputs.map((input, index) => readAbiType(input, `input ${index} of ${shown(name)}`));
  const inputNames = inputs.map((input, index) => readInputName(input, index, name));
  refuseRepeated(inputNames, `function ${shown(name)}`);
  return {
    name,
    signature: `${name}(${types.map(({ text }) => text).join(',')})`,
    inputNames,
    inputTypes: types.map(({ type }) => type),
  };
}

function readInputName(input: JsonValue, index: number, functionName: string): string {
  const name = member(asObject(input, `input ${index} of ${shown(functionName)}`), 'name') ?? '';
  if (typeof name !== 'string')
    return refuseInterface(`input ${index} of ${shown(functionName)} has a name that is no text`);
  return name === '' ? `arg${index}` : name;
}

function addFunction(functions: Map<string, AbiFunction>, added: AbiFunction): void {
  const selector = `0x${toHex(keccak_256(Buffer.from(added.signature, 'utf8')).subarray(0, 4))}`;
  const known = functions.get(selector);
  if (known !== undefined && known.signature !== added.signature) {
    refuseInterface(`${known.signature} and ${added.signature} have the same selector ${selector}`);
  }
  if (known?.inputNames.some((name, index) => name !== added.inputNames[index])) {
    refuseInterface(`${added.signature} is declared twice with different names`);
  }
  functions.set(selector, added);
}

/** The arguments of a call by name; undefined unless the data is exactly a call of this function. */
export function decodeCall(called: AbiFunction, data: string): ReadonlyMap<string, DynamicValue> | undefined {
  const values = decodeAbi(called.inputTypes, Buffer.from(data.slice(10), 'hex'));
  return values && new Map(called.inputNames.map((name, index) => [name, values[index] as DynamicValue]));
}
