// Messages of @solana/web3.js with random instructions, and the facts of any message as that library reads it.
import {
  type DynamicValue,
  hexText,
  intValue,
  type Namespaces,
  type SolanaTransactionFacts,
  tupleOf,
  uintValue,
} from '@custos/server/policy';
import { checkContractInterface, type SignerAccount } from '@custos/server/policy-facts';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import { uint } from './policy-facts-abi.ts';
import type { Built } from './policy-facts-damage.ts';

type Transfer = SolanaTransactionFacts['transfers'][number];
type SplTransfer = SolanaTransactionFacts['spl_transfers'][number];
type Parsed = NonNullable<SolanaTransactionFacts['instructions'][number]['parsed_instruction_data']>;

const LOOKUP = 'ADDRESS_TABLE_LOOKUP';
const SIGNATURE_BYTES = 64;
const TRANSACTION_MAX = 1232;
const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const PROGRAM = new PublicKey(new Uint8Array(32).fill(0x77));
const PAYER = new PublicKey(new Uint8Array(32).fill(0x11));

export const solanaAccount: SignerAccount = {
  curve: 'CURVE_ED25519',
  publicKey: PAYER.toBytes(),
  address: PAYER.toBase58(),
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};

const DISCRIMINATOR = Buffer.from('f8c69e91e17587c8', 'hex');
const idl = checkContractInterface(
  'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
  PROGRAM.toBase58(),
  JSON.stringify({
    instructions: [
      {
        // The first eight bytes of the hash of `global:swap`.
        name: 'swap',
        accounts: [{ name: 'payer' }, { name: 'pool' }, { name: 'referrer', optional: true }],
        args: [
          { name: 'amount', type: 'u64' },
          { name: 'minimum', type: 'u128' },
          { name: 'delta', type: 'i64' },
          { name: 'note', type: 'string' },
          { name: 'exact', type: 'bool' },
          { name: 'receiver', type: 'pubkey' },
          { name: 'route', type: { vec: { defined: { name: 'Hop' } } } },
          { name: 'slippage', type: { option: 'u16' } },
          { name: 'raw', type: 'bytes' },
          { name: 'mode', type: { defined: { name: 'Mode' } } },
        ],
      },
    ],
    types: [
      {
        name: 'Hop',
        type: {
          kind: 'struct',
          fields: [
            { name: 'pool', type: 'pubkey' },
            { name: 'shares', type: { array: ['u8', 2] } },
          ],
        },
      },
      {
        name: 'Mode',
        type: { kind: 'enum', variants: [{ name: 'Fast' }, { name: 'Slow', fields: ['u8', 'i8'] }] },
      },
    ],
  }),
);
export const solanaInterfaces = [idl];

interface Swap {
  readonly amount: bigint;
  readonly minimum: bigint;
  readonly delta: bigint;
  readonly note: string;
  readonly exact: boolean;
  readonly receiver: PublicKey;
  readonly route: readonly { readonly pool: PublicKey; readonly shares: readonly number[] }[];
  readonly slippage: number | undefined;
  readonly raw: Uint8Array;
  readonly mode: readonly [number, number] | undefined;
}

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes));
const swap: fc.Arbitrary<Swap> = fc.record({
  amount: uint(64),
  minimum: uint(128),
  delta: uint(64).map((value) => BigInt.asIntN(64, value)),
  note: fc.string({ unit: 'grapheme', maxLength: 10 }),
  exact: fc.boolean(),
  receiver: key,
  route: fc.array(fc.record({ pool: key, shares: fc.tuple(fc.nat(255), fc.nat(255)) }), { maxLength: 2 }),
  slippage: fc.option(fc.nat(65_535), { nil: undefined }),
  raw: fc.uint8Array({ maxLength: 10 }),
  mode: fc.option(fc.tuple(fc.nat(255), fc.integer({ min: -128, max: 127 })), { nil: undefined }),
});

const little = (value: bigint | number, bytes: number): Uint8Array =>
  Buffer.from(
    BigInt.asUintN(bytes * 8, BigInt(value))
      .toString(16)
      .padStart(bytes * 2, '0'),
    'hex',
  ).reverse();
