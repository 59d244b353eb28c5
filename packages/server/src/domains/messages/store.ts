import { type Selectable, sql } from 'kysely';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { type Backlog, readBacklog } from '../../storage/backlog.ts';
import { inScope } from '../../storage/fence-scope.ts';
import { amendOne } from '../../storage/integrity/amend.ts';
import { isCutOff } from '../../storage/integrity/cut-off.ts';
import { oneByOne, readEach, Unreadable } from '../../storage/integrity/one-by-one.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { pageOfRows } from '../../storage/organization-rows.ts';
import { change, insertion, statement, variants } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type { EmailEventTable, OutboxMessageTable } from './tables.ts';

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

/** A message that is ready for the outbox; whom it goes to and what it says is sealed. */
export interface SealedMessage {
  readonly organizationId: OrganizationId;
  readonly id: string;
  readonly channel: Channel;
  readonly sealed: Uint8Array;
  /** When it has become useless: from then on it is dropped instead of sent. */
  readonly notAfterMs: number | undefined;
}

/** A message that one process may hand over until its claim ends. */
export interface ClaimedMessage extends SealedMessage {
  /** How often handing it over has failed. */
  readonly attempts: number;
  /** Also tells this claim from every other one of the message: a later claim ends later. */
  readonly claimedUntilMs: number;
  readonly createdAtMs: number;
}

/** What becomes of a mail when it is handed over. */
const HANDED_OVER = ['sent', 'deferred', 'refused', 'expired'] as const;
/** What becomes of it later, which only the mail server learns. */
export const REPORTED_EVENT_TYPES = ['bounced', 'complained'] as const;
export const EMAIL_EVENT_TYPES = [...HANDED_OVER, ...REPORTED_EVENT_TYPES] as const;
export type HandOverType = (typeof HANDED_OVER)[number];
export type EmailEventType = (typeof EMAIL_EVENT_TYPES)[number];

/** The id in a Message-ID tells when the mail was made; it is given up after a day. */
const SENT_WITHIN_MS = 48 * 60 * 60 * 1000;
/** Clocks of several machines differ a little. */
const CLOCKS_DIFFER_MS = 10 * 60 * 1000;
const madeAtMs = (messageId: string): number => Number.parseInt(messageId.slice(0, 13).replace('-', ''), 16);

/** What is known beyond the type of an event, in the names of the wire. */
export interface EmailEventDetails {
  readonly diagnosticCode?: string;
  readonly deliverySmtpResponse?: string;
  readonly deliveryProcessingTimeMillis?: string;
  readonly bounceType?: string;
  readonly bounceSubType?: string;
  readonly complaintFeedbackType?: string;
}

/** What became of a mail when it was handed over, or was to be. */
export interface EmailEvent {
  readonly id: string;
  readonly messageId: string;
  readonly type: EmailEventType;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly details: EmailEventDetails;
  readonly createdAtMs: number;
}

/** A message that the development inbox keeps. */
export interface KeptMessage {
  readonly organizationId: OrganizationId;
  readonly id: string;
  readonly sealed: Uint8Array;
  readonly createdAtMs: number;
}

export interface EmailEventFilter {
  readonly address: string;
  readonly type?: string | undefined;
}

/** One spelling of an address, so that a look-up finds what was sent to another one. */
const addressKey = (address: string): string => address.toLowerCase();

function toClaimed(row: ClaimedRow): ClaimedMessage {
  if (row.is_cut_off) throw new Unreadable('its key is not whole');
  return {
    organizationId: row.organization_id as OrganizationId,
    id: row.id,
    channel: row.channel as Channel,
    sealed: row.sealed_message,
    notAfterMs: row.not_after_ms ?? undefined,
    attempts: row.attempts,
    claimedUntilMs: row.claimed_until_ms,
    createdAtMs: row.created_at_ms,
  };
}

const toEvent = (row: Selectable<EmailEventTable>): EmailEvent => ({
  id: row.id,
  messageId: row.message_id,
  type: row.event_type as EmailEventType,
  fromAddress: row.from_address,
  toAddress: row.to_address,
  details: JSON.parse(row.details) as EmailEventDetails,
  createdAtMs: row.created_at_ms,
});

