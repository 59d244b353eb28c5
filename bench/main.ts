import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BACKUP_HEAD,
  BACKUP_NAMES,
  type BackupFigure,
  backupLine,
  backupTitle,
  measureBackups,
} from './backup/backup.ts';
import {
  BALANCE_HEAD,
  BALANCE_NAMES,
  type BalanceFigure,
  balanceLine,
  balanceTitle,
  measureBalances,
} from './balances/balances.ts';
import { Child, waitForQuiet } from './child.ts';
import { CONSOLE_NAMES, consoleTitle, measureConsole } from './console/console.ts';
import { type Figure, figureTitle, MANY, measure, median, PLANS, warmUp } from './figures.ts';
import type { ComponentQuestion, ComponentRates } from './floors/components.ts';
import { hasEthers } from './floors/libraries.ts';
import {
  judgeAmong,
  judgeBackups,
  judgeConsole,
  judgeFigure,
  judgeIntegrity,
  judgeLogin,
  judgeMemory,
  judgePast,
  judgePolicies,
  judgeRest,
  judgeScale,
  judgeStart,
  judgeWebhooks,
  judgeWorkers,
  type Verdict,
} from './goals.ts';
import {
  INTEGRITY_HEAD,
  INTEGRITY_NAMES,
  type IntegrityFigure,
  integrityLine,
  integrityTitle,
  measureIntegrity,
} from './integrity/integrity.ts';
import { Load } from './load/load.ts';
import { type LoginFigure, loginNamesOn, loginTitle, measureLogins, profileLogins } from './logins/logins.ts';
import { markdownTable, writeMarkdown } from './markdown.ts';
import { MEMORY_TITLE, measureMemory } from './memory.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { measurePolicies, type PolicyFigure, policyNamesOn, policyTitle } from './policies/policies.ts';
import { profilesIn, topFunctions } from './profile.ts';
import {
  componentTable,
  describeCommit,
  describeMachine,
  FIGURE_HEAD,
  figureLines,
  loadNow,
  policyLines,
  scaleLines,
  table,
  verdictTable,
  writeReport,
} from './report.ts';
import { AMONG_TITLES, type AmongFigure, measureAmong } from './scale/activities.ts';
import { MANY_WALLETS, measureScale, SCALE_NAMES, type Scale, scaleTitle } from './scale/scale.ts';
import { type DatabaseKind, openStage, type Stage } from './stage.ts';
import { measureStart } from './start.ts';
import { measurePast, PAST_NAMES, type PastFigure, pastTitle } from './webhooks/past.ts';
import {
  measureWebhooks,
  profileDeliveries,
  type WebhookFigure,
  webhookNamesOn,
  webhookTitle,
} from './webhooks/webhooks.ts';
import { measureWorkers, WORKER_TITLES, type WorkerFigure } from './workers.ts';

