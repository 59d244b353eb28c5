import type { SolanaTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import type { SolanaTransaction } from './solana.ts';

const TABLE_LOOKUP = {
  addressTableKey: { policy: 'address_table_key' },
  writableIndexes: { policy: 'writable_indexes' },
  readonlyIndexes: { policy: 'readonly_indexes' },
} as const;

const INSTRUCTION = {
  programKey: { policy: 'program_key' },
  accounts: {
    policy: 'accounts',
    each: { accountKey: { policy: 'account_key' }, signer: { policy: 'signer' }, writable: { policy: 'writable' } },
  },
  dataHex: { policy: 'instruction_data_hex' },
  addressTableLookups: { policy: 'address_table_lookups', each: TABLE_LOOKUP },
} as const;

const VERSION_0 = {
  version: { neither: 'a version does nothing but allow look-ups, which policies see' },
  header: { policyIn: 'instructions' },
  accountKeys: { policy: 'account_keys' },
  programKeys: { policy: 'program_keys' },
  recentBlockhash: { policy: 'recent_blockhash' },
  instructions: { policy: 'instructions', each: INSTRUCTION },
  addressTableLookups: { policy: 'address_table_lookups', each: TABLE_LOOKUP },
  transfers: {
    policy: 'transfers',
    each: { from: { policy: 'from' }, to: { policy: 'to' }, amount: { policy: 'amount' } },
  },
  splTransfers: {
    policy: 'spl_transfers',
    each: {
      from: { policy: 'from' },
      to: { policy: 'to' },
      amount: { policy: 'amount' },
      owner: { policy: 'owner' },
      signers: { policy: 'signers' },
      tokenMint: { policy: 'token_mint' },
    },
  },
} as const;

export const SOLANA_FIELDS = {
  LEGACY: {
    ...VERSION_0,
    instructions: { policy: 'instructions', each: { ...INSTRUCTION, addressTableLookups: { absent: true } } },
    addressTableLookups: { absent: true },
  },
  VERSION_0,
} as const satisfies Record<string, FieldTable<SolanaTransaction, SolanaTransactionFacts>>;
