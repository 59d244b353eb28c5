import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

// The keyring process is started before anybody knows whether the start will succeed (docs/decisions/0051).

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'custos-failed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Runs it to its end and to that of its keyring process, which has the same standard error: that closes when both have
 * ended.
 */
async function run(
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<{ code: number; error: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', CUSTOS_PORT: '0', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let error = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, error };
}

describe('a start that fails ends its keyring process, and says what it always said', { timeout: 60_000 }, () => {
  test('a setting that the keyring process starts by', async () => {
    const env = { CUSTOS_DATA_DIR: dataFolder() };
    expect(await run({ ...env, CUSTOS_KEYRING: 'elsewhere' })).toEqual({
      code: 1,
      error: 'custos: CUSTOS_KEYRING must be process, inline, or socket: and an absolute path\n',
    });
    expect(await run({ ...env, CUSTOS_ROOT_KEY: 'nowhere' })).toEqual({
      code: 1,
      error: 'custos: CUSTOS_ROOT_KEY must be file:PATH or passphrase-file:PATH\n',
    });
    expect(existsSync(join(env.CUSTOS_DATA_DIR, 'root.key'))).toBe(false);
  });

  test('another setting', async () => {
    const CUSTOS_DATA_DIR = dataFolder();
    const { code, error } = await run({ CUSTOS_DATA_DIR, CUSTOS_WORKERS: '1', CUSTOS_LOG_LEVEL: 'loud' });
    expect(code).toBe(1);
    expect(error).toMatch(/^custos: CUSTOS_LOG_LEVEL must be .*\n$/);
    expect(existsSync(join(CUSTOS_DATA_DIR, 'root.key'))).toBe(false);
  });

  test('a database that cannot be opened', async () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'file'), '');
    const { code, error } = await run({ CUSTOS_DATA_DIR: join(folder, 'file', 'data') });
    expect(code).toBe(1);
    expect(error).toMatch(/^custos: /);
  });

  test('a root key that cannot be used', async () => {
    const CUSTOS_DATA_DIR = dataFolder();
    mkdirSync(join(CUSTOS_DATA_DIR, 'root.key'));
    const { code, error } = await run({ CUSTOS_DATA_DIR });
    expect(code).toBe(1);
    expect(error).toMatch(/^custos: cannot open the root key file:.*root\.key/m);
  });

  test('a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, error } = await run({ CUSTOS_DATA_DIR: dataFolder(), CUSTOS_PORT: String(port) });
    expect(code).toBe(1);
    expect(error).toContain(`custos: port ${port} on 127.0.0.1 is taken by another program (CUSTOS_PORT changes it)\n`);
  });

  test('an argument that nobody knows starts nothing', async () => {
    const CUSTOS_DATA_DIR = join(dataFolder(), 'data');
    expect(await run({ CUSTOS_DATA_DIR }, ['--what'])).toEqual({
      code: 1,
      error: 'custos: unknown argument --what; try --help\n',
    });
    expect((await run({ CUSTOS_DATA_DIR }, ['--version'])).code).toBe(0);
    expect(existsSync(CUSTOS_DATA_DIR)).toBe(false);
  });
});
