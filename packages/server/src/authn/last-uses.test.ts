import { describe, expect, test } from 'vitest';
import type { Actor } from '../core/actor.ts';
import type { LastUse } from '../core/directory.ts';
import type { Storage } from '../storage/storage.ts';
import { LastUses } from './last-uses.ts';

const actor = (credentialId: string, userId = 'user'): Actor =>
  ({ homeId: 'home', userId, credential: { kind: 'api-key', apiKey: { id: credentialId } } }) as unknown as Actor;

function open(fail = () => {}) {
  const written: (readonly LastUse[])[] = [];
  const complaints: unknown[] = [];
  let nowMs = 1;
  const store = () => ({ noteLastUses: async (uses: readonly LastUse[]) => void written.push(uses) });
  const storage = {
    write: async (unit: (given: typeof store) => Promise<void>) => {
      fail();
      await unit(store);
    },
  } as unknown as Storage;
  const observe = { unavailable: (_operation: string, cause: unknown) => complaints.push(cause) };
  const uses = new LastUses({ storage, clock: () => nowMs, observe });
  return { uses, written, complaints, setNow: (value: number) => (nowMs = value) };
}

describe('last uses', () => {
  test('write a credential once, however often it was used, and nothing where none was', async () => {
    const { uses, written, setNow } = open();
    await uses.flush();
    expect(written).toEqual([]);
    for (let at = 1; at <= 50; at += 1) {
      setNow(at);
      uses.note(actor('key'));
    }
    await uses.flush();
    expect(written).toEqual([[{ organizationId: 'home', credentialId: 'key', userId: 'user', atMs: 50 }]]);
    await uses.flush();
    expect(written).toHaveLength(1);
  });

  test('remember a bounded number, in transactions of a bounded number', async () => {
    const { uses, written } = open();
    for (let index = 0; index < 25_000; index += 1) uses.note(actor(`key ${index}`));
    await uses.flush();
    expect(written.flat()).toHaveLength(20_000);
    expect(Math.max(...written.map(({ length }) => length))).toBe(200);
  });

  test('write what is left when they stop, and survive a database that is away', async () => {
    let isAway = true;
    const { uses, written, complaints } = open(() => {
      if (isAway) throw new Error('away');
    });
    uses.start();
    uses.note(actor('key'));
    await uses.flush();
    expect(complaints).toHaveLength(1);
    isAway = false;
    uses.note(actor('other'));
    await uses.stop();
    expect(written.flat().map(({ credentialId }) => credentialId)).toEqual(['other']);
  });
});
