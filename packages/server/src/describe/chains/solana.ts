import { parseInstructionData } from '../../chains/solana/idl/interface.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import { solanaMovements } from '../../chains/solana/movements.ts';
import { parseWire, type SolanaTransaction } from '../../chains/solana/solana.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, withoutBatches } from '../../chains/solana/transfers.ts';
import { toHex } from '../../lib/encoding.ts';
import { configuredToken, nativeUnit } from '../chain-names.ts';
import { interfaceKey } from '../names.ts';
import type { Mark } from '../risk.ts';
import { type Field, riskOf, type Sentence, type SentenceContext, type Step } from '../sentence.ts';
import { counted, listOf, named, say, strong, type TextPart } from '../text.ts';
import { addressPart, amount } from '../values.ts';
import {
  cautionOf,
  chainPart,
  historyText,
  partyPart,
  recipientOf,
  senderOf,
  signerOf,
  signerPart,
} from './parties.ts';

const MAINNET = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** A Solana transaction names no chain; a send does. */
export function solanaSentence(
  context: SentenceContext,
  unsigned: string,
  signWith: string,
  caip2: string | undefined,
): Sentence {
  const { transaction, message } = parseWire(unsigned);
  const chain = caip2 ?? 'solana';
  const signer = signerOf(context, signWith)?.address ?? signWith;
  const moves = [...coins(context, signer, transaction, caip2), ...tokens(context, transaction, caip2)];
  const others = [...grants(context, transaction, caip2), ...otherPrograms(context, transaction, signer)];
  const steps = [...moves.map(({ step }) => step), ...others.map(({ step }) => step)];
  const tableCount = transaction.accountKeys.filter((key) => key === ADDRESS_TABLE_LOOKUP).length;
  const tableWords =
    tableCount === 0
      ? say``
      : say`; ${strong(`${counted(tableCount, 'account')} ${tableCount === 1 ? 'comes' : 'come'} from a table`)} and cannot be read`;
  const from = signerPart(context, signWith, caip2);
  const where = say` on ${chainPart(chain)}`;
  const marks: Mark[] = [...moves.flatMap(({ marks: found }) => found), ...others.flatMap(({ marks: found }) => found)];
  if (tableCount > 0) marks.push({ risk: 'LOOK_CLOSELY', text: 'accounts from a table' });
  const [only] = moves;
  const parts =
    only !== undefined && moves.length === 1 && others.length === 0
      ? say`Send ${only.what} from ${from}${only.words.length === 0 ? say` to ${only.to}${where}` : say`${where} to ${only.to}${only.words}`}${tableWords}.`
      : steps.length === 0
        ? say`Sign a transaction of ${from}${where} that moves nothing of it${tableWords}.`
        : say`From ${from}${where}, together: ${numbered(steps)}${tableWords}.`;
  const consequence = consequenceOf(marks, moves);
  return {
    parts,
    marks: [...new Map(marks.map((mark) => [mark.text, mark])).values()],
    ...(consequence !== undefined && { consequence }),
    steps:
      steps.length < 2
        ? []
        : [...moves, ...others].map(
            ({ step, marks: found }): Step => ({ sentence: step, risk: riskOf({ marks: found }) }),
          ),
    fields: [...moves.map(({ field }) => field), ...messageFields(transaction)],
    sender: senderOf(context, signWith, caip2),
    recipients: moves.map(({ recipient }) => recipient),
    bytes: { algorithm: 'none', digest: `0x${toHex(message)}`, unsigned: `0x${toHex(message)}` },
  };
}

const numbered = (steps: readonly (readonly TextPart[])[]): readonly TextPart[] =>
  steps
    .slice(0, 4)
    .flatMap((step, index) => say`${index === 0 ? '' : '; '}${index + 1}. ${step}`)
    .concat(steps.length > 4 ? say`; and ${strong(`${steps.length - 4} more`)}` : []);

