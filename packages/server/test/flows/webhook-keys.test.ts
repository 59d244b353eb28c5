import { createPublicKey, randomUUID, verify, webcrypto } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createLocalJWKSet, importJWK, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { InstallationReader, InstallationStore } from '../../src/core/store/installation.ts';
import { SIGNS_AFTER_MS, WEBHOOK_ROLE } from '../../src/domains/webhooks/keys.ts';
import type { Poster } from '../../src/domains/webhooks/poster/poster.ts';
import type { Posting } from '../../src/domains/webhooks/poster/posting.ts';
import { type OrganizationId, randomId, type WebhookEndpointId, type WebhookEventId } from '../../src/lib/ids.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { newKeyPair, stampFor } from '../harness/client.ts';
import { type Arrival, WebhookReceiver } from '../harness/webhook-receiver.ts';
import { ClockClient } from './fixtures/policy-flows.ts';
import { doSomething, LOOPBACK, listen, settled, tell } from './fixtures/webhooks.ts';

// What proves to a receiver that a delivery is ours, and how the keys that do come and go.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const keySetUrl = ({ baseUrl }: { readonly baseUrl: string }): string => `${baseUrl}/public/v1/discovery/webhooks/jwks`;

interface PublishedKey {
  readonly kid: string;
  readonly x: string;
}

/** Whether to accept a delivery; written from section 6.3 of the specification and from nothing else. */
async function accepts(
  fetchKeys: () => Promise<readonly PublishedKey[]>,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
  nowMs: number,
): Promise<boolean> {
  const header = (name: string): string => String(headers[name.toLowerCase()] ?? '');
  // 1. Fetch the key set. 2. Select the key whose kid equals the header's; decode x.
  const key = (await fetchKeys()).find(({ kid }) => kid === header('X-Service-Signature-Key-Id'));
  if (key === undefined) return false;
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
  // 3. Rebuild the signed message from the header values and the raw body.
  const named = [key.kid, header('X-Service-Timestamp'), header('X-Service-Event-Id')].join('.');
  const message = Buffer.concat([Buffer.from(`v1.ed25519.${named}.`), rawBody]);
  // 4. Hex-decode the signature. 5. Verify it over the message bytes.
  const signature = Buffer.from(header('X-Service-Signature'), 'hex');
  if (!verify(null, message, publicKey, signature)) return false;
  // 6. The timestamp is within five minutes.
  return Math.abs(nowMs - Number(header('X-Service-Timestamp'))) <= 5 * 60 * 1000;
}

/** Of names and values in turn. */
function byName(headers: Posting['headers']): Record<string, string> {
  const names: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) names[headers[at]?.toLowerCase() ?? ''] = headers[at + 1] ?? '';
  return names;
}

const fetchKeysOf =
  (app: TestApp): (() => Promise<readonly PublishedKey[]>) =>
  async () =>
    ((await (await fetch(keySetUrl(app))).json()) as { keys: PublishedKey[] }).keys;

