import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { OnRampReader } from '../store.ts';

export const getOnrampTransactionStatus = defineQuery({
  name: 'get_onramp_transaction_status',
  summary: 'What became of a purchase: PENDING, COMPLETED, FAILED or CANCELLED. With `refresh` the provider is asked.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    transactionId: IdShape,
    refresh: Type.Optional(Type.Boolean()),
  }),
  response: Type.Object({ transactionStatus: Type.String() }),
  async run({ read, actor, onRamp }, { transactionId, refresh = false }) {
    const transaction = await read(OnRampReader).getTransaction(actor.organizationId, transactionId);
    return {
      transactionStatus: refresh ? await onRamp.refresh(actor.organization, transaction) : transaction.status,
    };
  },
});
