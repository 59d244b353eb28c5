import type { SolanaInstruction } from './message.ts';
import type { SolanaTransaction } from './solana.ts';

const LAMPORTS_PER_SIGNATURE = 5000n;
const MICRO = 1_000_000n;
/** What a transaction may compute at most, and what its price is for when it sets no limit of its own. */
const COMPUTE_UNITS_MAX = 1_400_000n;

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
// ComputeBudgetInstruction (Solana, compute-budget-interface): one byte, then a little-endian u32 or u64.
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
/** Each signature that they check costs as much as one of the transaction; the first byte is their number. */
const SIGNATURE_PROGRAMS: ReadonlySet<string> = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);

/**
 * The most lamports that the payer may be charged for a transaction, whether it succeeds or not (Solana documentation,
 * "Fees"): for signatures, and for being preferred.
 */
export function highestFee({ header, instructions }: SolanaTransaction): bigint {
  let signatures = BigInt(header.requiredSignatures);
  let limit: bigint | undefined;
  let price = 0n;
  for (const { programKey, dataHex } of instructions) {
    const data = Buffer.from(dataHex, 'hex');
    if (SIGNATURE_PROGRAMS.has(programKey)) signatures += BigInt(data[0] ?? 0);
    if (programKey !== COMPUTE_BUDGET) continue;
    if (data[0] === SET_UNIT_LIMIT && data.length >= 5) limit = larger(limit ?? 0n, BigInt(data.readUInt32LE(1)));
    if (data[0] === SET_UNIT_PRICE && data.length >= 9) price = larger(price, data.readBigUInt64LE(1));
  }
  const units = limit === undefined || limit > COMPUTE_UNITS_MAX ? COMPUTE_UNITS_MAX : limit;
  return signatures * LAMPORTS_PER_SIGNATURE + (units * price + MICRO - 1n) / MICRO;
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Whether an instruction is given the account. */
export const usesAccount = ({ accounts }: SolanaInstruction, address: string): boolean =>
  accounts.some(({ accountKey }) => accountKey === address);
