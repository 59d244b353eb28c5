import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type OrganizationId, randomId, type WebhookEndpointId, type WebhookEventId } from '../../lib/ids.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { createWebhookSender } from './sender.ts';
import { createWebhookSigner } from './signer.ts';

const NOW = 1_800_000_000_000;

const keyOf = (keyId: string, signsFromMs: number): ServiceKey =>
  ({ role: 'webhook-signer', keyId, publicKey: 'aa'.repeat(32), signsFromMs }) as ServiceKey;
const eventOf = (body = '{}') => ({ id: randomId() as WebhookEventId, body });

function setUp(keys: readonly ServiceKey[] = [keyOf('first', 0)]) {
  const time = { nowMs: NOW };
  const state = { keys };
  const calls: { readonly keyId: string; readonly count: number; readonly length: number }[] = [];
  const signWebhooks = vi.fn(
    async (keyId: string, webhooks: readonly { timestampMs: number; eventId: string; body: string }[]) => {
      calls.push({ keyId, count: webhooks.length, length: webhooks.reduce((sum, { body }) => sum + body.length, 0) });
      return webhooks.map(({ eventId, timestampMs }) => `${keyId} ${eventId} ${timestampMs}`);
    },
  );
  const sign = createWebhookSigner(
    { signWebhooks },
    () => state.keys,
    () => time.nowMs,
  );
  return { time, state, calls, signWebhooks, sign };
}

test('what comes together is signed together, and everybody gets the own signature', async () => {
  const { sign, calls, time } = setUp();
  const events = Array.from({ length: 150 }, () => eventOf());
  const signed = await Promise.all(events.map(sign));
  expect(calls.map(({ count }) => count)).toEqual([16, 16, 16, 16, 16, 16, 16, 16, 16, 6]);
  for (const [index, { id }] of events.entries()) {
    expect(signed[index]).toEqual({ keyId: 'first', timestampMs: NOW, signature: `first ${id} ${NOW}` });
  }
  time.nowMs += 1;
  const again = await sign(events[0] as (typeof events)[0]);
  expect(again.timestampMs).toBe(NOW + 1);
  expect(calls).toHaveLength(11);
});

test('large bodies go in calls of their own, none of which is larger than it must be', async () => {
  const { sign, calls } = setUp();
  const sizes = [400_000, 400_000, 10, 2_000_000, 10, 10];
  await Promise.all(sizes.map((size) => sign(eventOf('x'.repeat(size)))));
  expect(calls.reduce((sum, { count }) => sum + count, 0)).toBe(sizes.length);
  for (const { count, length } of calls) expect(count === 1 || length <= 512 * 1024).toBe(true);
  expect(calls.length).toBeLessThan(sizes.length);
});

test('the key is the one of the moment', async () => {
  const { sign, time, state } = setUp([keyOf('first', 0), keyOf('second', NOW + 1000)]);
  expect((await sign(eventOf())).keyId).toBe('first');
  time.nowMs += 999;
  expect((await sign(eventOf())).keyId).toBe('first');
  time.nowMs += 1;
  expect((await sign(eventOf())).keyId).toBe('second');
  state.keys = [keyOf('third', 0)];
  expect((await sign(eventOf())).keyId).toBe('third');
});

test('a keyring that is away refuses those of the moment and nobody later', async () => {
  const { sign, signWebhooks } = setUp();
  signWebhooks.mockRejectedValueOnce(new Error('away'));
  const refused = await Promise.allSettled([sign(eventOf()), sign(eventOf())]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await sign(eventOf())).keyId).toBe('first');
});

test('without a key nothing is signed, and the process goes on', async () => {
  const { sign, state } = setUp([]);
  const uncaught = vi.fn();
  process.on('uncaughtException', uncaught);
  try {
    const refused = Promise.race([sign(eventOf()).catch(() => 'refused'), turn().then(turn).then(turn)]);
    expect(await refused).toBe('refused');
    expect(uncaught).not.toHaveBeenCalled();
  } finally {
    process.off('uncaughtException', uncaught);
  }
  state.keys = [keyOf('first', 0)];
  expect((await sign(eventOf())).keyId).toBe('first');
});

test('an event that is too large to be signed fails by itself', async () => {
  const { sign, signWebhooks } = setUp();
  const deliver = vi.fn(async () => ({ latencyMs: 1, status: 200 }));
  const send = createWebhookSender(
    (_, event) => sign(event),
    { deliver, close: async () => {} },
    true,
    () => 0,
  );
  const aboutId: OrganizationId = randomId();
  const endpoint = { organizationId: aboutId, id: randomId() as WebhookEndpointId };
  const event = { ...eventOf('x'.repeat(16 * 1024 * 1024)), type: 'ACTIVITY_UPDATES', aboutId } as const;
  const post = async (one: typeof event) => await (await send({ ...endpoint, url: 'https://a.example/' }, one)).post();
  expect(await post(event)).toEqual({ latencyMs: 1, status: 200 });
  const larger = { ...event, body: `${event.body}x` };
  expect(await post(larger)).toEqual({ latencyMs: 0, error: 'too-large' });
  expect(signWebhooks).toHaveBeenCalledOnce();
  expect(deliver).toHaveBeenCalledOnce();
});
