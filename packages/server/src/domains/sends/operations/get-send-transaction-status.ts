import Type, { type Static } from 'typebox';
import { networkOf } from '../../../chains/networks.ts';
import type { Send, SendError } from '../../../chains/send/model.ts';
import { SEND_STATES } from '../../../chains/settings.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { SendReader } from '../store/sends.ts';

const text = Type.Optional(Type.String());

const RevertEntryShape = Type.Object({
  address: text,
  errorType: text,
  displayMessage: text,
  unknown: Type.Optional(Type.Object({ selector: text, data: text })),
  native: Type.Optional(Type.Object({ nativeType: text, message: text, panicCode: text })),
  custom: Type.Optional(Type.Object({ errorName: text, paramsJson: text })),
});

const SendErrorShape = Type.Object({
  message: Type.String(),
  /** Where older clients look for it. */
  revertChain: Type.Optional(Type.Array(RevertEntryShape)),
  eth: Type.Optional(Type.Object({ revertChain: Type.Array(RevertEntryShape) })),
  solana: Type.Optional(
    Type.Object({
      source: text,
      rpcCode: Type.Optional(Type.Integer()),
      rpcMessage: text,
      transactionErrorJson: text,
      logs: Type.Optional(Type.Array(Type.String())),
      unitsConsumed: text,
      innerInstructionsJson: text,
    }),
  ),
});

const StatusShape = Type.Object({
  txStatus: Type.Enum([...SEND_STATES]),
  eth: Type.Optional(Type.Object({ txHash: text })),
  solana: Type.Optional(Type.Object({ signature: text })),
  txError: text,
  error: Type.Optional(SendErrorShape),
});
type Status = Static<typeof StatusShape>;

export const getSendTransactionStatus = defineQuery({
  name: 'get_send_transaction_status',
  summary: 'What became of a transaction that was sent: whether a node has it, a block, or why it failed.',
  parameters: Type.Object({ organizationId: IdShape, sendTransactionStatusId: IdShape }),
  response: StatusShape,
  async run({ read, actor }, { sendTransactionStatusId }) {
    const send = await read(SendReader).get(actor.organizationId, sendTransactionStatusId);
    return { txStatus: send.state, ...networkOf(send.caip2).hashFields(send.txHash), ...failureOf(send) };
  },
});

function failureOf({ error }: Send): Pick<Status, 'txError' | 'error'> {
  if (error === undefined) return {};
  const { message, eth, solana } = error;
  const revertChain = eth?.revertChain.map((entry) => ({ ...entry }));
  return {
    txError: message,
    error: {
      message,
      ...(revertChain !== undefined && { revertChain, eth: { revertChain } }),
      ...(solana !== undefined && { solana: solanaDetails(solana) }),
    },
  };
}

function solanaDetails({ logs, ...rest }: NonNullable<SendError['solana']>) {
  return { ...rest, ...(logs !== undefined && { logs: [...logs] }) };
}