const firstDue = statement(
  'outbox-due',
  (db, { channel, nowMs }: { readonly channel: string; readonly nowMs: number }) =>
    db
      .selectFrom('outbox_message')
      .modifyFront(partial('whether there is work'))
      .select('id')
      .where('channel', '=', channel)
      .where('next_attempt_at_ms', '<=', nowMs)
      .where('claimed_until_ms', '<=', nowMs)
      .limit(1),
);
const firstDueInScope = statement(
  'outbox-due-in-scope',
  (db, { channel, nowMs, scope }: { readonly channel: string; readonly nowMs: number; readonly scope: string }) => {
    const query = sql<{ id: string }>`SELECT /* partial: whether there is work */ id FROM outbox_message
      WHERE channel = ${channel} AND next_attempt_at_ms <= ${nowMs} AND claimed_until_ms <= ${nowMs}
        ${inScope(sql`outbox_message.organization_id`, scope)} LIMIT 1`;
    return { compile: () => query.compile(db) };
  },
);
const insertMessages = insertion('outbox-insert', 'outbox_message', [
  'organization_id',
  'id',
  'channel',
  'sealed_message',
  'not_after_ms',
  'attempts',
  'next_attempt_at_ms',
  'claimed_until_ms',
  'created_at_ms',
]);
interface Due extends Record<string, unknown> {
  readonly channel: string;
  readonly limit: number;
  readonly nowMs: number;
  readonly untilMs: number;
  /** Used in the variant that has it in its name. */
  readonly scope: string | undefined;
}
const SCOPED = ' in scope';
/** One whose key is cut off would be handed over again and again: what is done with it is done with the row of the whole key. */
type ClaimedRow = Selectable<OutboxMessageTable> & { readonly is_cut_off: number | boolean };
/** Materialized, so that it is read once: rows that another process is about to claim are passed over. */
const claimDue = variants<Due, ClaimedRow>(
  (_db, { channel, limit, nowMs, untilMs, scope }, variant) => sql<ClaimedRow>`
      WITH due AS MATERIALIZED (
        SELECT organization_id, id FROM outbox_message
        WHERE channel = ${channel} AND next_attempt_at_ms <= ${nowMs} AND claimed_until_ms <= ${nowMs}
        ${variant.endsWith(SCOPED) ? inScope(sql`outbox_message.organization_id`, scope) : sql``}
        ORDER BY next_attempt_at_ms, id LIMIT ${limit}
        ${variant.startsWith('postgres') ? sql`FOR UPDATE SKIP LOCKED` : sql``})
      UPDATE /* unmarked: a lease */ outbox_message SET claimed_until_ms = ${untilMs}
      WHERE (organization_id, id) IN (SELECT organization_id, id FROM due)
      RETURNING ${oneByOne('a message that is not genuine keeps no other')} *,
        ${isCutOff(variant.startsWith('postgres') ? 'postgres' : 'sqlite', ['organization_id', 'id'])} AS is_cut_off`,
);
/** So often is claimed anew where some were not genuine. */
const CLAIMS_MAX = 20;
/** Until one that is not genuine is looked at, and reported, again. */
const ASIDE_MS = 60 * 60 * 1000;
const keyOf = ({ organization_id, id }: Selectable<OutboxMessageTable>) => ({ organizationId: organization_id, id });
const setAside = change(
  'outbox-set-aside',
  (db, { organizationId, id, untilMs }: { organizationId: string; id: string; untilMs: number }) =>
    db
      .updateTable('outbox_message')
      .set({ claimed_until_ms: untilMs })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .modifyEnd(sql`/* unmarked: a lease */`),
);
interface Held extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
  readonly claimedUntilMs: number;
}
const removeClaimed = change('outbox-remove', (db, { organizationId, id, claimedUntilMs }: Held) =>
  db
    .deleteFrom('outbox_message')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('claimed_until_ms', '=', claimedUntilMs),
);
const insertEvents = insertion('email-event-insert', 'email_event', [
  'organization_id',
  'id',
  'message_id',
  'event_type',
  'from_address',
  'to_address',
  'address_key',
  'details',
  'created_at_ms',
]);

export class MessageReader extends Reader {
  /** Messages that wait to be handed over, of every organization. */
  async backlog(): Promise<Backlog> {
    return await readBacklog(this.db, 'outbox_message', sql`1 = 1`);
  }

