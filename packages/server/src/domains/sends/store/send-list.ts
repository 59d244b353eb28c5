import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Send } from '../../../chains/send/model.ts';
import type { SendState } from '../../../chains/settings.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { bytesOf } from '../../../storage/bytes-of.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { fetchPage, type Range, type RowSize } from '../../../storage/keyset.ts';
import { Reader } from '../../../storage/store.ts';
import type { ChainSendTable } from '../tables.ts';
import { toSend } from './send-rows.ts';

/** What a list of sends is narrowed to; each narrows it further. */
export interface SendFilter {
  /** All where it is empty. */
  readonly states: readonly SendState[];
  readonly activityId: string | undefined;
  readonly sender: string | undefined;
  readonly caip2: string | undefined;
}

export class SendListReader extends Reader {
  /** Newest first. Of an erased organization nothing is shown, though some sends are kept for their lanes. */
  async page(organizationId: OrganizationId, filter: SendFilter, request: PageRequest): Promise<Page<Send>> {
    const fetch = async (range: Range): Promise<Send[]> =>
      (await this.#rows<Selectable<ChainSendTable>>(sql`*`, organizationId, filter, range)).map(toSend);
    const bytes = bytesOf('chain_send', ['request', 'attempts', 'error']);
    return await fetchPage(request, {
      order: 'desc',
      owns: async (cursor) => {
        const row = await this.db
          .selectFrom('chain_send')
          .modifyFront(partial('a cursor'))
          .select('id')
          .where('organization_id', '=', organizationId)
          .where('id', '=', cursor)
          .executeTakeFirst();
        return row !== undefined;
      },
      fetch,
      weigh: (range) =>
        this.#rows<RowSize>(sql`/* partial: sizes */ id, ${bytes} AS bytes`, organizationId, filter, range),
      // Signed bytes and calls are not shown.
      isUnbounded: true,
    });
  }

  /** One ordered range of an index for each state, merged here; a combined statement would sort all of them. */
  async #rows<Row extends { readonly id: string }>(
    columns: RawBuilder<unknown>,
    organizationId: OrganizationId,
    { states, activityId, sender, caip2 }: SendFilter,
    { greaterThan, lessThan, order, limit }: Range,
  ): Promise<Row[]> {
    const terms = [
      ...(activityId === undefined ? [] : [sql`activity_id = ${activityId}`]),
      ...(sender === undefined ? [] : [sql`sender = ${sender}`]),
      ...(caip2 === undefined ? [] : [sql`caip2 = ${caip2}`]),
      ...(greaterThan === undefined ? [] : [sql`id > ${greaterThan}`]),
      ...(lessThan === undefined ? [] : [sql`id < ${lessThan}`]),
      sql`NOT EXISTS (SELECT /* partial organization: whether it was erased */ 1 FROM organization
        WHERE organization.id = ${organizationId} AND organization.deleted_at_ms IS NOT NULL)`,
    ];
    const ranges = states.length === 0 ? [terms] : states.map((state) => [sql`state = ${state}`, ...terms]);
    const found = await Promise.all(
      ranges.map((range) =>
        sql<Row>`SELECT ${columns} FROM chain_send
          WHERE organization_id = ${organizationId} AND ${sql.join(range, sql` AND `)}
          ORDER BY id ${sql.raw(order)} LIMIT ${limit}`.execute(this.db),
      ),
    );
    const rows = found.flatMap((result) => result.rows).sort((one, other) => (one.id < other.id ? -1 : 1));
    if (order === 'desc') rows.reverse();
    return rows.slice(0, limit);
  }
}
