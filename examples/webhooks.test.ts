import { spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

interface Receiver {
  readonly url: string;
  close(): Promise<void>;
}
type OnEvent = (event: { readonly eventId: string; readonly eventType?: string }, body: unknown) => unknown;
type Start = (options: { jwksUrl: string; bodyBytesMax?: number; onEvent?: OnEvent }) => Promise<Receiver>;

const RECEIVERS = ['node-http', 'express', 'fastify'] as const;
const BODY_BYTES_MAX = 1024;

const published = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
let keyServer: Server;
let jwksUrl: string;

beforeAll(async () => {
  const keys = [{ ...published.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'EdDSA', use: 'sig' }];
  keyServer = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  keyServer.listen(0, '127.0.0.1');
  await once(keyServer, 'listening');
  jwksUrl = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks`;
});

afterAll(async () => {
  keyServer.closeAllConnections();
  await new Promise((resolve) => keyServer.close(resolve));
});

interface Delivery {
  eventId?: string;
  keyId?: string;
  ageMs?: number;
  body?: string;
  prefix?: string;
  key?: KeyObject;
}

let count = 0;
function deliveryOf(delivery: Delivery = {}) {
  count += 1;
  const { eventId = `event-${count}`, keyId = 'one', ageMs = 0, prefix = 'X-Service-' } = delivery;
  const { body = '{"type": "ACTIVITY_TYPE_CREATE_WALLET", "status": "ACTIVITY_STATUS_COMPLETED"}' } = delivery;
  const { key = published.privateKey } = delivery;
  const timestampMs = Date.now() - ageMs;
  const signature = sign(null, Buffer.from(`v1.ed25519.${keyId}.${timestampMs}.${eventId}.${body}`), key);
  const values = {
    Signature: signature.toString('hex'),
    'Signature-Key-Id': keyId,
    'Signature-Algorithm': 'ed25519',
    'Signature-Version': 'v1',
    Timestamp: String(timestampMs),
    'Event-Id': eventId,
    'Event-Type': 'ACTIVITY_UPDATES',
  };
  const headers = Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
  return { eventId, body, headers: { 'Content-Type': 'application/json', ...headers } };
}

async function post(url: string, { headers, body }: ReturnType<typeof deliveryOf>, sent = body) {
  const response = await fetch(url, { method: 'POST', headers, body: sent });
  return [response.status, await response.json()];
}

const TOO_LARGE = [413, { reason: 'too_large' }];
const RECEIVED = [200, { status: 'received' }];

describe.each(RECEIVERS)('%s', (name) => {
  const events: [string, unknown][] = [];
  let start: Start;
  let receiver: Receiver;

  beforeAll(async () => {
    ({ start } = (await import(`./webhooks/${name}.mjs`)) as { start: Start });
    receiver = await start({
      jwksUrl,
      bodyBytesMax: BODY_BYTES_MAX,
      onEvent: ({ eventId }, body) => events.push([eventId, body]),
    });
  });

  afterAll(async () => {
    await receiver.close();
  });

  test('a delivery is received once, in either family of headers', async () => {
    const delivery = deliveryOf();
    expect(await post(receiver.url, delivery)).toEqual(RECEIVED);
    expect(await post(receiver.url, delivery)).toEqual([200, { status: 'duplicate' }]);
    // As the service repeats it: the same event, signed again.
    expect(await post(receiver.url, deliveryOf({ eventId: delivery.eventId, ageMs: 1000 }))).toEqual([
      200,
      { status: 'duplicate' },
    ]);
    const other = deliveryOf({ prefix: 'X-Turnkey-' });
    expect(await post(receiver.url, other)).toEqual(RECEIVED);
    const body = { type: 'ACTIVITY_TYPE_CREATE_WALLET', status: 'ACTIVITY_STATUS_COMPLETED' };
    expect(events.filter(([id]) => id === delivery.eventId || id === other.eventId)).toEqual([
      [delivery.eventId, body],
      [other.eventId, body],
    ]);
  });

  test.each<[string, () => Promise<unknown[]>]>([
    ['invalid_signature', () => post(receiver.url, deliveryOf(), '{"type":"ACTIVITY_TYPE_CREATE_WALLET"}')],
    ['invalid_signature', () => post(receiver.url, deliveryOf({ key: stranger.privateKey }))],
    ['stale_timestamp', () => post(receiver.url, deliveryOf({ ageMs: 400_000 }))],
    ['stale_timestamp', () => post(receiver.url, deliveryOf({ ageMs: -400_000 }))],
    ['missing_key', () => post(receiver.url, deliveryOf({ keyId: 'two' }))],
    ['missing_header', () => post(receiver.url, deliveryOf({ eventId: '' }))],
  ])('answers 401 with %s', async (reason, sending) => {
    const before = events.length;
    expect(await sending()).toEqual([401, { reason }]);
    expect(events).toHaveLength(before);
  });

  test('a delivery without a body is refused', async () => {
    const { headers } = deliveryOf();
    expect((await fetch(receiver.url, { method: 'POST', headers })).status).toBe(401);
  });

  test('a body of the allowed size is received, a longer one refused', async () => {
    const bodyOf = (length: number): string => JSON.stringify('x'.repeat(length - 2));
    expect(await post(receiver.url, deliveryOf({ body: bodyOf(BODY_BYTES_MAX) }))).toEqual(RECEIVED);
    expect(await post(receiver.url, deliveryOf({ body: bodyOf(BODY_BYTES_MAX + 1) }))).toEqual(TOO_LARGE);
  });

  test('also one that does not say how long it is', async () => {
    const { headers, body } = deliveryOf({ body: JSON.stringify('x'.repeat(BODY_BYTES_MAX)) });
    const sending = request(receiver.url, { method: 'POST', headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
    const answered = once(sending, 'response');
    for (const part of body.match(/.{1,100}/g)!) sending.write(part);
    sending.end();
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).toBe(413);
  });

  test('one that could not be handled is asked for again, and counts then', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const broken = new Error('the database is away');
    let isBroken = true;
    const failing = await start({
      jwksUrl,
      onEvent: () => {
        if (isBroken) throw broken;
      },
    });
    try {
      const delivery = deliveryOf();
      expect(await post(failing.url, delivery)).toEqual([500, { reason: 'internal' }]);
      isBroken = false;
      expect(await post(failing.url, delivery)).toEqual(RECEIVED);
      expect(told.mock.calls).toEqual([[broken]]);
    } finally {
      told.mockRestore();
      await failing.close();
    }
  });

  test('one that comes while it is handled is asked for again, so that no failure loses it', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const broken = new Error('the database is away');
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let fail = () => {};
    let handled = 0;
    const slow = await start({
      jwksUrl,
      onEvent: () => {
        handled += 1;
        if (handled > 1) return undefined;
        begin();
        return new Promise((_resolve, reject) => {
          fail = () => reject(broken);
        });
      },
    });
    try {
      const delivery = deliveryOf();
      const first = post(slow.url, delivery);
      await begun;
      expect(await post(slow.url, delivery)).toEqual([503, { reason: 'in_work' }]);
      // Others do not wait for it.
      expect(await post(slow.url, deliveryOf())).toEqual(RECEIVED);
      fail();
      expect(await first).toEqual([500, { reason: 'internal' }]);
      expect(await post(slow.url, delivery)).toEqual(RECEIVED);
      expect(await post(slow.url, delivery)).toEqual([200, { status: 'duplicate' }]);
      expect(handled).toBe(3);
      expect(told.mock.calls).toEqual([[broken]]);
    } finally {
      fail();
      told.mockRestore();
      await slow.close();
    }
  });

  test('while the keys cannot be fetched, deliveries are asked for again', async () => {
    const lost = await start({ jwksUrl: jwksUrl.replace('http:', 'https:') });
    try {
      expect(await post(lost.url, deliveryOf())).toEqual([503, { reason: 'key_set_unavailable' }]);
    } finally {
      await lost.close();
    }
  });

  test('runs by itself and prints what arrives', async () => {
    const file = fileURLToPath(new URL(`webhooks/${name}.mjs`, import.meta.url));
    const tsx = fileURLToPath(import.meta.resolve('tsx'));
    const child = spawn(process.execPath, ['--conditions=source', '--import', tsx, file], {
      env: { PATH: process.env.PATH ?? '', PORT: '0', JWKS_URL: jwksUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const [, url = ''] = /^Receiving at (http:\/\/127\.0\.0\.1:[0-9]+\/webhooks)$/.exec((await lines.next()).value)!;
      const delivery = deliveryOf();
      expect(await post(url, delivery)).toEqual(RECEIVED);
      expect((await lines.next()).value).toBe(
        `ACTIVITY_UPDATES ${delivery.eventId}: ACTIVITY_TYPE_CREATE_WALLET ACTIVITY_STATUS_COMPLETED`,
      );
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });
});
