import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClaimedMessage, EmailEvent, SealedMessage } from '../../src/domains/messages/store.ts';
import { MessageReader, MessageStore } from '../../src/domains/messages/store.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import type { PageRequest } from '../../src/lib/pagination.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, codeOf, NOW, Place, times, withOrganization } from './place.ts';

// The outbox, what became of mails, and the development inbox, on both databases.

const BYTES = Uint8Array.from([0, 1, 254, 255]);
const ALL = { kind: 'all', max: 1000 } as const;
const LEASE = 90_000;

const message = (organizationId: OrganizationId, extra: Partial<SealedMessage> = {}): SealedMessage => ({
  organizationId,
  id: randomId(),
  channel: 'email',
  sealed: BYTES,
  notAfterMs: undefined,
  ...extra,
});
const event = (extra: Partial<EmailEvent> = {}): EmailEvent => ({
  id: randomId(),
  messageId: 'id@example.org',
  type: 'sent',
  fromAddress: 'no-reply@Example.org',
  toAddress: 'Alice@Example.com',
  details: { deliverySmtpResponse: '250 é"😀' },
  createdAtMs: NOW,
  ...extra,
});
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
const sorted = (items: readonly { readonly id: string }[]): string[] => idsOf(items).sort();

describe.each(DATABASES)('messages on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  /** Claims know no organization, so that each test begins with none but its own messages. */
  async function twoOrganizations() {
    const write = storage.write.bind(storage);
    await write(async (store) => {
      for (const table of ['outbox_message', 'email_event', 'dev_message'] as const)
        await builderOf(store).deleteFrom(table).execute();
    });
    const [{ id }, { id: otherId }] = [await withOrganization(storage), await withOrganization(storage)];
    const claim = (channel: 'email' | 'sms', limit: number, nowMs: number): Promise<ClaimedMessage[]> =>
      write((store) => store(MessageStore).claim(channel, limit, nowMs, nowMs + LEASE));
    const insert = (messages: readonly SealedMessage[], nowMs = NOW): Promise<void> =>
      write(async (store) => {
        for (const one of messages) await store(MessageStore).insert(one, nowMs);
      });
    const left = async (): Promise<number> =>
      (await write((store) => builderOf(store).selectFrom('outbox_message').selectAll().execute())).length;
    return { write, read: storage.read, claim, insert, left, id, otherId };
  }

  test('what waits is claimed once, the oldest first, from all organizations', async () => {
    const at = await twoOrganizations();
    const { read, claim, insert, id, otherId } = at;
    const made = [message(id), message(otherId), message(id, { notAfterMs: NOW + 5 })];
    for (const [index, one] of made.entries()) await insert([one], NOW + index);
    const text = message(id, { channel: 'sms' });
    await insert([text]);
    // Also for a process whose clock is behind.
    expect(await read(MessageReader).isDue('email', NOW - 1)).toBe(true);

    const first = await claim('email', 2, NOW + 10);
    expect(sorted(first)).toEqual(sorted(made.slice(0, 2)));
    const [last, ...more] = await claim('email', 10, NOW + 10);
    expect(more).toEqual([]);
    expect(last && { ...last, sealed: [...last.sealed] }).toEqual({
      ...made[2],
      sealed: [...BYTES],
      attempts: 0,
      claimedUntilMs: NOW + 10 + LEASE,
      createdAtMs: NOW + 2,
    });
    expect(await read(MessageReader).isDue('email', NOW + 10)).toBe(false);
    expect(await read(MessageReader).isDue('sms', NOW + 10)).toBe(true);
    expect(idsOf(await claim('sms', 10, NOW + 10))).toEqual([text.id]);
    // A claim that ran out is no claim.
    expect(await claim('email', 10, NOW + 9 + LEASE)).toEqual([]);
    expect(sorted(await claim('email', 10, NOW + 10 + LEASE))).toEqual(sorted(made));
  });

  test('a rolled back message is none', async () => {
    const at = await twoOrganizations();
    const failed = at.write(async (store) => {
      await store(MessageStore).insert(message(at.id), NOW);
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(await at.claim('email', 10, NOW)).toEqual([]);
  });

  test('only who holds the claim ends or defers a message', async () => {
    const at = await twoOrganizations();
    const { write, claim, insert, left, id } = at;
    await insert([message(id)]);
    const [old] = (await claim('email', 1, NOW)) as [ClaimedMessage];
    const [held] = (await claim('email', 1, NOW + LEASE)) as [ClaimedMessage];
    expect(held.id).toBe(old.id);
    expect(await write((store) => store(MessageStore).remove(old))).toBe(false);
    expect(await write((store) => store(MessageStore).defer(old, 9, NOW))).toBe(false);
    expect(await write((store) => store(MessageStore).remove({ ...held, organizationId: at.otherId }))).toBe(false);
    expect(await write((store) => store(MessageStore).defer(held, 3, NOW + 2 * LEASE))).toBe(true);
    // Given back, so that nobody holds it.
    expect(await write((store) => store(MessageStore).remove(held))).toBe(false);
    expect(await claim('email', 1, NOW + 2 * LEASE - 1)).toEqual([]);
    const [again] = (await claim('email', 1, NOW + 2 * LEASE)) as [ClaimedMessage];
    expect([again.id, again.attempts]).toEqual([held.id, 3]);
    expect(await left()).toBe(1);
    expect(await write((store) => store(MessageStore).remove(again))).toBe(true);
    expect(await left()).toBe(0);
  });

  test('claims of the dead can be ended at once', async () => {
    const at = await twoOrganizations();
    await at.insert([message(at.id)]);
    const [held] = (await at.claim('email', 1, NOW)) as [ClaimedMessage];
    await at.write((store) => store(MessageStore).releaseAll());
    expect(idsOf(await at.claim('email', 1, NOW))).toEqual([held.id]);
  });

  test('claimers at the same time share the work', async () => {
    const at = await twoOrganizations();
    const made = times(30, () => message(at.id));
    await at.insert(made);
    const claims = (await Promise.all(times(10, () => at.claim('email', 4, NOW)))).flat();
    expect(sorted(claims)).toEqual(sorted(made));
  });

  if (kind === 'postgres') {
    test('nobody waits for a claimer that has not committed', async () => {
      const at = await twoOrganizations();
      await at.insert([message(at.id), message(at.id)]);
      await at.write(async (store) => {
        const [mine] = await store(MessageStore).claim('email', 1, NOW, NOW + LEASE);
        const [theirs] = await at.claim('email', 2, NOW);
        expect(theirs?.id).toBeDefined();
        expect(theirs?.id).not.toBe(mine?.id);
      });
    });
  }

  test('events are found by address, whatever its case, newest first', async () => {
    const at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const made = times(7, (index) => event({ type: index % 2 === 0 ? 'deferred' : 'sent', createdAtMs: NOW + index }));
    const foreign = event();
    await write(async (store) => {
      for (const one of [...made].reverse()) await store(MessageStore).insertEmailEvent(id, one);
      await store(MessageStore).insertEmailEvent(otherId, foreign);
      await store(MessageStore).insertEmailEvent(id, event({ toAddress: 'bob@example.com' }));
    });
    const newest = [...made].reverse();
    const find = (request: PageRequest, type?: string) =>
      read(MessageReader).emailEvents(id, { address: 'ALICE@example.COM', type }, request);
    expect((await find(ALL)).items).toEqual(newest);
    expect((await read(MessageReader).emailEvents(otherId, { address: foreign.toAddress }, ALL)).items).toEqual([
      foreign,
    ]);
    expect((await read(MessageReader).emailEvents(id, { address: 'carol@example.com' }, ALL)).items).toEqual([]);
    const deferred = newest.filter(({ type }) => type === 'deferred');
    expect((await find(ALL, 'deferred')).items).toEqual(deferred);
    expect((await find(ALL, 'refused')).items).toEqual([]);

    const paged: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await find({ kind: 'page', limit: 3, ...(after !== undefined && { after }) }, 'deferred');
      paged.push(...idsOf(page.items));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(paged).toEqual(idsOf(deferred));
    const back = await find({ kind: 'page', limit: 2, before: newest[4]?.id as string });
    expect(idsOf(back.items)).toEqual(idsOf(newest.slice(2, 4)));
    expect(await codeOf(find({ kind: 'page', limit: 2, after: foreign.id }))).toBe('REQUEST_INVALID');
    expect(await codeOf(find({ kind: 'all', max: 6 }))).toBe('RESULT_TOO_LARGE');
  });

  test('old events go, some at a time', async () => {
    const at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const made = times(6, (index) => event({ createdAtMs: NOW + index }));
    await write(async (store) => {
      for (const [index, one] of made.entries())
        await store(MessageStore).insertEmailEvent(index % 2 === 0 ? id : otherId, one);
    });
    const sweep = () => write((store) => store(MessageStore).deleteEmailEvents(NOW + 4, 3));
    expect([await sweep(), await sweep(), await sweep()]).toEqual([3, 1, 0]);
    const left = await Promise.all(
      [id, otherId].map((owner) => read(MessageReader).emailEvents(owner, { address: 'alice@example.com' }, ALL)),
    );
    expect(left.flatMap(({ items }) => idsOf(items))).toEqual(idsOf(made.slice(4)));
  });

  test('the development inbox keeps the newest', async () => {
    const at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const kept = times(6, (index) => ({
      organizationId: index % 2 === 0 ? id : otherId,
      id: randomId() as string,
      sealed: BYTES,
      createdAtMs: NOW + Math.floor(index / 2),
    }));
    for (const one of kept) await write((store) => store(MessageStore).keep(one, 4));
    const found = await read(MessageReader).kept();
    expect(found.map((one) => ({ ...one, sealed: [...one.sealed] }))).toEqual(
      kept
        .slice(2)
        .reverse()
        .map((one) => ({ ...one, sealed: [...BYTES] })),
    );
  });
});