  /** When a mail was last handed over, and how many were not within a time, as far as is kept. */
  async mailOutcomes(sinceMs: number): Promise<{ readonly lastSentAtMs: number | undefined; readonly failed: number }> {
    const sent = await this.db
      .selectFrom('email_event')
      .select('created_at_ms')
      .where('event_type', '=', 'sent' satisfies EmailEventType)
      .orderBy('created_at_ms', 'desc')
      .limit(1)
      .executeTakeFirst();
    const { rows } = await sql<{ failed: number | string }>`SELECT COUNT(*) AS failed FROM email_event
      WHERE created_at_ms >= ${sinceMs} AND event_type IN ('refused', 'expired', 'bounced')`.execute(this.db);
    return { lastSentAtMs: sent && Number(sent.created_at_ms), failed: Number(rows[0]?.failed ?? 0) };
  }

  /** Whether anybody's message of this channel waits for somebody to hand it over. */
  async isDue(channel: Channel, nowMs: number, scope?: string): Promise<boolean> {
    const found =
      scope === undefined
        ? await firstDue(this.db, { channel, nowMs })
        : await firstDueInScope(this.db, { channel, nowMs, scope });
    return found.length > 0;
  }

  /** What became of the mails to one address, newest first. */
  async emailEvents(
    organizationId: OrganizationId,
    { address, type }: EmailEventFilter,
    request: PageRequest,
  ): Promise<Page<EmailEvent>> {
    const ofType = type === undefined ? sql`` : sql`AND event_type = ${type}`;
    const filter = sql`AND address_key = ${addressKey(address)} ${ofType}`;
    const toItems = (rows: Selectable<EmailEventTable>[]): EmailEvent[] => rows.map(toEvent);
    return await pageOfRows(this.db, 'email_event', organizationId, request, toItems, { order: 'desc', filter });
  }

  /**
   * A mail that an organization or one of its sub-organizations has handed over. Most are, soon after they are made.
   */
  async findSent(
    rootId: OrganizationId,
    messageId: string,
  ): Promise<
    (Pick<EmailEvent, 'fromAddress' | 'toAddress'> & { readonly organizationId: OrganizationId }) | undefined
  > {
    const fromMs = madeAtMs(messageId) - CLOCKS_DIFFER_MS;
    const row = await this.db
      .selectFrom('email_event')
      .innerJoin('organization', 'organization.id', 'email_event.organization_id')
      .modifyFront(partial('where to list what became of a mail, which decides nothing'))
      .select(['email_event.organization_id', 'email_event.from_address', 'email_event.to_address'])
      .where('email_event.created_at_ms', '>=', fromMs)
      .where('email_event.created_at_ms', '<=', fromMs + SENT_WITHIN_MS)
      .where('email_event.message_id', '=', messageId)
      .where('email_event.event_type', '=', 'sent' satisfies EmailEventType)
      .where((eb) => eb.or([eb('organization.id', '=', rootId), eb('organization.parent_id', '=', rootId)]))
      .orderBy('email_event.created_at_ms')
      .limit(1)
      .executeTakeFirst();
    return (
      row && {
        organizationId: row.organization_id as OrganizationId,
        fromAddress: row.from_address,
        toAddress: row.to_address,
      }
    );
  }

  /** The id of an event that was recorded before. */
  async findReported(
    organizationId: OrganizationId,
    { messageId, toAddress, type }: Pick<EmailEvent, 'messageId' | 'toAddress' | 'type'>,
  ): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('email_event')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('address_key', '=', addressKey(toAddress))
      .where('message_id', '=', messageId)
      .where('event_type', '=', type)
      .executeTakeFirst();
    return row?.id;
  }

  /** What the development inbox keeps of all organizations, newest first. */
  async kept(): Promise<KeptMessage[]> {
    const rows = await this.db
      .selectFrom('dev_message')
      .selectAll()
      .orderBy('created_at_ms', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map((row) => ({
      organizationId: row.organization_id as OrganizationId,
      id: row.id,
      sealed: row.sealed_message,
      createdAtMs: row.created_at_ms,
    }));
  }
}

export class MessageStore extends MessageReader {
  static readonly writes = true;

