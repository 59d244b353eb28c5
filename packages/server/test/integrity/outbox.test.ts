import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MessageReader, MessageStore } from '../../src/domains/messages/store.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { settleFuture } from '../../src/timekeeping/settle.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, Place, withOrganization } from '../storage/place.ts';

// Messages that nobody of the service has put into the outbox are handed over to nobody, and stop no others.

const LATER = NOW + 1000;

describe.each(DATABASES)('the outbox on %s', (database) => {
  let place: Place;
  let storage: Storage;

  beforeAll(async () => {
    place = await Place.create(database);
    storage = await place.open();
    storage.integrity.load([{ generation: 1, bytes: Buffer.alloc(32, 7) }], { isRequired: true });
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  async function posted() {
    const [{ id: organizationId }, id] = [await withOrganization(storage), randomId()];
    const message = { organizationId, id, channel: 'email', sealed: Buffer.from('sealed'), notAfterMs: NOW } as const;
    await storage.write((store) => store(MessageStore).insert(message, NOW));
    return { organizationId, id };
  }
  let nowMs = NOW;
  /** Later than all claims before. */
  const claimed = async (): Promise<string[]> => {
    nowMs += 10_000;
    const messages = await storage.write((store) => store(MessageStore).claim('email', 10, nowMs, nowMs + 5000));
    for (const message of messages) await storage.write((store) => store(MessageStore).remove(message));
    return messages.map(({ id }) => id);
  };

  test.each([
    ['sealed_message', database === 'sqlite' ? "x'00'" : "'\\x00'"],
    ['not_after_ms', `${LATER}`],
    ['attempts', 'attempts + 1'],
    ['next_attempt_at_ms', '1'],
    ['created_at_ms', 'created_at_ms + 1'],
    // Ever first in line, or of a size that no number has.
    ['next_attempt_at_ms', '-1'],
    ['next_attempt_at_ms', '-9223372036854775807'],
    ['not_after_ms', '9223372036854775807'],
    ['created_at_ms', '9223372036854775807'],
    ['outbox_message_mac', 'NULL'],
  ])('%s becomes %s', async (column, value) => {
    const [attacked, other] = [await posted(), await posted()];
    await place.run(`UPDATE outbox_message SET ${column} = ${value} WHERE id = '${attacked.id}'`);
    expect(await claimed()).toEqual([other.id]);
    expect(await claimed()).toEqual([]);
    expect(storage.integrity.violations.filter(({ row }) => row === attacked.id)).toEqual([
      {
        table: 'outbox_message',
        organizationId: attacked.organizationId,
        row: attacked.id,
        because: column === 'outbox_message_mac' ? 'unmarked' : 'mark',
      },
    ]);
    await place.run(`DELETE FROM outbox_message WHERE id = '${attacked.id}'`);
  });

  test('one of another organization, or under another id', async () => {
    const [one, two] = [await posted(), await posted()];
    const forged = randomId();
    const columns =
      'channel, sealed_message, not_after_ms, attempts, next_attempt_at_ms, claimed_until_ms, created_at_ms';
    for (const [organizationId, id] of [
      [two.organizationId, one.id],
      [one.organizationId, forged],
    ])
      await place.run(`INSERT INTO outbox_message (organization_id, id, ${columns}, outbox_message_mac)
        SELECT '${organizationId}', '${id}', ${columns}, outbox_message_mac FROM outbox_message
        WHERE id = '${one.id}' AND organization_id = '${one.organizationId}'`);
    expect((await claimed()).sort()).toEqual([one.id, two.id].sort());
    expect(await claimed()).toEqual([]);
    await place.run('DELETE FROM outbox_message');
  });

  const onlySqlite = async () => {
    const genuine = await posted();
    const columns =
      'channel, sealed_message, not_after_ms, attempts, next_attempt_at_ms, claimed_until_ms, created_at_ms';
    for (const [organization, id] of [
      ['organization_id', 'id || char(0)'],
      ['organization_id || char(0)', "id || char(0) || 'x'"],
    ])
      await place.run(`INSERT INTO outbox_message (organization_id, id, ${columns}, outbox_message_mac)
        SELECT ${organization}, ${id}, ${columns}, outbox_message_mac FROM outbox_message WHERE id = '${genuine.id}'`);
    expect(await claimed()).toEqual([genuine.id]);
    expect(await claimed()).toEqual([]);
    expect(storage.integrity.violations.filter(({ row }) => row === genuine.id)).toMatchObject([
      { because: 'damaged' },
    ]);
    // Alone too.
    const moved = await posted();
    await place.run(`UPDATE outbox_message SET id = id || char(0) WHERE id = '${moved.id}'`);
    expect(await claimed()).toEqual([]);
    await place.run('DELETE FROM outbox_message');
  };
  if (database === 'sqlite') test('one whose id reads like that of another is handed over by nobody', onlySqlite);

  test('very many that are ever first in line stop nobody, and are not looked at again at once', async () => {
    const genuine = [await posted(), await posted()];
    const [{ organizationId, id }] = genuine as [Awaited<ReturnType<typeof posted>>];
    const columns =
      'channel, sealed_message, not_after_ms, attempts, claimed_until_ms, created_at_ms, outbox_message_mac';
    for (let index = 0; index < 50; index += 1)
      await place.run(`INSERT INTO outbox_message (organization_id, id, next_attempt_at_ms, ${columns})
        SELECT organization_id, '${randomId()}', -5, ${columns} FROM outbox_message
        WHERE id = '${id}' AND organization_id = '${organizationId}'`);
    nowMs += 10_000;
    const messages = await storage.write((store) => store(MessageStore).claim('email', 10, nowMs, nowMs + 5000));
    expect(messages.map((message) => message.id).sort()).toEqual(genuine.map((one) => one.id).sort());
    for (const message of messages) await storage.write((store) => store(MessageStore).remove(message));
    expect(await storage.read(MessageReader).isDue('email', nowMs + 60_000)).toBe(false);
    await place.run('DELETE FROM outbox_message');
  });

  test('a wait beyond all that there can be is ended beside one that is not genuine', async () => {
    const [attacked, other] = [await posted(), await posted()];
    nowMs += 10_000;
    const messages = await storage.write((store) => store(MessageStore).claim('email', 10, nowMs, nowMs + 5000));
    const far = 10 * nowMs;
    for (const message of messages) await storage.write((store) => store(MessageStore).defer(message, 1, far));
    await place.run(`UPDATE outbox_message SET attempts = 7 WHERE id = '${attacked.id}'`);
    await place.run(`UPDATE outbox_message SET claimed_until_ms = ${far}`);
    await place.run(`INSERT INTO rate_window (organization_id, name, times, stale_at_ms)
      VALUES ('${other.organizationId}', 'forged', 'no JSON', 0)`);
    nowMs += 10_000;
    await settleFuture(storage, Math.max(nowMs, Date.now()));
    nowMs = Math.max(nowMs, Date.now());
    expect(await claimed()).toEqual([other.id]);
    await place.run('DELETE FROM outbox_message');
  });

  test('a lease that somebody else wrote puts it off or ends early, and no more', async () => {
    const { id } = await posted();
    await place.run(`UPDATE outbox_message SET claimed_until_ms = ${nowMs + 15_000}`);
    expect(await claimed()).toEqual([]);
    await place.run('UPDATE outbox_message SET claimed_until_ms = 0');
    expect(await storage.read(MessageReader).isDue('email', nowMs)).toBe(true);
    expect(await claimed()).toEqual([id]);
  });

  test('one that was claimed is not put off once it was changed', async () => {
    const { id } = await posted();
    nowMs += 10_000;
    const [message] = await storage.write((store) => store(MessageStore).claim('email', 10, nowMs, nowMs + 5000));
    await place.run(`UPDATE outbox_message SET attempts = 7 WHERE id = '${id}'`);
    const deferred = storage.write((store) =>
      store(MessageStore).defer(message as NonNullable<typeof message>, 1, nowMs),
    );
    await expect(deferred).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
    expect(await claimed()).toEqual([]);
  });
});
