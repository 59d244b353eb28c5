// `npm run upgrade-test`: the first version that knows marked migrations beside today's, over one PostgreSQL. The old one
// serves all the while that the new one starts and migrates, can be started again beside it (rolling back), and gives up
// only before a migration that is not marked compatible. Says what it did; exits 1 on the first surprise.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onPostgres } from '../packages/server/test/faults/support.ts';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { runNpm } from './lib/npm.mjs';
import { startPostgres } from './lib/postgres.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MARK = 'packages/server/src/storage/migrations/0017-compatible-migrations.ts';
const START_MS_MAX = 60_000;
const LOAD_MS = 2000;
const PATIENCE = 10;
const TRY_AGAIN_MS = 500;
/** Of what a version logged, where something failed. */
const LOG_SHOWN_MAX = 4000;

const say = (text: string): void => console.log(`upgrade-test: ${text}`);

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`expected that ${what}`);
  say(what);
}

/** The oldest version that today's must be able to stand beside. */
function firstCommit(): string {
  const log = execFileSync('git', ['log', '--diff-filter=A', '--format=%H', '--', MARK], {
    cwd: root,
    encoding: 'utf8',
  });
  const commit = log.trim().split('\n').at(-1);
  if (!commit) throw new Error(`no commit adds ${MARK}: the whole history is needed, and the file committed`);
  return commit;
}

function buildAt(commit: string, folder: string): void {
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const locks = [root, folder].map((at) => readFileSync(path.join(at, 'package-lock.json'), 'utf8'));
  if (locks[0] !== locks[1]) {
    // Its root lifecycle script builds.
    runNpm(['ci'], folder);
    return;
  }
  const options = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE };
  cpSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), options);
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A version of the service with a data folder of its own. */
class Instance {
  readonly #main: string;
  readonly #environment: Record<string, string>;
  readonly dataDir: string;
  #child: ChildProcess | undefined;
  baseUrl = '';
  errors = '';

