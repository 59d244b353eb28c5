import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));
const PHRASE = `${'abandon '.repeat(11)}about`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-open-'));
  const wallet = { id: 'w', name: 'Wallet', mnemonic: PHRASE, language: 'english', accounts: [] };
  const kit = {
    format: 'custos-recovery-kit',
    version: 1,
    madeAt: '2026-11-19T00:00:00.000Z',
    organization: { id: 'o', name: 'Organization' },
    recipients: [],
    wallets: [wallet],
    privateKeys: [],
  };
  writeFileSync(join(folder, 'plain.json'), JSON.stringify(kit), { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** As a shell runs it with `> FILE`. */
function openInto(mode: number, ...flags: string[]) {
  const out = join(folder, 'out.txt');
  writeFileSync(out, '');
  chmodSync(out, mode);
  const descriptor = openSync(out, 'w');
  const { status, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, 'recovery', 'open', join(folder, 'plain.json'), ...flags],
    { env: { PATH: process.env.PATH ?? '' }, encoding: 'utf8', stdio: ['ignore', descriptor, 'pipe'] },
  );
  closeSync(descriptor);
  return { status, stderr, written: readFileSync(out, 'utf8') };
}

test('no secret goes to a file that others can read, unless that is meant', () => {
  expect(openInto(0o600)).toMatchObject({ status: 0, stderr: '', written: expect.stringContaining(PHRASE) });
  for (const mode of [0o644, 0o640, 0o604]) {
    const refused = openInto(mode, '--json');
    expect([refused.status, refused.written]).toEqual([1, '']);
    expect(refused.stderr).toContain('a file that others on this machine can read: say `umask 077`');
  }
  expect(openInto(0o644, '--yes').written).toContain(PHRASE);
  expect(openInto(0o644, '--addresses')).toMatchObject({ status: 0, written: expect.stringContaining('Wallet') });
});
