import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll } from 'vitest';
import type { Poster } from '../../../src/domains/webhooks/poster/poster.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization } from '../../harness/client.ts';
import type { DATABASES, DatabaseKind } from '../../harness/databases.ts';
import { type Arrival, type Hook, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { builderOf } from '../../storage/place.ts';
import { ClockClient } from '../fixtures/policy-flows.ts';
import { LOOPBACK, listen, settled, tell } from '../fixtures/webhooks.ts';

// How events reach their receivers: when, in which order, how often, and what becomes of those that do not.

export const SECOND = 1000;

export const MINUTE = 60 * SECOND;

export const HOUR = 60 * MINUTE;

export const DAY = 24 * HOUR;

export const eventIds = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ eventId }) => eventId);

export const atMs = (rfc3339: string): number => Date.parse(rfc3339);

export class World implements AsyncDisposable {
  readonly app: TestApp;
  readonly receiver: WebhookReceiver;
  readonly parent: ClockClient;

  private constructor(app: TestApp, receiver: WebhookReceiver) {
    this.app = app;
    this.receiver = receiver;
    this.parent = new ClockClient(app.app.clock, app.root);
  }

  static async open(
    database: (typeof DATABASES)[number],
    poster?: Poster,
    env: Record<string, string> = {},
  ): Promise<World> {
    const app = await openTestApp(database, { ...LOOPBACK, ...env }, poster === undefined ? {} : { poster });
    return new World(app, await WebhookReceiver.start());
  }

  /** An organization with an endpoint that has nothing to do yet. */
  async newListener() {
    const sub = new ClockClient(this.app.app.clock, await createSubOrganization(this.parent, `Org ${randomUUID()}`));
    const hook = this.receiver.hook();
    const endpointId = await listen(sub, hook);
    await settled(sub, { endpointId }, 'delivered');
    const told = (count: number, extra = {}) => tell(this.app, sub, endpointId, count, extra);
    return { sub, hook, endpointId, tell: told };
  }

  /** Lets time pass for the service and its dispatcher. */
  later(milliseconds: number): void {
    this.app.advance(milliseconds);
    this.app.app.webhooks.wake();
  }

  /** The dispatcher has looked for what is due, and whoever has nothing by then was not due. */
  async looked({ tell: told, hook }: { tell: (count: number) => Promise<unknown>; hook: Hook }): Promise<void> {
    const before = hook.arrivals.length;
    await told(1);
    this.app.app.webhooks.wake();
    await hook.count(before + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver[Symbol.asyncDispose]();
    await this.app[Symbol.asyncDispose]();
  }
}

/** As older versions did after an answer of 4xx. */
export async function giveUp({ app }: TestApp, deliveryIds: readonly string[]): Promise<void> {
  await app.storage.write(async (store) => {
    const update = builderOf(store)
      .updateTable('webhook_delivery')
      .set({ state: 'failed' })
      .modifyEnd(sql`/* unmarked: a state */`);
    await update.where('id', 'in', [...deliveryIds]).execute();
  });
}

/** Opened before the tests of a file, closed after them. */
export function openDeliveries(database: DatabaseKind) {
  let world: World;
  let app: TestApp;

  beforeAll(async () => {
    world = await World.open(database);
    app = world.app;
  });

  afterAll(() => world[Symbol.asyncDispose]());

  return {
    get world() {
      return world;
    },
    get app() {
      return app;
    },
  };
}
