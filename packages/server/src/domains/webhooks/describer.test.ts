import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fakeStores } from '../../../test/harness/fake-stores.ts';
import { deliveryOf, endpointOf, ORGANIZATION } from '../../../test/harness/webhook-fakes.ts';
import { ApiError } from '../../lib/errors.ts';
import { type ActivityId, type OrganizationId, randomId, type WebhookEventId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { createDescriber, type DescribeActivities } from './describer.ts';
import type { ActivityWords } from './description.ts';
import type { DueDelivery } from './model.ts';
import { WebhookReader } from './store/webhook-reader.ts';

const ENDPOINT = endpointOf({ includesDescription: true });

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const undescribed = (extra: Partial<DueDelivery> = {}): DueDelivery =>
  deliveryOf(ENDPOINT, { body: '{"id":"1"}', undescribed: randomId(), ...extra });
const wordsOf = (id: ActivityId): ActivityWords => ({ text: `Do ${id}.`, risk: 'ROUTINE' });
const bodyWith = (id: ActivityId | undefined): string =>
  `{"id":"1","description":{"text":"Do ${id}.","risk":"ROUTINE"}}`;

function setUp(describe: DescribeActivities = async (_about, ids) => new Map(ids.map((id) => [id, wordsOf(id)]))) {
  const stored = new Map<WebhookEventId, string>();
  const erased = new Set<WebhookEventId>();
  const asked = vi.fn(describe);
  const describeEvents = vi.fn(
    async (_organizationId: OrganizationId, given: ReadonlyMap<WebhookEventId, string>) =>
      new Map(
        [...given].flatMap(([id, description]) => {
          if (erased.has(id)) return [];
          if (!stored.has(id)) stored.set(id, description);
          return [[id, stored.get(id) as string] as const];
        }),
      ),
  );
  const stores = fakeStores([WebhookReader, { describeEvents }]);
  const storage = { write: (unit: (store: typeof stores) => unknown) => unit(stores) } as unknown as Storage;
  const internalError = vi.fn();
  const run = createDescriber(storage, asked, { internalError });
  return { run, asked, describeEvents, stored, erased, internalError };
}

test('what needs no words costs nothing', async () => {
  const { run, asked, describeEvents } = setUp();
  const deliveries = [deliveryOf(ENDPOINT), deliveryOf(ENDPOINT)];
  expect(await run(deliveries)).toBe(deliveries);
  expect([asked.mock.calls, describeEvents.mock.calls]).toEqual([[], []]);
});

test('words come into their places, and into the store before', async () => {
  const { run, stored } = setUp();
  const [plain, first, second] = [deliveryOf(ENDPOINT), undescribed(), undescribed()];
  const described = await run([first, plain, second]);
  expect(described.map(({ id }) => id)).toEqual([first.id, plain.id, second.id]);
  expect(described.map(({ body }) => body)).toEqual([bodyWith(first.undescribed), '{}', bodyWith(second.undescribed)]);
  for (const delivery of described) expect(delivery).not.toHaveProperty('undescribed');
  expect([...stored.keys()]).toEqual([first.eventId, second.eventId]);
});

test('what somebody else was faster with counts', async () => {
  const { run, stored } = setUp();
  const delivery = undescribed();
  stored.set(delivery.eventId, '{"text":"Theirs."}');
  const [described] = await run([delivery]);
  expect(described?.body).toBe('{"id":"1","description":{"text":"Theirs."}}');
});

test('what is erased meanwhile is sent no more', async () => {
  const { run, erased } = setUp();
  const [gone, there] = [undescribed(), undescribed()];
  erased.add(gone.eventId);
  expect((await run([gone, there])).map(({ id }) => id)).toEqual([there.id]);
});

test('activities are asked for by organization, each once, a few at a time', async () => {
  const { run, asked, describeEvents } = setUp();
  const child = randomId() as OrganizationId;
  const same = randomId() as ActivityId;
  const deliveries = [
    ...times(11, () => undescribed({ aboutId: child })),
    undescribed({ undescribed: same }),
    undescribed({ undescribed: same }),
  ];
  expect(await run(deliveries)).toHaveLength(13);
  expect(asked.mock.calls.map(([aboutId, ids]) => [aboutId, ids.length])).toEqual([
    [child, 10],
    [child, 1],
    [ORGANIZATION, 1],
  ]);
  // The events are those of whoever is told.
  expect(describeEvents.mock.calls.map(([organizationId, given]) => [organizationId, given.size])).toEqual([
    [ORGANIZATION, 10],
    [ORGANIZATION, 1],
    [ORGANIZATION, 2],
  ]);
});

test('one that cannot be described goes out without words and for good, and we hear of it', async () => {
  const broken = randomId() as ActivityId;
  const { run, internalError, stored } = setUp(async (_about, ids) => {
    if (ids.includes(broken)) throw new Error('no words');
    return new Map(ids.map((id) => [id, wordsOf(id)]));
  });
  const [first, bad, last] = [undescribed(), undescribed({ undescribed: broken }), undescribed()];
  const described = await run([first, bad, last]);
  expect(described.map(({ body }) => body)).toEqual([
    bodyWith(first.undescribed),
    '{"id":"1"}',
    bodyWith(last.undescribed),
  ]);
  expect(stored.get(bad.eventId)).toBe('');
  expect(internalError.mock.calls).toEqual([[expect.any(String), 'webhooks', new Error('no words')]]);
});

test('of an activity that is there no more nothing is said, and that is no fault', async () => {
  const { run, internalError, stored } = setUp(async () => new Map());
  const delivery = undescribed();
  expect((await run([delivery])).map(({ body }) => body)).toEqual(['{"id":"1"}']);
  expect(stored.get(delivery.eventId)).toBe('');
  expect(internalError).not.toHaveBeenCalled();
});

test('while the database is away nothing is said for good', async () => {
  const away = new ApiError('UNAVAILABLE', 'the database is away');
  const { run, internalError, stored } = setUp(async () => {
    throw away;
  });
  await expect(run([undescribed(), undescribed()])).rejects.toBe(away);
  expect([stored.size, internalError.mock.calls]).toEqual([0, []]);
});

test('two queues describe at a time, and a failure makes room for the next', async () => {
  const now = { count: 0, max: 0 };
  let failures = 2;
  const { run } = setUp(async (_about, ids) => {
    now.count += 1;
    now.max = Math.max(now.max, now.count);
    await turn();
    now.count -= 1;
    failures -= 1;
    if (failures >= 0) throw new ApiError('UNAVAILABLE', 'the database is away');
    return new Map(ids.map((id) => [id, wordsOf(id)]));
  });
  const results = await Promise.allSettled(times(6, () => run([undescribed()])));
  expect(results.map(({ status }) => status).sort()).toEqual([...times(4, () => 'fulfilled'), 'rejected', 'rejected']);
  expect(now.max).toBe(2);
});
