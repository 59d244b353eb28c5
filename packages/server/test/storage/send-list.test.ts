import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Send } from '../../src/chains/send/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { type SendFilter, SendListReader } from '../../src/domains/sends/store/send-list.ts';
import { SendStore } from '../../src/domains/sends/store/sends.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { PageRequest } from '../../src/lib/pagination.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, codeOf, NOW, Place, times, withOrganization } from './place.ts';

const ALL: SendFilter = { states: [], activityId: undefined, sender: undefined, caip2: undefined };
const EVERYTHING: PageRequest = { kind: 'all', max: 1000 };
const [ADA, BOB] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(20)}`];

describe.each(DATABASES)('the list of sends on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let organizationId: Send['organizationId'];
  let sends: Send[];

  beforeEach(async () => {
    place = await Place.create(kind);
    storage = await place.open();
    organizationId = (await withOrganization(storage)).id;
    const states = ['INITIALIZED', 'BROADCASTING', 'INCLUDED', 'FAILED'] as const;
    sends = [];
    for (const index of times(12, (item) => item)) {
      const send: Send = {
        organizationId,
        id: randomId(),
        activityId: randomId(),
        caip2: index % 3 === 0 ? 'eip155:1' : 'eip155:10',
        sender: index % 2 === 0 ? ADA : BOB,
        lane: ADA,
        purpose: 'send',
        // Longer than what is read at a time.
        request: { kind: 'ethereum-raw', raw: 'x'.repeat(40_000) },
        afterId: undefined,
        state: states[index % 4] ?? 'FAILED',
        nonce: undefined,
        attempts: [],
        txHash: undefined,
        block: undefined,
        error: undefined,
        isOpen: true,
        createdAtMs: NOW,
        updatedAtMs: NOW,
      };
      await storage.write((store) => store(SendStore).insert(send));
      sends.unshift(send);
    }
  });
  afterEach(() => place[Symbol.asyncDispose]());

  const page = (filter: Partial<SendFilter>, request: PageRequest = EVERYTHING, id = organizationId) =>
    storage.read(SendListReader).page(id, { ...ALL, ...filter }, request);
  const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

  test('is newest first, and each filter narrows it', async () => {
    expect((await page({})).items).toEqual(sends);
    for (const [filter, matches] of [
      [{ states: ['FAILED'] }, ({ state }: Send) => state === 'FAILED'],
      [{ states: ['INITIALIZED', 'INCLUDED'] }, ({ state }: Send) => state === 'INITIALIZED' || state === 'INCLUDED'],
      [{ sender: BOB }, ({ sender }: Send) => sender === BOB],
      [{ caip2: 'eip155:1' }, ({ caip2 }: Send) => caip2 === 'eip155:1'],
      [{ activityId: sends[3]?.activityId }, ({ id }: Send) => id === sends[3]?.id],
      [
        { sender: ADA, caip2: 'eip155:10', states: ['INCLUDED'] },
        ({ sender, caip2, state }: Send) => sender === ADA && caip2 === 'eip155:10' && state === 'INCLUDED',
      ],
      [{ sender: 'nobody' }, () => false],
    ] as const) {
      expect(idsOf((await page(filter)).items)).toEqual(idsOf(sends.filter(matches)));
    }
  });

  test('comes in pages, also where states are merged', async () => {
    const states = ['BROADCASTING', 'FAILED'] as const;
    const all = sends.filter(({ state }) => state === 'BROADCASTING' || state === 'FAILED');
    const first = await page({ states }, { kind: 'page', limit: 4 });
    expect(idsOf(first.items)).toEqual(idsOf(all.slice(0, 4)));
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = await page({ states }, { kind: 'page', limit: 4, after: all[3]?.id ?? '' });
    expect(idsOf(second.items)).toEqual(idsOf(all.slice(4)));
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = await page({ states }, { kind: 'page', limit: 2, before: all[4]?.id ?? '' });
    expect(idsOf(back.items)).toEqual(idsOf(all.slice(2, 4)));
    expect(await codeOf(page({}, { kind: 'page', limit: 4, after: randomId() }))).toBe('REQUEST_INVALID');
  });

  test('has nothing of another organization, and nothing of one that is deleted', async () => {
    const elsewhere = (await withOrganization(storage)).id;
    expect((await page({}, EVERYTHING, elsewhere)).items).toEqual([]);
    expect(await codeOf(page({}, { kind: 'page', limit: 4, after: sends[0]?.id ?? '' }, elsewhere))).toBe(
      'REQUEST_INVALID',
    );
    await storage.write((store) =>
      builderOf(store)
        .updateTable('organization')
        .set({ deleted_at_ms: NOW })
        .where('id', '=', organizationId)
        .modifyEnd(sql`/* unmarked: a test without a key */`)
        .execute(),
    );
    expect((await page({})).items).toEqual([]);
    expect(await storage.write((store) => store(OrganizationStore).find(organizationId))).toBeDefined();
  });
});
