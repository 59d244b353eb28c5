import { existsSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyring } from '@custos/keyring';
import { describe, expect, test, vi } from 'vitest';
import { KeyDeployment } from '../../test/fixtures/key-deployment.ts';
import { databasesOf } from '../../test/harness/databases.ts';
import { StartError } from '../lib/start-error.ts';
import { startService } from '../service.ts';
import { type Unopened, verifyKeyring } from './verify.ts';

// What a rotation refuses before it changes anything; its own test runs the command beside a service.

/** All that a refused command must leave as it was. */
const everything = async (deployment: KeyDeployment): Promise<unknown> => ({
  facts: await deployment.read('SELECT name, value FROM deployment ORDER BY name'),
  keys: await deployment.read('SELECT id, wrapped_key FROM organization ORDER BY id'),
  ring: deployment.ringBytes(),
});

describe.each(databasesOf(import.meta.url))('a rotation on %s', { timeout: 60_000 }, (database) => {
  test('that was begun with the ring of another machine is not replaced by one of a ring that lacks its key', async () => {
    await using one = await KeyDeployment.make(database);
    const other = one.withCopyOfRing('other.key');
    // It was begun on one machine, and ended there because the other had not got the key yet.
    const keyring = await createKeyring({ rootKey: one.config.rootKey });
    const to = await keyring.addRootKey();
    await keyring.close();
    await one.putFact('rotation', JSON.stringify({ id: 'begun', to }));
    const before = await everything(other);
    await expect(other.rotate()).rejects.toThrow(
      new RegExp(
        `^a rotation was begun with another key ring, to root key ${to}, which file:.*other\\.key does not hold\\. ` +
          'Run the command on the machine where it was begun, or copy the key ring from there first; nothing was changed$',
      ),
    );
    expect(await everything(other)).toEqual(before);
    // One that is unfinished elsewhere is not gone on with either, whatever this ring has.
    const own = await createKeyring({ rootKey: other.config.rootKey });
    await own.addRootKey();
    await own.close();
    await expect(other.rotate()).rejects.toThrow(/was begun with another key ring/);
    // Where it was begun it goes on.
    expect(await one.rotate()).toMatchObject({ resumes: to });
    expect(await one.fact('root_key_id')).toBe(to);
    expect(await one.fact('rotation')).toBeUndefined();
  });

  test.each(['first', 'second', 'service keys'] as const)(
    'is refused by a ring that lacks a key which is in use (%s)',
    async (place) => {
      await using one = await KeyDeployment.make(database);
      const foreign = 'ab'.repeat(16);
      if (place === 'service keys') {
        const wrapped = (await one.fact('deployment_key')) ?? '';
        await one.putFact('deployment_key', `${wrapped.slice(0, 4)}${foreign}${wrapped.slice(36)}`);
      } else {
        const [row] = await one.read('SELECT id, wrapped_key FROM organization');
        const wrapped = Buffer.from(row?.wrapped_key);
        const other = Buffer.from(wrapped);
        Buffer.from(foreign, 'hex').copy(other, 2);
        await one.write('UPDATE organization SET wrapped_key = ?', [
          place === 'first' ? other : Buffer.concat([wrapped, other]),
        ]);
      }
      const before = await everything(one);
      const user = place === 'service keys' ? 'the service keys' : '1 organization keys, as that of .*';
      await expect(one.rotate()).rejects.toThrow(
        new RegExp(`^root key ${foreign}, which file:.* does not hold, is needed by ${user}\\. Copy the key ring that`),
      );
      expect(await everything(one)).toEqual(before);
    },
  );

  test('that was interrupted is explained where the ring lacks the new key', async () => {
    await using one = await KeyDeployment.make(database);
    const other = one.withCopyOfRing('other.key');
    const [row] = await one.read('SELECT id, wrapped_key FROM organization');
    const damaged = Buffer.from(row?.wrapped_key);
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1);
    await one.write('UPDATE organization SET wrapped_key = ?', [damaged]);
    await expect(one.rotate()).rejects.toThrow(/the keys of these organizations do not open/);
    const { active } = await one.ring();
    expect(await one.fact('root_key_id')).not.toBe(active);
    const times = JSON.parse((await one.fact('root_key_times')) ?? '{}') as Record<string, number>;
    const since = new Date(times[active] ?? 0).toISOString();
    await expect(startService({ ...other.config, port: 0 })).rejects.toThrow(
      new StartError(
        `the service keys are under root key ${active} since ${since}, which ${other.config.rootKey} does not hold: ` +
          'restore that key from a backup of the key ring (docs/guides/key-rotation.md#a-key-that-is-missing)',
      ),
    );
    const unopened: Unopened[] = [];
    await verifyKeyring(other.config, (found) => unopened.push(found));
    expect(unopened).toContainEqual(expect.objectContaining({ id: 'deployment_key', missingRootKey: active }));
    const damagedRow = { table: 'organization', organizationId: row?.id, id: row?.id };
    expect(unopened).toContainEqual(damagedRow);
    // The machine where it was begun starts, and finishes it.
    await one.write('UPDATE organization SET wrapped_key = ?', [Buffer.from(row?.wrapped_key)]);
    const service = await startService({ ...one.config, port: 0 });
    await service.stop();
    expect(await one.rotate()).toMatchObject({ resumes: active });
    expect(JSON.parse((await one.fact('root_key_times')) ?? '{}')).toMatchObject({ [active]: times[active] });
  });

  test('is refused if such a key comes into use while a person thinks about it', async () => {
    await using one = await KeyDeployment.make(database);
    const [row] = await one.read('SELECT wrapped_key FROM organization');
    const other = Buffer.from(row?.wrapped_key);
    other.fill(0xab, 2, 18);
    const ring = one.ringBytes();
    const { rotateKeyring } = await import('./rotate.ts');
    const confirm = async (): Promise<boolean> => {
      await one.write('UPDATE organization SET wrapped_key = ?', [other]);
      return true;
    };
    const run = rotateKeyring(one.config, { waitSeconds: 0, say: () => {}, confirm, asksPerson: true });
    await expect(run).rejects.toThrow(/does not hold, is needed by 1 organization keys/);
    expect(one.ringBytes()).toBe(ring);
  });

  test('and what the ring has retired says how the key comes back', async () => {
    await using one = await KeyDeployment.make(database);
    const old = (await one.fact('root_key_id')) ?? '';
    const [row] = await one.read('SELECT wrapped_key FROM organization');
    await one.rotate();
    await one.retire(old);
    await one.write('UPDATE organization SET wrapped_key = ?', [Buffer.from(row?.wrapped_key)]);
    await expect(one.rotate()).rejects.toThrow(
      new RegExp(`^root key ${old}, which was retired in file:.* \\(\`custos keyring unretire ${old}\` brings it back`),
    );
  });
});

