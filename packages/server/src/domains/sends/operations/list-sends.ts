import Type, { type Static } from 'typebox';
import { toChecksum } from '../../../chains/ethereum/address.ts';
import { readSignedTransaction } from '../../../chains/ethereum/signed-transaction.ts';
import type { EthereumTransaction } from '../../../chains/ethereum/transaction.ts';
import { chainName } from '../../../chains/networks.ts';
import { isPaidByOperator } from '../../../chains/send/cost.ts';
import type { Send, SendAttempt, SendPurpose } from '../../../chains/send/model.ts';
import { SEND_STATES } from '../../../chains/settings.ts';
import { ChainShape } from '../../../chains/shapes.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, integerShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';
import { addressKey } from '../../../storage/address-key.ts';
import { SendListReader } from '../store/send-list.ts';

const text = Type.Optional(Type.String());

const PURPOSES = {
  send: 'SEND',
  raw: 'RAW',
  'earn-deploy': 'EARN_DEPLOY',
  'earn-approve': 'EARN_APPROVE',
  'earn-deposit': 'EARN_DEPOSIT',
  'earn-withdraw': 'EARN_WITHDRAW',
  'earn-claim': 'EARN_CLAIM',
} as const satisfies Record<SendPurpose, string>;

const AttemptShape = Type.Object({
  txHash: Type.String(),
  at: Type.String(),
  nonce: text,
  maxFeePerGas: text,
  maxPriorityFeePerGas: text,
  gasLimit: text,
  /** Another attempt took, or is to take, its place. */
  replaced: Type.Optional(Type.Boolean()),
});

const ListedSendShape = Type.Object({
  sendTransactionStatusId: Type.String(),
  activityId: Type.String(),
  caip2: Type.String(),
  from: Type.String(),
  /** Of the one call; absent where there are several, and on Solana. */
  to: text,
  /** In the smallest unit of the native asset, of all calls together. */
  value: text,
  callCount: Type.Optional(integerShape(0)),
  purpose: Type.Enum(Object.values(PURPOSES)),
  state: Type.Enum([...SEND_STATES]),
  txHash: text,
  blockNumber: text,
  blockTime: text,
  attempts: Type.Array(AttemptShape),
  gasUsed: text,
  feePaid: text,
  error: text,
  sponsored: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

export const listSends = defineQuery({
  name: 'list_sends',
  ours: true,
  summary: 'Transactions that were sent for the organization, with every attempt and what they cost; newest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterByState: Type.Optional(Type.Array(Type.Enum([...SEND_STATES]), { maxItems: SEND_STATES.length })),
    activityId: Type.Optional(IdShape),
    senderAddress: Type.Optional(textShape(128)),
    caip2: Type.Optional(ChainShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ sends: Type.Array(ListedSendShape), pageInfo: PageInfoShape }),
  example: { filterByState: ['BROADCASTING'] },
  async run({ read, actor, config }, { filterByState, activityId, senderAddress, caip2, paginationOptions }) {
    const { items, pageInfo } = await read(SendListReader).page(
      actor.organizationId,
      {
        states: [...new Set(filterByState ?? [])],
        activityId,
        sender: senderAddress && addressKey(senderAddress.trim()),
        caip2: caip2 && chainName(caip2),
      },
      toPageRequest(paginationOptions, config.listMax),
    );
    return { sends: items.map(render), pageInfo };
  },
});

function render(send: Send): Static<typeof ListedSendShape> {
  const { txHash, block, error } = send;
  return {
    sendTransactionStatusId: send.id,
    activityId: send.activityId,
    caip2: send.caip2,
    from: shownAddress(send.sender),
    purpose: PURPOSES[send.purpose],
    state: send.state,
    attempts: send.attempts.map((attempt) => renderAttempt(attempt, txHash)),
    sponsored: isPaidByOperator(send),
    createdAt: toRfc3339(send.createdAtMs),
    updatedAt: toRfc3339(send.updatedAtMs),
    ...whatItDoes(send),
    ...(txHash !== undefined && { txHash }),
    ...(block !== undefined && {
      blockNumber: String(block.number),
      blockTime: toRfc3339(block.timestamp * 1000),
      ...(block.gasUsed !== undefined && { gasUsed: block.gasUsed }),
      ...(block.fee !== '' && { feePaid: block.fee }),
    }),
    ...(error !== undefined && { error: error.message }),
  };
}

function whatItDoes({ request }: Send): Pick<Static<typeof ListedSendShape>, 'to' | 'value' | 'callCount'> {
  const calls =
    request.kind === 'ethereum'
      ? request.calls.map(({ to, value }) => ({ to, value: BigInt(value) }))
      : request.kind === 'ethereum-raw'
        ? signed(request.raw).map(({ to, value }) => ({ to, value }))
        : undefined;
  if (calls === undefined) return {};
  const [only] = calls;
  return {
    value: String(calls.reduce((sum, { value }) => sum + value, 0n)),
    callCount: calls.length,
    ...(calls.length === 1 && only?.to && { to: shownAddress(only.to) }),
  };
}

function renderAttempt(
  { hash, raw, nonce, signedAtMs }: SendAttempt,
  txHash: string | undefined,
): Static<typeof AttemptShape> {
  const [transaction] = raw.startsWith('0x') ? signed(raw) : [];
  return {
    txHash: hash,
    at: toRfc3339(signedAtMs),
    ...(nonce !== undefined && { nonce: String(nonce) }),
    ...(transaction !== undefined && {
      maxFeePerGas: String(transaction.maxFeePerGas),
      maxPriorityFeePerGas: String(transaction.maxPriorityFeePerGas),
      gasLimit: String(transaction.gas),
    }),
    ...(hash !== txHash && { replaced: true }),
  };
}

/** What was stored was read before; one that cannot be read any more is shown without what is in it. */
function signed(raw: string): EthereumTransaction[] {
  try {
    return [readSignedTransaction(raw)];
  } catch {
    return [];
  }
}

const shownAddress = (address: string): string => (address.startsWith('0x') ? toChecksum(address) : address);
