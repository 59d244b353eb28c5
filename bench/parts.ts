import { BACKUP_HEAD, BACKUP_NAMES, backupLine, backupTitle, measureBackups } from './backup/backup.ts';
import {
  BALANCE_HEAD,
  BALANCE_NAMES,
  type BalanceFigure,
  balanceLine,
  balanceTitle,
  measureBalances,
} from './balances/balances.ts';
import { Child, waitForQuiet } from './child.ts';
import type { Comparison } from './compare.ts';
import { CONSOLE_NAMES, consoleTitle, measureConsole } from './console/console.ts';
import { type Figure, figureTitle, measure, median, PLANS, warmUp } from './figures.ts';
import type { ComponentQuestion, ComponentRates } from './floors/components.ts';
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
import type { Load } from './load/load.ts';
import { loginNamesOn, loginTitle, measureLogins } from './logins/logins.ts';
import { MEMORY_TITLE, measureMemory } from './memory.ts';
import type { Options } from './options.ts';
import { measurePolicies, policyNamesOn, policyTitle } from './policies/policies.ts';
import { comparedLines, componentTable, FIGURE_HEAD, figureLines, scaleLines, table } from './report.ts';
import { AMONG_TITLES, measureAmong } from './scale/activities.ts';
import { MANY_WALLETS, measureScale, SCALE_NAMES, type Scale, scaleTitle } from './scale/scale.ts';
import { type DatabaseKind, openStage, type Stage } from './stage.ts';
import { measureStart } from './start.ts';
import { measurePast, PAST_NAMES, pastTitle } from './webhooks/past.ts';
import { measureWebhooks, webhookNamesOn, webhookTitle } from './webhooks/webhooks.ts';
import { measureWorkers, WORKER_TITLES } from './workers.ts';

/** One run of the bench, as its parts see it. */
export interface Run {
  readonly options: Options;
  readonly load: Load;
  readonly print: (text: string) => void;
  /** Whether a figure of this title was asked for. */
  readonly wanted: (title: string) => boolean;
}

type Named = Comparison & { readonly title: string; readonly beside: string };

/** What a part has found, each in the form in which the run ends. */
export interface Found {
  /** By their names in the file of results. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** What the requests write, by their names. */
  readonly units?: Readonly<Record<string, string>>;
  /** For the table of the README. */
  readonly figures?: readonly Figure[];
  readonly compared?: readonly Named[];
}

export interface Part {
  readonly name: string;
  /** Only with `--full`. */
  readonly isLong?: boolean;
  /** Nothing, unless something of it was asked for. */
  readonly measure: (run: Run) => Promise<Found | undefined>;
}

const DATABASES = ['sqlite', 'postgres'] as const;
const COMPONENT_SECONDS = 0.3;

/** How figures of one kind are shown. */
interface Shown<Row> {
  readonly head: readonly string[];
  readonly lines: (figure: Row) => string[][];
  readonly judge: (figures: readonly Row[]) => Verdict[];
}

const compared = <Row extends Named>(judge: (figure: Row) => Verdict | Verdict[]): Shown<Row> => ({
  head: FIGURE_HEAD,
  lines: comparedLines,
  judge: (figures) => figures.flatMap(judge),
});

const tableOf = <Row>({ head, lines }: Shown<Row>, figures: readonly Row[]): string[] =>
  figures.length === 0 ? [] : [table([head, ...figures.flatMap(lines)])];

/** A part whose figures have names, the same on each database. */
function onEach<Name, Row>(
  name: string,
  shown: Shown<Row>,
  namesOn: (database: DatabaseKind) => readonly Name[],
  titleOf: (database: DatabaseKind, name: Name) => string,
  measureOn: (database: DatabaseKind, names: readonly Name[], run: Run, tell: (row: Row) => void) => Promise<Row[]>,
  more: { readonly isLong?: boolean; readonly end?: (figures: readonly Row[]) => Partial<Found> } = {},
): Part {
  return {
    name,
    isLong: more.isLong ?? false,
    measure: async (run) => {
      const figures: Row[] = [];
      const tell = (row: Row) => run.print(table([shown.head, ...shown.lines(row)]));
      for (const database of DATABASES) {
        const names = namesOn(database).filter((each) => run.wanted(titleOf(database, each)));
        if (names.length > 0) figures.push(...(await measureOn(database, names, run, tell)));
      }
      if (figures.length === 0) return undefined;
      const found = { results: { [name]: figures }, texts: tableOf(shown, figures), verdicts: shown.judge(figures) };
      return { ...found, ...more.end?.(figures) };
    },
  };
}

