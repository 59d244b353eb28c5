import { base58 } from '@scure/base';
import { toHex } from '../../lib/encoding.ts';
import { refused, unparsable } from '../input.ts';
import { Reader } from './reader.ts';

/** What stands for an account that only an address look-up table on the chain could name. */
export const ADDRESS_TABLE_LOOKUP = 'ADDRESS_TABLE_LOOKUP';

export interface SolanaHeader {
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

export interface SolanaAccount {
  readonly accountKey: string;
  readonly signer: boolean;
  readonly writable: boolean;
}

export interface SolanaTableLookup {
  readonly addressTableKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

export interface SolanaInstruction {
  readonly programKey: string;
  readonly accounts: readonly SolanaAccount[];
  /** Without 0x. */
  readonly dataHex: string;
  /** The part of the message's look-ups that this instruction's accounts come from: one entry per table. */
  readonly addressTableLookups: readonly SolanaTableLookup[];
}

export interface SolanaMessage {
  readonly version: 'legacy' | 0;
  readonly header: SolanaHeader;
  /** Static keys in base58 first, then one ADDRESS_TABLE_LOOKUP per account that comes from a table. */
  readonly accountKeys: readonly string[];
  /** The programs that the instructions call, each once, in the order of first use. */
  readonly programKeys: readonly string[];
  readonly recentBlockhash: string;
  readonly instructions: readonly SolanaInstruction[];
  readonly addressTableLookups: readonly SolanaTableLookup[];
}

const VERSION_BIT = 0x80;
const KEY_BYTES = 32;
/** An account index is one byte. */
const MAX_ACCOUNTS = 256;

/** An account as the instructions refer to it, by its place in the message. */
interface AccountMeta extends SolanaAccount {
  readonly lookup?: { readonly table: number; readonly index: number };
}

interface RawInstruction {
  readonly program: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
}

/**
 * A message, legacy or version 0 (Solana documentation, "Message"), with the rules of the validator's `sanitize`. What
 * the network would not execute is refused here, so that what is judged is also what would happen.
 */
export function parseMessage(bytes: Uint8Array): SolanaMessage {
  const reader = new Reader(bytes);
  const version = readVersion(reader);
  const header: SolanaHeader = {
    requiredSignatures: reader.byte(),
    readonlySigned: reader.byte(),
    readonlyUnsigned: reader.byte(),
  };
  const staticKeys = reader.elements(KEY_BYTES).map((key) => base58.encode(key));
  checkHeader(header, staticKeys);
  const recentBlockhash = base58.encode(reader.bytes(KEY_BYTES));
  const instructions = Array.from({ length: reader.compactU16() }, () => readInstruction(reader));
  const lookups = version === 0 ? Array.from({ length: reader.compactU16() }, () => readLookup(reader)) : [];
  if (reader.remaining > 0) throw unparsable('bytes are left over after the message');

  const metas = accountMetas(header, staticKeys, lookups);
  if (metas.length > MAX_ACCOUNTS) throw unparsable('it names more than 256 accounts');
  const resolved = instructions.map((instruction, at) =>
    resolveInstruction(instruction, `instruction ${at}`, metas, staticKeys, lookups),
  );
  return {
    version,
    header,
    accountKeys: metas.map((meta) => meta.accountKey),
    programKeys: [...new Set(resolved.map((instruction) => instruction.programKey))],
    recentBlockhash,
    instructions: resolved,
    addressTableLookups: lookups,
  };
}

function readVersion(reader: Reader): 'legacy' | 0 {
  if (reader.peek() < VERSION_BIT) return 'legacy';
  const version = reader.byte() & ~VERSION_BIT;
  if (version !== 0) throw unparsable(`message version ${version} is not supported`);
  return 0;
}

function readInstruction(reader: Reader): RawInstruction {
  const program = reader.byte();
  const accounts = reader.bytes(reader.compactU16());
  const data = reader.bytes(reader.compactU16());
  return { program, accounts, data };
}

function readLookup(reader: Reader): SolanaTableLookup {
  const addressTableKey = base58.encode(reader.bytes(KEY_BYTES));
  const writableIndexes = [...reader.bytes(reader.compactU16())];
  const readonlyIndexes = [...reader.bytes(reader.compactU16())];
  if (writableIndexes.length + readonlyIndexes.length === 0) throw unparsable('an address table look-up takes nothing');
  return { addressTableKey, writableIndexes, readonlyIndexes };
}

function checkHeader(header: SolanaHeader, keys: readonly string[]): void {
  if (header.requiredSignatures + header.readonlyUnsigned > keys.length) {
    throw unparsable('the header counts more accounts than there are');
  }
  // The first signer pays the fee and is therefore writable.
  if (header.readonlySigned >= header.requiredSignatures) throw unparsable('no signer can pay the fee');
  if (new Set(keys).size !== keys.length) throw unparsable('an account key occurs twice');
}

/** Static accounts, then the writable and at last the read-only ones of all tables, which is how indices count. */
function accountMetas(
  header: SolanaHeader,
  staticKeys: readonly string[],
  lookups: readonly SolanaTableLookup[],
): AccountMeta[] {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  const metas = staticKeys.map((accountKey, at): AccountMeta => {
    const signer = at < requiredSignatures;
    const writableEnd = signer ? requiredSignatures - readonlySigned : staticKeys.length - readonlyUnsigned;
    return { accountKey, signer, writable: at < writableEnd };
  });
  for (const writable of [true, false]) {
    for (const [table, lookup] of lookups.entries()) {
      for (const index of writable ? lookup.writableIndexes : lookup.readonlyIndexes) {
        metas.push({ accountKey: ADDRESS_TABLE_LOOKUP, signer: false, writable, lookup: { table, index } });
      }
    }
  }
  return metas;
}

function resolveInstruction(
  instruction: RawInstruction,
  where: string,
  metas: readonly AccountMeta[],
  staticKeys: readonly string[],
  lookups: readonly SolanaTableLookup[],
): SolanaInstruction {
  if (instruction.program >= metas.length) throw unparsable(`${where} names a program that is not in the message`);
  if (instruction.program === 0) throw unparsable(`${where} calls the fee payer as a program`);
  const programKey = staticKeys[instruction.program];
  if (programKey === undefined) {
    throw refused(`${where} takes its program from an address look-up table: such transactions are not signed`);
  }
  const used = [...instruction.accounts].map((index) => {
    const meta = metas[index];
    if (meta === undefined) throw unparsable(`${where} names an account that is not in the message`);
    return meta;
  });
  return {
    programKey,
    accounts: used.map(({ accountKey, signer, writable }) => ({ accountKey, signer, writable })),
    dataHex: toHex(instruction.data),
    addressTableLookups: lookups.flatMap((lookup, table) => {
      const taken = used.filter((meta) => meta.lookup?.table === table);
      if (taken.length === 0) return [];
      const indexes = (writable: boolean) =>
        taken.flatMap((meta) => (meta.writable === writable && meta.lookup ? [meta.lookup.index] : []));
      return [
        {
          addressTableKey: lookup.addressTableKey,
          writableIndexes: indexes(true),
          readonlyIndexes: indexes(false),
        },
      ];
    }),
  };
}
