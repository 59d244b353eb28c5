import { describe, expect, test } from 'vitest';
import { KeyDeployment } from '../../test/fixtures/key-deployment.ts';
import { DATABASES } from '../../test/harness/databases.ts';
import { describeUses, type KeyUses } from '../key-rotation/uses.ts';
import { openBeside } from './beside.ts';
import { lockRotations } from './lock.ts';
import { type LiveProcess, nameOf } from './processes.ts';
import { rotateServiceKey } from './rotate-service-key.ts';

// Processes are rows of the database here; the tests of the commands have running ones.

const OLDER = { host: 'elsewhere', pid: 4711 };

/** A process of an older version that runs: it answers like any other, and does not know earlier keys. */
async function runOlder(deployment: KeyDeployment): Promise<AsyncDisposable> {
  await deployment.putFact('process:older', JSON.stringify(OLDER));
  let isOver = false;
  const follow = async (): Promise<void> => {
    while (!isOver) {
      const record = await deployment.fact('rotation');
      if (record !== undefined) {
        const { id } = JSON.parse(record) as { id: string };
        const state = JSON.stringify({ ...OLDER, rotation: id, holdsKey: true });
        await deployment.write("UPDATE deployment SET value = ? WHERE name = 'process:older'", [state]);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const following = follow();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await following;
    },
  };
}

const everything = async (deployment: KeyDeployment): Promise<unknown> => ({
  facts: await deployment.read("SELECT name, value FROM deployment WHERE name NOT LIKE 'process:%' ORDER BY name"),
  keys: await deployment.read('SELECT id, wrapped_key FROM organization ORDER BY id'),
  services: await deployment.read('SELECT key_id FROM service_key ORDER BY key_id'),
  ring: deployment.ringBytes(),
});

const OLDER_VERSION = /^process 4711 on elsewhere has an older version: replace it first; nothing was changed$/;

describe.each(DATABASES)('a process of an older version on %s', { timeout: 60_000 }, (database) => {
  test('stops every command that would leave two keys, and nothing is changed', async () => {
    await using one = await KeyDeployment.make(database);
    const old = (await one.fact('root_key_id')) ?? '';
    await one.rotate();
    await using _running = await runOlder(one);
    const before = await everything(one);
    await expect(one.rotate()).rejects.toThrow(OLDER_VERSION);
    await expect(one.retire(old)).rejects.toThrow(OLDER_VERSION);
    await expect(one.retire(old, true)).rejects.toThrow(OLDER_VERSION);
    const serviceKey = { role: 'otp', isCompromised: false, say: () => {} };
    await expect(rotateServiceKey(one.config, serviceKey)).rejects.toThrow(OLDER_VERSION);
    expect(await everything(one)).toEqual(before);
  });

  test('that was killed is forgotten', async () => {
    await using one = await KeyDeployment.make(database);
    await one.putFact('process:older', JSON.stringify(OLDER));
    await one.rotate();
    expect(await one.fact('process:older')).toBeUndefined();
  });

  test('is not asked about by another command while a rotation runs', async () => {
    await using one = await KeyDeployment.make(database);
    await one.putFact('process:older', JSON.stringify(OLDER));
    const lock = await lockRotations(one.config.databaseUrl);
    const storage = await openBeside(one.config, 'keyring rotate');
    const before = await everything(one);
    const run = rotateServiceKey(one.config, { role: 'otp', isCompromised: false, say: () => {} });
    await expect(run).rejects.toThrow(/another `custos keyring rotate` is running on this database/);
    // The place of its record is free.
    expect(await one.fact('rotation')).toBeUndefined();
    expect(await everything(one)).toEqual(before);
    await storage.close();
    await lock.release();
  });
});

test('whoever writes to the database does not write to a terminal', () => {
  const hostile = '\u001b]0;x\u0007\n' + 'y'.repeat(1000);
  const process = { id: 'p', host: hostile, pid: '1\u001b[2J' } as unknown as LiveProcess;
  expect(nameOf(process)).toMatch(/^process \? on \\u\{1b\}\]0;x\\u\{7\}\\u\{a\}y{50,100}…$/);
  const backup = { id: hostile, takenAtMs: 'x\u001b' as unknown as number, rootKeyIds: [], place: hostile };
  const uses: KeyUses = { organizations: 1, organizationId: hostile, isServiceKeysUnderIt: false, backups: [backup] };
  for (const line of describeUses(uses)) {
    expect(line).not.toMatch(/\p{Cc}/u);
    expect(line.length).toBeLessThan(400);
  }
});