const counted = (bytes: Uint8Array): Uint8Array => Buffer.concat([little(bytes.length, 4), bytes]);

/** Borsh, as Anchor's programs read it. */
const swapData = (args: Swap): Buffer =>
  Buffer.concat([
    DISCRIMINATOR,
    little(args.amount, 8),
    little(args.minimum, 16),
    little(args.delta, 8),
    counted(Buffer.from(args.note)),
    Uint8Array.of(args.exact ? 1 : 0),
    args.receiver.toBytes(),
    little(args.route.length, 4),
    ...args.route.flatMap(({ pool, shares }) => [pool.toBytes(), Uint8Array.from(shares)]),
    args.slippage === undefined ? Uint8Array.of(0) : Buffer.concat([Uint8Array.of(1), little(args.slippage, 2)]),
    counted(args.raw),
    args.mode === undefined ? Uint8Array.of(0) : Uint8Array.of(1, args.mode[0], args.mode[1] & 0xff),
  ]);

const swapFacts = (args: Swap): ReadonlyMap<string, DynamicValue> =>
  new Map<string, DynamicValue>([
    ['amount', uintValue(args.amount)],
    ['minimum', uintValue(args.minimum)],
    ['delta', intValue(args.delta)],
    ['note', args.note],
    ['exact', args.exact],
    ['receiver', args.receiver.toBase58()],
    [
      'route',
      args.route.map(
        ({ pool, shares }) =>
          new Map<string, DynamicValue>([
            ['pool', pool.toBase58()],
            ['shares', shares.map((share) => uintValue(BigInt(share)))],
          ]),
      ),
    ],
    ...(args.slippage === undefined ? [] : [['slippage', uintValue(BigInt(args.slippage))] as const]),
    ['raw', hexText(Buffer.from(args.raw).toString('hex'))],
    [
      'mode',
      args.mode === undefined
        ? 'Fast'
        : new Map([['Slow', tupleOf([uintValue(BigInt(args.mode[0])), intValue(BigInt(args.mode[1]))])]]),
    ],
  ]);

/** An instruction with what it should be seen as; `name` writes an account as the message does. */
interface Step {
  readonly instruction: TransactionInstruction;
  readonly transfer?: (name: (key: PublicKey) => string) => Transfer;
  readonly splTransfer?: (name: (key: PublicKey) => string) => SplTransfer;
  readonly parsed?: (name: (key: PublicKey) => string) => Parsed;
}

const lamports = uint(64);

function step(keys: readonly PublicKey[]): fc.Arbitrary<Step> {
  const one = fc.constantFrom(...keys);
  const sender = fc.constantFrom(PAYER, ...keys.slice(0, 2));
  return fc.oneof(
    fc.tuple(sender, one, lamports).map(
      ([from, to, amount]): Step => ({
        instruction: SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: amount }),
        transfer: (name) => ({ from: name(from), to: name(to), amount }),
      }),
    ),
    fc.tuple(sender, one, one, lamports, fc.string({ maxLength: 8 })).map(
      ([base, from, to, amount, seed]): Step => ({
        instruction: SystemProgram.transfer({
          fromPubkey: from,
          basePubkey: base,
          toPubkey: to,
          lamports: amount,
          seed,
          programId: TOKEN,
        }),
        transfer: (name) => ({ from: name(from), to: name(to), amount }),
      }),
    ),
    fc.tuple(one, fc.nat(2 ** 31)).map(([created, amount]) => ({
      instruction: SystemProgram.createAccount({
        fromPubkey: PAYER,
        newAccountPubkey: created,
        lamports: amount,
        space: 165,
        programId: TOKEN,
      }),
    })),
    fc.nat(2 ** 31).map((units) => ({ instruction: ComputeBudgetProgram.setComputeUnitLimit({ units }) })),
    uint(64).map((microLamports) => ({ instruction: ComputeBudgetProgram.setComputeUnitPrice({ microLamports }) })),
    tokenStep(one, sender),
    fc.tuple(swap, one, fc.option(one, { nil: undefined })).map(([args, pool, referrer]): Step => {
      const optional = referrer === undefined ? [] : [referrer];
      return {
        instruction: new TransactionInstruction({
          programId: PROGRAM,
          keys: [meta(PAYER, true, true), meta(pool, false, true), ...optional.map((other) => meta(other))],
          data: swapData(args),
        }),
        parsed: (name) => ({
          instruction_name: 'swap',
          discriminator: DISCRIMINATOR.toString('hex'),
          named_accounts: new Map([
            ['payer', name(PAYER)],
            ['pool', name(pool)],
            ...optional.map((other) => ['referrer', name(other)] as const),
          ]),
          program_call_args: swapFacts(args),
        }),
      };
    }),
  );
}

