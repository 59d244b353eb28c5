import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TestClient } from '../harness/client.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { type Chance, chanceOf, chooseSeed, type Row, waitUntil } from './support.ts';
import { type Arrival, Receivers, type Trouble, type TroubledReceiver } from './troubled-receiver.ts';
import { changeOf, changesOf, Load, makeWorld, type World } from './webhook-load.ts';

// Every change of every acknowledged activity arrives at every endpoint, whatever receivers and processes do.

const TROUBLES: readonly Trouble[] = ['none', 'error', 'hang', 'unread', 'read', 'vanish', 'slow', 'busy', 'garbage'];
const WRITERS = 4;
/** After a first one that leaves a request without an answer behind. */
const RANDOM_KILLS: Readonly<Record<DatabaseKind, number>> = { sqlite: times(3), postgres: times(2) };
/** The end of a claim, of a request without an answer and of the delay before a second attempt, and much more. */
const PATIENCE_MS = 90_000;
const ENV = { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8', CUSTOS_LOG_LEVEL: 'warn' };

/** An endpoint with its receiver. */
interface Place {
  readonly receiver: TroubledReceiver;
  readonly owner: TestClient;
  readonly endpointId: string;
}

async function openPlace(receiver: TroubledReceiver, owner: TestClient): Promise<Place> {
  const { endpointId } = await owner.run('create_webhook_endpoint', {
    url: receiver.url,
    name: receiver.trouble,
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
  });
  return { receiver, owner, endpointId };
}

const askAs = ({ organizationId, key }: TestClient, { baseUrl }: TestServer): TestClient =>
  new TestClient(baseUrl, organizationId, key);

async function activitiesOf(server: TestServer, { root, loner }: World): Promise<Row[]> {
  const answers = await Promise.all([root, loner].map((client) => askAs(client, server).query('list_activities')));
  return answers.flatMap(({ body }) => body.activities);
}

async function deliveriesOf(server: TestServer, { owner, endpointId }: Place, state?: string): Promise<Row[]> {
  const asked = { endpointId, ...(state !== undefined && { state }) };
  return (await askAs(owner, server).query('list_webhook_deliveries', asked)).body.webhookDeliveries;
}

async function publishedKeys({ baseUrl }: TestServer): Promise<Map<string, KeyObject>> {
  const response = await fetch(`${baseUrl}/public/v1/discovery/webhooks/jwks`);
  const { keys } = (await response.json()) as { keys: Row[] };
  const parse = ({ kty, crv, x }: Row): KeyObject => createPublicKey({ format: 'jwk', key: { kty, crv, x } });
  return new Map(keys.map((key) => [key.kid, parse(key)]));
}

/** As section 6.3 of the specification has it. */
function isGenuine({ headers, raw }: Arrival, keys: ReadonlyMap<string, KeyObject>): boolean {
  const header = (name: string): string => String(headers[`x-service-${name}`]);
  const keyId = header('signature-key-id');
  const key = keys.get(keyId);
  const head = `v1.ed25519.${keyId}.${header('timestamp')}.${header('event-id')}.`;
  const signature = Buffer.from(header('signature'), 'hex');
  return key !== undefined && verify(null, Buffer.concat([Buffer.from(head), raw]), key, signature);
}

/** Whether a process has the other end of a connection (Linux). Only both ports together name one connection. */
function isConnected(pid: number, { remotePort = 0, localPort = 0 }: Socket): boolean {
  const address = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const ends = [address(remotePort), address(localPort)].join(' ');
  const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const inode = sockets
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns.slice(1, 3).join(' ') === ends)?.[9];
  if (inode === undefined) return false;
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`;
    } catch {
      return false;
    }
  });
}

/** What a receiver has answered with 2xx. */
const takenBy = ({ arrivals }: TroubledReceiver): Arrival[] => arrivals.filter(({ isTaken }) => isTaken);

/** What has not arrived yet. */
function missingAt({ receiver }: Place, wanted: ReadonlySet<string>): string[] {
  const found = new Set(takenBy(receiver).map(({ body }) => changeOf(body)));
  return [...wanted].filter((change) => !found.has(change));
}

/**
 * Each arrival is of a change that was, has its one event, is signed, and is the same whenever and wherever it came.
 */
function problemsOf(places: readonly Place[], changes: ReadonlySet<string>, keys: ReadonlyMap<string, KeyObject>) {
  const problems: string[] = [];
  const eventOf = new Map<string, string>();
  const bytesOf = new Map<string, Buffer>();
  for (const { receiver, owner } of places) {
    for (const arrival of receiver.arrivals) {
      const { eventId, raw, body, headers } = arrival;
      const complain = (what: string): number => problems.push(`${what}: ${eventId} at ${receiver.trouble}`);
      const change = changeOf(body);
      if (!isGenuine(arrival, keys)) complain('not signed');
      if (!changes.has(change)) complain('of a change that never was');
      if (headers['x-service-organization-id'] !== body.organizationId) complain('about another organization');
      if ((eventOf.get(change) ?? eventId) !== eventId) complain('another event of the same change');
      eventOf.set(change, eventId);
      // A parent may be shown less than its sub-organization.
      const audience = `${owner.organizationId} ${eventId}`;
      if (bytesOf.get(audience)?.equals(raw) === false) complain('other bytes than before');
      bytesOf.set(audience, raw);
    }
  }
  if (new Set(eventOf.values()).size !== eventOf.size) problems.push('changes share an event');
  return { problems, eventCount: eventOf.size };
}

async function startServers(database: DatabaseKind): Promise<AsyncDisposable & { readonly all: TestServer[] }> {
  const first = await TestServer.start({ database, env: ENV });
  const all = [first];
  const { databaseUrl, dataDir } = first;
  if (databaseUrl !== undefined) {
    const env = { ...ENV, CUSTOS_DATABASE_URL: databaseUrl, CUSTOS_DATABASE_POOL: '8' };
    all.push(await TestServer.start({ dataDir, env }));
  }
  const dispose = async (): Promise<void> => {
    for (const server of all.toReversed()) await server[Symbol.asyncDispose]();
  };
  return { all, [Symbol.asyncDispose]: dispose };
}

test.concurrent.each(DATABASES)(
  'nothing is lost and nothing made up on %s',
  { timeout: times(240_000) },
  async (database) => {
    const seed = chooseSeed(`webhooks under kills on ${database}`);
    const chance = chanceOf(seed);
    const chanceFor = (index: number): Chance => chanceOf((seed + 0x9e3779b9 * (index + 1)) >>> 0);
    const events = new EventEmitter().setMaxListeners(0);
    await using receivers = new Receivers(events);
    await using servers = await startServers(database);
    const [server] = servers.all as [TestServer];
    const isAlone = servers.all.length === 1;
    const world = await makeWorld(server);
    const places: Place[] = [];
    for (const [index, trouble] of TROUBLES.entries()) {
      places.push(await openPlace(await receivers.start(trouble, chanceFor(index)), world.loner));
    }
    const above = await openPlace(await receivers.start('none', chance), world.root);
    places.push(above);
    const placeOf = (trouble: Trouble): Place => places.find(({ receiver }) => receiver.trouble === trouble) as Place;
    const { receiver: hanging } = placeOf('hang');
    const before = new Set((await activitiesOf(server, world)).map(({ id }) => id));
    // This one refuses only what comes first; a kill must not keep that from being told.
    const isTried = async (): Promise<boolean> =>
      (await deliveriesOf(server, placeOf('vanish'))).some(({ attempts }) => attempts.length > 0);
    await waitUntil('a refused connection is told of', isTried, PATIENCE_MS);
    const load = new Load(world, servers.all);
    load.begin(Array.from({ length: WRITERS }, (_, index) => chanceFor(100 + index)));

    // The process that waits for an answer is killed: whoever goes on repeats its request.
    hanging.refuseNext();
    await waitUntil('a request is left without an answer', () => hanging.hanging.size > 0, PATIENCE_MS);
    const [held] = hanging.refused.keys();
    const holder = (): TestServer | undefined =>
      servers.all.find(({ pid }) => [...hanging.hanging].some(({ req }) => isConnected(pid, req.socket)));
    await waitUntil('somebody waits for it', () => holder() !== undefined, PATIENCE_MS);
    const waiting = holder() as TestServer;
    await load.kill(waiting);
    if (isAlone) await load.restart(waiting);
    const isRepeated = (): boolean => takenBy(hanging).some(({ eventId }) => eventId === held);
    await waitUntil('the request is repeated', isRepeated, PATIENCE_MS);
    if (!isAlone) await load.restart(waiting);

    for (let count = 0; count < RANDOM_KILLS[database]; count += 1) {
      hanging.refuseNext();
      if (chance.next() < 0.4) await sleep(chance.between(1, 800));
      else for (let left = chance.between(1, 60); left > 0; left -= 1) await once(events, 'arrival');
      const victim = chance.pick(servers.all);
      await load.kill(victim);
      await load.restart(victim);
    }

    // All troubles once more while nobody is killed, so that they must be told of.
    const troubled = places.filter(({ receiver }) => receiver.refuseNext());
    await waitUntil('all refused something', () => troubled.every(({ receiver }) => receiver.hasRefused), PATIENCE_MS);
    await load.end();
    for (const { receiver } of places) receiver.isGood = true;
    // Ten seconds are spent on one of them only: its end, or that of what the last one killed had claimed.
    if (!isAlone) hanging.answerHanging();
    expect(load.surprises).toEqual([]);

    const activities = await activitiesOf(server, world);
    const made = activities.filter(({ id }) => !before.has(id));
    const wanted = new Set(made.flatMap(changesOf));
    const wantedBelow = new Set(
      made.filter(({ organizationId }) => organizationId === world.loner.organizationId).flatMap(changesOf),
    );
    const missing = (place: Place): string[] => missingAt(place, place === above ? wanted : wantedBelow);
    expect([...load.acknowledged].filter((change) => !wanted.has(change))).toEqual([]);
    const areDone = (): boolean => places.every((place) => missing(place).length === 0);
    await waitUntil('everything has arrived', areDone, PATIENCE_MS).catch(() => {});
    expect(Object.fromEntries(places.map((place) => [place.receiver.url, missing(place)]))).toEqual(
      Object.fromEntries(places.map((place) => [place.receiver.url, []])),
    );
    for (const place of places) {
      const pending = (): Promise<Row[]> => deliveriesOf(server, place, 'WEBHOOK_DELIVERY_STATE_PENDING');
      await waitUntil('nothing is pending', async () => (await pending()).length === 0, PATIENCE_MS);
    }

    const { problems, eventCount } = problemsOf(
      places,
      new Set(activities.flatMap(changesOf)),
      await publishedKeys(server),
    );
    expect(problems).toEqual([]);
    const isBelow = ({ body }: Arrival): boolean => body.organizationId === world.loner.organizationId;
    expect(places.map(({ receiver }) => receiver.arrivals.every(isBelow))).toEqual(
      places.map((place) => place !== above),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(
      new Set(['COMPLETED', 'FAILED', 'REJECTED', 'CONSENSUS_NEEDED'].map((status) => `ACTIVITY_STATUS_${status}`)),
    );
    // What was undone has no activity at all, and so no event; what was denied has both.
    expect([load.undone.size > 0, load.denied.size > 0]).toEqual([true, true]);
    const fingerprints = new Set(activities.map(({ fingerprint }) => fingerprint));
    expect([...load.undone].filter((fingerprint) => fingerprints.has(fingerprint))).toEqual([]);
    expect([...load.denied].filter((fingerprint) => !fingerprints.has(fingerprint))).toEqual([]);

    const outcomes: Partial<Record<Trouble, string[]>> = {};
    for (const place of places) {
      const { trouble, refused } = place.receiver;
      const deliveries = await deliveriesOf(server, place);
      const eventIds = takenBy(place.receiver).map(({ eventId }) => eventId);
      expect(deliveries.map(({ eventId }) => eventId).sort()).toEqual([...new Set(eventIds)].sort());
      const isTold = ({ state, eventId, attempts }: Row): boolean =>
        state === 'WEBHOOK_DELIVERY_STATE_DELIVERED' &&
        attempts.at(-1)?.status === 200 &&
        attempts.length <= (trouble === 'vanish' || refused.has(eventId) ? 2 : 1);
      expect(deliveries.filter((delivery) => !isTold(delivery))).toEqual([]);
      const told = deliveries.flatMap(({ attempts }) =>
        attempts.map(({ status, error }: Row) => String(status ?? error)),
      );
      outcomes[trouble] = [...new Set([...(outcomes[trouble] ?? []), ...told])].sort();
    }
    expect(outcomes).toEqual({
      none: ['200'],
      slow: ['200'],
      error: ['200', '503'],
      busy: ['200', '429'],
      hang: isAlone ? ['200', 'timeout'] : expect.arrayContaining(['200', '503']),
      unread: ['200', 'network'],
      read: ['200', 'network'],
      vanish: ['200', 'network'],
      garbage: ['200', 'network'],
    });

    for (const one of servers.all) {
      expect(await one.stop()).toBe(0);
      expect(one.output.stderr).not.toContain('internal error');
    }
    const taken = places.flatMap(({ receiver }) => takenBy(receiver)).length;
    console.log(
      `${database}: ${eventCount} events, ${load.acknowledged.size} acknowledged, ${load.undone.size} undone, ` +
        `${load.denied.size} denied, ${load.repeated} requests repeated, ${load.givenUp} given up; ` +
        `${taken} deliveries taken`,
    );
  },
);
