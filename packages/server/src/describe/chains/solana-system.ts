import { SYSTEM_PROGRAM } from '../../chains/solana/transfers.ts';
import type { SentenceContext } from '../sentence.ts';
import { say } from '../text.ts';
import {
  accountPart,
  addressField,
  care,
  coins,
  harmless,
  type InstructionReader,
  isOwn,
  payment,
  type SolanaClause,
  type SolanaPlace,
  told,
} from './solana-clause.ts';

// SystemInstruction (anza-xyz/solana-sdk, system-interface): a little-endian u32, then the fields.

const CREATE_ACCOUNT = 0;
const ASSIGN = 1;
const TRANSFER = 2;
const CREATE_ACCOUNT_WITH_SEED = 3;
const ADVANCE_NONCE = 4;
const WITHDRAW_NONCE = 5;
const INITIALIZE_NONCE = 6;
const AUTHORIZE_NONCE = 7;
const ALLOCATE = 8;
const ALLOCATE_WITH_SEED = 9;
const ASSIGN_WITH_SEED = 10;
const TRANSFER_WITH_SEED = 11;
const UPGRADE_NONCE = 12;

const GIVEN_AWAY = 'Whoever controls that program or key can then take everything in the account. I want that.';

/** Undefined for what this program is not known to do. */
export function systemClause(
  context: SentenceContext,
  place: SolanaPlace,
  reader: InstructionReader,
): SolanaClause | undefined {
  switch (reader.kind(4)) {
    case TRANSFER:
      return sent(context, place, reader, reader.account(1));
    // The account between is the base that the sending address was derived from.
    case TRANSFER_WITH_SEED:
      return sent(context, place, reader, reader.account(2));
    case CREATE_ACCOUNT:
      return opened(context, place, reader, 4);
    case CREATE_ACCOUNT_WITH_SEED:
      return opened(context, place, reader, reader.behindText(36));
    case ASSIGN:
      return handedOver(context, place, reader.account(0), reader.key(4));
    case ASSIGN_WITH_SEED:
      return handedOver(context, place, reader.account(0), reader.key(reader.behindText(36)));
    case ALLOCATE_WITH_SEED:
      return handedOver(context, place, reader.account(0), reader.key(reader.behindText(36) + 8));
    case ALLOCATE:
      return allocated(context, place, reader.account(0));
    case WITHDRAW_NONCE:
      return withdrawn(context, place, reader);
    case INITIALIZE_NONCE:
    case AUTHORIZE_NONCE:
      return authorized(context, place, reader.account(0), reader.key(4));
    // Both change what is written in a nonce account, and nothing else.
    case ADVANCE_NONCE:
    case UPGRADE_NONCE:
      return harmless();
    default:
      return undefined;
  }
}

const sent = (context: SentenceContext, place: SolanaPlace, reader: InstructionReader, to: string): SolanaClause => {
  const lamports = reader.u64(4);
  return payment(context, place, { what: coins(context, place, lamports), from: reader.account(0), to, lamports });
};

/** A new account is paid for by the first one, and belongs to a program from then on. */
function opened(context: SentenceContext, place: SolanaPlace, reader: InstructionReader, at: number): SolanaClause {
  const [from, made] = [reader.account(0), reader.account(1)];
  const lamports = reader.u64(at);
  const owner = reader.key(at + 16);
  const program = owner === SYSTEM_PROGRAM ? [] : say`, which ${accountPart(context, place, owner)} then controls`;
  const isHandedOver = isOwn(context, place, made) && owner !== SYSTEM_PROGRAM;
  return payment(context, place, {
    verb: 'pay',
    what: coins(context, place, lamports),
    from,
    to: made,
    lamports,
    extra: say`, a new account${program}`,
    marks: [
      isHandedOver
        ? care('DANGER', 'hands an own account over to a program')
        : care('LOOK_CLOSELY', 'pays for a new account'),
    ],
    fields: [addressField('Program that controls it', owner)],
    ...(isHandedOver && { consequence: GIVEN_AWAY }),
  });
}

const handedOver = (context: SentenceContext, place: SolanaPlace, account: string, owner: string): SolanaClause =>
  told(
    say`hand account ${accountPart(context, place, account)} over to the program ${accountPart(context, place, owner)}: it can then move everything in it`,
    [care('DANGER', 'hands an account over to a program')],
    GIVEN_AWAY,
    { fields: [addressField('Account', account), addressField('Program', owner)] },
  );

/** Anybody can turn an account with data into a nonce account, name its authority, and withdraw. */
const allocated = (context: SentenceContext, place: SolanaPlace, account: string): SolanaClause =>
  told(
    say`open account ${accountPart(context, place, account)} to data: anybody can then make it a nonce account and take everything in it`,
    [care('DANGER', 'lets anybody take over an account')],
    GIVEN_AWAY,
    { fields: [addressField('Account', account)] },
  );

const withdrawn = (context: SentenceContext, place: SolanaPlace, reader: InstructionReader): SolanaClause => {
  const lamports = reader.u64(4);
  return payment(context, place, {
    what: coins(context, place, lamports),
    // The nonce account is what pays, by leave of whoever signs.
    from: reader.account(0),
    to: reader.account(1),
    fields: [addressField('Nonce account', reader.account(0))],
  });
};

function authorized(context: SentenceContext, place: SolanaPlace, account: string, authority: string): SolanaClause {
  const isKept = isOwn(context, place, authority) && !isOwn(context, place, account);
  return told(
    say`hand the right to withdraw from nonce account ${accountPart(context, place, account)} over to ${accountPart(context, place, authority)}`,
    [
      isKept
        ? care('LOOK_CLOSELY', 'changes who controls a nonce account')
        : care('DANGER', 'hands over the right to take what an account holds'),
    ],
    GIVEN_AWAY,
    { fields: [addressField('Nonce account', account), addressField('Authority', authority)] },
  );
}
