import type { SolanaTransactionFacts } from '../../policy/index.ts';
import { parseInstructionData } from './idl/interface.ts';
import type { SolanaInterface } from './interface.ts';
import type { SolanaTableLookup } from './message.ts';
import type { SolanaTransaction } from './solana.ts';

/** A transaction has 1,232 bytes, so honest arguments are far fewer values than this. */
const VALUES_MAX = 16_384;

/** Interfaces by the address of their program. */
export type SolanaInterfaces = ReadonlyMap<string, SolanaInterface>;

const NO_INTERFACES: SolanaInterfaces = new Map();

/** `solana.tx`. */
export function solanaFacts(tx: SolanaTransaction, idls: SolanaInterfaces = NO_INTERFACES): SolanaTransactionFacts {
  const budget = { values: VALUES_MAX };
  return {
    account_keys: tx.accountKeys,
    program_keys: tx.programKeys,
    instructions: tx.instructions.map((instruction) => {
      const idl = idls.get(instruction.programKey);
      const parsed = idl && parseInstructionData(idl.instructions, instruction, budget);
      return {
        program_key: instruction.programKey,
        accounts: instruction.accounts.map(({ accountKey, signer, writable }) => ({
          account_key: accountKey,
          signer,
          writable,
        })),
        instruction_data_hex: instruction.dataHex,
        address_table_lookups: instruction.addressTableLookups.map(lookupFacts),
        ...(parsed === undefined ? {} : { parsed_instruction_data: parsed }),
      };
    }),
    transfers: tx.transfers,
    spl_transfers: tx.splTransfers.map(({ from, to, amount, owner, signers, tokenMint }) => ({
      from,
      to,
      amount,
      owner,
      signers,
      token_mint: tokenMint,
    })),
    recent_blockhash: tx.recentBlockhash,
    address_table_lookups: tx.addressTableLookups.map(lookupFacts),
  };
}

const lookupFacts = ({ addressTableKey, writableIndexes, readonlyIndexes }: SolanaTableLookup) => ({
  address_table_key: addressTableKey,
  writable_indexes: writableIndexes.map(BigInt),
  readonly_indexes: readonlyIndexes.map(BigInt),
});
