import { sql } from 'kysely';
import type { ConfiguredChains } from '../../chains/settings.ts';
import type { ParsedTransaction } from '../../chains/transactions.ts';
import { recipientsOf } from '../../describe/chains/recipients.ts';
import { paymentKey } from '../../describe/names.ts';
import { looksOf } from '../../describe/values.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { addressKey } from '../../storage/address-key.ts';
import { Reader } from '../../storage/store.ts';

// Whom signatures of an organization pay. Rows are only ever added: a counter would make every signature to one recipient
// wait for the one before.

/** A batch may pay many; more are not noted. */
const RECIPIENTS_MAX = 100;
/** More payments to one address are not counted one by one. */
const COUNTED_MAX = 1_000;

interface Payment {
  readonly recipient: string;
  readonly looks: string;
  /** The family of chains where the transaction names none. */
  readonly chain: string;
}

/** Addresses that transactions pay, each once on its chain. `caip2` is the chain of a send. */
export function paymentsOf(
  chains: ConfiguredChains,
  transactions: readonly ParsedTransaction[],
  caip2?: string,
): readonly Payment[] {
  const payments = new Map<string, Payment>();
  for (const { chain, address } of transactions.flatMap((parsed) => recipientsOf(chains, parsed, caip2))) {
    const recipient = addressKey(address);
    const looks = looksOf(recipient);
    if (looks !== undefined) payments.set(paymentKey(chain, recipient), { recipient, looks, chain });
  }
  return [...payments.values()].slice(0, RECIPIENTS_MAX);
}

export async function notePayments(
  { store, actor, activityId, nowMs }: ExecuteContext,
  payments: readonly Payment[],
): Promise<void> {
  if (payments.length > 0) await store(PaymentStore).add(actor.organizationId, activityId, payments, nowMs);
}

export class PaymentReader extends Reader {
  /** How often an address was paid on a chain, and since when. */
  async paid(
    organizationId: OrganizationId,
    { recipient, looks, chain }: Payment,
  ): Promise<{ readonly count: number; readonly sinceMs: number | undefined }> {
    const rows = await this.db
      .selectFrom('payment')
      .select('created_at_ms')
      .where('organization_id', '=', organizationId)
      .where('looks', '=', looks)
      .where('recipient', '=', recipient)
      .where('chain', '=', chain)
      .orderBy('activity_id')
      .limit(COUNTED_MAX)
      .execute();
    return { count: rows.length, sinceMs: rows[0]?.created_at_ms };
  }

  /**
   * Another address that was paid, on whatever chain, and looks the same. Both neighbours in the index are tried, so
   * nothing is scanned.
   */
  async alike(
    organizationId: OrganizationId,
    { recipient, looks }: Pick<Payment, 'recipient' | 'looks'>,
  ): Promise<string | undefined> {
    const same = this.db
      .selectFrom('payment')
      .select('recipient')
      .where('organization_id', '=', organizationId)
      .where('looks', '=', looks)
      .limit(1);
    const [above, below] = await Promise.all([
      same.where('recipient', '>', recipient).orderBy('recipient').executeTakeFirst(),
      same.where('recipient', '<', recipient).orderBy('recipient', 'desc').executeTakeFirst(),
    ]);
    return (above ?? below)?.recipient;
  }

  /** Since when payments are counted, where that is later than the organization; undefined where all are. */
  async countedSince(organizationId: OrganizationId): Promise<number | undefined> {
    const { rows } = await sql<{ applied_at_ms: number }>`
      SELECT applied_at_ms FROM schema_migration WHERE name = '0024-payments'
        AND applied_at_ms > (SELECT /* partial: a time */ created_at_ms FROM organization WHERE id = ${organizationId})`.execute(
      this.db,
    );
    const [row] = rows;
    return row === undefined ? undefined : Number(row.applied_at_ms);
  }
}

class PaymentStore extends PaymentReader {
  static readonly writes = true;

  async add(
    organizationId: OrganizationId,
    activityId: string,
    payments: readonly Payment[],
    nowMs: number,
  ): Promise<void> {
    await this.db
      .insertInto('payment')
      .values(
        payments.map(({ recipient, looks, chain }) => ({
          organization_id: organizationId,
          looks,
          recipient,
          chain,
          activity_id: activityId,
          created_at_ms: nowMs,
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