function consequenceOf(marks: readonly Mark[], moves: readonly Move[]): string | undefined {
  if (marks.some(({ risk }) => risk === 'UNREADABLE')) {
    return 'Nobody here can say what these programs do with the accounts. I want it signed.';
  }
  if (marks.some(({ risk }) => risk === 'DANGER')) {
    return (
      moves.find(({ consequence }) => consequence !== undefined)?.consequence ??
      'It can give away what the account holds. I want that.'
    );
  }
  if (marks.length === 0) return undefined;
  return (
    moves.find(({ consequence }) => consequence !== undefined)?.consequence ??
    'Some accounts cannot be read here. I want it signed.'
  );
}

interface Move {
  readonly what: readonly TextPart[];
  readonly to: TextPart;
  readonly words: readonly TextPart[];
  readonly step: readonly TextPart[];
  readonly marks: readonly Mark[];
  readonly consequence?: string;
  readonly recipient: ReturnType<typeof recipientOf>;
  readonly field: Field;
}

function moveOf(context: SentenceContext, what: readonly TextPart[], address: string, caip2: string | undefined): Move {
  const recipient = recipientOf(context, address, caip2);
  const caution = address === ADDRESS_TABLE_LOOKUP ? undefined : cautionOf(context, recipient);
  const to = address === ADDRESS_TABLE_LOOKUP ? strong('an account from a table') : partyPart(context, address, caip2);
  return {
    what,
    to,
    words: caution?.words ?? [],
    step: say`send ${what} to ${to}${caution?.words ?? []}`,
    marks: caution === undefined ? [] : [caution.mark],
    ...(caution !== undefined && { consequence: caution.consequence }),
    recipient,
    field: {
      label: 'To',
      value: [{ ...addressPart(address, caip2), text: address }],
      kind: 'ADDRESS',
      note: historyText(recipient, context.nowMs),
    },
  };
}

/** Coins that another signer of the transaction pays. */
const ofOther = (
  context: SentenceContext,
  signer: string,
  from: string,
  what: readonly TextPart[],
  caip2: string | undefined,
): readonly TextPart[] => (from === signer ? what : say`${what} of ${partyPart(context, from, caip2)}`);

const coins = (
  context: SentenceContext,
  signer: string,
  { transfers }: SolanaTransaction,
  caip2: string | undefined,
): Move[] => {
  const unit = nativeUnit(context.chains, caip2 ?? MAINNET);
  return transfers.map(({ from, to, amount: value }) =>
    moveOf(context, ofOther(context, signer, from, [amount(value, unit)], caip2), to, caip2),
  );
};

const tokens = (context: SentenceContext, { splTransfers }: SolanaTransaction, caip2: string | undefined): Move[] =>
  splTransfers.map(({ to, amount: value, tokenMint }) => {
    const unit =
      caip2 === undefined || tokenMint === '' ? undefined : configuredToken(context.chains, caip2, tokenMint);
    const token = tokenMint === '' ? strong('a token that it does not name') : partyPart(context, tokenMint, caip2);
    const what =
      unit === undefined ? say`${strong(String(value))} of the smallest unit of ${token}` : [amount(value, unit)];
    return moveOf(context, what, to, caip2);
  });

interface Other {
  readonly step: readonly TextPart[];
  readonly marks: readonly Mark[];
}

const U64_MAX = 2n ** 64n - 1n;
const CREATE_ACCOUNT = 0;

/** Instructions of the token programs that let others take tokens or burn them, by their number: where each part stands. */
const GRANTS: Readonly<Record<number, { readonly mint?: number; readonly to?: number }>> = {
  4: { to: 1 },
  8: { mint: 1 },
  13: { mint: 1, to: 2 },
  15: { mint: 1 },
};

