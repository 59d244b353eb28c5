import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createKeyring, type Keyring } from '@custos/keyring';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Organization } from '../../src/core/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { openDevInbox } from '../../src/domains/messages/dev-inbox.ts';
import type { MailMessage, SmsMessage } from '../../src/domains/messages/message.ts';
import { createMessages } from '../../src/domains/messages/messages.ts';
import { listEmailEvents } from '../../src/domains/messages/operations/list-email-events.ts';
import { createOutbox, type Outbox } from '../../src/domains/messages/outbox.ts';
import type { MessageReport } from '../../src/domains/messages/record.ts';
import { MessageReader, MessageStore } from '../../src/domains/messages/store.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import { amend } from '../../src/storage/integrity/amend.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { MailServer } from '../harness/mail-server.ts';
import { builderOf, NOW, organization, Place, times } from '../storage/place.ts';

// Messages from the transaction that stores them to the server that accepts them. The clock is the test's; a process
// that dies is an outbox whose writes fail and that is left.

const CODE = 'Q7ZX92KTM';
const CLAIM_MS = 90_000;

const mail = (extra: Partial<MailMessage> = {}): MailMessage => ({
  channel: 'email',
  to: 'Alice@example.com',
  subject: 'Your code',
  text: `Your code:\n\n${CODE}\n`,
  html: `<p>${CODE}</p>`,
  ...extra,
});

interface ListAnswer {
  readonly emailEvents: readonly Readonly<Record<string, unknown>>[];
  readonly pageInfo: unknown;
}

/** A process: its own outbox, and the means to wait for what it says. */
class Process implements AsyncDisposable {
  readonly outbox: Outbox;
  readonly reports: MessageReport[] = [];
  readonly failures: unknown[] = [];
  readonly #events = new EventEmitter();

  constructor(world: World, environment: Record<string, string>, storage: Storage = world.storage) {
    this.outbox = createOutbox({
      config: readConfig(environment),
      storage,
      keyring: world.keyring,
      clock: () => world.nowMs,
      elapsed: () => world.nowMs,
      newId: randomId,
      observe: {
        message: (report) => {
          this.reports.push(report);
          this.#events.emit('told');
        },
        unavailable: (_operation, cause) => {
          this.failures.push(cause);
          this.#events.emit('told');
        },
      },
    });
    this.outbox.start();
  }

