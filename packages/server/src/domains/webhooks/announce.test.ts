import { describe, expect, test } from 'vitest';
import { fakeStores } from '../../../test/harness/fake-stores.ts';
import type { Occurrence } from '../../core/events.ts';
import {
  type ActivityId,
  type OrganizationId,
  randomId,
  type WebhookEndpointId,
  type WebhookEventId,
} from '../../lib/ids.ts';
import { announceBalances } from '../balances/announce.ts';
import type { SendStatusPayload } from '../sends/status-payload.ts';
import { announce } from './announce.ts';
import type { WebhookEndpoint, WebhookEvent, WebhookSubscription } from './model.ts';
import type { BalancePayload } from './payloads.ts';
import { WebhookReader } from './store/webhook-reader.ts';

const NOW = 1_800_000_000_000;
const [PARENT, SUB] = [randomId() as OrganizationId, randomId() as OrganizationId];

const balance = (type: BalancePayload['type'], address = '0xAbC0000000000000000000000000000000000001') =>
  ({
    type,
    organizationId: SUB,
    parentOrganizationId: PARENT,
    msg: {
      operation: 'deposit',
      caip2: 'eip155:1',
      txHash: `0x${'1'.repeat(64)}`,
      address,
      idempotencyKey: 'key',
      asset: { symbol: 'ETH', name: 'Ether', decimals: 18, caip19: 'eip155:1/slip44:60', amount: '1' },
      block: { number: 1, hash: `0x${'2'.repeat(64)}`, timestamp: '2026-01-01T00:00:00Z' },
    },
  }) satisfies BalancePayload;

const sendStatus = (status: SendStatusPayload['msg']['status']) =>
  ({
    type: 'transaction:status',
    organizationId: SUB,
    parentOrganizationId: PARENT,
    msg: {
      sendTransactionStatusId: randomId(),
      activityId: randomId(),
      status,
      caip2: 'eip155:8453',
      idempotencyKey: 'key',
      timestamp: 1_800_000_000,
    },
  }) satisfies SendStatusPayload;

const OCCURRENCES = {
  BALANCE_CONFIRMED_UPDATES: { type: 'BALANCE_CONFIRMED_UPDATES', payload: balance('balances:confirmed') },
  BALANCE_FINALIZED_UPDATES: { type: 'BALANCE_FINALIZED_UPDATES', payload: balance('balances:finalized') },
  SEND_TRANSACTION_STATUS_UPDATES: { type: 'SEND_TRANSACTION_STATUS_UPDATES', payload: sendStatus('INCLUDED') },
} as const;

type Happened = Occurrence | (typeof OCCURRENCES)[keyof typeof OCCURRENCES];

type BalanceNews = (typeof OCCURRENCES)[`BALANCE_${'CONFIRMED' | 'FINALIZED'}_UPDATES`];

const isOccurrence = (happened: Happened): happened is Exclude<Happened, BalanceNews> =>
  !happened.type.startsWith('BALANCE_');

const toOccurrence = (happened: Exclude<Happened, BalanceNews>): Occurrence => {
  if (!('payload' in happened)) return happened;
  const { type, payload } = happened;
  const { status, caip2 } = payload.msg;
  const activityId = payload.msg.activityId as ActivityId;
  return { type, facts: { statuses: status, caip2 }, activityId, bodyFor: () => JSON.stringify(payload) };
};

interface WebhookTarget {
  readonly endpointId: WebhookEndpointId;
  readonly includesDescription?: boolean;
}

interface Inserted {
  readonly event: WebhookEvent;
  readonly endpointIds: readonly WebhookEndpointId[];
  readonly described?: readonly WebhookEndpointId[];
}

