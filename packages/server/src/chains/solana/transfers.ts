import { unparsable } from '../input.ts';
import type { SolanaInstruction } from './message.ts';

/** Lamports that a top-level instruction of the System program moves. */
export interface SolanaTransfer {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** Tokens that a top-level instruction of the Token or Token-2022 program moves between two token accounts. */
export interface SplTransfer {
  readonly from: string;
  readonly to: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly owner: string;
  /** The members that sign when the owner is a multisig account. */
  readonly signers: readonly string[];
  /** Empty for a plain Transfer, which does not name it. */
  readonly tokenMint: string;
}

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

// SystemInstruction (Solana, sdk/program/src/system_instruction.rs): a little-endian u32, then the lamports as u64.
const SYSTEM_TRANSFER = 2;
const SYSTEM_TRANSFER_WITH_SEED = 11;

// TokenInstruction (solana-program/token, interface/src/instruction.rs) and, for the fee, TransferFeeInstruction.
const TOKEN_TRANSFER = 3;
const TOKEN_TRANSFER_CHECKED = 12;
const TOKEN_TRANSFER_FEE_EXTENSION = 26;
const TRANSFER_CHECKED_WITH_FEE = 1;
// Instructions of the same program, one after the other: the number of accounts and of bytes, a byte each, then the
// bytes.
const TOKEN_BATCH = 255;

/**
 * All transfers among the instructions. The programs ignore bytes after the fields they know, so these do too: padding
 * must not hide a transfer from whoever judges it.
 */
export function transfersOf(instructions: readonly SolanaInstruction[]): {
  readonly transfers: readonly SolanaTransfer[];
  readonly splTransfers: readonly SplTransfer[];
} {
  const transfers: SolanaTransfer[] = [];
  const splTransfers: SplTransfer[] = [];
  for (const { instruction, place } of withoutBatches(instructions)) {
    const fields = new Fields(instruction, place);
    if (instruction.programKey === SYSTEM_PROGRAM) {
      const transfer = systemTransfer(fields);
      if (transfer !== undefined) transfers.push(transfer);
    } else if (instruction.programKey === TOKEN_PROGRAM || instruction.programKey === TOKEN_2022_PROGRAM) {
      const transfer = tokenTransfer(fields, instruction.programKey === TOKEN_2022_PROGRAM);
      if (transfer !== undefined) splTransfers.push(transfer);
    }
  }
  return { transfers, splTransfers };
}

export interface PlacedInstruction {
  readonly instruction: SolanaInstruction;
  /** Where it stands, for messages. */
  readonly place: string;
}

/** The instructions with those in a batch of a token program in its place. */
export const withoutBatches = (instructions: readonly SolanaInstruction[]): readonly PlacedInstruction[] =>
  instructions.flatMap((instruction, at) => withoutBatch(instruction, `instruction ${at}`));

function withoutBatch(instruction: SolanaInstruction, place: string): readonly PlacedInstruction[] {
  const { programKey, accounts, dataHex } = instruction;
  const data = Buffer.from(dataHex, 'hex');
  const isToken = programKey === TOKEN_PROGRAM || programKey === TOKEN_2022_PROGRAM;
  if (!isToken || data[0] !== TOKEN_BATCH) return [{ instruction, place }];
  const found: PlacedInstruction[] = [];
  let [byte, account] = [1, 0];
  while (byte < data.length) {
    const [accountCount = 0, length] = data.subarray(byte, byte + 2);
    const end = byte + 2 + (length ?? 0);
    if (length === undefined || end > data.length || account + accountCount > accounts.length) {
      throw unparsable(`${place} is a batch that ends too early`);
    }
    const inner = {
      ...instruction,
      accounts: accounts.slice(account, account + accountCount),
      dataHex: data.toString('hex', byte + 2, end),
    };
    found.push(...withoutBatch(inner, `${place}.${found.length}`));
    [byte, account] = [end, account + accountCount];
  }
  return found;
}

function systemTransfer(fields: Fields): SolanaTransfer | undefined {
  const kind = fields.data.length < 4 ? undefined : fields.data.readUInt32LE(0);
  if (kind === SYSTEM_TRANSFER) return { from: fields.account(0), to: fields.account(1), amount: fields.u64(4) };
  // The account between is the base that the sending address was derived from.
  if (kind === SYSTEM_TRANSFER_WITH_SEED) {
    return { from: fields.account(0), to: fields.account(2), amount: fields.u64(4) };
  }
  return undefined;
}

function tokenTransfer(fields: Fields, token2022: boolean): SplTransfer | undefined {
  switch (fields.data[0]) {
    case TOKEN_TRANSFER:
      return {
        from: fields.account(0),
        to: fields.account(1),
        amount: fields.u64(1),
        owner: fields.account(2),
        signers: fields.accountsFrom(3),
        tokenMint: '',
      };
    case TOKEN_TRANSFER_CHECKED:
      return checkedTransfer(fields, 1, 10);
    case TOKEN_TRANSFER_FEE_EXTENSION:
      return token2022 && fields.data[1] === TRANSFER_CHECKED_WITH_FEE ? checkedTransfer(fields, 2, 19) : undefined;
    default:
      return undefined;
  }
}

function checkedTransfer(fields: Fields, amountAt: number, length: number): SplTransfer {
  fields.need(length);
  return {
    from: fields.account(0),
    to: fields.account(2),
    amount: fields.u64(amountAt),
    owner: fields.account(3),
    signers: fields.accountsFrom(4),
    tokenMint: fields.account(1),
  };
}

/** Reads one instruction by position; what a transfer lacks makes the transaction one that cannot succeed. */
class Fields {
  readonly data: Buffer;
  readonly #accounts: readonly string[];
  readonly #where: string;

  constructor(instruction: SolanaInstruction, where: string) {
    this.data = Buffer.from(instruction.dataHex, 'hex');
    this.#accounts = instruction.accounts.map((account) => account.accountKey);
    this.#where = where;
  }

  need(bytes: number): void {
    if (this.data.length < bytes) throw unparsable(`${this.#where} is a transfer whose data ends too early`);
  }

  u64(offset: number): bigint {
    this.need(offset + 8);
    return this.data.readBigUInt64LE(offset);
  }

  account(index: number): string {
    const key = this.#accounts[index];
    if (key === undefined) throw unparsable(`${this.#where} is a transfer with too few accounts`);
    return key;
  }

  accountsFrom(index: number): readonly string[] {
    return this.#accounts.slice(index);
  }
}
