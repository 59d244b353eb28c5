import { associatedAccount } from '../../chains/solana/associated.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../chains/solana/transfers.ts';
import type { SentenceContext } from '../sentence.ts';
import { say, strong, type TextPart } from '../text.ts';
import { isUnlimited } from '../values.ts';
import { cautionOf, historyText, impostorCaution, recipientOf } from './parties.ts';
import {
  accountPart,
  addressField,
  care,
  harmless,
  hiddenMarks,
  type InstructionReader,
  isOwn,
  MissingPart,
  payment,
  type SolanaClause,
  type SolanaPlace,
  tokens,
  told,
} from './solana-clause.ts';

// TokenInstruction (solana-program/token, token-2022): one byte, then the fields.

const INITIALIZE_MINT = 0;
const INITIALIZE_ACCOUNT = 1;
const TRANSFER = 3;
const APPROVE = 4;
const REVOKE = 5;
const SET_AUTHORITY = 6;
const MINT_TO = 7;
const BURN = 8;
const CLOSE_ACCOUNT = 9;
const FREEZE_ACCOUNT = 10;
const THAW_ACCOUNT = 11;
const TRANSFER_CHECKED = 12;
const APPROVE_CHECKED = 13;
const MINT_TO_CHECKED = 14;
const BURN_CHECKED = 15;
const INITIALIZE_ACCOUNT_2 = 16;
const INITIALIZE_ACCOUNT_3 = 18;
const INITIALIZE_MINT_2 = 20;
const TRANSFER_FEE_EXTENSION = 26;
const TRANSFER_CHECKED_WITH_FEE = 1;
const WITHDRAW_EXCESS_LAMPORTS = 38;

/** SyncNative, GetAccountDataSize, InitializeImmutableOwner, AmountToUiAmount, UiAmountToAmount. */
const HARMLESS: ReadonlySet<number> = new Set([17, 21, 22, 23, 24]);

/** What the authorities of SetAuthority may do, by their number. */
const RIGHTS: readonly string[] = [
  'issue tokens of',
  'freeze accounts of',
  'move everything in',
  'close',
  'set the transfer fee of',
  'take the withheld fees of',
  'close',
  'set the interest rate of',
  'move everything that anybody holds of',
];

/** Undefined for what these programs are not known to do. */
export function tokenClause(
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
  isToken2022: boolean,
): SolanaClause | undefined {
  const kind = reader.kind(1);
  const program = isToken2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;
  switch (kind) {
    case TRANSFER:
      return transferred(context, place, reader, { amountAt: 1, to: 1, owner: 2, program });
    case TRANSFER_CHECKED:
      return transferred(context, place, reader, { amountAt: 1, mint: 1, to: 2, owner: 3, program });
    case TRANSFER_FEE_EXTENSION:
      return isToken2022 && reader.byte(1) === TRANSFER_CHECKED_WITH_FEE
        ? transferred(context, place, reader, { amountAt: 2, mint: 1, to: 2, owner: 3, program })
        : undefined;
    case APPROVE:
      return approved(context, place, reader, undefined, 1);
    case APPROVE_CHECKED:
      return approved(context, place, reader, reader.account(1), 2);
    // It only ever takes a right back.
    case REVOKE:
      return harmless(
        say`take back from everybody the right to spend what ${accountPart(context, place, reader.account(0))} holds`,
        [addressField('Token account', reader.account(0))],
      );
    case SET_AUTHORITY:
      return authorized(context, place, reader);
    case MINT_TO:
    case MINT_TO_CHECKED:
      return issued(context, place, reader);
    case BURN:
    case BURN_CHECKED:
      return burnt(context, place, reader);
    case CLOSE_ACCOUNT:
      return emptied(context, place, reader, 'close token account');
    case WITHDRAW_EXCESS_LAMPORTS:
      return emptied(context, place, reader, 'empty of spare coins');
    case FREEZE_ACCOUNT:
    case THAW_ACCOUNT:
      return frozen(context, place, reader, kind === FREEZE_ACCOUNT);
    case INITIALIZE_ACCOUNT:
      return prepared(context, place, reader, reader.account(2));
    case INITIALIZE_ACCOUNT_2:
    case INITIALIZE_ACCOUNT_3:
      return prepared(context, place, reader, reader.key(1));
    case INITIALIZE_MINT:
    case INITIALIZE_MINT_2:
      return founded(context, place, reader);
    default:
      return kind !== undefined && HARMLESS.has(kind) ? harmless() : undefined;
  }
}

