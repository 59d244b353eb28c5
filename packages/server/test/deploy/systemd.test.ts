import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const UNITS = ['custos.service', 'custos-keyring.service', 'custos-backup.service'] as const;
const fileOf = (unit: string): string => fileURLToPath(new URL(`../../../../deploy/systemd/${unit}`, import.meta.url));
/** Tenths of what `systemd-analyze security` says, from 0 to 100. What is left of the service's is its network. */
const EXPOSURE_MAX = { 'custos.service': 20, 'custos-keyring.service': 10, 'custos-backup.service': 20 } as const;

/** The settings of a unit, each with all of its values. */
function directivesOf(unit: string): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  for (const [, name, value] of readFileSync(fileOf(unit), 'utf8').matchAll(/^(\w+)=(.*)$/gm)) {
    directives.set(name as string, [...(directives.get(name as string) ?? []), value as string]);
  }
  return directives;
}

const environmentOf = (unit: string): Record<string, string> =>
  Object.fromEntries((directivesOf(unit).get('Environment') ?? []).map((each) => each.split(/=(.*)/s).slice(0, 2)));

describe.each(UNITS)('%s', (unit) => {
  test('keeps memory off disks, gains no rights, and lets V8 compile', () => {
    const directives = directivesOf(unit);
    const one = (name: string): string | undefined => directives.get(name)?.join(' ');
    expect([one('LimitCORE'), one('MemorySwapMax'), one('NoNewPrivileges'), one('ProtectSystem')]).toEqual([
      '0',
      '0',
      'yes',
      'strict',
    ]);
    expect([one('CapabilityBoundingSet'), one('StateDirectoryMode'), one('UMask')]).toEqual(['', '0700', '0077']);
    expect(directives.has('MemoryDenyWriteExecute')).toBe(false);
  });

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('systemd-analyze rates the units', () => {
    const threshold = `--threshold=${EXPOSURE_MAX[unit]}`;
    const run = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', threshold, fileOf(unit)], {
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    expect(run.status, run.stdout).toBe(0);
  });
});

test('the units fit each other: two users, one group, one socket, one key, and a root key for the keyring alone', () => {
  const [service, keyring] = [directivesOf('custos.service'), directivesOf('custos-keyring.service')];
  expect(service.get('User')).not.toEqual(keyring.get('User'));
  for (const name of ['Group', 'LoadCredential']) expect(service.get(name)).toEqual(keyring.get(name));
  expect(keyring.get('PrivateNetwork')).toEqual(['yes']);
  expect(keyring.get('RuntimeDirectoryMode')).toEqual(['0750']);
  // What a service can make of it ends one process, and what that leaves is found.
  expect(keyring.get('RuntimeDirectoryPreserve')).toEqual(['restart']);
  expect(keyring.get('OOMPolicy')).toEqual(['continue']);
  // Whoever makes it end again and again does not make it stay away.
  expect(keyring.get('StartLimitIntervalSec')).toEqual(['0']);
  for (const name of ['MemoryMax', 'TasksMax']) expect(keyring.get(name)).toHaveLength(1);
  const [settings, served] = [environmentOf('custos.service'), environmentOf('custos-keyring.service')];
  expect(settings.CUSTOS_KEYRING).toBe(served.CUSTOS_KEYRING);
  expect(served.CUSTOS_KEYRING).toBe(`socket:/run/${keyring.get('RuntimeDirectory')}/keyring.sock`);
  expect(Object.keys(settings)).not.toContain('CUSTOS_ROOT_KEY');
  expect(served.CUSTOS_ROOT_KEY).toBe(`file:/var/lib/${keyring.get('StateDirectory')}/root.key`);
  expect(readConfig(settings).keyring).toMatchObject({ path: '/run/custos-keyring/keyring.sock' });
});
