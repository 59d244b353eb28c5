// `npm run backup-load`: backs a large database up while a service writes to it, on both databases. Fills each to about a
// gigabyte, writes 90 times a second through the service, alone and beside `custos backup`, and says how long a write took, what
// the backup took, and whether it is of one moment. Exits 1 where writes waited, memory grew with the database, or anything
// is missing. Megabytes and seconds of each phase may follow: `npm run backup-load -- 200 10`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { readArchive } from '../packages/server/src/backup/archive/read.ts';
import { writeDatabase } from '../packages/server/test/faults/sealed-world.ts';
import { temporaryFolder } from '../packages/server/test/faults/support.ts';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { startPostgres } from './lib/postgres.mjs';

const CLI = fileURLToPath(new URL('../packages/cli/bin/custos.js', import.meta.url));
const WRITES_PER_SECOND = 90;
const LARGE_BYTES = 20_000;
const SMALL_BYTES = 1000;
/** Half of the bytes are in small rows of text, and half in large ones that do not get smaller. */
const SMALL_PER_LARGE = LARGE_BYTES / SMALL_BYTES;
/** What a backup may take beside what Node.js has with the whole program loaded, whatever the database is. */
const MEMORY_MB_MAX = 400;
/** A write may take so much longer beside a backup than alone, in the slowest hundredth. */
const SLOWER_MS_MAX = 100;

const [megabytes = 1000, seconds = 30] = process.argv.slice(2).map(Number);
const say = (text: string): void => console.log(text);
const problems: string[] = [];

async function fill(server: TestServer): Promise<void> {
  const large = Math.round((megabytes * 1e6) / 2 / LARGE_BYTES);
  const chunk = 2000;
  for (let start = 0; start < large; start += chunk) {
    const count = Math.min(chunk, large - start);
    const isSqlite = server.databaseUrl === undefined;
    const numbers = (to: number) =>
      isSqlite
        ? `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT i + ${start * SMALL_PER_LARGE} AS i FROM n) AS m`
        : `(SELECT i + ${start * SMALL_PER_LARGE} AS i FROM generate_series(1, ${to}) AS i) AS m`;
    const bytes = isSqlite
      ? `randomblob(${LARGE_BYTES})`
      : `(SELECT string_agg(sha256((m.i || ' ' || j)::text::bytea), '') FROM generate_series(1, ${LARGE_BYTES / 32}) AS j)`;
    const text = isSqlite ? `hex(randomblob(${SMALL_BYTES / 2}))` : `repeat(md5(m.i::text), ${SMALL_BYTES / 32})`;
    await writeDatabase(
      server,
      `INSERT INTO sealed_result SELECT 'filler', 'a' || m.i, ${bytes}, 9000000000000, NULL FROM ${numbers(count)}`,
    );
    await writeDatabase(
      server,
      `INSERT INTO app_proof SELECT 'filler', 'a' || m.i, 1, 'scheme', 'key', ${text}, 'signature' FROM ${numbers(count * SMALL_PER_LARGE)}`,
    );
  }
}

/** Writes at a steady rate; a write that is late does not hold up the next. */
class Writer {
  readonly #root: TestClient;
  #taken: number[] = [];
  #timer: NodeJS.Timeout;
  failures = 0;
  done = 0;

  constructor(server: TestServer) {
    this.#root = TestClient.root(server.credentials, server.baseUrl);
    const startedMs = performance.now();
    let begun = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * WRITES_PER_SECOND);
      for (; begun < due; begun += 1) void this.#write();
    }, 5);
  }

  async #write(): Promise<void> {
    const startedMs = performance.now();
    try {
      await this.#root.run('create_user_tag', { userTagName: crypto.randomUUID(), userIds: [] });
      this.done += 1;
    } catch {
      this.failures += 1;
    }
    this.#taken.push(performance.now() - startedMs);
  }

  /** Since it was asked last. */
  figures(): { readonly p50: number; readonly p99: number; readonly max: number; readonly count: number } {
    const sorted = this.#taken.toSorted((one, other) => one - other);
    this.#taken = [];
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { p50: at(0.5), p99: at(0.99), max: at(1), count: sorted.length };
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await sleep(2000);
  }
}

const show = (phase: string, { p50, p99, max, count }: ReturnType<Writer['figures']>): void =>
  say(
    `  ${phase.padEnd(22)} ${count} writes, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(0)} ms`,
  );

/** The most memory that a process had, in megabytes (Linux). */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

async function takeBackup(server: TestServer, file: string, recipient: string): Promise<number> {
  const child = spawn(process.execPath, [CLI, 'backup', file, '--recipient', recipient], {
    env: server.environment,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0));
  }, 100);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(watch);
  if (code !== 0) problems.push(`the backup ended with ${code}`);
  return peak;
}

/** Each write is an activity and a vote, together. Answers with how many there are, and how many rows in all. */
async function readBack(file: string, identity: string): Promise<void> {
  const activities = new Set<unknown>();
  let votes = 0;
  let at = -1;
  let table = '';
  for await (const part of readArchive(createReadStream(file), [identity])) {
    if (part.part === 'table') {
      table = part.name;
      at = part.columns.indexOf(table === 'vote' ? 'activity_id' : 'id');
    }
    if (part.part === 'rows' && table === 'activity') for (const row of part.rows) activities.add(row[at]);
    if (part.part === 'rows' && table === 'vote') {
      votes += part.rows.length;
      for (const row of part.rows) if (!activities.has(row[at])) problems.push(`a vote has no activity: ${row[at]}`);
    }
    if (part.part !== 'end') continue;
    say(`  read back              ${part.manifest.rows} rows, ${votes} votes, each with its activity`);
    // The first activity is that of the first start, on which nobody votes.
    if (votes !== activities.size - 1) problems.push(`${activities.size} activities have ${votes} votes`);
  }
}

async function run(database: 'sqlite' | 'postgres'): Promise<void> {
  const { identity, recipient } = await newKeys();
  await using server = await TestServer.start({ database });
  using folder = temporaryFolder();
  say(`${database}: filling the database with ${megabytes} MB`);
  await fill(server);
  const writer = new Writer(server);
  await sleep(5000);
  writer.figures();
  await sleep(seconds * 1000);
  const alone = writer.figures();
  show('alone', alone);
  const file = join(folder.path, 'backup.age');
  const startedMs = performance.now();
  const peak = await takeBackup(server, file, recipient);
  const tookSeconds = (performance.now() - startedMs) / 1000;
  const beside = writer.figures();
  show('beside the backup', beside);
  await sleep(5000);
  show('afterwards', writer.figures());
  await writer.stop();
  say(
    `  the backup             ${tookSeconds.toFixed(1)} s, ${(statSync(file).size / 1e6).toFixed(0)} MB, ${peak.toFixed(0)} MB of memory at most`,
  );
  if (writer.failures > 0) problems.push(`${database}: ${writer.failures} writes failed`);
  if (beside.p99 > alone.p99 + SLOWER_MS_MAX) problems.push(`${database}: writes waited for the backup`);
  if (peak > MEMORY_MB_MAX) problems.push(`${database}: the backup took ${peak.toFixed(0)} MB of memory`);
  await readBack(file, identity);
}

async function newKeys(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

await run('sqlite');
{
  await using postgres = await startPostgres();
  process.env.TEST_POSTGRES_URL = postgres.url;
  await run('postgres');
}
for (const problem of problems) say(`FAILED: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