const COMPONENT_SECONDS = 0.3;
/** More than this in use by others, and rates are not those of this machine. */
const NOISE_CORES = 0.25;
const PROFILED_FUNCTIONS = 30;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(options: Options): Promise<void> {
  const startedAt = new Date().toISOString();
  const wanted = (name: string): boolean => options.only === undefined || name.includes(options.only);
  const machine = describeMachine();
  const loadBefore = loadNow();
  print(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load average ${loadBefore.toFixed(2)}`);
  if (!machine.durableDisk) print('WARNING: the temporary folder is in memory, so commits are free: set TMPDIR');
  warnIfStale();
  if (!hasEthers()) print('ethers is not installed in compat/, so that it is not compared');

  const startedMs = performance.now();
  let sinceMs = startedMs;
  const took: string[] = [];
  /** How long a part of the run took, where it was more than a moment. */
  const ended = (part: string): void => {
    const seconds = Math.round((performance.now() - sinceMs) / 1000);
    sinceMs = performance.now();
    if (seconds > 0) took.push(`${part} ${seconds} s`);
  };
  const units: Record<string, string> = {};
  let components: ComponentRates = {};
  const figures: Figure[] = [];
  const scale: Record<string, Scale> = {};
  const start = wanted('start') || wanted('memory') ? await measureStart(options.patienceSeconds) : undefined;
  ended('start and memory');
  const consoleNames = CONSOLE_NAMES.filter((name) => wanted(consoleTitle(name)));
  const console = consoleNames.length > 0 ? await measureConsole(consoleNames, options) : undefined;
  ended('console');
  await using load = new Load();
  for (const database of ['sqlite', 'postgres'] as const) {
    const plans = PLANS.filter((plan) => plan.database === database && wanted(figureTitle(plan)));
    const withComponents = wanted(`${database} components`);
    if (plans.length === 0 && !withComponents) continue;
    await using stage = await openStage(database);
    for (const [name, description] of Object.entries(stage.written)) units[`${database} ${name}`] = description;
    if (withComponents) components = { ...components, ...(await measureComponents(stage, options)) };
    const warm = new Set<string>();
    for (const plan of plans) {
      if (!warm.has(plan.name)) await warmUp(stage, load, plan, options.seconds);
      warm.add(plan.name);
      const figure = await measure(stage, load, plan, options);
      figures.push(figure);
      print(table([FIGURE_HEAD, ...figureLines(figure)]));
    }
    ended(`${database} requests`);
  }

  const policies: PolicyFigure[] = [];
  for (const database of ['sqlite', 'postgres'] as const) {
    const names = policyNamesOn(database).filter((name) => wanted(policyTitle(database, name)));
    if (names.length === 0) continue;
    const found = await measurePolicies(database, names, load, options, (figure) =>
      print(table([FIGURE_HEAD, ...policyLines(figure)])),
    );
    policies.push(...found);
  }

  ended('policies');
  const workerTitles = WORKER_TITLES.filter(wanted);
  const workers: WorkerFigure[] = [];
  if (workerTitles.length > 0) {
    const tell = (figure: WorkerFigure) => print(table([FIGURE_HEAD, ...policyLines(figure)]));
    workers.push(...(await measureWorkers(workerTitles, load, options, tell)));
  }

  ended('workers');
  const logins: LoginFigure[] = [];
  for (const database of ['sqlite', 'postgres'] as const) {
    const names = loginNamesOn(database).filter((name) => wanted(loginTitle(database, name)));
    if (names.length === 0) continue;
    const found = await measureLogins(
      database,
      names,
      load,
      options,
      (figure) => print(table([FIGURE_HEAD, ...policyLines(figure)])),
      (path, written) => {
        units[`${database} ${path}`] = written;
      },
    );
    logins.push(...found);
  }

  ended('logins');
  const webhooks: WebhookFigure[] = [];
  for (const database of ['sqlite', 'postgres'] as const) {
    const names = webhookNamesOn(database).filter((name) => wanted(webhookTitle(database, name)));
    if (names.length === 0) continue;
    const found = await measureWebhooks(database, names, load, options, (figure) =>
      print(table([FIGURE_HEAD, ...policyLines(figure)])),
    );
    webhooks.push(...found);
  }

  ended('webhooks');
  const balances: BalanceFigure[] = [];
  for (const database of ['sqlite', 'postgres'] as const) {
    const names = BALANCE_NAMES.filter((name) => wanted(balanceTitle(database, name)));
    if (names.length === 0) continue;
    const found = await measureBalances(database, names, options, (figure) =>
      print(table([BALANCE_HEAD, balanceLine(figure)])),
    );
    balances.push(...found);
  }

  ended('balances');
  const integrity: IntegrityFigure[] = [];
  for (const database of ['sqlite', 'postgres'] as const) {
    const names = INTEGRITY_NAMES.filter((name) => wanted(integrityTitle(database, name)));
    if (names.length === 0) continue;
    const found = await measureIntegrity(database, names, load, options, (figure) =>
      print(table([INTEGRITY_HEAD, integrityLine(figure)])),
    );
    integrity.push(...found);
  }

  ended('integrity');
  for (const database of options.full ? (['sqlite', 'postgres'] as const) : []) {
    const names = SCALE_NAMES.filter((name) => wanted(scaleTitle(database, name)));
    if (names.length === 0) continue;
    print(`${database}: filling ${MANY_WALLETS.toLocaleString('en')} wallets`);
    scale[database] = await measureScale(database, names, load, options, (figure) =>
      print(table([FIGURE_HEAD, ...scaleLines(figure)])),
    );
  }

  const among: AmongFigure[] = [];
  const amongTitles = options.full ? AMONG_TITLES.filter(wanted) : [];
  if (amongTitles.length > 0) {
    print(`filling ${options.among.toLocaleString('en')} activities`);
    const tell = (figure: AmongFigure) => print(table([FIGURE_HEAD, ...policyLines(figure)]));
    among.push(...(await measureAmong(amongTitles, load, options, tell)));
  }
  const memory = options.full && wanted(MEMORY_TITLE) ? await measureMemory(load, options) : undefined;

  const past: PastFigure[] = [];
  for (const database of options.full ? (['sqlite', 'postgres'] as const) : []) {
    const names = PAST_NAMES.filter((name) => wanted(pastTitle(database, name)));
    if (names.length === 0) continue;
    print(`${database}: filling ${options.past.toLocaleString('en')} past deliveries`);
    const found = await measurePast(database, names, load, options, (figure) =>
      print(table([FIGURE_HEAD, ...policyLines(figure)])),
    );
    past.push(...found);
  }

  const backups: BackupFigure[] = [];
  for (const database of options.full ? (['sqlite', 'postgres'] as const) : []) {
    if (!BACKUP_NAMES.some((name) => wanted(backupTitle(database, name)))) continue;
    print(`${database}: filling ${options.wallets.toLocaleString('en')} wallets to back up`);
    const tell = (figure: BackupFigure) => print(table([BACKUP_HEAD, backupLine(figure)]));
    backups.push(...(await measureBackups(database, options, tell)));
  }

  ended('--full');
  const verdicts: Verdict[] = figures.flatMap(judgeFigure);
  verdicts.push(...Object.entries(scale).flatMap(([database, found]) => judgeScale(database, found)));
  verdicts.push(...policies.flatMap(judgePolicies), ...workers.flatMap(judgeWorkers));
  verdicts.push(
    ...logins.flatMap(judgeLogin),
    ...webhooks.flatMap(judgeWebhooks),
    ...past.map(judgePast),
    ...among.map(judgeAmong),
    ...integrity.map(judgeIntegrity),
    ...judgeBackups(backups),
  );
  if (memory !== undefined) verdicts.push(judgeMemory(memory));
  if (start !== undefined) verdicts.push(judgeStart(start.firstMs), judgeRest(start.residentMb));
  if (console !== undefined) verdicts.push(...judgeConsole(console));
  const file = writeReport({
    startedAt,
    commit: describeCommit(),
    machine,
    loadBefore,
    loadAfter: loadNow(),
    options: { seconds: options.seconds, rounds: options.rounds, events: options.events, past: options.past },
    units,
    components,
    figures,
    scale,
    policies,
    workers,
    logins,
    webhooks,
    balances,
    integrity,
    past,
    among,
    backups,
    memory,
    console,
    start,
    verdicts,
  });
  print('');
  for (const [name, written] of Object.entries(units)) print(`${name} writes: ${written}`);
  if (Object.keys(components).length > 0) print(`\n${componentTable(components)}`);
  if (figures.length > 0) print(`\n${table([FIGURE_HEAD, ...figures.flatMap(figureLines)])}`);
  if (policies.length > 0) print(`\n${table([FIGURE_HEAD, ...policies.flatMap(policyLines)])}`);
  if (workers.length > 0) print(`\n${table([FIGURE_HEAD, ...workers.flatMap(policyLines)])}`);
  if (logins.length > 0) print(`\n${table([FIGURE_HEAD, ...logins.flatMap(policyLines)])}`);
  const delivered = [...webhooks, ...past, ...among];
  if (delivered.length > 0) print(`\n${table([FIGURE_HEAD, ...delivered.flatMap(policyLines)])}`);
  if (balances.length > 0) print(`\n${table([BALANCE_HEAD, ...balances.map(balanceLine)])}`);
  if (integrity.length > 0) print(`\n${table([INTEGRITY_HEAD, ...integrity.map(integrityLine)])}`);
  if (backups.length > 0) print(`\n${table([BACKUP_HEAD, ...backups.map(backupLine)])}`);
  for (const { figures: found, plans } of Object.values(scale)) {
    print(`\n${table([FIGURE_HEAD, ...found.flatMap(scaleLines)])}`);
    for (const { statement, steps } of plans.filter(({ seeks }) => !seeks)) {
      print(`\nno search in an index: ${statement}\n  ${steps.join('\n  ')}`);
    }
  }
  if (start !== undefined) {
    const { firstMs, againMs, residentMb } = start;
    print(`\nstart: ${firstMs.toFixed(0)} ms on an empty folder, ${againMs.toFixed(0)} ms on an existing one`);
    print(`memory at rest: ${residentMb.toFixed(0)} MB`);
  }
  if (console?.scroll !== undefined) {
    const { rows, seconds, heapMb, longestTaskCpuMs } = console.scroll;
    print(
      `\nconsole: ${rows.toLocaleString('en')} activities scrolled in ${seconds.toFixed(0)} s, ${heapMb.toFixed(0)} MB held, at most ${longestTaskCpuMs.toFixed(0)} ms of processor time in a task`,
    );
  }
  print(`\n${verdictTable(verdicts)}`);
  const compared = [...logins, ...webhooks.filter(({ name }) => name === 'deliveries' || name === 'fan-out')];
  if (figures.length + compared.length > 0) {
    const markdown = markdownTable(figures, compared);
    print(`\n${markdown}`);
    if (options.markdown !== undefined) writeMarkdown(options.markdown, markdown);
  }
  const noisy = figures.filter(({ plan, service }) => plan.database === 'sqlite' && service.otherCores > NOISE_CORES);
  if (noisy.length > 0) {
    print(`\nOthers used the machine during ${noisy.map(({ plan }) => figureTitle(plan)).join(', ')}:`);
    print('a verdict there is provisional; "cpu times" is the steadier comparison. Run again when it is quiet.');
  }
  print(`\n${took.join(', ')}; ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes in all`);
  print(`load average ${loadNow().toFixed(2)} at the end; written to ${file}`);
}

async function measureComponents(stage: Stage, { rounds, patienceSeconds }: Options): Promise<ComponentRates> {
  const child = new Child<ComponentQuestion, ComponentRates>(new URL('./floors/components.ts', import.meta.url));
  await using _ended = child;
  const all: ComponentRates[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await waitForQuiet(patienceSeconds);
    all.push(await child.ask({ database: stage.components, seconds: COMPONENT_SECONDS }));
  }
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(all.map((rates) => rates[name] as number))]));
}

/** The service under the load of one figure, with the profiler on. */
async function profile(options: Options, folder: string): Promise<void> {
  const databases = ['sqlite', 'postgres'] as const;
  const plan = PLANS.find((candidate) => options.only !== undefined && figureTitle(candidate) === options.only);
  const deliveringOn = databases.find((database) => webhookTitle(database, 'deliveries') === options.only);
  const logins = databases.flatMap((kind) =>
    loginNamesOn(kind).map((name) => ({ kind, name, title: loginTitle(kind, name) })),
  );
  const login = logins.find(({ title }) => title === options.only);
  if (plan === undefined && deliveringOn === undefined && login === undefined) {
    const deliveries = databases.map((database) => webhookTitle(database, 'deliveries'));
    const names = [...PLANS.map(figureTitle), ...logins.map(({ title }) => title), ...deliveries];
    throw new Error(`--profile needs --only with one of: ${names.join(', ')}`);
  }
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  const node = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const tell = (lastSeconds: number): void => {
    const [main, ...threads] = profilesIn(folder).map((name) => join(folder, name));
    print(table([['function', 'self'], ...topFunctions(main as string, lastSeconds, PROFILED_FUNCTIONS)]));
    // The poster of webhooks is the one thread that the service has besides.
    for (const thread of threads) {
      print(
        `\n${table([['function of another thread', 'self'], ...topFunctions(thread, lastSeconds, PROFILED_FUNCTIONS)])}`,
      );
    }
  };
  const start = { node, env: options.inline ? { CUSTOS_KEYRING: 'inline' } : {} };
  if (login !== undefined) {
    await using load = new Load();
    const { rate, cpuUs } = await profileLogins(login.kind, login.name, load, options, start);
    print(`${login.title} under the profiler: ${Math.round(rate)} per second, ${Math.round(cpuUs)} us of CPU each`);
    tell(options.seconds);
    return;
  }
  if (plan === undefined) {
    const { rate } = await profileDeliveries(deliveringOn as DatabaseKind, options, node);
    print(`${options.only} under the profiler: ${Math.round(rate)} deliveries per second`);
    tell(Number.POSITIVE_INFINITY);
    return;
  }
  await using load = new Load();
  await using stage = await openStage(plan.database as DatabaseKind, start);
  const workload = stage.workloads[plan.name];
  await load.run(stage.service.target, workload, MANY, 1);
  const measured = await load.run(stage.service.target, workload, plan.connections, options.seconds);
  print(`${figureTitle(plan)} under the profiler: ${Math.round(measured.rate)} requests per second`);
  await stage.service.stop();
  tell(options.seconds);
}

/** The figures are of the built service, which may be older than its source. */
function warnIfStale(): void {
  const newest = (folder: string): number =>
    Math.max(
      0,
      ...readdirSync(fileURLToPath(new URL(folder, import.meta.url)), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
        .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
    );
  if (newest('../packages/server/src/') > newest('../packages/server/dist/')) {
    print('WARNING: packages/server/src is newer than its build: run `npm run build` first');
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const options = readOptions(process.argv.slice(2));
  await (options.profile === undefined ? main(options) : profile(options, options.profile));
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n\n${USAGE}`);
  process.exitCode = 1;
}
