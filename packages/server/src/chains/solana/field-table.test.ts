import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe } from 'vitest';
import { testFieldTable } from '../../../test/chain/field-table.ts';
import { readTransaction } from '../transactions.ts';
import { SOLANA_FIELDS } from './field-table.ts';

const payer = ed25519.getPublicKey(new Uint8Array(32).fill(8));
const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const u64 = (value: bigint): Uint8Array => new Uint8Array(new BigUint64Array([value]).buffer);
const SYSTEM = new Uint8Array(32);
const TOKEN = base58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022 = base58.decode('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

const account = {
  curve: 'CURVE_ED25519',
  publicKey: payer,
  address: '',
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
} as const;

interface Parts {
  readonly header: readonly number[];
  /** Payer, three accounts of a token transfer, a mint, an owner, a signer of the owner's, then the programs. */
  readonly keys: readonly Uint8Array[];
  readonly blockhash: Uint8Array;
  /** The accounts of a transfer of lamports, and of one of tokens. */
  readonly accounts: readonly number[];
  readonly tokenAccounts: readonly number[];
  readonly lamports: bigint;
  readonly tokens: bigint;
  readonly tokenProgram: number;
  readonly lookup?: {
    readonly table: number;
    readonly writable: readonly number[];
    readonly readonly: readonly number[];
  };
}

const BASE: Parts = {
  header: [1, 0, 2],
  keys: [payer, key(2), key(3), key(4), key(5), key(6), key(7), SYSTEM, TOKEN],
  blockhash: key(0xbb),
  accounts: [0, 1],
  // Source, mint, destination, owner, signer.
  tokenAccounts: [2, 3, 4, 5, 6],
  lamports: 10n,
  tokens: 20n,
  tokenProgram: 8,
};

// An independent encoder: just concatenation, with lengths below 128 as one byte.
const list = (items: readonly number[] | Uint8Array): number[] => [items.length, ...items];

function message({ lookup, ...parts }: Parts): string {
  const { header, keys, blockhash, accounts, tokenAccounts, lamports, tokens, tokenProgram } = parts;
  const body = [
    ...header,
    keys.length,
    ...keys.flatMap((one) => [...one]),
    ...blockhash,
    2,
    ...[7, ...list(accounts), ...list([2, 0, 0, 0, ...u64(lamports)])],
    ...[tokenProgram, ...list(tokenAccounts), ...list([12, ...u64(tokens), 6])],
  ];
  const bytes =
    lookup === undefined
      ? body
      : [0x80, ...body, 1, ...key(lookup.table), ...list(lookup.writable), ...list(lookup.readonly)];
  return Buffer.from(bytes).toString('hex');
}

const signer = { account, addresses: [account] };
const readBytes = (hex: string) => readTransaction('TRANSACTION_TYPE_SOLANA', hex, signer);
const read = (parts: Parts) => readBytes(message(parts));

const replaced = (at: number, fill: number, { keys }: Parts): Pick<Parts, 'keys'> => ({
  keys: keys.with(at, key(fill)),
});

describe.each([
  ['LEGACY', SOLANA_FIELDS.LEGACY, BASE],
  // The mint and the signer come from a table.
  [
    'VERSION_0',
    SOLANA_FIELDS.VERSION_0,
    { ...BASE, tokenAccounts: [2, 10, 4, 5, 9], lookup: { table: 0x10, writable: [1], readonly: [2] } },
  ],
] as const)('who sees the fields of a message %s', (kind, table, base: Parts) => {
  const change = (some: Partial<Parts>) => () => read({ ...base, ...some });
  const withMore = () => readBytes(`${message(base)}00`);
  const lookup = { table: 0x10, writable: [1], readonly: [2] };
  const tables = (prefix: string) => ({
    [`${prefix}addressTableLookups.addressTableKey`]: change({ lookup: { ...lookup, table: 0x11 } }),
    [`${prefix}addressTableLookups.writableIndexes`]: change({ lookup: { ...lookup, writable: [3] } }),
    [`${prefix}addressTableLookups.readonlyIndexes`]: change({ lookup: { ...lookup, readonly: [3] } }),
  });
  testFieldTable(
    table,
    { type: 'TRANSACTION_TYPE_SOLANA', unsigned: message(base), signer },
    {
      version: () => [readBytes(message(BASE)), readBytes(`80${message(BASE)}00`)],
      header: change({ header: [1, 0, 4] }),
      accountKeys: change(replaced(1, 0x20, base)),
      programKeys: change({ keys: base.keys.with(8, TOKEN_2022) }),
      recentBlockhash: change({ blockhash: key(0xcc) }),
      'instructions.programKey': change({ keys: base.keys.with(8, TOKEN_2022) }),
      'instructions.accounts.accountKey': change(replaced(1, 0x20, base)),
      'instructions.accounts.signer': change({ header: [2, 0, 2] }),
      'instructions.accounts.writable': change({ header: [1, 0, 5] }),
      'instructions.dataHex': change({ lamports: 11n }),
      'transfers.from': change({ accounts: [5, 1] }),
      'transfers.to': change({ accounts: [0, 2] }),
      'transfers.amount': change({ lamports: 11n }),
      'splTransfers.from': change(replaced(2, 0x20, base)),
      'splTransfers.to': change(replaced(4, 0x20, base)),
      'splTransfers.amount': change({ tokens: 21n }),
      'splTransfers.owner': change(replaced(5, 0x20, base)),
      'splTransfers.signers': change({ tokenAccounts: [...base.tokenAccounts, 6] }),
      'splTransfers.tokenMint': change({ tokenAccounts: base.tokenAccounts.with(1, 6) }),
      ...(kind === 'LEGACY'
        ? {
            addressTableLookups: withMore,
            'instructions.addressTableLookups': withMore,
          }
        : { ...tables(''), ...tables('instructions.') }),
    },
  );
});