/** Approvals, tokens that are burnt, and coins for new accounts. */
function grants(context: SentenceContext, { instructions }: SolanaTransaction, caip2: string | undefined): Other[] {
  return withoutBatches(instructions).flatMap(({ instruction }): Other[] => {
    const { programKey, accounts, dataHex } = instruction;
    const data = Buffer.from(dataHex, 'hex');
    const keyAt = (index: number | undefined) => (index === undefined ? undefined : accounts[index]?.accountKey);
    if (programKey === SYSTEM_PROGRAM && data.length >= 12 && data.readUInt32LE(0) === CREATE_ACCOUNT) {
      const unit = nativeUnit(context.chains, caip2 ?? MAINNET);
      const made = keyAt(1);
      const account = made === undefined ? strong('an account') : partyPart(context, made, caip2);
      return [{ step: say`open account ${account} with ${amount(data.readBigUInt64LE(4), unit)}`, marks: [] }];
    }
    const grant = GRANTS[data[0] ?? -1];
    if (!isTokenProgram(programKey) || grant === undefined || data.length < 9) return [];
    const value = data.readBigUInt64LE(1);
    const mint = keyAt(grant.mint);
    const unit = mint === undefined || caip2 === undefined ? undefined : configuredToken(context.chains, caip2, mint);
    const token = mint === undefined ? strong('a token that it does not name') : partyPart(context, mint, caip2);
    const what =
      unit !== undefined && value !== U64_MAX
        ? [amount(value, unit)]
        : value === U64_MAX
          ? say`${strong('unlimited')} ${token}`
          : say`${strong(String(value))} of the smallest unit of ${token}`;
    const to = keyAt(grant.to);
    if (to === undefined) {
      const mark: Mark = { risk: 'LOOK_CLOSELY', text: 'burns tokens' };
      return [{ step: say`burn ${what}`, marks: [mark] }];
    }
    const mark: Mark =
      value === U64_MAX
        ? { risk: 'DANGER', text: 'unlimited spending' }
        : { risk: 'LOOK_CLOSELY', text: 'somebody else may spend' };
    return [{ step: say`let ${partyPart(context, to, caip2)} spend ${what}`, marks: [mark] }];
  });
}

const isTokenProgram = (key: string): boolean => key === TOKEN_PROGRAM || key === TOKEN_2022_PROGRAM;

/** What is neither a transfer nor harmless, as limits on amounts see it. */
function otherPrograms(context: SentenceContext, transaction: SolanaTransaction, signer: string): Other[] {
  const { uncounted } = solanaMovements(transaction, signer);
  return uncounted.map(({ name, certainty }) => {
    const read = certainty === 'unknown' ? declared(context, transaction, name) : undefined;
    if (read !== undefined) return read;
    if (certainty === 'known') {
      return {
        step: say`run ${strong(name)}, which moves or hands over what the account holds`,
        marks: [{ risk: 'DANGER', text: 'hands over what the account holds' }],
      };
    }
    return {
      step: say`run ${strong(name)}, which nobody here can read`,
      marks: [{ risk: 'UNREADABLE', text: 'instructions that nobody here can read' }],
    };
  });
}

/** An instruction that an uploaded interface explains. */
function declared(context: SentenceContext, transaction: SolanaTransaction, name: string): Other | undefined {
  const [, index] = /instruction (\d+)/.exec(name) ?? [];
  const instruction = index === undefined ? undefined : transaction.instructions[Number(index)];
  if (instruction === undefined) return undefined;
  const key = interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', instruction.programKey);
  const uploaded = context.names.get('contractInterface', key);
  if (uploaded?.contract.type !== 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA') return undefined;
  const parsed = parseInstructionData(uploaded.contract.instructions, instruction, { values: 16_384 });
  if (parsed === undefined) return undefined;
  return {
    step: say`run ${strong(parsed.instruction_name)} of ${named(uploaded.label)}`,
    marks: [{ risk: 'LOOK_CLOSELY', text: 'runs a program: read the fields' }],
  };
}

function messageFields({
  programKeys,
  recentBlockhash,
  addressTableLookups,
  header,
}: SolanaTransaction): readonly Field[] {
  const fields: Field[] = [
    {
      label: 'Programs',
      value: listOf(
        programKeys.map((key) => ({ text: key })),
        20,
      ),
      kind: 'TEXT',
    },
    { label: 'Signatures needed', value: say`${header.requiredSignatures}`, kind: 'TEXT' },
    { label: 'Recent blockhash', value: [{ text: recentBlockhash }], kind: 'ID' },
  ];
  for (const { addressTableKey, writableIndexes, readonlyIndexes } of addressTableLookups) {
    fields.push({
      label: 'Address table',
      value: [{ text: addressTableKey, address: addressTableKey }],
      kind: 'ADDRESS',
      note: `${counted(writableIndexes.length + readonlyIndexes.length, 'account')} of it, which only the chain knows`,
    });
  }
  return fields;
}
