import { base58 } from '@scure/base';

// Solana transactions by plain concatenation, so that nothing of the service writes what the service reads.

export const BLOCKHASH = base58.encode(new Uint8Array(32).fill(0xbb));
export const RECEIVER = base58.encode(new Uint8Array(32).fill(2));
const SYSTEM = new Uint8Array(32);

type Bytes = readonly number[] | Uint8Array;

export interface TestInstruction {
  readonly program: string;
  /** Addresses among those of the transaction. */
  readonly accounts: readonly string[];
  readonly data: Bytes;
}

export interface TestTransaction {
  /** Required signers, the payer of the fee first. */
  readonly signers: readonly string[];
  readonly instructions?: readonly TestInstruction[];
  readonly lamports?: number;
  readonly blockhash?: string;
  readonly signatures?: Readonly<Record<string, Uint8Array>>;
  readonly version?: 'legacy' | 0;
}

export const SYSTEM_PROGRAM = base58.encode(SYSTEM);
/** A key that nobody has the secret of. */
export const filledKey = (fill: number): string => base58.encode(new Uint8Array(32).fill(fill));
export const u32 = (value: number): number[] => [...Buffer.from(new Uint32Array([value]).buffer)];
export const u64 = (value: bigint): number[] => [...Buffer.from(new BigUint64Array([value]).buffer)];

/** An instruction of the System program. */
export const system = (kind: number, accounts: readonly string[], data: readonly number[] = []): TestInstruction => ({
  program: SYSTEM_PROGRAM,
  accounts,
  data: [...u32(kind), ...data],
});

/** Of lamports, by the System program. */
export const payment = (from: string, to: string, lamports: number): TestInstruction => ({
  program: SYSTEM_PROGRAM,
  accounts: [from, to],
  data: [2, 0, 0, 0, ...u64(BigInt(lamports))],
});

/** Unless it says otherwise, every signer pays the receiver. */
export function messageOf(transaction: TestTransaction): Uint8Array {
  const { signers, lamports = 49, blockhash = BLOCKHASH, version = 'legacy' } = transaction;
  const instructions = transaction.instructions ?? signers.map((from) => payment(from, RECEIVER, lamports));
  const programs = [...new Set(instructions.map(({ program }) => program))];
  const named = instructions
    .flatMap(({ accounts }) => accounts)
    .filter((key) => !signers.includes(key) && !programs.includes(key));
  const keys = [...signers, ...new Set(named), ...programs];
  return Uint8Array.from([
    ...(version === 0 ? [0x80] : []),
    ...[signers.length, 0, programs.length],
    ...[keys.length, ...keys.flatMap((key) => [...base58.decode(key)])],
    ...base58.decode(blockhash),
    instructions.length,
    ...instructions.flatMap(({ program, accounts, data }) => [
      ...[keys.lastIndexOf(program), accounts.length, ...accounts.map((key) => keys.indexOf(key))],
      ...[data.length, ...data],
    ]),
    ...(version === 0 ? [0] : []),
  ]);
}

/** The whole transaction in hex, with those signatures that there are. */
export function wireOf(transaction: TestTransaction): string {
  const { signers, signatures = {} } = transaction;
  const slots = signers.flatMap((signer) => [...(signatures[signer] ?? new Uint8Array(64))]);
  return Buffer.from([signers.length, ...slots, ...messageOf(transaction)]).toString('hex');
}
