import { tronAccountHex } from '../../chains/tron/address.ts';
import type { TronPermission } from '../../chains/tron/contract.ts';
import { tronMovements } from '../../chains/tron/movements.ts';
import type { TronTransaction } from '../../chains/tron/tron.ts';
import { toHex } from '../../lib/encoding.ts';
import {
  danger,
  type Field,
  lookClosely,
  routine,
  type Sentence,
  type SentenceContext,
  unreadable,
} from '../sentence.ts';
import { count, listOf, say, strong, type TextPart, written } from '../text.ts';
import { addressPart, amount } from '../values.ts';
import { feeWords, settledFee, withFee } from './fee.ts';
import {
  cautionOf,
  chainPart,
  historyText,
  knownName,
  partyPart,
  recipientOf,
  senderOf,
  signerPart,
} from './parties.ts';

const TRX = { symbol: 'TRX', decimals: 6 };
const TRON = 'tron';

export function tronSentence(
  context: SentenceContext,
  transaction: TronTransaction,
  unsigned: string,
  signWith: string,
): Sentence {
  const memo = transaction.data === '' ? undefined : Buffer.from(transaction.data, 'hex').toString('utf8');
  const said = contractSentence(context, transaction, signWith);
  const [contract] = transaction.contract;
  // Only calls of contracts are charged up to the limit; anything else pays for its bytes.
  const fee =
    contract.type === 'TriggerSmartContract'
      ? feeWords({ family: 'tron', most: transaction.feeLimit, unit: TRX, sent: contract.callValue })
      : settledFee({ text: 'what the chain asks for the bytes of the transaction' });
  const whole = withFee(said, fee);
  return {
    ...whole,
    fields: [
      ...(whole.fields ?? []),
      { label: 'Contract', value: [{ text: contract.type }], kind: 'CODE' },
      ...(memo === undefined ? [] : [{ label: 'Memo', value: [written(memo, 600)], kind: 'TEXT' as const }]),
    ],
    sender: senderOf(context, signWith),
    bytes: {
      algorithm: 'sha-256',
      digest: `0x${transaction.txid}`,
      unsigned: `0x${toHex(Buffer.from(unsigned, 'hex'))}`,
    },
  };
}

function contractSentence(context: SentenceContext, transaction: TronTransaction, signWith: string): Sentence {
  const [contract] = transaction.contract;
  const from = signerPart(context, signWith);
  const where = say` on ${chainPart(TRON)}`;
  switch (contract.type) {
    case 'TransferContract':
      return payment(context, from, [amount(contract.amount, TRX)], contract.toAddress);
    case 'TransferAssetContract': {
      const what = say`${strong(String(contract.amount))} of the smallest unit of token ${written(contract.assetName, 40)}`;
      const said = payment(context, from, what, contract.toAddress);
      return {
        ...said,
        marks: [...said.marks, { risk: 'LOOK_CLOSELY', text: 'a token that the operator has not configured' }],
        consequence: said.consequence ?? 'Nobody here knows how much of this token that is. I want it sent.',
      };
    }
    case 'TriggerSmartContract':
      return call(context, transaction, from, contract);
    case 'FreezeBalanceV2Contract':
      return routine(
        say`Stake ${amount(contract.frozenBalance, TRX)} of ${from} for ${contract.resource.toLowerCase()}${where}.`,
      );
    case 'UnfreezeBalanceV2Contract':
      return routine(say`Unstake ${amount(contract.unfreezeBalance, TRX)} of ${from}${where}.`);
    case 'DelegateResourceContract': {
      const party = partyPart(context, contract.receiverAddress);
      const period = contract.lockPeriod === 0n ? 'three days' : `${count(contract.lockPeriod)} blocks`;
      const locked = contract.lock ? say`, locked for ${strong(period)}` : [];
      return {
        ...lookClosely(
          say`Lend the ${contract.resource.toLowerCase()} of ${amount(contract.balance, TRX)} staked by ${from} to ${party}${where}${locked}.`,
          contract.lock ? 'lends resources to somebody else, and locks them' : 'lends resources to somebody else',
          contract.lock
            ? 'The account gets these resources back only after the lock ends. I want that.'
            : 'The account can use these resources itself only after taking them back. I want that.',
        ),
        fields: [
          addressField('To', contract.receiverAddress),
          { label: 'Amount', value: [amount(contract.balance, TRX)], kind: 'AMOUNT' },
          {
            label: 'Lock',
            value: [{ text: contract.lock ? period : 'none' }],
            kind: 'TEXT',
            note: 'a block takes three seconds',
          },
        ],
      };
    }
    case 'UnDelegateResourceContract':
      return routine(
        say`Take back the ${contract.resource.toLowerCase()} of ${amount(contract.balance, TRX)} from ${partyPart(context, contract.receiverAddress)}${where}.`,
      );
    case 'AccountPermissionUpdateContract':
      return permissionSentence(context, say`${from}${where}`, contract);
  }
}