interface Places {
  readonly amountAt: number;
  readonly mint?: number;
  readonly to: number;
  /** The owner, or a delegate of it. */
  readonly owner: number;
  readonly program: string;
}

function transferred(
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
  places: Places,
): SolanaClause {
  const mint = places.mint === undefined ? undefined : reader.account(places.mint);
  const { what, marks, moved } = tokens(context, place, reader.u64(places.amountAt), mint);
  const [source, authority] = [reader.account(0), reader.account(places.owner)];
  // Keys behind the authority are members of a multisig: what they sign for is not theirs alone.
  const isProven = mint !== undefined && source === associatedAccount(authority, mint, places.program);
  const isOpen = place.own.has(authority) && !isProven;
  return payment(context, place, {
    what,
    from: authority,
    to: reader.account(places.to),
    ...(isOpen && { extra: say` out of token account ${accountPart(context, place, source)}` }),
    marks: [
      ...(isOpen ? [care('LOOK_CLOSELY', 'out of a token account that may belong to somebody else')] : []),
      ...marks,
    ],
    moved,
    fields: [
      addressField(
        'Out of token account',
        source,
        isProven ? 'belongs to who lets it happen' : 'whose it is, only the chain knows',
      ),
      ...(mint === undefined ? [] : [addressField('Token', mint)]),
    ],
  });
}

/** More than there is of almost any token. */
const isAsGoodAsAll = (value: bigint): boolean => value >= 2n ** 56n;

function approved(
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
  mint: string | undefined,
  spenderAt: number,
): SolanaClause {
  const value = reader.u64(1);
  const spender = reader.account(spenderAt);
  const { what, marks } = tokens(context, place, value, mint);
  const recipient = recipientOf(context, spender, place.caip2 ?? 'solana');
  const caution = impostorCaution(context, recipient, place.caip2 ?? 'solana');
  const isAll = isUnlimited(value, 64);
  const account = accountPart(context, place, reader.account(0));
  const until = isAll ? 'until taken back' : 'at any time';
  const mark = isAsGoodAsAll(value)
    ? care('DANGER', isAll ? 'unlimited spending' : 'so much that it is as good as unlimited')
    : care('LOOK_CLOSELY', 'somebody else may spend');
  return told(
    say`let ${accountPart(context, place, spender)} spend ${isAll ? '' : 'up to '}${what} out of ${account}, ${until}${caution?.words ?? []}`,
    [
      mark,
      ...hiddenMarks(spender, 'who may spend'),
      ...(caution === undefined ? [] : [care('DANGER', caution.mark.text)]),
      ...marks,
    ],
    isAll
      ? 'Whoever controls that address can take all of this token, now and later. I want that.'
      : 'Whoever controls that address can take this amount at any time. I want that.',
    {
      recipients: spender === ADDRESS_TABLE_LOOKUP ? [] : [recipient],
      fields: [
        addressField('Spender', spender, historyText(recipient, context.nowMs)),
        addressField('Out of token account', reader.account(0)),
        ...(mint === undefined ? [] : [addressField('Token', mint)]),
      ],
    },
  );
}

