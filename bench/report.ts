import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Comparison } from './compare.ts';
import { type Figure, type FigurePlan, type FloorName, figureTitle, type Summary } from './figures.ts';
import type { ComponentRates } from './floors/components.ts';
import type { Verdict } from './goals.ts';
import { MANY_WALLETS, type ScaleFigure } from './scale/scale.ts';
import { isKeyFigure } from './stage.ts';

export interface Report {
  readonly startedAt: string;
  readonly commit: string;
  readonly machine: ReturnType<typeof describeMachine>;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly options: {
    readonly seconds: number;
    readonly rounds: number;
    readonly events: number;
    readonly past: number;
  };
  readonly units: Readonly<Record<string, string>>;
  /** What each part has found, by its name. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly verdicts: readonly Verdict[];
}

const TMPFS = 0x01021994;

export function describeMachine() {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryMb: Math.round(totalmem() / 1024 / 1024),
    kernel: release(),
    node: process.versions.node,
    openssl: process.versions.openssl,
    /** A file system in memory makes every commit free and the figures worthless. */
    durableDisk: statfsSync(tmpdir()).type !== TMPFS,
  };
}

/** The commit, with a mark when the tree differs from it. */
export function describeCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    return git('rev-parse', 'HEAD') + (git('status', '--porcelain', '--', 'packages') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

export const loadNow = (): number => loadavg()[0] ?? Number.NaN;

/** What each floor does, as the table names it. */
const FLOOR_LABELS: Readonly<Record<FloorName, string>> = {
  http: 'bare HTTP',
  row: 'HTTP + verify + one-row commit',
  unit: 'HTTP + verify + unit commit, as recorded',
  written: 'HTTP + verify + keys in another process + its writes',
  bare: 'bare cryptography, all cores',
  core: 'bare cryptography, one core',
  ethers: 'ethers',
  viem: 'viem',
  keyless: 'update_user_name, which needs no key',
};
const QUERY_LABEL = 'HTTP + verify + one read';
const KEYLESS_LABEL = 'HTTP + verify + its writes';

const round = (value: number): string => Math.round(value).toLocaleString('en');
const ms = (us: number): string => (Number.isNaN(us) ? '' : (us / 1000).toFixed(2));

const cells = ({ rate, p50Us, p99Us, cpuUs, otherCores }: Summary): string[] => [
  round(rate),
  ms(p50Us),
  ms(p99Us),
  round(cpuUs),
  otherCores.toFixed(1),
];

export function floorLabel({ name }: FigurePlan, floor: FloorName): string {
  if (floor === 'row' && (name === 'whoami' || name === 'list_users')) return QUERY_LABEL;
  return floor === 'written' && !isKeyFigure(name) ? KEYLESS_LABEL : FLOOR_LABELS[floor];
}

export function figureLines(figure: Figure): string[][] {
  const { plan, service, floors } = figure;
  return [
    [figureTitle(plan), ...cells(service), '', ''],
    ...floors.map(({ name, summary, ratio }) => [
      `  ${floorLabel(plan, name)}`,
      ...cells(summary),
      ratio.toFixed(2),
      (service.cpuUs / summary.cpuUs).toFixed(2),
    ]),
  ];
}

export const scaleLines = ({ title, few, many, ratio }: ScaleFigure): string[][] => [
  [`${title}, ${MANY_WALLETS.toLocaleString('en')} wallets`, ...cells(many), '', ''],
  ['  ten wallets', ...cells(few), ratio.toFixed(2), (many.cpuUs / few.cpuUs).toFixed(2)],
];

export const comparedLines = ({
  title,
  beside,
  base,
  other,
  ratio,
  cpuRatio,
}: Comparison & { readonly title: string; readonly beside: string }): string[][] => [
  [title, ...cells(other), '', ''],
  [`  ${beside}`, ...cells(base), ratio.toFixed(2), cpuRatio.toFixed(2)],
];

export const FIGURE_HEAD = [
  'figure / its floors',
  'req/s',
  'p50 ms',
  'p99 ms',
  'cpu us',
  'others',
  'times',
  'cpu times',
];

/** Columns of equal width, numbers to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Rates of the parts, and their times: what a sum of floors is made of. */
export const componentTable = (rates: ComponentRates): string =>
  table([
    ['part of a floor, alone', 'per second', 'us each'],
    ...Object.entries(rates).map(([name, rate]) => [name, round(rate), (1e6 / rate).toFixed(1)]),
  ]);

export const verdictTable = (verdicts: readonly Verdict[]): string =>
  table([
    ['goal', 'measured', ''],
    ...verdicts.map(({ figure, goal, measured, met }) => [`${figure}: ${goal}`, measured, met ? 'met' : 'not met']),
  ]);

export function writeReport(report: Report): string {
  const folder = fileURLToPath(new URL('./results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = `${folder}${report.startedAt.replaceAll(':', '-')}.json`;
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}
