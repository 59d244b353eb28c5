import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import type { LaunchedKeyring } from '@custos/keyring/launch';
import { type Config, readConfig } from './config/config.ts';
import { credentialsPath } from './credentials-file.ts';
import { fail, sayAndExit } from './exit.ts';
import { describeMoves, describeProtection } from './protection.ts';
import { type Service, startService } from './service.ts';

const DEFAULT_DATA_DIR = 'data';
const STOP_TIMEOUT_MS = 9000;
const RESTART_DELAY_MS = 1000;

/** Starts the service, or the processes that share the work. */
export async function run(launched: LaunchedKeyring | undefined): Promise<void> {
  const config = readConfig(process.env);
  if (config.workers > 1 && cluster.isPrimary) return runWorkers(config);
  const service = await startService(config, launched);
  // Whoever reads that it listens may stop it in the same moment.
  stopOnSignal(service);
  if (cluster.isPrimary) await announce(service, config);
  else sendToPrimary(service);
}

type Started = Pick<Service, 'baseUrl' | 'created' | 'devInbox' | 'requiresMarks' | 'fencedSince'> &
  Partial<Pick<Service, 'consoleLink'>>;

/** What the primary process announces. */
function sendToPrimary({ baseUrl, created, devInbox, requiresMarks, fencedSince }: Service): void {
  process.send?.({ baseUrl, created, devInbox, requiresMarks, fencedSince });
}

/** One short block for the person who started it; logs go to standard error. */
async function announce(
  { baseUrl, created, devInbox, consoleLink, requiresMarks, fencedSince }: Started,
  config: Config,
): Promise<void> {
  const { dataDir } = config;
  const lines = [`Custos is listening on ${baseUrl}`];
  if (created !== undefined) lines.push(`  organization  ${created.organizationId}`);
  const credentials = credentialsPath(dataDir);
  if (existsSync(credentials)) {
    // The command finds the default folder by itself.
    const isFound = relative(DEFAULT_DATA_DIR, dataDir) === '';
    lines.push(
      `  credentials   ${credentials}`,
      `  try next      npx custos whoami${isFound ? '' : ` --credentials ${credentials}`}`,
    );
  }
  if (consoleLink !== undefined) lines.push(`  console       ${consoleLink}`);
  if (devInbox !== undefined) lines.push(`  mail and SMS  are not sent but kept at ${devInbox}`);
  const { text, together } = await describeProtection(config);
  lines.push(`  protection    ${text}`);
  if (!requiresMarks) lines.push('  integrity     stored rows are not authenticated yet: `custos integrity enable`');
  if (fencedSince !== undefined)
    lines.push(
      `  fenced        the database was restored${fencedSince === null ? '' : ` ${fencedSince}`}: queries only, until \`custos restore accept\``,
    );
  lines.push(...together.map((sentence) => `  together      ${sentence}`));
  if (created !== undefined && together.length > 0)
    lines.push(...describeMoves(config).map((move) => `  before use    ${move}`));
  process.stdout.write(`${lines.join('\n')}\n`);
}

function stopOnSignal(service: Service): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    // Nothing acknowledged depends on what is cut off here: an unanswered request is safe to repeat.
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Several HTTP processes share the port; one that dies is replaced. */
function runWorkers(config: Config): void {
  let stopping = false;
  let announced = false;
  let created: Service['created'];
  const started = new Set<number>();
  for (let index = 0; index < config.workers; index += 1) cluster.fork();
  cluster.on('message', (worker, message: Started | { readonly failure: string }) => {
    if ('failure' in message) {
      if (started.size === 0) sayAndExit(message.failure);
      process.stderr.write(`custos: ${message.failure}\n`);
      return;
    }
    started.add(worker.id);
    created ??= message.created;
    // Until all have started, one that waits for the first organization may still refuse requests.
    if (announced || started.size < config.workers) return;
    announced = true;
    void announce({ ...message, created }, config).catch(fail);
  });
  cluster.on('exit', (worker, code) => {
    if (stopping) return exitWhenAlone();
    // A worker that never got up has already said why; where none has, trying again would only say it again.
    if (started.has(worker.id)) cluster.fork();
    else if (started.size > 0) setTimeout(() => stopping || cluster.fork(), RESTART_DELAY_MS);
    else process.exit(code === 0 ? 1 : code);
  });
  // Whoever waits for this process may end the others with it, so it is the last to go.
  const exitWhenAlone = (): void => {
    if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(0);
  };
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS + 500).unref();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
    exitWhenAlone();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