function authorized(context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause {
  const account = reader.account(0);
  const right = RIGHTS[reader.byte(1)] ?? `use authority ${reader.byte(1)} of`;
  const hasNew = reader.byte(2);
  if (hasNew > 1) throw new MissingPart();
  const authority = hasNew === 1 ? reader.key(3) : undefined;
  const what = say`the right to ${strong(right)} ${accountPart(context, place, account)}`;
  return told(
    authority === undefined
      ? say`give up for ever ${what}`
      : say`hand ${what} over to ${accountPart(context, place, authority)}`,
    [care('DANGER', 'hands over a right')],
    'Whoever has that right can use it from then on, and it does not come back by itself. I want that.',
    {
      recipients: authority === undefined ? [] : [recipientOf(context, authority, place.caip2 ?? 'solana')],
      fields: [
        addressField('Account or token', account),
        ...(authority === undefined ? [] : [addressField('New authority', authority)]),
      ],
    },
  );
}

function issued(context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause {
  const mint = reader.account(0);
  const { what, marks } = tokens(context, place, reader.u64(1), mint);
  return payment(context, place, {
    verb: 'issue',
    what,
    from: reader.account(2),
    to: reader.account(1),
    marks: [care('LOOK_CLOSELY', 'issues new tokens'), ...marks],
    fields: [addressField('Token', mint)],
    consequence: 'The tokens are made new, and their number grows. I want that.',
  });
}

function burnt(context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause {
  const [account, mint] = [reader.account(0), reader.account(1)];
  const { what, marks } = tokens(context, place, reader.u64(1), mint);
  return told(
    say`burn ${what} out of ${accountPart(context, place, account)}, for ever`,
    [care('LOOK_CLOSELY', 'burns tokens'), ...marks],
    'What is burnt is gone for ever. I want that.',
    { fields: [addressField('Out of token account', account), addressField('Token', mint)] },
  );
}

/** How much is left in the account, only the chain knows. */
function emptied(context: SentenceContext, place: SolanaPlace, reader: InstructionReader, verb: string): SolanaClause {
  const [account, to] = [reader.account(0), reader.account(1)];
  const isHidden = to === ADDRESS_TABLE_LOOKUP;
  const recipient = recipientOf(context, to, place.caip2 ?? 'solana');
  const caution = isHidden ? undefined : cautionOf(context, recipient, place.caip2 ?? 'solana');
  const rest: readonly TextPart[] = [strong('all coins that are left in it')];
  return told(
    say`${verb} ${accountPart(context, place, account)} and send ${rest} to ${accountPart(context, place, to)}${caution?.words ?? []}`,
    [
      care('LOOK_CLOSELY', 'sends what an account holds without an amount'),
      ...hiddenMarks(to, 'who is paid'),
      ...(caution?.mark.risk === 'DANGER' ? [care('DANGER', caution.mark.text)] : []),
      ...(caution?.mark.risk === 'LOOK_CLOSELY' ? [care('LOOK_CLOSELY', caution.mark.text)] : []),
    ],
    caution?.consequence ?? 'How much the account holds is not in the request. I want it sent.',
    {
      recipients: isHidden ? [] : [recipient],
      fields: [addressField('Account', account), addressField('To', to, historyText(recipient, context.nowMs))],
    },
  );
}

const frozen = (
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
  isFrozen: boolean,
): SolanaClause =>
  told(
    say`${isFrozen ? 'freeze' : 'unfreeze'} ${accountPart(context, place, reader.account(0))} of the token ${accountPart(context, place, reader.account(1))}`,
    [care('LOOK_CLOSELY', isFrozen ? 'freezes an account' : 'unfreezes an account')],
    'Whether somebody can use their tokens changes by it. I want that.',
    { fields: [addressField('Token account', reader.account(0)), addressField('Token', reader.account(1))] },
  );

function prepared(
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
  owner: string,
): SolanaClause {
  const [account, mint] = [reader.account(0), reader.account(1)];
  return told(
    say`make ${accountPart(context, place, account)} a token account of ${accountPart(context, place, owner)} for ${accountPart(context, place, mint)}`,
    [
      isOwn(context, place, owner) && !isOwn(context, place, account)
        ? care('LOOK_CLOSELY', 'makes a token account')
        : care('DANGER', 'gives an account to somebody else'),
      ...hiddenMarks(owner, 'who owns it'),
    ],
    'The account belongs to that owner, with the coins that it was opened with. I want that.',
    {
      recipients: [recipientOf(context, owner, place.caip2 ?? 'solana')],
      fields: [addressField('Token account', account), addressField('Owner', owner), addressField('Token', mint)],
    },
  );
}

function founded(context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause {
  const [mint, authority] = [reader.account(0), reader.key(2)];
  return told(
    say`make ${accountPart(context, place, mint)} a token that ${accountPart(context, place, authority)} can issue`,
    [
      isOwn(context, place, authority)
        ? care('LOOK_CLOSELY', 'makes a new token')
        : care('DANGER', 'lets somebody else issue a new token'),
    ],
    'Whoever has that key can make as many of these tokens as they like. I want that.',
    { fields: [addressField('Token', mint), addressField('Authority', authority)] },
  );
}