/** Who listens; answers with what was written for an occurrence. */
function setUp(...listeners: readonly WebhookEndpoint[]) {
  const asked: unknown[] = [];
  const inserted: Inserted[] = [];
  const webhooks = {
    listeners: async (...of: unknown[]) => {
      asked.push(of);
      return listeners.filter(({ organizationId }) => of.includes(organizationId));
    },
    insertEvents: async (events: readonly (WebhookEvent & { readonly deliveries: readonly WebhookTarget[] })[]) => {
      for (const { deliveries, ...event } of events) {
        inserted.push({ event, endpointIds: deliveries.map(({ endpointId }) => endpointId) });
      }
    },
    insertEvent: async (event: WebhookEvent, deliveries: readonly WebhookTarget[]) => {
      const described = deliveries.filter(({ includesDescription }) => includesDescription);
      inserted.push({
        event,
        endpointIds: deliveries.map(({ endpointId }) => endpointId),
        described: described.map(({ endpointId }) => endpointId),
      });
    },
  };
  const store = fakeStores([WebhookReader, webhooks]);
  const tell = async (happened: Happened, place = { id: SUB, parentId: PARENT as OrganizationId | undefined }) => {
    if (isOccurrence(happened)) {
      return { told: await announce(webhooks, toOccurrence(happened), place, randomId, NOW), inserted, asked };
    }
    const level = happened.type === 'BALANCE_CONFIRMED_UPDATES' ? 'confirmed' : 'finalized';
    const news = {
      eventId: randomId() as WebhookEventId,
      rootId: place.parentId ?? place.id,
      payload: happened.payload,
    };
    return { told: (await announceBalances(store, level, [news], randomId, NOW)).endpoints, inserted, asked };
  };
  return tell;
}

const endpoint = (
  organizationId: OrganizationId,
  eventType: WebhookSubscription['eventType'],
  filters?: unknown,
  isActive = true,
): WebhookEndpoint => ({
  id: randomId(),
  organizationId,
  name: 'receiver',
  url: 'https://receiver.example/',
  isActive: true,
  isFeature: false,
  includesDescription: false,
  subscriptions: [{ eventType, isActive, ...(filters !== undefined && { filtersJson: JSON.stringify(filters) }) }],
  createdAtMs: NOW,
  updatedAtMs: NOW,
});

describe.each(Object.entries(OCCURRENCES))('%s', (type, occurrence) => {
  const eventType = type as WebhookSubscription['eventType'];

  test('is told to the parent alone, in whose name it goes', async () => {
    const [own, parents] = [endpoint(SUB, eventType), endpoint(PARENT, eventType)];
    const { told, inserted } = await setUp(own, parents)(occurrence);
    expect(told).toEqual([parents.id]);
    expect(inserted).toHaveLength(1);
    expect(inserted[0]?.event).toMatchObject({ organizationId: PARENT, aboutId: PARENT, type, createdAtMs: NOW });
    expect(JSON.parse(inserted[0]?.event.body ?? '')).toEqual(occurrence.payload);
  });

  test('of a parent itself is told to it', async () => {
    const own = endpoint(PARENT, eventType);
    const { told, inserted } = await setUp(own)(occurrence, { id: PARENT, parentId: undefined });
    expect(told).toEqual([own.id]);
    expect(inserted.map(({ event }) => event.aboutId)).toEqual([PARENT]);
  });

  test('is not told to who subscribes to something else, or not at the moment', async () => {
    const others = [
      endpoint(PARENT, 'ACTIVITY_UPDATES'),
      endpoint(PARENT, eventType, undefined, false),
      endpoint(PARENT, eventType, { organizationIds: [PARENT] }),
      endpoint(PARENT, eventType, { caip2: ['eip155:10'] }),
    ];
    const { told, inserted } = await setUp(...others)(occurrence);
    expect([told, inserted]).toEqual([[], []]);
    const chain = eventType === 'SEND_TRANSACTION_STATUS_UPDATES' ? 'eip155:8453' : 'eip155:1';
    const wanted = endpoint(PARENT, eventType, { organizationIds: [PARENT, SUB], caip2: ['eip155:10', chain] });
    expect((await setUp(...others, wanted)(occurrence)).told).toEqual([wanted.id]);
  });
});