const addressField = (label: string, address: string): Field => ({
  label,
  value: [{ ...addressPart(address), text: address }],
  kind: 'ADDRESS',
});

/** Every key with its weight: together they decide who has the account from then on. */
function permissionSentence(
  context: SentenceContext,
  account: readonly TextPart[],
  { owner, witness, actives }: TronTransaction['contract'][0] & { readonly type: 'AccountPermissionUpdateContract' },
): Sentence {
  const permissions = [owner, witness, ...actives].flatMap((one) => one ?? []);
  const keys = [...new Set(permissions.flatMap((one) => one.keys.map(({ address }) => address)))];
  const listed = listOf(keys.map((address) => partyPart(context, address)));
  return {
    ...danger(
      say`Change who controls ${account}: ${keys.length === 0 ? 'nobody' : listed} can then act for it, each permission by its own keys.`,
      'hands the account over to other keys',
      'After this other keys control the account, and perhaps this service does no more. I want that.',
    ),
    fields: permissions.flatMap((one) => permissionFields(context, one)),
  };
}

function permissionFields(context: SentenceContext, permission: TronPermission): readonly Field[] {
  const { type, permissionName, threshold, operations, keys } = permission;
  return [
    {
      label: `${type} permission`,
      value: [written(permissionName, 40)],
      kind: 'TEXT',
      note: `needs a weight of ${count(threshold)}`,
    },
    ...(operations === ''
      ? []
      : [{ label: `${type}, operations`, value: [{ text: operations }], kind: 'CODE' as const }]),
    ...keys.map(({ address, weight }) => {
      const name = knownName(context, address);
      const whose = name === undefined ? '' : `, ${written(name).text}`;
      return {
        ...addressField(`${type}, key`, address),
        note: `weight ${count(weight)} of ${count(threshold)}${whose}`,
      };
    }),
  ];
}

function payment(context: SentenceContext, from: TextPart, what: readonly TextPart[], to: string): Sentence {
  const recipient = recipientOf(context, to, TRON);
  const caution = cautionOf(context, recipient, TRON);
  const party = partyPart(context, to);
  const where = say` on ${chainPart(TRON)}`;
  return {
    parts:
      caution === undefined
        ? say`Send ${what} from ${from} to ${party}${where}.`
        : say`Send ${what} from ${from}${where} to ${party}${caution.words}.`,
    marks: caution === undefined ? [] : [caution.mark],
    ...(caution !== undefined && { consequence: caution.consequence }),
    recipients: [recipient],
    fields: [
      {
        label: 'To',
        value: [{ ...addressPart(to), text: to }],
        kind: 'ADDRESS',
        note: historyText(recipient, context.nowMs),
      },
      { label: 'Amount', value: what, kind: 'AMOUNT' },
    ],
  };
}

/** Organizations upload no interfaces of Tron contracts, so only what counts as a movement of a token is known. */
function call(
  context: SentenceContext,
  transaction: TronTransaction,
  from: TextPart,
  contract: TronTransaction['contract'][0] & { readonly type: 'TriggerSmartContract' },
): Sentence {
  const target = partyPart(context, contract.contractAddress);
  const token =
    contract.callTokenValue === 0n
      ? say``
      : say` and send ${strong(String(contract.callTokenValue))} of the smallest unit of token ${strong(String(contract.tokenId))} with it`;
  const coins = contract.callValue === 0n ? token : say` and send ${amount(contract.callValue, TRX)} with it${token}`;
  const { transfers } = tronMovements(transaction);
  const moved = transfers.find(({ kind }) => kind === 'trc20');
  const account = tronAccountHex(contract.ownerAddress);
  const what =
    moved === undefined || account === undefined
      ? say``
      : say` It looks like a call that takes ${strong(String(moved.amount))} of the smallest unit of that token.`;
  return {
    ...unreadable(
      say`Sign a call of ${target} from ${from} on ${chainPart(TRON)}${coins} that nobody here can read.${what}`,
      'a call that nobody here can read',
      'Nobody here can say what this call does. It may move everything the account holds. I want it signed.',
    ),
    fields: [
      {
        label: 'Calls',
        value: [{ ...addressPart(contract.contractAddress), text: contract.contractAddress }],
        kind: 'ADDRESS',
      },
      { label: 'Data', value: [{ text: `0x${contract.data.slice(0, 2_048)}` }], kind: 'BYTES' },
    ],
  };
}