/** The data of an instruction of the program whose IDL is known. */
export const instructionData: fc.Arbitrary<Buffer> = swap.map(swapData);

/** A message with one such instruction. */
export const messageWith = (data: Buffer): Buffer =>
  Buffer.from(
    new TransactionMessage({
      payerKey: PAYER,
      recentBlockhash: TOKEN.toBase58(),
      instructions: [
        new TransactionInstruction({
          programId: PROGRAM,
          keys: [meta(PAYER, true, true), meta(TOKEN_2022)],
          data,
        }),
      ],
    })
      .compileToLegacyMessage()
      .serialize(),
  );

const meta = (pubkey: PublicKey, isSigner = false, isWritable = false) => ({ pubkey, isSigner, isWritable });

/** Transfer, TransferChecked, and TransferCheckedWithFee of Token-2022. */
function tokenStep(one: fc.Arbitrary<PublicKey>, sender: fc.Arbitrary<PublicKey>): fc.Arbitrary<Step> {
  return fc
    .record({
      program: fc.constantFrom(TOKEN, TOKEN_2022),
      kind: fc.constantFrom('plain', 'checked', 'fee'),
      accounts: fc.tuple(one, one, one),
      owner: sender,
      signers: fc.array(sender, { maxLength: 2 }),
      amount: lamports,
    })
    .map(({ program, kind, accounts: [from, mint, to], owner, signers, amount }): Step => {
      const programId = kind === 'fee' ? TOKEN_2022 : program;
      const bytes = little(amount, 8);
      const data = {
        plain: [3, ...bytes],
        checked: [12, ...bytes, 6],
        fee: [26, 1, ...bytes, 6, ...little(1, 8)],
      }[kind];
      return {
        instruction: new TransactionInstruction({
          programId,
          keys: [
            meta(from, false, true),
            ...(kind === 'plain' ? [] : [meta(mint)]),
            meta(to, false, true),
            meta(owner, signers.length === 0),
            ...signers.map((signer) => meta(signer, true)),
          ],
          data: Buffer.from(data),
        }),
        splTransfer: (name) => ({
          from: name(from),
          to: name(to),
          amount,
          owner: name(owner),
          signers: signers.map(name),
          token_mint: kind === 'plain' ? '' : name(mint),
        }),
      };
    });
}

const tableState = (addresses: PublicKey[]) => ({
  deactivationSlot: 2n ** 64n - 1n,
  lastExtendedSlot: 0,
  lastExtendedSlotStartIndex: 0,
  addresses,
});