test('addresses are compared however they are spelled, statuses exactly', async () => {
  const occurrence = OCCURRENCES.BALANCE_CONFIRMED_UPDATES;
  const spelled = (address: string) => endpoint(PARENT, 'BALANCE_CONFIRMED_UPDATES', { addresses: [address] });
  const same = spelled('0xabc0000000000000000000000000000000000001');
  const other = spelled('0xabc0000000000000000000000000000000000002');
  expect((await setUp(same, other)(occurrence)).told).toEqual([same.id]);
  const failed = endpoint(PARENT, 'SEND_TRANSACTION_STATUS_UPDATES', { statuses: ['FAILED'] });
  const included = endpoint(PARENT, 'SEND_TRANSACTION_STATUS_UPDATES', { statuses: ['INCLUDED', 'BROADCASTING'] });
  const sent = OCCURRENCES.SEND_TRANSACTION_STATUS_UPDATES;
  expect((await setUp(failed, included)(sent)).told).toEqual([included.id]);
});

test('an activity is told to both, each in the form that it may see, as one event', async () => {
  const [own, parents, second] = [SUB, PARENT, PARENT].map((id) => endpoint(id, 'ACTIVITY_UPDATES')) as [
    WebhookEndpoint,
    WebhookEndpoint,
    WebhookEndpoint,
  ];
  const occurrence: Occurrence = {
    type: 'ACTIVITY_UPDATES',
    activityId: randomId(),
    facts: { activityTypes: 'ACTIVITY_TYPE_CREATE_USER_TAG', statuses: 'ACTIVITY_STATUS_COMPLETED' },
    bodyFor: (recipientId) => `{"for":"${recipientId}"}`,
  };
  const { told, inserted, asked } = await setUp(own, parents, second)(occurrence);
  expect(asked).toEqual([[SUB, PARENT]]);
  expect(told).toEqual([own.id, parents.id, second.id]);
  expect(
    inserted.map(({ event, endpointIds }) => [event.organizationId, event.aboutId, event.body, endpointIds]),
  ).toEqual([
    [SUB, SUB, `{"for":"${SUB}"}`, [own.id]],
    [PARENT, SUB, `{"for":"${PARENT}"}`, [parents.id, second.id]],
  ]);
  expect(new Set(inserted.map(({ event }) => event.id)).size).toBe(1);
});

test('a description is for endpoints that ask for it, and for events of activities alone', async () => {
  const worded = (type: WebhookSubscription['eventType']) => ({ ...endpoint(PARENT, type), includesDescription: true });
  const activity: Occurrence = { type: 'ACTIVITY_UPDATES', activityId: randomId(), facts: {}, bodyFor: () => '{}' };
  const [plain, wordy] = [endpoint(PARENT, 'ACTIVITY_UPDATES'), worded('ACTIVITY_UPDATES')];
  expect((await setUp(plain, wordy)(activity)).inserted).toMatchObject([
    { endpointIds: [plain.id, wordy.id], described: [wordy.id] },
  ]);
  const sends = worded('SEND_TRANSACTION_STATUS_UPDATES');
  const { inserted } = await setUp(sends)(OCCURRENCES.SEND_TRANSACTION_STATUS_UPDATES);
  expect(inserted).toMatchObject([{ endpointIds: [sends.id], described: [] }]);
});

test('where nobody listens nothing is rendered and nothing written', async () => {
  const occurrence: Occurrence = {
    type: 'ACTIVITY_UPDATES',
    activityId: randomId(),
    facts: {},
    bodyFor: () => {
      throw new Error('rendered for nobody');
    },
  };
  const deaf = endpoint(PARENT, 'BALANCE_CONFIRMED_UPDATES');
  for (const tell of [setUp(), setUp(deaf)]) expect(await tell(occurrence)).toMatchObject({ told: [], inserted: [] });
});