/** A part whose figures have titles, on one database. */
function onOne<Row>(
  name: string,
  shown: Shown<Row>,
  titles: readonly string[],
  measureThem: (titles: readonly string[], run: Run, tell: (row: Row) => void) => Promise<Row[]>,
  { isLong = false } = {},
): Part {
  return {
    name,
    isLong,
    measure: async (run) => {
      const asked = titles.filter(run.wanted);
      if (asked.length === 0) return undefined;
      const figures = await measureThem(asked, run, (row) => run.print(table([shown.head, ...shown.lines(row)])));
      return { results: { [name]: figures }, texts: tableOf(shown, figures), verdicts: shown.judge(figures) };
    },
  };
}

const START: Part = {
  name: 'start and memory',
  measure: async ({ wanted, options }) => {
    if (!wanted('start') && !wanted('memory')) return undefined;
    const start = await measureStart(options.patienceSeconds);
    const { firstMs, againMs, residentMb } = start;
    return {
      results: { start },
      texts: [
        `start: ${firstMs.toFixed(0)} ms on an empty folder, ${againMs.toFixed(0)} ms on an existing one\n` +
          `memory at rest: ${residentMb.toFixed(0)} MB`,
      ],
      verdicts: [judgeStart(firstMs), judgeRest(residentMb)],
    };
  },
};

const CONSOLE: Part = {
  name: 'console',
  measure: async ({ wanted, options }) => {
    const names = CONSOLE_NAMES.filter((name) => wanted(consoleTitle(name)));
    if (names.length === 0) return undefined;
    const found = await measureConsole(names, options);
    const { scroll } = found;
    return {
      results: { console: found },
      texts: scroll
        ? [
            `console: ${scroll.rows.toLocaleString('en')} activities scrolled in ${scroll.seconds.toFixed(0)} s, ` +
              `${scroll.heapMb.toFixed(0)} MB held, at most ${scroll.longestTaskCpuMs.toFixed(0)} ms of processor time in a task`,
          ]
        : [],
      verdicts: judgeConsole(found),
    };
  },
};

const requestsOn = (database: DatabaseKind): Part => ({
  name: `${database} requests`,
  measure: async ({ wanted, options, load, print }) => {
    const plans = PLANS.filter((plan) => plan.database === database && wanted(figureTitle(plan)));
    const withComponents = wanted(`${database} components`);
    if (plans.length === 0 && !withComponents) return undefined;
    await using stage = await openStage(database);
    const components = withComponents ? await measureComponents(stage, options) : {};
    const figures: Figure[] = [];
    const warm = new Set<string>();
    for (const plan of plans) {
      if (!warm.has(plan.name)) await warmUp(stage, load, plan, options.seconds);
      warm.add(plan.name);
      const figure = await measure(stage, load, plan, options);
      figures.push(figure);
      print(table([FIGURE_HEAD, ...figureLines(figure)]));
    }
    return {
      results: { [`${database} requests`]: figures, [`${database} components`]: components },
      texts: [
        ...(withComponents ? [componentTable(components)] : []),
        ...(figures.length > 0 ? [table([FIGURE_HEAD, ...figures.flatMap(figureLines)])] : []),
      ],
      verdicts: figures.flatMap(judgeFigure),
      units: Object.fromEntries(Object.entries(stage.written).map(([name, text]) => [`${database} ${name}`, text])),
      figures,
    };
  },
});

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

/** What logins write is found while they are measured. */
function logins(): Part {
  const units: Record<string, string> = {};
  return onEach(
    'logins',
    compared(judgeLogin),
    loginNamesOn,
    loginTitle,
    (database, names, { load, options }, tell) =>
      measureLogins(database, names, load, options, tell, (path, written) => {
        units[`${database} ${path}`] = written;
      }),
    { end: (figures) => ({ units, compared: figures }) },
  );
}