/** Legacy messages, and those of version 0 with tables, alone or with room for signatures. */
export const solanaTransaction: fc.Arbitrary<Built> = fc
  .record({
    keys: fc.uniqueArray(key, { minLength: 5, maxLength: 5, selector: (one) => one.toBase58() }),
    blockhash: key,
    version: fc.constantFrom('legacy', 0),
    tables: fc.array(fc.tuple(key, fc.array(fc.nat(4), { maxLength: 4 })), { maxLength: 2 }),
    bare: fc.boolean(),
  })
  .chain((shape) => fc.tuple(fc.constant(shape), fc.array(step(shape.keys), { minLength: 1, maxLength: 4 })))
  .map(([{ keys, blockhash, version, tables, bare }, steps]): Built | undefined => {
    const recentBlockhash = blockhash.toBase58();
    const instructions = steps.map(({ instruction }) => instruction);
    const compiled = new TransactionMessage({ payerKey: PAYER, recentBlockhash, instructions });
    const lookups = tables.map(
      ([table, members]) =>
        new AddressLookupTableAccount({
          key: table,
          state: tableState(members.map((member) => keys[member] ?? table)),
        }),
    );
    const message = version === 0 ? compiled.compileToV0Message(lookups) : compiled.compileToLegacyMessage();
    const wire = bare ? message.serialize() : serialised(version, message, recentBlockhash, instructions);
    const slots = bare ? message.header.numRequiredSignatures * SIGNATURE_BYTES + 1 : 0;
    if (wire === undefined || wire.length + slots > TRANSACTION_MAX) return undefined;
    const named = new Set(message.staticAccountKeys.map((one) => one.toBase58()));
    const name = (one: PublicKey) => (named.has(one.toBase58()) ? one.toBase58() : LOOKUP);
    const seen = messageFacts(message);
    return {
      unsigned: Buffer.from(wire).toString('hex'),
      account: solanaAccount,
      interfaces: solanaInterfaces,
      facts: {
        solana: {
          tx: {
            ...seen,
            recent_blockhash: recentBlockhash,
            instructions: seen.instructions.map((instruction, index) => {
              const parsed = steps[index]?.parsed;
              return parsed === undefined ? instruction : { ...instruction, parsed_instruction_data: parsed(name) };
            }),
            transfers: steps.flatMap(({ transfer }) => (transfer === undefined ? [] : [transfer(name)])),
            spl_transfers: steps.flatMap(({ splTransfer }) => (splTransfer === undefined ? [] : [splTransfer(name)])),
          },
        },
      },
      payloads: [Buffer.from(message.serialize()).toString('hex')],
    };
  })
  .filter((built) => built !== undefined);

function serialised(
  version: 'legacy' | 0 | string | number,
  message: VersionedMessage,
  recentBlockhash: string,
  instructions: TransactionInstruction[],
): Uint8Array | undefined {
  if (version === 0) return new VersionedTransaction(message).serialize();
  const legacy = new Transaction({ feePayer: PAYER, recentBlockhash }).add(...instructions);
  try {
    const wire = legacy.serialize({ requireAllSignatures: false, verifySignatures: false });
    // The older compiler may order accounts in another way.
    return legacy.compileMessage().serialize().equals(Buffer.from(message.serialize())) ? wire : undefined;
  } catch {
    return undefined;
  }
}

/** The message in a wire transaction, or the bytes themselves, whichever the library writes in just these bytes. */
export function messageIn(bytes: Buffer): VersionedMessage | undefined {
  const slots = bytes[0] ?? 0;
  const signed = roundTrip(bytes.subarray(1 + slots * SIGNATURE_BYTES));
  return signed?.header.numRequiredSignatures === slots ? signed : roundTrip(bytes);
}

function roundTrip(bytes: Buffer): VersionedMessage | undefined {
  try {
    const message = VersionedMessage.deserialize(bytes);
    return bytes.equals(message.serialize()) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** `solana.tx` of a message, without what an IDL says. */
export function messageFacts(message: VersionedMessage): SolanaTransactionFacts {
  const statics = message.staticAccountKeys.map((one) => one.toBase58());
  const lookups = message.addressTableLookups;
  const fromTables = [true, false].flatMap((writable) =>
    lookups.flatMap(({ writableIndexes, readonlyIndexes }, table) =>
      (writable ? writableIndexes : readonlyIndexes).map((index) => ({ table, index: BigInt(index), writable })),
    ),
  );
  const nameOf = (index: number) => statics[index] ?? LOOKUP;
  const instructions = message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => {
    const taken = accountKeyIndexes.flatMap((index) => fromTables[index - statics.length] ?? []);
    return {
      program_key: nameOf(programIdIndex),
      accounts: accountKeyIndexes.map((index) => ({
        account_key: nameOf(index),
        signer: message.isAccountSigner(index),
        writable: message.isAccountWritable(index),
      })),
      instruction_data_hex: Buffer.from(data).toString('hex'),
      address_table_lookups: lookups.flatMap(({ accountKey }, table) => {
        const mine = taken.filter((one) => one.table === table);
        if (mine.length === 0) return [];
        return [
          {
            address_table_key: accountKey.toBase58(),
            writable_indexes: mine.filter(({ writable }) => writable).map(({ index }) => index),
            readonly_indexes: mine.filter(({ writable }) => !writable).map(({ index }) => index),
          },
        ];
      }),
    };
  });
  return {
    account_keys: [...statics, ...fromTables.map(() => LOOKUP)],
    program_keys: [...new Set(instructions.map(({ program_key }) => program_key))],
    instructions,
    ...movements(instructions),
    recent_blockhash: message.recentBlockhash,
    address_table_lookups: lookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      address_table_key: accountKey.toBase58(),
      writable_indexes: writableIndexes.map(BigInt),
      readonly_indexes: readonlyIndexes.map(BigInt),
    })),
  };
}