  /** Makes a message part of the transaction: it is sent if and only if that commits. */
  async insert(message: SealedMessage, nowMs: number): Promise<void> {
    const row = {
      organization_id: message.organizationId,
      id: message.id,
      channel: message.channel,
      sealed_message: message.sealed,
      not_after_ms: message.notAfterMs ?? null,
      attempts: 0,
      // At once, whatever the time is for who hands it over.
      next_attempt_at_ms: 0,
      claimed_until_ms: 0,
      created_at_ms: nowMs,
    };
    await insertMessages(this.db, [row]);
  }

  /**
   * Takes due messages of any organization, new ones first and then the longest due, so that nobody else hands them
   * over meanwhile. One that somebody else wrote is reported and set aside, and another is taken in its place: wherever it
   * stands in the queue, it stops nobody. With a scope, of those organizations alone that a restore was accepted for.
   */
  async claim(
    channel: Channel,
    limit: number,
    nowMs: number,
    untilMs: number,
    scope?: string,
  ): Promise<ClaimedMessage[]> {
    const claiming = claimDue(scope === undefined ? this.kind : `${this.kind}${SCOPED}`);
    const claimed: ClaimedMessage[] = [];
    for (let attempt = 0; attempt < CLAIMS_MAX && claimed.length < limit; attempt += 1) {
      const rows = await claiming(this.db, { channel, limit: limit - claimed.length, nowMs, untilMs, scope });
      const { items, refused } = readEach(this.db, { table: 'outbox_message' }, rows, toClaimed);
      claimed.push(...items);
      if (refused.length === 0) break;
      // What is cut off has no key of its own to be named by: it is reported again when the lease ends.
      for (const row of refused.filter((one) => !one.is_cut_off))
        await setAside(this.db, { ...keyOf(row), untilMs: nowMs + ASIDE_MS });
    }
    return claimed;
  }

  /** Ends the claims of processes that are gone; for a database that has one process at a time. */
  async releaseAll(): Promise<void> {
    await sql`UPDATE /* unmarked: a lease */ outbox_message SET claimed_until_ms = 0 WHERE claimed_until_ms > 0`.execute(
      this.db,
    );
  }

  /** Forgets a message; false when the claim is over and the message another one's. */
  async remove({ organizationId, id, claimedUntilMs }: ClaimedMessage): Promise<boolean> {
    return (await removeClaimed(this.db, { organizationId, id, claimedUntilMs })) === 1;
  }

  /** Gives a message back until a moment; false when the claim is over and the message another one's. */
  async defer(
    { organizationId, id, claimedUntilMs }: ClaimedMessage,
    attempts: number,
    nextAttemptAtMs: number,
  ): Promise<boolean> {
    let isOurs = false;
    await amendOne(this.db, 'outbox_message', { organization_id: organizationId, id }, (message) => {
      isOurs = message.claimed_until_ms === claimedUntilMs;
      return isOurs ? { attempts, next_attempt_at_ms: nextAttemptAtMs, claimed_until_ms: 0 } : undefined;
    });
    return isOurs;
  }

  async insertEmailEvent(organizationId: OrganizationId, event: EmailEvent): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: event.id,
      message_id: event.messageId,
      event_type: event.type,
      from_address: event.fromAddress,
      to_address: event.toAddress,
      address_key: addressKey(event.toAddress),
      details: JSON.stringify(event.details),
      created_at_ms: event.createdAtMs,
    };
    await insertEvents(this.db, [row]);
  }

  /** Deletes a number of events that are older than a moment; answers how many there were. */
  async deleteEmailEvents(beforeMs: number, limit: number): Promise<number> {
    const { numAffectedRows } = await sql`DELETE FROM email_event WHERE (organization_id, id) IN (
      SELECT organization_id, id FROM email_event WHERE created_at_ms < ${beforeMs} ORDER BY created_at_ms
      LIMIT ${limit})`.execute(this.db);
    return Number(numAffectedRows ?? 0n);
  }

  /** Adds to the development inbox, which keeps the newest ones only. */
  async keep(message: KeptMessage, keepMax: number): Promise<void> {
    await this.db
      .insertInto('dev_message')
      .values({
        organization_id: message.organizationId,
        id: message.id,
        sealed_message: message.sealed,
        created_at_ms: message.createdAtMs,
      })
      .execute();
    await sql`DELETE FROM dev_message WHERE (organization_id, id) IN (
      SELECT organization_id, id FROM dev_message ORDER BY created_at_ms DESC, id DESC
      LIMIT 1000 OFFSET ${keepMax})`.execute(this.db);
  }
}
