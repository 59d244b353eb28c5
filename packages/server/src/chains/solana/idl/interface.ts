import { sha256, toHex } from '../../../lib/encoding.ts';
import type { JsonObject, JsonValue } from '../../../lib/strict-json.ts';
import type { SolanaTransactionFacts } from '../../../policy/index.ts';
import { asList, asName, asObject, member, refuseInterface, refuseRepeated, shown } from '../../interface-json.ts';
import type { SolanaInstruction } from '../message.ts';
import { type DecodeBudget, decodeBorsh } from './decode.ts';
import { type IdlField, IdlTypes } from './types.ts';

export type ParsedInstructionData = NonNullable<
  SolanaTransactionFacts['instructions'][number]['parsed_instruction_data']
>;

interface IdlAccount {
  /** Names of accounts in a group carry the group's name before a dot. */
  readonly name: string;
  readonly optional: boolean;
}

export interface IdlInstruction {
  readonly name: string;
  /** The bytes that instruction data starts with, in hex. */
  readonly discriminator: string;
  readonly accounts: readonly IdlAccount[];
  readonly args: readonly IdlField[];
}

/** The instructions of a program by their discriminator, none of which is the beginning of another. */
export interface IdlInstructions {
  readonly byDiscriminator: ReadonlyMap<string, IdlInstruction>;
  /** The lengths of the discriminators, in hex digits. */
  readonly lengths: readonly number[];
}

const INSTRUCTIONS_MAX = 2_000;
const DISCRIMINATOR_BYTES_MAX = 32;

/** The instructions of an Anchor IDL, as it is written before or since version 0.30. */
export function readIdl(json: JsonValue): IdlInstructions {
  const idl = asObject(json, 'a Solana interface');
  const declared = member(idl, 'types');
  if (declared === undefined)
    return refuseInterface('a Solana interface needs the key types, which may be an empty list');
  const types = new IdlTypes(declared);
  const list = asList(member(idl, 'instructions'), 'instructions');
  if (list.length > INSTRUCTIONS_MAX) refuseInterface(`more than ${INSTRUCTIONS_MAX} instructions`);
  const instructions = list.map((value, index) =>
    readInstruction(asObject(value, `instruction ${index}`), index, types),
  );
  refusePrefixes(instructions);
  return {
    byDiscriminator: new Map(instructions.map((instruction) => [instruction.discriminator, instruction])),
    lengths: [...new Set(instructions.map(({ discriminator }) => discriminator.length))],
  };
}

function readInstruction(json: JsonObject, index: number, types: IdlTypes): IdlInstruction {
  const name = asName(member(json, 'name'), `instruction ${index}`);
  const where = `instruction ${shown(name)}`;
  if (member(json, 'discriminant') !== undefined) {
    return refuseInterface(`${where} has a discriminant; only discriminators of Anchor are supported`);
  }
  const accounts = readAccounts(asList(member(json, 'accounts') ?? [], `accounts of ${where}`), '', where);
  refuseRepeated(
    accounts.map((account) => account.name),
    `accounts of ${where}`,
  );
  return {
    name,
    discriminator: readDiscriminator(member(json, 'discriminator'), name, where),
    accounts,
    args: types.fields(asList(member(json, 'args') ?? [], `args of ${where}`), where),
  };
}

/** By default what Anchor takes: the first eight bytes of a hash of the name (protocol/policy-facts 5.3). */
function readDiscriminator(json: JsonValue | undefined, name: string, where: string): string {
  if (json === undefined) return toHex(sha256(`global:${snakeCase(name)}`).subarray(0, 8));
  const bytes = asList(json, `discriminator of ${where}`);
  const isByte = (byte: JsonValue) => typeof byte === 'number' && Number.isInteger(byte) && byte >= 0 && byte <= 255;
  if (bytes.length === 0 || bytes.length > DISCRIMINATOR_BYTES_MAX || !bytes.every(isByte)) {
    return refuseInterface(`discriminator of ${where} is not 1 to ${DISCRIMINATOR_BYTES_MAX} bytes`);
  }
  return toHex(Uint8Array.from(bytes as number[]));
}

/** IDLs before 0.30 write names in camel case, but hash them as the program spells them. */
const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();

function readAccounts(list: readonly JsonValue[], prefix: string, where: string): IdlAccount[] {
  return list.flatMap((value, index) => {
    const account = asObject(value, `account ${index} of ${where}`);
    const name = `${prefix}${asName(member(account, 'name'), `account ${index} of ${where}`)}`;
    const group = member(account, 'accounts');
    if (group !== undefined) return readAccounts(asList(group, `accounts of ${shown(name)}`), `${name}.`, where);
    return [{ name, optional: member(account, 'isOptional') === true || member(account, 'optional') === true }];
  });
}

/** Data that starts with both could be either. */
function refusePrefixes(instructions: readonly IdlInstruction[]): void {
  const sorted = [...instructions].sort((a, b) => (a.discriminator < b.discriminator ? -1 : 1));
  for (const [index, { name, discriminator }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next?.discriminator.startsWith(discriminator)) {
      refuseInterface(
        `instructions ${shown(name)} and ${shown(next.name)} cannot be told apart by their discriminators`,
      );
    }
  }
}

/** What an instruction says by the IDL of its program; undefined unless its data and accounts fit exactly. */
export function parseInstructionData(
  idl: IdlInstructions,
  instruction: SolanaInstruction,
  budget: DecodeBudget,
): ParsedInstructionData | undefined {
  const { dataHex, accounts } = instruction;
  const called = idl.lengths
    .map((length) => (length <= dataHex.length ? idl.byDiscriminator.get(dataHex.slice(0, length)) : undefined))
    .find((found) => found !== undefined);
  if (called === undefined) return undefined;
  // Further accounts are the program's own affair, and optional ones may be left off at the end.
  if (called.accounts.slice(accounts.length).some(({ optional }) => !optional)) return undefined;
  const args = decodeBorsh(called.args, Buffer.from(dataHex.slice(called.discriminator.length), 'hex'), budget);
  if (args === undefined) return undefined;
  const named = called.accounts
    .slice(0, accounts.length)
    .map(({ name }, index) => [name, accounts[index]?.accountKey ?? ''] as const);
  return {
    instruction_name: called.name,
    discriminator: called.discriminator,
    named_accounts: new Map(named),
    program_call_args: args,
  };
}
