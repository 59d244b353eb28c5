import { expect, test, vi } from 'vitest';
import { randomId } from '../../lib/ids.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { shareSignatures } from './share.ts';

const NOW = 1_800_000_000_000;

const keyOf = (keyId: string, signsFromMs: number): ServiceKey =>
  ({ role: 'webhook-signer', keyId, publicKey: 'aa'.repeat(32), signsFromMs }) as ServiceKey;

function setUp() {
  const time = { nowMs: NOW };
  let count = 0;
  const sign = vi.fn(async () => {
    count += 1;
    return { keyId: 'key', timestampMs: time.nowMs, signature: `signature ${count}` };
  });
  const state = { keys: [keyOf('first', 0)] };
  const share = shareSignatures(
    sign,
    () => state.keys,
    () => time.nowMs,
  );
  const organizationId = randomId();
  const endpointOf = (owner = organizationId) => ({ organizationId: owner, id: randomId() }) as never;
  const eventOf = (body = '{}') => ({ id: randomId(), body }) as never;
  return { time, state, sign, share, endpointOf, eventOf };
}

test('endpoints that get an event at the same time share its signature', async () => {
  const { share, sign, endpointOf, eventOf } = setUp();
  const [event, other] = [eventOf(), eventOf()];
  const signed = await Promise.all([1, 2, 3].map(() => share(endpointOf(), event)));
  expect(new Set(signed.map(({ signature }) => signature))).toEqual(new Set(['signature 1']));
  expect((await share(endpointOf(), other)).signature).toBe('signature 2');
  expect(sign.mock.calls).toEqual([[event], [other]]);
});

test('an endpoint that asks again gets another signature, which others share from then on', async () => {
  const { share, time, endpointOf, eventOf } = setUp();
  const [first, second, third] = [endpointOf(), endpointOf(), endpointOf()];
  const event = eventOf();
  expect((await share(first, event)).signature).toBe('signature 1');
  time.nowMs += 5;
  expect(await share(first, event)).toMatchObject({ signature: 'signature 2', timestampMs: NOW + 5 });
  expect((await share(second, event)).signature).toBe('signature 2');
  expect((await share(second, event)).signature).toBe('signature 3');
  expect((await share(third, event)).signature).toBe('signature 3');
});

test('an event with its description and without share none', async () => {
  const { share, endpointOf, eventOf } = setUp();
  const event: { readonly id: string } = eventOf('{"id":1}');
  const described = { ...event, body: '{"id":1,"description":{}}' } as never;
  const signed = [event as never, described, event as never, described].map((each) => share(endpointOf(), each));
  expect((await Promise.all(signed)).map(({ signature }) => signature)).toEqual([
    'signature 1',
    'signature 2',
    'signature 1',
    'signature 2',
  ]);
});

test('organizations share none, because what they are told may differ', async () => {
  const { share, endpointOf, eventOf } = setUp();
  const event = eventOf();
  expect((await share(endpointOf(), event)).signature).toBe('signature 1');
  expect((await share(endpointOf(randomId()), event)).signature).toBe('signature 2');
});

test.each([
  ['half a second', 500, 'signature 1'],
  ['more', 501, 'signature 2'],
  ['a clock that was set back', -1, 'signature 2'],
])('after %s', async (_name, laterMs, signature) => {
  const { share, time, endpointOf, eventOf } = setUp();
  const event = eventOf();
  await share(endpointOf(), event);
  time.nowMs += laterMs;
  expect((await share(endpointOf(), event)).signature).toBe(signature);
});

test('from the moment the next key signs, nobody shares what the last one signed', async () => {
  const { share, time, state, endpointOf, eventOf } = setUp();
  state.keys = [keyOf('first', 0), keyOf('second', NOW + 10)];
  const event = eventOf();
  expect((await share(endpointOf(), event)).signature).toBe('signature 1');
  time.nowMs += 9;
  expect((await share(endpointOf(), event)).signature).toBe('signature 1');
  time.nowMs += 1;
  expect((await share(endpointOf(), event)).signature).toBe('signature 2');
  state.keys = [];
  expect((await share(endpointOf(), event)).signature).toBe('signature 3');
});

test('a refusal is heard by all who share it and by nobody later', async () => {
  const { share, sign, endpointOf, eventOf } = setUp();
  sign.mockRejectedValueOnce(new Error('away'));
  const event = eventOf();
  const refused = await Promise.allSettled([share(endpointOf(), event), share(endpointOf(), event)]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(sign).toHaveBeenCalledOnce();
  expect((await share(endpointOf(), event)).signature).toBe('signature 1');
});

test('the latest two thousand are remembered, and none before them', async () => {
  const { share, sign, endpointOf, eventOf } = setUp();
  const events = Array.from({ length: 3000 }, () => eventOf());
  for (const event of events) await share(endpointOf(), event);
  sign.mockClear();
  for (const event of events.slice(-2048)) await share(endpointOf(), event);
  expect(sign).not.toHaveBeenCalled();
  await share(endpointOf(), events[0] as never);
  expect(sign).toHaveBeenCalledOnce();
});
