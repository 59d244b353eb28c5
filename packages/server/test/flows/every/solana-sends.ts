import { expect } from 'vitest';
import type { TestClient } from '../../harness/client.ts';
import { solanaAddress, solanaPayment } from '../../hostile/solana-sends.ts';
import { type ActivityCase, type Arranged, anId, notFound, type World } from './case.ts';

// Solana transactions in the table of every operation.

const TYPES = ['ACTIVITY_TYPE_SOL_SEND_TRANSACTION', 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2'];

/** How many transactions the organization has sent, each of which can be asked after. */
async function sent(reader: TestClient): Promise<number> {
  const { activities } = (await reader.query('list_activities', { filterByType: TYPES })).body;
  let count = 0;
  for (const { result } of activities) {
    const [told] = Object.values(result as Record<string, { sendTransactionStatusId: string }>);
    if (told === undefined) continue;
    const { status, body } = await reader.query('get_send_transaction_status', { ...told });
    expect(status).toBe(200);
    expect(['INITIALIZED', 'BROADCASTING', 'INCLUDED']).toContain(body.txStatus);
    count += 1;
  }
  return count;
}

const payment =
  (signed: (from: string) => object) =>
  async ({ root }: World): Promise<Arranged> => {
    const from = await solanaAddress(root);
    return {
      parameters: { ...solanaPayment(from), ...signed(from) },
      result: { sendTransactionStatusId: anId },
      holds: async (reader) => expect(await sent(reader)).toBe(1),
      absent: async (reader) => expect(await sent(reader)).toBe(0),
    };
  };

export const SOLANA_SEND_CASES: Readonly<Record<string, ActivityCase>> = {
  sol_send_transaction: {
    intentKey: 'solSendTransactionIntentV2',
    resultKey: 'solSendTransactionResultV2',
    arrange: payment((from) => ({ signWiths: [from] })),
    legacy: {
      ACTIVITY_TYPE_SOL_SEND_TRANSACTION: {
        intentKey: 'solSendTransactionIntent',
        resultKey: 'solSendTransactionResult',
        arrange: payment((signWith) => ({ signWith })),
      },
    },
    foreign: async (_world, other) => {
      const from = await solanaAddress(other.root);
      return notFound({ ...solanaPayment(from), signWiths: [from] });
    },
  },
};
