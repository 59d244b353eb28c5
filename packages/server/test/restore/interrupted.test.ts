import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeDatabase } from '../faults/sealed-world.ts';
import { waitUntil } from '../faults/support.ts';
import { BackedUp, backUp, dump, letFilesGo, restoreInto } from './support.ts';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const SECONDS = 120_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What decrypts before the rest is there. */
const BEGINNING_BYTES = 100_000;

describe('a command that is interrupted leaves nothing', { timeout: SECONDS }, () => {
  let made: BackedUp;
  let tmp: string;
  let beginning: Buffer;

  beforeAll(async () => {
    made = await BackedUp.make('sqlite');
    tmp = join(made.folder, 'tmp');
    mkdirSync(tmp);
    // Nothing of it becomes smaller.
    const filler = randomBytes(4 * BEGINNING_BYTES).toString('base64');
    await writeDatabase(made.server, "INSERT INTO deployment (name, value) VALUES ('filler', ?)", [filler]);
    const archive = await backUp(made.config, join(made.folder, 'long.backup'), made.key);
    beginning = readFileSync(archive).subarray(0, BEGINNING_BYTES);
  }, SECONDS);
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  function run(...args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [CLI, ...args, '-i', made.key.file], {
      env: { ...made.server.environment, TMPDIR: tmp },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.on('error', () => {});
    return child;
  }

  async function expectEnded(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const ended = once(child, 'exit');
    child.kill(signal);
    expect(await ended).toEqual([128 + constants.signals[signal], null]);
  }

  test.each(SIGNALS)('of a drill, by %s', async (signal) => {
    const child = run('drill', '-');
    // The rest never comes.
    child.stdin?.write(beginning);
    await waitUntil('it loads', () => {
      const [folder] = readdirSync(tmp);
      return folder !== undefined && readdirSync(join(tmp, folder)).includes('custos.db');
    });
    await expectEnded(child, signal);
    expect(readdirSync(tmp)).toEqual([]);
  });

  test.each(SIGNALS)('of a restore, by %s', async (signal) => {
    const before = await dump(made.config);
    const scratch = (): string[] => readdirSync(made.server.dataDir).filter((name) => name.includes('restoring'));
    const child = run('restore', '-', '--yes');
    child.stdin?.write(beginning);
    await waitUntil('it loads', () => scratch().includes('custos.db.restoring'));
    await expectEnded(child, signal);
    expect(scratch()).toEqual([]);
    expect(await dump(made.config)).toEqual(before);
  });

  test.each(SIGNALS)('of a review, by %s', async (signal) => {
    await restoreInto(made.config, made.archive, made.key, { discard: true });
    await letFilesGo();
    // A database that never answers.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const isAsked = once(server, 'connection');
    const child = run('restore', 'review', '--against', `postgres://custos@127.0.0.1:${port}/custos`);
    const [socket] = await isAsked;
    expect(readdirSync(tmp)).toEqual([expect.stringMatching(/^custos-review-/)]);
    await expectEnded(child, signal);
    expect(readdirSync(tmp)).toEqual([]);
    socket.destroy();
    server.close();
  });
});