const SIGNED = ['Timestamp', 'Event-Id', 'Signature-Key-Id', 'Signature-Algorithm', 'Signature-Version', 'Signature'];
const NAMES = [...SIGNED, 'Organization-Id', 'Event-Type', 'Webhook-Version'];
const OTHERS = ['accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];

describe.each(['on', 'off'] as const)('with the vendor’s names %s', (vendorNames) => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let arrival: Arrival;

  beforeAll(async () => {
    app = await openTestApp('sqlite', { ...LOOPBACK, CUSTOS_VENDOR_NAMES: vendorNames });
    receiver = await WebhookReceiver.start();
    const hook = receiver.hook();
    await listen(app.root, hook);
    await doSomething(app.root);
    arrival = await hook.next();
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  test('a delivery has the headers of the specification and no others', async () => {
    const families = vendorNames === 'on' ? ['X-Service-', 'X-Turnkey-'] : ['X-Service-'];
    const expected = families.flatMap((family) => NAMES.map((name) => `${family}${name}`.toLowerCase()));
    const { headers, rawHeaders, method, raw } = arrival;
    expect(method).toBe('POST');
    expect(Object.keys(headers).sort()).toEqual([...expected, ...OTHERS].sort());
    // None of them twice.
    expect(rawHeaders).toHaveLength(2 * Object.keys(headers).length);
    const of = (name: string): string => String(headers[`x-service-${name}`]);
    expect(of('signature')).toMatch(/^[0-9a-f]{128}$/);
    expect([of('signature-algorithm'), of('signature-version'), of('webhook-version')]).toEqual(['ed25519', 'v1', '1']);
    expect(of('timestamp')).toMatch(/^[0-9]{13}$/);
    expect(of('event-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect([of('organization-id'), of('event-type')]).toEqual([app.root.organizationId, 'ACTIVITY_UPDATES']);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['user-agent']).toBe('Custos-Webhooks/1');
    expect(headers['content-length']).toBe(String(raw.length));
    for (const family of families) {
      for (const name of NAMES) {
        const index = rawHeaders.indexOf(`${family}${name}`);
        expect(rawHeaders[index + 1], `${family}${name}`).toBe(of(name.toLowerCase()));
      }
    }
  });

  test('a receiver that knows nothing but the specification accepts it, and nothing that was changed', async () => {
    const { headers, raw } = arrival;
    const keys = fetchKeysOf(app);
    const nowMs = app.app.clock();
    expect(await accepts(keys, headers, raw, nowMs)).toBe(true);
    const changed = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1);
    for (const name of ['signature', 'signature-key-id', 'timestamp', 'event-id']) {
      const full = `x-service-${name}`;
      const forged = { ...headers, [full]: changed(String(headers[full])) };
      expect([name, await accepts(keys, forged, raw, nowMs)]).toEqual([name, false]);
    }
    for (const index of [0, Math.floor(raw.length / 2), raw.length - 1]) {
      const forged = Buffer.from(raw);
      forged[index] = (forged[index] as number) ^ 1;
      expect(await accepts(keys, headers, forged, nowMs)).toBe(false);
    }
    expect(await accepts(keys, headers, Buffer.concat([raw, Buffer.from(' ')]), nowMs)).toBe(false);
    expect(await accepts(keys, headers, raw, nowMs + 6 * MINUTE)).toBe(false);
  });

  test('the key set is one that a JOSE library takes and verifies with', async () => {
    const document = (await (await fetch(keySetUrl(app))).json()) as JSONWebKeySet;
    const common = {
      kid: expect.stringMatching(/^[0-9a-f]{32}$/),
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
    };
    const names = vendorNames === 'on' ? ['service', 'turnkey'] : ['service'];
    const fields = Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_signature_algorithm`, 'ed25519'],
        [`${name}_signature_version`, 'v1'],
      ]),
    );
    expect(document).toEqual({ keys: [{ ...common, x: expect.stringMatching(/^[\w-]{43}$/), ...fields }] });
    const { headers, raw } = arrival;
    const of = (name: string): string => String(headers[`x-service-${name}`]);
    const kid = of('signature-key-id');
    const found = await createLocalJWKSet(document)({ alg: 'EdDSA', kid });
    const imported = await importJWK(document.keys[0] as never, 'EdDSA');
    const message = `v1.ed25519.${kid}.${of('timestamp')}.${of('event-id')}.${raw.toString('utf8')}`;
    for (const key of [found, imported]) {
      const check = (text: string) =>
        webcrypto.subtle.verify(
          'Ed25519',
          key as webcrypto.CryptoKey,
          Buffer.from(of('signature'), 'hex'),
          Buffer.from(text),
        );
      expect(await check(message)).toBe(true);
      expect(await check(`${message} `)).toBe(false);
    }
    await expect(createLocalJWKSet(document)({ alg: 'EdDSA', kid: 'another' })).rejects.toThrow();
  });
});

describe('the key set', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp('sqlite', LOOPBACK);
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const get = (init: RequestInit = {}) => fetch(keySetUrl(app), init);

  test('says for how long it may be kept, and whether it is another one', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const etag = response.headers.get('etag') as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const text = await response.text();
    expect((await get()).headers.get('etag')).toBe(etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const unchanged = await get({ headers: { 'if-none-match': known } });
      expect([known, unchanged.status, await unchanged.text()]).toEqual([known, 304, '']);
      expect(unchanged.headers.get('etag')).toBe(etag);
      expect(unchanged.headers.get('cache-control')).toBe('public, max-age=300');
    }
    for (const other of ['"other"', etag.slice(1, -1), `${etag}x`, '']) {
      const whole = await get({ headers: { 'if-none-match': other } });
      expect([other, whole.status, await whole.text()]).toEqual([other, 200, text]);
    }
  });

  test('answers HEAD without a body', async () => {
    const whole = await get();
    const head = await get({ method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['etag', 'cache-control', 'content-type', 'access-control-allow-origin']) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    }
    expect(Number(head.headers.get('content-length'))).toBe((await whole.arrayBuffer()).byteLength);
  });

  test('asks for no stamp, minds none, and takes nothing', async () => {
    const expected = await (await get()).json();
    const key = newKeyPair();
    for (const stamp of ['nonsense', stampFor(Buffer.from(''), key)]) {
      expect(await (await get({ headers: { 'x-stamp': stamp } })).json()).toEqual(expected);
    }
    expect(await (await fetch(`${keySetUrl(app)}?kid=none`)).json()).toEqual(expected);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const refused = await get({ method, ...(method !== 'DELETE' && { body: '{}' }) });
      expect([method, [404, 405].includes(refused.status)]).toEqual([method, true]);
    }
    expect(await (await get()).json()).toEqual(expected);
    const asked = await get({ method: 'OPTIONS', headers: { origin: 'https://a.example' } });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  test('has no private part, and its key is none of the others that are published', async () => {
    const text = await (await get()).text();
    const { keys } = JSON.parse(text) as { keys: Record<string, unknown>[] };
    for (const key of keys) expect(key).not.toHaveProperty('d');
    const others = await (await fetch(`${app.baseUrl}/public/v1/discovery/keys`)).json();
    expect(others.keys.map(({ role }: { role: string }) => role)).not.toContain(WEBHOOK_ROLE);
    expect(others.keys.map(({ keyId }: { keyId: string }) => keyId)).not.toContain(keys[0]?.['kid']);
  });
});

/** A receiver that keeps the key set for as long as it may, by the clock of the service, and verifies what comes. */
class CachingReceiver implements Poster {
  /** Set once the service has an address. */
  app!: TestApp;
  readonly keysUsed = new Map<string, number>();
  rejected = 0;
  fetches = 0;
  /** Times when a key was not in what it kept. */
  refetches = 0;
  #kept: { readonly keys: readonly PublishedKey[]; readonly untilMs: number } | undefined;

  async deliver({ headers, body }: Pick<Posting, 'headers' | 'body'>) {
    const names = byName(headers);
    const nowMs = this.app.app.clock();
    const check = () => accepts(() => this.#keys(nowMs), names, Buffer.from(body), nowMs);
    let isAccepted = await check();
    if (!isAccepted) {
      this.refetches += 1;
      this.#kept = undefined;
      isAccepted = await check();
    }
    if (!isAccepted) this.rejected += 1;
    const kid = names['x-service-signature-key-id'] ?? '';
    this.keysUsed.set(kid, (this.keysUsed.get(kid) ?? 0) + 1);
    return { latencyMs: 1, status: isAccepted ? 200 : 401 };
  }

  async close(): Promise<void> {}

  async #keys(nowMs: number): Promise<readonly PublishedKey[]> {
    if (this.#kept !== undefined && nowMs < this.#kept.untilMs) return this.#kept.keys;
    this.fetches += 1;
    const response = await fetch(keySetUrl(this.app));
    const seconds = Number(/max-age=([0-9]+)/.exec(response.headers.get('cache-control') ?? '')?.[1]);
    const { keys } = (await response.json()) as { keys: PublishedKey[] };
    this.#kept = { keys, untilMs: nowMs + seconds * SECOND };
    return keys;
  }
}

test('endpoints of an organization that get an event together share its signature, and others do not', async () => {
  const postings: Posting[] = [];
  const poster: Poster = {
    async deliver(posting) {
      postings.push(posting);
      return { latencyMs: 1, status: 200 };
    },
    async close() {},
  };
  await using app = await openTestApp('sqlite', LOOPBACK, { poster });
  const [child, parent]: [OrganizationId, OrganizationId] = [randomId(), randomId()];
  const id = randomId() as WebhookEventId;
  // What each of the two is told of the same event.
  const send = (organizationId: OrganizationId) =>
    app.app.webhooks.sendNow(
      { organizationId, id: randomId() as WebhookEndpointId, url: 'http://127.0.0.1/' },
      { id, type: 'ACTIVITY_UPDATES', aboutId: child, body: JSON.stringify({ told: organizationId }) },
    );
  const signing = vi.spyOn(app.app.keyring, 'signWebhooks');
  await Promise.all([send(child), send(parent), send(child)]);
  expect(signing.mock.calls.flatMap(([, messages]) => messages)).toHaveLength(2);
  const signatures = new Map<string, Set<string>>();
  for (const { headers, body } of postings) {
    const named = byName(headers);
    expect(await accepts(fetchKeysOf(app), named, Buffer.from(body), app.app.clock())).toBe(true);
    const known = signatures.get(body) ?? new Set();
    signatures.set(body, known.add(named['x-service-signature'] ?? ''));
  }
  expect(postings).toHaveLength(3);
  expect([...signatures.values()].map(({ size }) => size)).toEqual([1, 1]);
  expect(new Set([...signatures.values()].flatMap((some) => [...some])).size).toBe(2);
});

describe('a rotation', () => {
  async function openReceiving() {
    const receiver = new CachingReceiver();
    const app = await openTestApp('sqlite', LOOPBACK, { poster: receiver });
    receiver.app = app;
    const kids = async () => (await fetchKeysOf(app)()).map(({ kid }) => kid);
    const storedKids = async () =>
      (await app.app.storage.read(InstallationReader).serviceKeys())
        .filter(({ role }) => role === WEBHOOK_ROLE)
        .map(({ keyId }) => keyId);
    /** The rows that `custos webhooks rotate-key` leaves in the end, by the clock of the service. */
    const rotate = async ({ isCompromised = false } = {}): Promise<string> => {
      const { storage, keyring, clock } = app.app;
      const wrapped = (await storage.read(InstallationReader).get('deployment_key')) ?? '';
      const { sealed, ...key } = await keyring.createServiceKey(Buffer.from(wrapped, 'hex'), WEBHOOK_ROLE);
      const before = await storedKids();
      await storage.write(async (store) => {
        const nowMs = clock();
        if (isCompromised) await store(InstallationStore).deleteServiceKeys(WEBHOOK_ROLE, before);
        await store(InstallationStore).insertServiceKey({
          role: WEBHOOK_ROLE,
          ...key,
          sealedKey: sealed,
          createdAtMs: nowMs,
          signsFromMs: isCompromised ? nowMs : nowMs + SIGNS_AFTER_MS,
        });
      });
      await expect.poll(kids, { timeout: 10_000 }).toContain(key.keyId);
      return key.keyId;
    };
    const organizationId = app.root.organizationId as OrganizationId;
    /** One delivery, sent at once. */
    const send = () =>
      app.app.webhooks.sendNow(
        { organizationId, id: randomId() as WebhookEndpointId, url: 'http://127.0.0.1/' },
        {
          id: randomId() as WebhookEventId,
          type: 'ACTIVITY_UPDATES',
          aboutId: organizationId,
          body: JSON.stringify({ text: randomUUID() }),
        },
      );
    return { app, receiver, kids, storedKids, rotate, send };
  }

  test('is one that a receiver with a cache does not notice, in two days of a delivery every minute', async () => {
    const { app, receiver, kids, rotate, send } = await openReceiving();
    try {
      const root = new ClockClient(app.app.clock, app.root);
      const url = 'http://127.0.0.1:9/';
      const { endpointId } = await root.run('create_webhook_endpoint', { url, name: 'one' });
      const [old] = (await kids()) as [string];
      // Until it has just asked, so that it will not know the new key for as long as may be.
      while (receiver.fetches < 3) {
        app.advance(MINUTE);
        expect((await send()).status).toBe(200);
      }
      const next = await rotate();
      expect((await kids()).sort()).toEqual([old, next].sort());
      const rotatedAtMs = app.app.clock();
      const used = { oldUntilMs: 0, nextFromMs: 0 };
      for (let minute = 1; minute <= 2 * 24 * 60; minute += 1) {
        app.advance(MINUTE);
        const before = receiver.keysUsed.get(next) ?? 0;
        const { status } = await send();
        if (status !== 200) expect([minute, status]).toEqual([minute, 200]);
        const sinceMs = app.app.clock() - rotatedAtMs;
        if ((receiver.keysUsed.get(next) ?? 0) === before) used.oldUntilMs = sinceMs;
        else used.nextFromMs ||= sinceMs;
        if (minute % 360 !== 0) continue;
        // And now and then one that goes the whole way.
        const [eventId] = (await tell(app, root, endpointId, 1)).eventIds;
        await settled(root, { eventId }, 'delivered', 1);
      }
      expect([receiver.rejected, receiver.refetches]).toEqual([0, 0]);
      // It kept what it was told to keep.
      expect(receiver.fetches).toBeLessThanOrEqual((2 * 24 * 60) / 5 + 10);
      expect(used.oldUntilMs).toBeGreaterThan(SIGNS_AFTER_MS - 2 * MINUTE);
      expect(used.oldUntilMs).toBeLessThan(SIGNS_AFTER_MS);
      expect(used.nextFromMs).toBeLessThan(SIGNS_AFTER_MS + 2 * MINUTE);
      expect(await kids()).toEqual([next]);
    } finally {
      await app[Symbol.asyncDispose]();
    }
  });

  test('keeps the old key for a day after the new one has begun, and not for longer', async () => {
    const { app, kids, storedKids, rotate, send, receiver } = await openReceiving();
    try {
      const [old] = (await kids()) as [string];
      const next = await rotate();
      app.advance(SIGNS_AFTER_MS + 24 * HOUR - 10 * SECOND);
      expect((await kids()).sort()).toEqual([old, next].sort());
      expect((await storedKids()).sort()).toEqual([old, next].sort());
      app.advance(11 * SECOND);
      expect(await kids()).toEqual([next]);
      // Its row goes later, by a clock that was checked (test/storage/expired-service-keys.test.ts).
      expect((await storedKids()).sort()).toEqual([old, next].sort());
      expect((await send()).status).toBe(200);
      expect(receiver.keysUsed.get(next)).toBe(1);
    } finally {
      await app[Symbol.asyncDispose]();
    }
  });

  test('of a key that is not to be trusted ends it at once, and a receiver asks again', async () => {
    const { app, kids, rotate, send, receiver } = await openReceiving();
    try {
      const [old] = (await kids()) as [string];
      expect((await send()).status).toBe(200);
      const next = await rotate({ isCompromised: true });
      expect(await kids()).toEqual([next]);
      expect((await send()).status).toBe(200);
      expect(receiver.keysUsed).toEqual(
        new Map([
          [old, 1],
          [next, 1],
        ]),
      );
      expect([receiver.refetches, receiver.rejected]).toEqual([1, 0]);
      const etag = (await fetch(keySetUrl(app))).headers.get('etag');
      expect((await fetch(keySetUrl(app), { headers: { 'if-none-match': String(etag) } })).status).toBe(304);
    } finally {
      await app[Symbol.asyncDispose]();
    }
  });
});
