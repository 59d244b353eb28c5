import { waitForQuiet } from './child.ts';
import type { Load, Measured } from './load/load.ts';
import type { Options } from './options.ts';
import type { DatabaseKind, FigureName, FloorName, Stage } from './stage.ts';

export interface FigurePlan {
  readonly database: DatabaseKind;
  readonly name: FigureName;
  readonly connections: number;
  /** The first is the floor that the goal speaks of; the others are shown beside it. */
  readonly floors: readonly FloorName[];
}

/** Medians over the rounds. */
interface Summary {
  readonly rate: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly cpuUs: number;
  readonly otherCores: number;
}

export interface Figure {
  readonly plan: FigurePlan;
  readonly service: Summary;
  readonly floors: readonly {
    readonly name: FloorName;
    readonly summary: Summary;
    /** How many times the floor's time the service takes: the median of the rounds' own ratios. */
    readonly ratio: number;
  }[];
}

const SINGLE = 1;
export const MANY = 32;
const WARM_UP_SECONDS = 1.5;

export const figureTitle = ({ database, name, connections }: FigurePlan): string =>
  `${database} ${name} ${connections}`;

export const PLANS: readonly FigurePlan[] = (['sqlite', 'postgres'] as const).flatMap((database) =>
  [SINGLE, MANY].flatMap((connections): FigurePlan[] => [
    { database, name: 'whoami', connections, floors: ['row', 'http'] },
    { database, name: 'list_users', connections, floors: ['row'] },
    {
      database,
      name: 'update_user_name',
      connections,
      floors: connections === SINGLE ? ['row', 'unit'] : ['unit', 'row'],
    },
  ]),
);

/** Compiles the hot paths of the service and of the floors before anything is timed. */
export async function warmUp(stage: Stage, load: Load, plan: FigurePlan): Promise<void> {
  const workload = stage.workloads[plan.name];
  for (const target of [stage.service.target, ...plan.floors.map((floor) => stage.floors[floor])]) {
    await load.run(target, workload, MANY, WARM_UP_SECONDS);
  }
}

/** Alternates windows of the floors and of the service, so that a noisy machine moves both. */
export async function measure(
  stage: Stage,
  load: Load,
  plan: FigurePlan,
  { rounds, seconds, patienceSeconds }: Pick<Options, 'rounds' | 'seconds' | 'patienceSeconds'>,
): Promise<Figure> {
  const workload = stage.workloads[plan.name];
  const service: Measured[] = [];
  const floors = plan.floors.map((name) => ({ name, windows: [] as Measured[] }));
  for (let round = 0; round < rounds; round += 1) {
    await waitForQuiet(patienceSeconds);
    const windows = [
      async () => void service.push(await load.run(stage.service.target, workload, plan.connections, seconds)),
      ...floors.map(({ name, windows }) => async () => {
        windows.push(await load.run(stage.floors[name], workload, plan.connections, seconds));
      }),
    ];
    for (const window of round % 2 === 0 ? windows : windows.reverse()) await window();
  }
  return {
    plan,
    service: summarize(service),
    floors: floors.map(({ name, windows }) => ({
      name,
      summary: summarize(windows),
      ratio: median(windows.map((floor, round) => floor.rate / (service[round] as Measured).rate)),
    })),
  };
}

const summarize = (windows: readonly Measured[]): Summary => ({
  rate: median(windows.map(({ rate }) => rate)),
  p50Us: median(windows.map(({ p50Us }) => p50Us)),
  p99Us: median(windows.map(({ p99Us }) => p99Us)),
  cpuUs: median(windows.map(({ cpuUs }) => cpuUs)),
  otherCores: median(windows.map(({ otherCores }) => otherCores)),
});

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