  /** The outcomes so far, once there are that many. */
  async outcomes(count: number): Promise<string[]> {
    while (this.reports.length < count) await once(this.#events, 'told');
    return this.reports.map(({ outcome }) => outcome);
  }

  async failed(): Promise<void> {
    while (this.failures.length === 0) await once(this.#events, 'told');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.outbox.stop();
  }
}

class World {
  readonly place: Place;
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly organization: Organization;
  nowMs = NOW;

  private constructor(place: Place, storage: Storage, keyring: Keyring, made: Organization) {
    this.place = place;
    this.storage = storage;
    this.keyring = keyring;
    this.organization = made;
  }

  static async create(place: Place, storage: Storage, keyring: Keyring): Promise<World> {
    const id: OrganizationId = randomId();
    const made = organization({ id, wrappedKey: await keyring.createOrganizationKey(id) });
    await storage.write(async (store) => {
      await store(OrganizationStore).insert(made);
      for (const table of ['outbox_message', 'email_event', 'dev_message'] as const)
        await builderOf(store).deleteFrom(table).execute();
    });
    return new World(place, storage, keyring, made);
  }

  /** What an operation does: composes outside the transaction, stores inside it. */
  async post(environment: Record<string, string>, ...messages: readonly (MailMessage | SmsMessage)[]): Promise<void> {
    const { compose } = createMessages({ config: readConfig(environment), keyring: this.keyring, newId: randomId });
    const sealed = await Promise.all(messages.map((message) => compose(this.organization, message)));
    await this.storage.write(async (store) => {
      for (const one of sealed) await store(MessageStore).insert(one, this.nowMs);
    });
  }

  async left(): Promise<number> {
    const rows = await this.storage.write((store) =>
      builderOf(store).selectFrom('outbox_message').selectAll().execute(),
    );
    return rows.length;
  }

  /** Oldest first. */
  async events(address = 'alice@EXAMPLE.com') {
    const request = { kind: 'all', max: 1000 } as const;
    const { items } = await this.storage.read(MessageReader).emailEvents(this.organization.id, { address }, request);
    return [...items].reverse();
  }

  async everything(): Promise<string> {
    const tables = ['outbox_message', 'email_event', 'dev_message'] as const;
    const rows = await this.storage.write((store) =>
      Promise.all(tables.map((table) => builderOf(store).selectFrom(table).selectAll().execute())),
    );
    return JSON.stringify(rows, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
  }
}

/** The same database, whose writes fail while `isBroken` says so; reads go on. */
const breakable = (storage: Storage, isBroken: () => boolean): Storage => ({
  kind: storage.kind,
  load: [],
  integrity: storage.integrity,
  fence: storage.fence,
  read: storage.read,
  write: async (unit) => {
    if (isBroken()) throw new ApiError('UNAVAILABLE', 'the database is not available');
    return await storage.write(unit);
  },
  close: () => storage.close(),
});

const smtp = (server: MailServer, extra: Record<string, string> = {}): Record<string, string> => ({
  CUSTOS_SMTP_URL: server.url,
  CUSTOS_MAIL_FROM: 'Custos <no-reply@example.org>',
  ...extra,
});

describe.each(DATABASES)('messages on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let keyring: Keyring;
  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
    keyring = await createKeyring({ rootKey: `file:${join(place.dataDir, 'root.key')}`, create: true });
  });
  afterAll(async () => {
    await keyring.close();
    await place[Symbol.asyncDispose]();
  });

  test('a mail arrives once, whole, and leaves nothing behind but its event', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    const settings = smtp(server, { CUSTOS_MAIL_SENDER_DOMAINS: 'app.example' });
    await world.post(settings, mail({ from: { address: 'hello@app.example', name: 'App' }, replyTo: 'r@app.example' }));
    // While it waits, the database holds neither the code nor whom it is for.
    const waiting = await world.everything();
    expect(waiting).toContain(world.organization.id);
    for (const secret of [CODE, 'example.com', 'app.example'])
      expect(waiting.toLowerCase()).not.toContain(secret.toLowerCase());

    world.nowMs += 1234;
    await using process = new Process(world, settings);
    expect(await process.outcomes(1)).toEqual(['sent']);
    const caught = await server.next();
    const [report] = process.reports;
    expect(caught).toMatchObject({
      from: 'hello@app.example',
      to: ['Alice@example.com'],
      subject: 'Your code',
      text: `Your code:\n\n${CODE}`,
      html: `<p>${CODE}</p>`,
      messageId: `<${report?.messageId}@app.example>`,
    });
    expect(await world.left()).toBe(0);
    expect(await world.events()).toMatchObject([
      {
        type: 'sent',
        messageId: `${report?.messageId}@app.example`,
        fromAddress: 'hello@app.example',
        toAddress: 'Alice@example.com',
        details: { deliverySmtpResponse: '250 kept as 1', deliveryProcessingTimeMillis: '1234' },
        createdAtMs: world.nowMs,
      },
    ]);
    expect(await world.everything()).not.toContain(CODE);
    world.nowMs += 2 * CLAIM_MS;
    process.outbox.wake();
    await process.outbox.stop();
    expect(server.accepted).toHaveLength(1);
  });