const SCALE: Part = {
  name: 'scale',
  isLong: true,
  measure: async ({ wanted, options, load, print }) => {
    const scale: Record<string, Scale> = {};
    for (const database of DATABASES) {
      const names = SCALE_NAMES.filter((name) => wanted(scaleTitle(database, name)));
      if (names.length === 0) continue;
      print(`${database}: filling ${MANY_WALLETS.toLocaleString('en')} wallets`);
      scale[database] = await measureScale(database, names, load, options, (figure) =>
        print(table([FIGURE_HEAD, ...scaleLines(figure)])),
      );
    }
    const all = Object.entries(scale);
    if (all.length === 0) return undefined;
    return {
      results: { scale },
      texts: all.flatMap(([, { figures, plans }]) => [
        table([FIGURE_HEAD, ...figures.flatMap(scaleLines)]),
        ...plans
          .filter(({ seeks }) => !seeks)
          .map(({ statement, steps }) => `no search in an index: ${statement}\n  ${steps.join('\n  ')}`),
      ]),
      verdicts: all.flatMap(([database, found]) => judgeScale(database, found)),
    };
  },
};

const MEMORY: Part = {
  name: 'memory',
  isLong: true,
  measure: async ({ wanted, options, load }) => {
    if (!wanted(MEMORY_TITLE)) return undefined;
    const memory = await measureMemory(load, options);
    return { results: { memory }, texts: [], verdicts: [judgeMemory(memory)] };
  },
};

/** In the order in which a run takes them. */
export const PARTS: readonly Part[] = [
  START,
  CONSOLE,
  ...DATABASES.map(requestsOn),
  onEach('policies', compared(judgePolicies), policyNamesOn, policyTitle, (database, names, { load, options }, tell) =>
    measurePolicies(database, names, load, options, tell),
  ),
  onOne('workers', compared(judgeWorkers), WORKER_TITLES, (titles, { load, options }, tell) =>
    measureWorkers(titles, load, options, tell),
  ),
  logins(),
  onEach(
    'webhooks',
    compared(judgeWebhooks),
    webhookNamesOn,
    webhookTitle,
    (database, names, { load, options }, tell) => measureWebhooks(database, names, load, options, tell),
    { end: (figures) => ({ compared: figures.filter(({ name }) => name === 'deliveries' || name === 'fan-out') }) },
  ),
  onEach(
    'balances',
    { head: BALANCE_HEAD, lines: (figure: BalanceFigure) => [balanceLine(figure)], judge: () => [] },
    () => BALANCE_NAMES,
    balanceTitle,
    (database, names, { options }, tell) => measureBalances(database, names, options, tell),
  ),
  onEach(
    'integrity',
    {
      head: INTEGRITY_HEAD,
      lines: (figure: IntegrityFigure) => [integrityLine(figure)],
      judge: (figures) => figures.map(judgeIntegrity),
    },
    () => INTEGRITY_NAMES,
    integrityTitle,
    (database, names, { load, options }, tell) => measureIntegrity(database, names, load, options, tell),
  ),
  SCALE,
  onOne(
    'among',
    compared(judgeAmong),
    AMONG_TITLES,
    (titles, { load, options, print }, tell) => {
      print(`filling ${options.among.toLocaleString('en')} activities`);
      return measureAmong(titles, load, options, tell);
    },
    { isLong: true },
  ),
  MEMORY,
  onEach(
    'past',
    compared(judgePast),
    () => PAST_NAMES,
    pastTitle,
    (database, names, { load, options, print }, tell) => {
      print(`${database}: filling ${options.past.toLocaleString('en')} past deliveries`);
      return measurePast(database, names, load, options, tell);
    },
    { isLong: true },
  ),
  onEach(
    'backups',
    { head: BACKUP_HEAD, lines: (figure) => [backupLine(figure)], judge: judgeBackups },
    () => BACKUP_NAMES,
    backupTitle,
    (database, _names, { options, print }, tell) => {
      print(`${database}: filling ${options.wallets.toLocaleString('en')} wallets to back up`);
      return measureBackups(database, options, tell);
    },
    { isLong: true },
  ),
];
