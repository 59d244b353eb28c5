import { ASSOCIATED_TOKEN_PROGRAM } from '../../chains/solana/associated.ts';
import { parseInstructionData } from '../../chains/solana/idl/interface.ts';
import { ADDRESS_TABLE_LOOKUP, type SolanaInstruction } from '../../chains/solana/message.ts';
import {
  type PlacedInstruction,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../chains/solana/transfers.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { interfaceKey } from '../names.ts';
import type { SentenceContext } from '../sentence.ts';
import { named, say, strong, written } from '../text.ts';
import { valueText } from './evm-clause.ts';
import {
  accountPart,
  addressField,
  care,
  coins,
  harmless,
  hiddenMarks,
  InstructionReader,
  isOwn,
  MissingPart,
  payment,
  type SolanaClause,
  type SolanaPlace,
  told,
  unread,
} from './solana-clause.ts';
import { systemClause } from './solana-system.ts';
import { tokenClause } from './solana-token.ts';

type Speaker = (context: SentenceContext, place: SolanaPlace, reader: InstructionReader) => SolanaClause | undefined;

interface Program {
  readonly name: string;
  readonly speak: Speaker;
}

/** Of every instruction one clause; what no program below explains is unreadable unless somebody vouches for it. */
export function solanaClause(
  context: SentenceContext,
  place: SolanaPlace,
  { instruction, place: where }: PlacedInstruction,
): SolanaClause {
  const program = PROGRAMS.get(instruction.programKey);
  // An uploaded interface explains no program that is known already: it could only explain it wrongly.
  if (program === undefined)
    return declared(context, place, instruction, where) ?? unreadProgram(context, place, instruction, where);
  const said = spoken(() => program.speak(context, place, new InstructionReader(instruction)));
  return said ?? unread(say`${strong(where)} of ${strong(program.name)}`, instruction.programKey);
}

function spoken(speak: () => SolanaClause | undefined): SolanaClause | undefined {
  try {
    return speak();
  } catch (error) {
    if (error instanceof MissingPart) return undefined;
    throw error;
  }
}

const unreadProgram = (
  context: SentenceContext,
  place: SolanaPlace,
  { programKey }: SolanaInstruction,
  where: string,
): SolanaClause => unread(say`${strong(where)} of the program ${accountPart(context, place, programKey)}`, programKey);

/** An instruction that an uploaded interface explains: whoever uploaded it vouches, and nobody else. */
function declared(
  context: SentenceContext,
  place: SolanaPlace,
  instruction: SolanaInstruction,
  where: string,
): SolanaClause | undefined {
  const { programKey } = instruction;
  const uploaded = context.names.get(
    'contractInterface',
    interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', programKey),
  );
  if (uploaded?.contract.type !== 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA') return undefined;
  const parsed = parseInstructionData(uploaded.contract.instructions, instruction, { values: 16_384 });
  if (parsed === undefined) return undefined;
  const note = `read by the uploaded interface ${written(uploaded.label).text}; nothing left over`;
  const further = instruction.accounts.slice(parsed.named_accounts.size);
  return told(
    say`run ${{ ...strong(written(parsed.instruction_name, 80).text), userText: true }} of ${named(uploaded.label)}`,
    [
      care('LOOK_CLOSELY', 'read by an uploaded interface: whoever uploaded it vouches'),
      ...([...parsed.program_call_args.values()].some(isOpaque)
        ? [care('UNREADABLE', 'carries bytes that nobody here can read: they may be another call')]
        : []),
      ...(instruction.accounts.some(({ accountKey }) => accountKey === ADDRESS_TABLE_LOOKUP)
        ? [care('LOOK_CLOSELY', 'accounts from a table')]
        : []),
    ],
    'I have read every argument and account in the fields and want this program to run.',
    {
      fields: [
        addressField(`Program of ${where}`, programKey, note),
        ...[...parsed.program_call_args].map(([label, value]) => ({
          label: written(label, 80).text,
          value: [written(valueText(value), ARGUMENT_MAX)],
          kind: 'TEXT' as const,
        })),
        ...[...parsed.named_accounts].map(([label, address]) => accountField(context, place, label, address)),
        ...further.map(({ accountKey }) => accountField(context, place, 'Further account', accountKey)),
      ],
    },
  );
}

const ARGUMENT_MAX = 600;

/** Whether a value has bytes in it that no type explains. */
function isOpaque(value: DynamicValue): boolean {
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some(isOpaque);
  if (value instanceof Map) return [...value.values()].some(isOpaque);
  if ('items' in value) return value.items.some(isOpaque);
  return 'text' in value && value.text !== '';
}

function accountField(context: SentenceContext, place: SolanaPlace, label: string, address: string) {
  const field = addressField(written(label, 80).text, address);
  return address === ADDRESS_TABLE_LOOKUP || place.own.has(address)
    ? { ...field, value: say`${accountPart(context, place, address)}${place.own.has(address) ? ` ${address}` : ''}` }
    : field;
}

/** Rent of a token account, and of one with every extension that a mint can demand. */
const ACCOUNT_RENT = 2_039_280n;
const ACCOUNT_2022_RENT = 2_721_360n;
const CREATE_IDEMPOTENT = 1;

/** The owner of the new account can close it and keep the rent. */
const associated: Speaker = (context, place, reader) => {
  // Older clients send no byte at all.
  if ((reader.data[0] ?? 0) > CREATE_IDEMPOTENT) return undefined;
  const [payer, account, owner, mint] = [reader.account(0), reader.account(1), reader.account(2), reader.account(3)];
  const lamports = reader.account(5) === TOKEN_PROGRAM ? ACCOUNT_RENT : ACCOUNT_2022_RENT;
  return payment(context, place, {
    verb: 'pay up to',
    what: coins(context, place, lamports),
    from: payer,
    to: account,
    lamports,
    extra: say`, the token account of ${accountPart(context, place, owner)}`,
    marks: hiddenMarks(owner, 'who owns the account'),
    fields: [addressField('Owner', owner), addressField('Token', mint)],
  });
};

const OVER = 'Whoever has that right can use it from then on, and it does not come back by itself. I want that.';

const LOCKUP_AT = 68;

/** Who may withdraw gets everything in the account; a lockup lets its custodian decide when. */
function stakeMade(context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause {
  const [account, staker, withdrawer] = [reader.account(0), reader.key(4), reader.key(36)];
  const lockup = [reader.u64(LOCKUP_AT), reader.u64(LOCKUP_AT + 8)];
  const custodian = reader.key(LOCKUP_AT + 16);
  const isLocked = lockup.some((until) => until !== 0n);
  const locked = isLocked ? say`, locked by ${accountPart(context, place, custodian)}` : say``;
  return told(
    say`make ${accountPart(context, place, account)} a stake account that ${accountPart(context, place, staker)} can delegate and ${accountPart(context, place, withdrawer)} can withdraw from${locked}`,
    [
      isOwn(context, place, withdrawer) && !isLocked
        ? care('LOOK_CLOSELY', 'makes a stake account')
        : care('DANGER', 'gives somebody else a right over a stake account'),
    ],
    OVER,
    {
      fields: [
        addressField('Stake account', account),
        addressField('Can delegate', staker),
        addressField('Can withdraw', withdrawer),
        ...(isLocked ? [addressField('Can lock', custodian)] : []),
      ],
    },
  );
}

/** StakeInstruction (anza-xyz, stake interface): a little-endian u32, then the fields. */
const stake: Speaker = (context, place, reader) => {
  const account = reader.account(0);
  const part = accountPart(context, place, account);
  const fields = [addressField('Stake account', account)];
  switch (reader.kind(4)) {
    case 0:
      return stakeMade(context, place, reader);
    case 1: {
      const authority = reader.key(4);
      const right = reader.data.length >= 40 && reader.data.readUInt32LE(36) === 0 ? 'delegate' : 'withdraw from';
      return told(
        say`hand the right to ${strong(right)} stake account ${part} over to ${accountPart(context, place, authority)}`,
        [care('DANGER', 'hands over a right')],
        OVER,
        { fields: [...fields, addressField('New authority', authority)] },
      );
    }
    case 2:
      return told(
        say`delegate stake account ${part} to ${accountPart(context, place, reader.account(1))}`,
        [care('LOOK_CLOSELY', 'delegates stake'), ...hiddenMarks(reader.account(1), 'to whom')],
        'The coins stay in the account and cannot be used until they are released. I want that.',
        { fields: [...fields, addressField('Vote account', reader.account(1))] },
      );
    case 3:
      return payment(context, place, {
        verb: 'split off',
        what: coins(context, place, reader.u64(4)),
        from: account,
        to: reader.account(1),
        fields,
      });
    case 4:
      return payment(context, place, {
        what: coins(context, place, reader.u64(4)),
        from: account,
        to: reader.account(1),
        fields,
      });
    case 5:
      return told(
        say`release stake account ${part}`,
        [care('LOOK_CLOSELY', 'ends a stake')],
        'The stake earns nothing from then on. I want that.',
        { fields },
      );
    default:
      return undefined;
  }
};

/** UpgradeableLoaderInstruction (anza-xyz, loader-v3 interface): a little-endian u32. */
const loader: Speaker = (context, place, reader) => {
  const account = reader.account(0);
  const part = accountPart(context, place, account);
  switch (reader.kind(4)) {
    case 3:
      return told(
        say`replace the code of program ${accountPart(context, place, reader.account(1))} by that in ${accountPart(context, place, reader.account(2))}, and send ${strong('all coins that are spare')} to ${accountPart(context, place, reader.account(3))}`,
        [care('DANGER', 'replaces the code of a program'), ...hiddenMarks(reader.account(3), 'who is paid')],
        'The new code decides over everything that the program holds. I want that.',
        {
          fields: [
            addressField('Program', reader.account(1)),
            addressField('New code', reader.account(2)),
            addressField('Spare coins to', reader.account(3)),
          ],
        },
      );
    case 4:
    case 7: {
      const authority = reader.accounts[2];
      return told(
        authority === undefined
          ? say`give up for ever the right to change program ${part}`
          : say`hand the right to change program ${part} over to ${accountPart(context, place, authority)}`,
        [care('DANGER', 'hands over a right'), ...hiddenMarks(authority ?? '', 'who gets the right')],
        OVER,
        {
          fields: [
            addressField('Program data', account),
            ...(authority === undefined ? [] : [addressField('New authority', authority)]),
          ],
        },
      );
    }
    case 5:
      return told(
        say`close ${part} and send ${strong('all coins in it')} to ${accountPart(context, place, reader.account(1))}`,
        [care('DANGER', 'closes a program or its code'), ...hiddenMarks(reader.account(1), 'who is paid')],
        'A program that is closed is gone for ever, with everything that only it can move. I want that.',
        { fields: [addressField('Closed', account), addressField('Coins to', reader.account(1))] },
      );
    default:
      return undefined;
  }
};

const memo: Speaker = (_context, _place, reader) =>
  harmless([], [{ label: 'Memo', value: [written(reader.data.toString('utf8'), ARGUMENT_MAX)], kind: 'TEXT' }]);

const nothing: Speaker = () => harmless();

/** Programs that are known. Those that say `nothing` touch no account: the fee of a compute budget stands among the fields. */
const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  [SYSTEM_PROGRAM, { name: 'System', speak: systemClause }],
  [TOKEN_PROGRAM, { name: 'Token', speak: (...all) => tokenClause(...all, false) }],
  [TOKEN_2022_PROGRAM, { name: 'Token-2022', speak: (...all) => tokenClause(...all, true) }],
  [ASSOCIATED_TOKEN_PROGRAM, { name: 'Associated Token Account', speak: associated }],
  ['Stake11111111111111111111111111111111111111', { name: 'Stake', speak: stake }],
  ['BPFLoaderUpgradeab1e11111111111111111111111', { name: 'BPF Upgradeable Loader', speak: loader }],
  ['Vote111111111111111111111111111111111111111', { name: 'Vote', speak: () => undefined }],
  ['AddressLookupTab1e1111111111111111111111111', { name: 'Address Lookup Table', speak: () => undefined }],
  ['ZkE1Gama1Proof11111111111111111111111111111', { name: 'ZK ElGamal Proof', speak: () => undefined }],
  ['ComputeBudget111111111111111111111111111111', { name: 'Compute Budget', speak: nothing }],
  ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', { name: 'Memo', speak: memo }],
  ['Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', { name: 'Memo', speak: memo }],
  ['Ed25519SigVerify111111111111111111111111111', { name: 'Ed25519 signatures', speak: nothing }],
  ['KeccakSecp256k11111111111111111111111111111', { name: 'secp256k1 signatures', speak: nothing }],
  ['Secp256r1SigVerify1111111111111111111111111', { name: 'secp256r1 signatures', speak: nothing }],
]);