  test('what could not be handed over is tried again with the same Message-ID', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    server.answerNext('drop', 451);
    await world.post(smtp(server), mail());
    await using process = new Process(world, smtp(server));
    expect(await process.outcomes(1)).toEqual(['deferred']);
    // Not before its time.
    world.nowMs += 4999;
    expect(await storage.read(MessageReader).isDue('email', world.nowMs)).toBe(false);
    world.nowMs += 1;
    process.outbox.wake();
    expect(await process.outcomes(2)).toEqual(['deferred', 'deferred']);
    world.nowMs += 29_999;
    expect(await storage.read(MessageReader).isDue('email', world.nowMs)).toBe(false);
    world.nowMs += 1;
    process.outbox.wake();
    expect(await process.outcomes(3)).toEqual(['deferred', 'deferred', 'sent']);
    expect(server.offered).toHaveLength(3);
    expect(new Set(server.offered.map(({ messageId }) => messageId)).size).toBe(1);
    expect(new Set(server.offered.map(({ headers }) => headers.get('date'))).size).toBe(1);
    expect(server.accepted).toHaveLength(1);
    expect((await world.events()).map(({ type, details }) => [type, details])).toEqual([
      ['deferred', { diagnosticCode: 'ECONNECTION' }],
      ['deferred', { diagnosticCode: '451', deliverySmtpResponse: '451 answered with 451' }],
      ['sent', { deliverySmtpResponse: '250 kept as 1', deliveryProcessingTimeMillis: '35000' }],
    ]);
  });

  test('what was refused is not tried again', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    server.answerNext(550);
    await world.post(smtp(server), mail());
    await using process = new Process(world, smtp(server));
    expect(await process.outcomes(1)).toEqual(['refused']);
    expect(process.reports[0]).toMatchObject({ diagnostic: '550', channel: 'email', attempts: 1 });
    expect(await world.left()).toBe(0);
    expect((await world.events()).map(({ type, details }) => [type, details])).toEqual([
      ['refused', { diagnosticCode: '550', deliverySmtpResponse: '550 answered with 550' }],
    ]);
    expect([server.offered.length, server.accepted.length]).toEqual([1, 0]);
  });

  test('what has become useless is dropped, and a day is enough for the rest', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    await world.post(smtp(server), mail({ notAfterMs: NOW + 300_000 }), mail({ notAfterMs: NOW + 300_001 }));
    world.nowMs += 300_000;
    await using process = new Process(world, smtp(server));
    expect((await process.outcomes(2)).sort()).toEqual(['expired', 'sent']);
    expect((await world.events()).map(({ type }) => type).sort()).toEqual(['expired', 'sent']);
    expect(server.offered).toHaveLength(1);
    // A code that would be too old at the next attempt is given up at once.
    server.answerNext(451, 451);
    await world.post(smtp(server), mail({ notAfterMs: world.nowMs + 5000 }), mail());
    process.outbox.wake();
    expect((await process.outcomes(4)).slice(2).sort()).toEqual(['deferred', 'expired']);
    server.answerNext(452);
    world.nowMs += 23.5 * 3_600_000;
    process.outbox.wake();
    // The second attempt would be followed by a third within the day.
    expect((await process.outcomes(5)).at(-1)).toBe('deferred');
    server.answerNext(452);
    world.nowMs += 1_799_999;
    process.outbox.wake();
    expect((await process.outcomes(6)).at(-1)).toBe('expired');
    expect((await world.events()).at(-1)?.details).toMatchObject({ diagnosticCode: '452' });
    expect(await world.left()).toBe(0);
  });

  test('who dies between acceptance and commit repeats the mail, with the same Message-ID', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    let dies = false;
    const dying = new Process(
      world,
      smtp(server),
      breakable(storage, () => dies),
    );
    const release = server.hold();
    const offered = server.offer();
    await world.post(smtp(server), mail());
    dying.outbox.wake();
    await offered;
    dies = true;
    release();
    await dying.failed();
    expect(await world.left()).toBe(1);

    // Others leave it alone while it may be in good hands.
    await using heir = kind === 'postgres' ? new Process(world, smtp(server)) : undefined;
    heir?.outbox.wake();
    world.nowMs += CLAIM_MS - 1;
    expect(await storage.read(MessageReader).isDue('email', world.nowMs)).toBe(false);
    world.nowMs += 1;
    // With the embedded database nobody else can be at it, so that a new process takes over at once.
    await using next = heir ?? new Process(world, smtp(server));
    next.outbox.wake();
    expect(await next.outcomes(1)).toEqual(['sent']);
    expect(server.accepted).toHaveLength(2);
    expect(new Set(server.accepted.map(({ messageId }) => messageId)).size).toBe(1);
    expect(await world.left()).toBe(0);

    // Should it have been asleep only, its claim is over: what it says now counts for nothing.
    dies = false;
    await dying.outbox.stop();
    expect(dying.reports).toEqual([]);
    expect((await world.events()).map(({ type }) => type)).toEqual(['sent']);
  });

  test('a database that is away for a moment after acceptance repeats nothing', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    let isAway = false;
    await using process = new Process(
      world,
      smtp(server),
      breakable(storage, () => isAway),
    );
    const release = server.hold();
    const offered = server.offer();
    await world.post(smtp(server), mail());
    process.outbox.wake();
    await offered;
    isAway = true;
    release();
    await process.failed();
    // Long enough for the claim to run out: the process itself still knows.
    world.nowMs += 2 * CLAIM_MS;
    isAway = false;
    process.outbox.wake();
    expect(await process.outcomes(1)).toEqual(['sent']);
    expect([server.accepted.length, await world.left()]).toEqual([1, 0]);
  });

  test('two processes send each mail once', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    const other = kind === 'postgres' ? await place.open() : storage;
    await using first = new Process(world, smtp(server));
    await using second = new Process(world, smtp(server), other);
    const recipients = times(40, (index) => `user${index}@example.com`);
    await world.post(smtp(server), ...recipients.map((to) => mail({ to })));
    for (const { outbox } of [first, second]) outbox.wake();
    while (server.accepted.length < recipients.length) await server.next();
    await Promise.all([first.outbox.stop(), second.outbox.stop()]);
    expect(server.accepted.flatMap(({ to }) => to).sort()).toEqual([...recipients].sort());
    expect([first, second].every(({ reports }) => reports.length > 0)).toBe(true);
    expect(await world.left()).toBe(0);
  });

  test('a stop finishes what is being handed over, and leaves the rest to the next process', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    const stopping = new Process(world, smtp(server));
    const release = server.hold();
    const offered = server.offer();
    await world.post(smtp(server), mail());
    stopping.outbox.wake();
    await offered;
    const stopped = stopping.outbox.stop();
    await world.post(smtp(server), mail({ to: 'bob@example.com' }));
    stopping.outbox.wake();
    release();
    await stopped;
    expect(stopping.reports.map(({ outcome }) => outcome)).toEqual(['sent']);
    expect(await world.left()).toBe(1);
    await using next = new Process(world, smtp(server));
    expect(await next.outcomes(1)).toEqual(['sent']);
    expect(server.accepted.flatMap(({ to }) => to)).toEqual(['Alice@example.com', 'bob@example.com']);
  });

  test('a keyring that is away costs no attempt, and what cannot be opened does not stop the others', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    await world.post(smtp(server), mail());
    await storage.write((store) =>
      amend(builderOf(store), 'outbox_message', sql`1 = 1`, () => ({ sealed_message: Buffer.alloc(200) })),
    );
    await world.post(smtp(server), mail({ to: 'bob@example.com' }));
    await using process = new Process(world, smtp(server));
    expect((await process.outcomes(2)).sort()).toEqual(['deferred', 'sent']);
    expect(process.reports.find(({ outcome }) => outcome === 'deferred')?.diagnostic).toBe('NOT_OPENED');
    expect(await world.left()).toBe(1);
    await storage.write((store) => builderOf(store).deleteFrom('outbox_message').execute());

    const away = await createKeyring({ rootKey: `file:${join(place.dataDir, 'root.key')}` });
    await away.close();
    await world.post(smtp(server), mail());
    const blind = new Process(Object.assign(Object.create(world) as World, { keyring: away }), smtp(server));
    await blind.failed();
    await blind.outbox.stop();
    expect(await storage.read(MessageReader).isDue('email', world.nowMs)).toBe(false);
    world.nowMs += 5000;
    process.outbox.wake();
    await process.outcomes(3);
    expect(process.reports[2]).toMatchObject({ outcome: 'sent', attempts: 1 });
  });

  test('events are kept for ninety days', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    await world.post(smtp(server), mail());
    await using first = new Process(world, smtp(server));
    await first.outcomes(1);
    await first.outbox.stop();
    const days = (count: number): number => count * 24 * 3_600_000;
    world.nowMs += days(90);
    await world.post(smtp(server), mail());
    await using second = new Process(world, smtp(server));
    await second.outcomes(1);
    await second.outbox.stop();
    expect(await world.events()).toHaveLength(2);
    world.nowMs += 1;
    await world.post(smtp(server), mail({ to: 'bob@example.com' }));
    await using third = new Process(world, smtp(server));
    await third.outcomes(1);
    await third.outbox.stop();
    const left = await world.events();
    expect(left.map(({ createdAtMs }) => createdAtMs)).toEqual([world.nowMs - 1]);
  });

  test('list_email_events tells what became of each mail', async () => {
    const world = await World.create(place, storage, keyring);
    await using server = await MailServer.start();
    const config = readConfig(smtp(server));
    const query = async (parameters: Record<string, unknown>) => {
      const { organization: owner, storage: at } = world;
      const context = { read: at.read, config, actor: { organizationId: owner.id } };
      const decoded = listEmailEvents.decode({ organizationId: owner.id, ...parameters });
      return (await listEmailEvents.run(context as never, decoded)) as ListAnswer;
    };
    server.answerNext(451);
    await world.post(smtp(server), mail());
    await using process = new Process(world, smtp(server));
    await process.outcomes(1);
    world.nowMs += 5000;
    process.outbox.wake();
    await process.outcomes(2);
    const { emailEvents, pageInfo } = await query({ email: ' ALICE@example.com ' });
    expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    const common = {
      organizationId: world.organization.id,
      messageId: `${process.reports[0]?.messageId}@example.org`,
      fromAddress: 'no-reply@example.org',
      toAddress: 'Alice@example.com',
    };
    const at = (atMs: number) => ({ timestamp: new Date(atMs).toISOString(), createdAt: new Date(atMs).toISOString() });
    expect(emailEvents).toEqual([
      {
        id: expect.any(String),
        ...common,
        ...at(NOW + 5000),
        eventType: 'sent',
        details: { deliverySmtpResponse: '250 kept as 1', deliveryProcessingTimeMillis: '5000' },
      },
      {
        id: expect.any(String),
        ...common,
        ...at(NOW),
        eventType: 'deferred',
        details: { diagnosticCode: '451', deliverySmtpResponse: '451 answered with 451' },
      },
    ]);
    const [sent, deferred] = emailEvents.map((event) => [event]);
    const email = 'alice@example.com';
    expect((await query({ email, eventType: 'deferred' })).emailEvents).toEqual(deferred);
    expect((await query({ email, eventType: '' })).emailEvents).toHaveLength(2);
    expect((await query({ email, eventType: 'bounced' })).emailEvents).toEqual([]);
    expect((await query({ email, paginationOptions: { limit: 1 } })).emailEvents).toEqual(sent);
    const after = emailEvents[0]?.id;
    expect((await query({ email, paginationOptions: { limit: '1', after } })).emailEvents).toEqual(deferred);
    expect((await query({ email: 'bob@example.com' })).emailEvents).toEqual([]);
  });

  test('the development inbox keeps what would have been sent, over restarts and for all processes', async () => {
    const world = await World.create(place, storage, keyring);
    const settings = { CUSTOS_DEV_INBOX: 'on' };
    const inboxOf = (environment: Record<string, string>) =>
      openDevInbox({ config: readConfig(environment), storage, keyring });
    expect(inboxOf({ CUSTOS_DEV_INBOX: 'off' })).toBeUndefined();
    const text: SmsMessage = { channel: 'sms', to: '+15005550006', text: `${CODE} is your code` };
    await world.post(settings, mail());
    await using process = new Process(world, settings);
    expect(await process.outcomes(1)).toEqual(['sent']);
    world.nowMs += 1000;
    await world.post(settings, text);
    process.outbox.wake();
    expect(await process.outcomes(2)).toEqual(['sent', 'sent']);
    const [mailed, texted] = process.reports.map(({ messageId }) => messageId);
    const { to, subject, html, text: body } = mail();
    expect(await inboxOf(settings)?.list()).toEqual([
      {
        id: texted,
        channel: 'sms',
        to: text.to,
        subject: '',
        text: text.text,
        html: '',
        createdAt: new Date(NOW + 1000).toISOString(),
      },
      { id: mailed, channel: 'email', to, subject, text: body, html, createdAt: new Date(NOW).toISOString() },
    ]);
    expect(await world.left()).toBe(0);
    expect((await world.events()).map(({ details }) => details.deliverySmtpResponse)).toEqual([
      'kept in the development inbox',
    ]);
    const stored = await world.everything();
    for (const secret of [CODE, text.to]) expect(stored).not.toContain(secret);
  });
});