/** Transfers by the layouts of the programs. */
function movements(instructions: SolanaTransactionFacts['instructions']) {
  const transfers: Transfer[] = [];
  const spl: SplTransfer[] = [];
  for (const { program_key, accounts, instruction_data_hex } of instructions) {
    const data = Buffer.from(instruction_data_hex, 'hex');
    const [a = '', b = '', c = '', d = '', ...signers] = accounts.map(({ account_key }) => account_key);
    if (program_key === SystemProgram.programId.toBase58() && data.length >= 4) {
      const kind = data.readUInt32LE(0);
      if (kind === 2) transfers.push({ from: a, to: b, amount: data.readBigUInt64LE(4) });
      if (kind === 11) transfers.push({ from: a, to: c, amount: data.readBigUInt64LE(4) });
    }
    const token2022 = program_key === TOKEN_2022.toBase58();
    if (!token2022 && program_key !== TOKEN.toBase58()) continue;
    if (data[0] === 3) {
      const members = d === '' ? [] : [d, ...signers];
      spl.push({ from: a, to: b, amount: data.readBigUInt64LE(1), owner: c, signers: members, token_mint: '' });
    }
    const amountAt = data[0] === 12 ? 1 : token2022 && data[0] === 26 && data[1] === 1 ? 2 : undefined;
    if (amountAt === undefined) continue;
    spl.push({ from: a, to: c, amount: data.readBigUInt64LE(amountAt), owner: d, signers, token_mint: b });
  }
  return { transfers, spl_transfers: spl };
}

/** The facts without what the IDL says, after a check that this is exactly the data of its instruction. */
export function withoutParsed({ solana }: Namespaces, check: (parsed: Parsed, data: string) => void): unknown {
  return {
    ...solana?.tx,
    instructions: solana?.tx?.instructions.map(({ parsed_instruction_data: parsed, ...instruction }) => {
      if (parsed !== undefined) check(parsed, instruction.instruction_data_hex);
      return instruction;
    }),
  };
}

/** The data that says what was parsed, and nothing more. */
export function encodeSwap({ program_call_args: args }: Parsed): string {
  const number = (value: unknown) => (value as { value: bigint }).value;
  const pairs = args.get('route') as readonly ReadonlyMap<string, DynamicValue>[];
  const mode = args.get('mode');
  const slow = mode instanceof Map ? (mode.get('Slow') as { items: DynamicValue[] }).items : undefined;
  const slippage = args.get('slippage');
  return swapData({
    amount: number(args.get('amount')),
    minimum: number(args.get('minimum')),
    delta: number(args.get('delta')),
    note: args.get('note') as string,
    exact: args.get('exact') as boolean,
    receiver: new PublicKey(args.get('receiver') as string),
    route: pairs.map((hop) => ({
      pool: new PublicKey(hop.get('pool') as string),
      shares: (hop.get('shares') as DynamicValue[]).map((share) => Number(number(share))),
    })),
    slippage: slippage === undefined ? undefined : Number(number(slippage)),
    raw: Buffer.from((args.get('raw') as { text: string }).text, 'hex'),
    mode: slow === undefined ? undefined : [Number(number(slow[0])), Number(number(slow[1]))],
  }).toString('hex');
}