test.each([
  ['rotation', '{'],
  ['rotation', '{"id":1}'],
  ['retired_root_keys', 'x'],
  ['retired_root_keys', '{}'],
  ['root_key_times', '{"x":1e300}'],
  ['process:one', '[]'],
  ['backup:one', '{"rootKeyIds":1}'],
])('a row %s of %s is named by rotate and retire', async (name, value) => {
  await using one = await KeyDeployment.make();
  const old = (await one.fact('root_key_id')) ?? '';
  await one.rotate();
  await one.putFact(name, value);
  const message = `the row ${name} of the table deployment is damaged: restore it from a backup`;
  await expect(one.retire(old)).rejects.toThrow(new StartError(message));
  // A rotation keeps all keys, and looks at no backup.
  if (name === 'backup:one') return;
  const rotated = await one.rotate().catch((error: unknown) => error);
  expect(rotated).toEqual(new StartError(message));
});

test('root follows no link in the folder of a service', async () => {
  await using one = await KeyDeployment.make();
  const { dataDir } = one.config;
  const root = vi.spyOn(process, 'getuid').mockReturnValue(0);
  const target = join(dataDir, 'elsewhere');
  const lock = join(dataDir, 'custos-keyring-rotate.lock');
  symlinkSync(target, lock);
  await expect(one.rotate()).rejects.toThrow(/custos-keyring-rotate\.lock is a link, which root does not follow here/);
  expect(existsSync(target)).toBe(false);
  unlinkSync(lock);
  const file = join(dataDir, 'custos.db');
  renameSync(file, target);
  symlinkSync(target, file);
  await expect(one.rotate()).rejects.toThrow(/custos\.db is a link/);
  // Its own user may have put it there.
  root.mockReturnValue(1000);
  await one.rotate(false);
  root.mockRestore();
});

test('a command removes what killed ones left beside the ring', async () => {
  await using one = await KeyDeployment.make();
  const old = (await one.fact('root_key_id')) ?? '';
  const leave = (): string => {
    const path = `${one.ringPath}.0123456789abcdef.tmp`;
    writeFileSync(path, 'keys');
    return path;
  };
  const left = leave();
  await one.rotate(false);
  expect(existsSync(left)).toBe(true);
  await one.rotate();
  expect(existsSync(left)).toBe(false);
  leave();
  await one.retire(old);
  expect(existsSync(left)).toBe(false);
});