  constructor(folder: string, dataDir: string, databaseUrl: string) {
    this.#main = path.join(folder, 'packages/server/dist/main.js');
    this.dataDir = dataDir;
    this.#environment = {
      PATH: process.env.PATH ?? '',
      CUSTOS_DATA_DIR: dataDir,
      CUSTOS_PORT: '0',
      CUSTOS_DATABASE_URL: databaseUrl,
      CUSTOS_DATABASE_POOL: '8',
      CUSTOS_KEYRING: 'inline',
    };
  }

  /** False when it ended instead of listening. */
  async start(): Promise<boolean> {
    const child = spawn(process.execPath, [this.#main], { env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    let printed = '';
    const limit = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
    const isListening = await new Promise<boolean>((resolve) => {
      child.once('exit', () => resolve(false));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const address = /listening on (http\S+)\n/.exec(printed)?.[1];
        if (address === undefined) return;
        this.baseUrl = address;
        resolve(true);
      });
    });
    clearTimeout(limit);
    return isListening;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  get client(): TestClient {
    return TestClient.root(credentials, this.baseUrl);
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.baseUrl}/readyz`)).status === 200;
  }
}

/** A migration ends connections of older processes: what was under way answers 503, and is sent again as it was. */
async function patiently<Reply extends { readonly status: number }>(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries += 1) {
    const reply = await ask();
    if (reply.status !== 503 || tries === PATIENCE) return reply;
    await sleep(TRY_AGAIN_MS);
  }
}

/** Writes, reads and asks for readiness until it is told to stop; answers with how often, and throws at the first failure. */
function loadOn(instance: Instance, name: string): () => Promise<number> {
  let isOver = false;
  let count = 0;
  const work = (async () => {
    while (!isOver) {
      const tag = { userTagName: `${name} ${count}`, userIds: [] };
      const body = instance.client.submitBody('create_user_tag', tag);
      const made = await patiently(() => instance.client.sendStamped('/public/v1/submit/create_user_tag', body));
      if (made.status !== 200) throw new Error(`a submit answered ${made.status} ${JSON.stringify(made.body)}`);
      const listed = await patiently(() => instance.client.query('list_user_tags'));
      if (listed.status !== 200) throw new Error(`a query answered ${listed.status}`);
      const { activity } = made.body;
      const read = await patiently(() => instance.client.query('get_activity', { activityId: activity.id }));
      if (read.body.activity?.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(JSON.stringify(read.body));
      const ready = await patiently(async () => ({ status: (await instance.isReady()) ? 200 : 503 }));
      if (ready.status !== 200) throw new Error(`it was not ready: ${instance.errors}`);
      count += 1;
      await sleep(10);
    }
  })();
  work.catch(() => {});
  return async () => {
    isOver = true;
    await work;
    return count;
  };
}

const tagsAt = async (instance: Instance): Promise<string> =>
  JSON.stringify((await instance.client.query('list_user_tags')).body.userTags);

async function addMigration(url: string, name: string, mark: string): Promise<void> {
  await onPostgres(url, (client) => client.query(`INSERT INTO schema_migration VALUES ('${name}', 1, '${mark}')`));
}

let credentials: Parameters<typeof TestClient.root>[0];

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'custos-upgrade-'));
  const instances: Instance[] = [];
  const commit = firstCommit();
  await using postgres = await startPostgres();
  try {
    const [before, oldData, newData] = ['before', 'old-data', 'new-data'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [before, oldData, newData]) mkdirSync(each);
    say(`building ${commit.slice(0, 12)} and today's version`);
    buildAt(commit, before);
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    const older = new Instance(before, oldData, postgres.url);
    const newer = new Instance(root, newData, postgres.url);
    instances.push(older, newer);

    expect(await older.start(), 'the old version starts on an empty database');
    credentials = JSON.parse(readFileSync(path.join(oldData, 'root-credentials.json'), 'utf8'));
    copyFileSync(path.join(oldData, 'root.key'), path.join(newData, 'root.key'));

    const endFirst = loadOn(older, 'while the new one starts');
    await sleep(LOAD_MS / 2);
    expect(await newer.start(), 'the new version starts beside it and migrates');
    // There may be no migration after the first mark yet, and there must be one that the old version does not know.
    await addMigration(postgres.url, '9998-synthetic-expand', 'expand');
    const endSecond = loadOn(newer, 'by the new one');
    await sleep(LOAD_MS);
    const rounds = [await endFirst(), await endSecond()];
    expect(
      rounds.every((count) => count > 0),
      `both served all the while (${rounds.join(' and ')} rounds)`,
    );
    expect((await tagsAt(older)) === (await tagsAt(newer)), 'each reads what the other wrote');

    await older.stop();
    const endThird = loadOn(newer, 'while the old one starts');
    expect(await older.start(), 'the old version starts again beside the new one');
    await sleep(LOAD_MS / 2);
    say(`the new one served all the while (${await endThird()} rounds)`);
    await newer.stop();
    const endFourth = loadOn(older, 'rolled back');
    await sleep(LOAD_MS / 2);
    say(`the old one serves alone after rolling back (${await endFourth()} rounds)`);

    await addMigration(postgres.url, '9999-synthetic-contract', 'contract');
    // Readiness may be a second old.
    await sleep(LOAD_MS);
    expect(!(await older.isReady()), 'it is not ready beside a migration that is not compatible');
    await older.stop();
    expect(
      !(await older.start()) && older.errors.includes('9999-synthetic-contract'),
      'it refuses to start then, and names the migration',
    );
    say('done');
  } catch (error) {
    // An answer names only the id of its failure.
    for (const { errors } of instances) console.error(errors.slice(-LOG_SHOWN_MAX));
    throw error;
  } finally {
    for (const instance of instances) await instance.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`upgrade-test: failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
