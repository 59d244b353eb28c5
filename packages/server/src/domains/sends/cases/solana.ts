import { expect } from 'vitest';
import { NO_BLOCKHASH, solanaAddress, solanaPayment } from '../../../../test/fixtures/solana-sends.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import { type Arranged, anId, notFound, type World } from '../../../../test/operations/every-case.ts';
import { byRoot } from '../../../../test/operations/hostile-case.ts';

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

export const solanaCases: DomainCases = {
  sol_send_transaction: {
    activity: {
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
    hostile: byRoot(async ({ root }) => {
      const from = await solanaAddress(root);
      const terms = { sponsor: false, recentBlockhash: NO_BLOCKHASH };
      return { ...solanaPayment(from), ...terms, signWith: from, signWiths: [from] };
    }),
  },
};
