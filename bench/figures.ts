import { waitForQuiet } from './child.ts';
import type { Library } from './floors/bare.ts';
import { hasEthers } from './floors/libraries.ts';
import type { Load, Measured } from './load/load.ts';
import type { Options } from './options.ts';
import {
  atFloor,
  type DatabaseKind,
  type FigureName,
  type KeyFigureName,
  type ServerFloorName,
  type Stage,
  WORK,
} from './stage.ts';

/** A server, the libraries alone (`core`: on one core), or the service itself with a request that needs no key. */
export type FloorName = ServerFloorName | Library | 'core' | 'keyless';

export interface FigurePlan {
  readonly database: DatabaseKind;
  readonly name: FigureName;
  readonly connections: number;
  /** The first is the floor that the goal speaks of; the others are shown beside it. */
  readonly floors: readonly FloorName[];
}

/** Medians over the rounds. */
export interface Summary {
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
    /** The same of the median request's time. */
    readonly p50Ratio: number;
    /** By how much the service's median request is slower, in the same way. */
    readonly addedUs: number;
  }[];
}

export const SINGLE = 1;
export const MANY = 32;
export const WARM_UP_SECONDS = 1.5;

/** Shorter where windows are, which is for trying a figure out. */
export const warmUpSeconds = (seconds: number): number => Math.min(1, seconds) * WARM_UP_SECONDS;

export const figureTitle = ({ database, name, connections }: FigurePlan): string =>
  `${database} ${name} ${connections}`;

const OTHER_LIBRARIES: readonly Library[] = hasEthers() ? ['ethers', 'viem'] : ['viem'];
const KEY_FLOORS: Readonly<Record<KeyFigureName, readonly FloorName[]>> = {
  create_wallet: ['written', 'bare', ...OTHER_LIBRARIES],
  create_wallet_accounts: ['written', 'bare', ...OTHER_LIBRARIES],
  'sign_raw_payload secp256k1': ['written', 'bare', 'keyless'],
  'sign_raw_payload ed25519': ['written', 'bare', 'keyless'],
  'sign_raw_payloads 100': ['written', 'bare', 'core', 'keyless'],
  export_wallet: ['written', 'bare'],
};
/** At one connection those that a goal speaks of, and on PostgreSQL those that differ in what they write. */
const KEY_FIGURES: Readonly<Record<DatabaseKind, Readonly<Record<number, readonly KeyFigureName[]>>>> = {
  sqlite: {
    [SINGLE]: ['sign_raw_payload secp256k1', 'sign_raw_payload ed25519', 'sign_raw_payloads 100'],
    [MANY]: Object.keys(KEY_FLOORS) as KeyFigureName[],
  },
  postgres: {
    [SINGLE]: ['sign_raw_payload secp256k1'],
    [MANY]: ['create_wallet', 'create_wallet_accounts', 'sign_raw_payload secp256k1'],
  },
};

export const PLANS: readonly FigurePlan[] = (['sqlite', 'postgres'] as const).flatMap((database) =>
  [MANY, SINGLE].flatMap((connections): FigurePlan[] => [
    { database, name: 'whoami', connections, floors: ['row', 'http'] },
    ...(connections === MANY ? [{ database, name: 'list_users', connections, floors: ['row'] } as const] : []),
    {
      database,
      name: 'update_user_name',
      connections,
      floors: connections === SINGLE ? ['row', 'unit', 'written'] : ['unit', 'written', 'row'],
    },
    ...(KEY_FIGURES[database][connections] ?? []).map((name) => ({
      database,
      name,
      connections,
      // Other libraries know no database either.
      floors: KEY_FLOORS[name].filter(
        (floor) => database === 'sqlite' || !OTHER_LIBRARIES.some((one) => one === floor),
      ),
    })),
  ]),
);

/** Compiles the hot paths of the service and of the floors before anything is timed. */
export async function warmUp(stage: Stage, load: Load, plan: FigurePlan, seconds: number): Promise<void> {
  const length = warmUpSeconds(seconds);
  await load.run(stage.service.target, stage.workloads[plan.name], MANY, length);
  for (const floor of plan.floors) await runFloor(stage, load, floor, { ...plan, connections: MANY }, length);
}

async function runFloor(
  { service, workloads, floors, crypto }: Stage,
  load: Load,
  floor: FloorName,
  { name, connections }: FigurePlan,
  seconds: number,
): Promise<Measured> {
  switch (floor) {
    case 'http':
    case 'row':
    case 'unit':
      return await load.run(floors[floor], workloads[name], connections, seconds);
    case 'written':
      return await load.run(floors.written, atFloor(workloads, name), connections, seconds);
    case 'keyless':
      return await load.run(service.target, workloads.update_user_name, connections, seconds);
    default: {
      const asked = WORK[name as KeyFigureName];
      const cores = floor === 'core' ? 1 : connections * asked.times;
      return await crypto.run(asked, floor === 'core' ? 'bare' : floor, cores, seconds);
    }
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
        windows.push(await runFloor(stage, load, name, plan, seconds));
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
      p50Ratio: median(windows.map((floor, round) => (service[round] as Measured).p50Us / floor.p50Us)),
      addedUs: median(windows.map((floor, round) => (service[round] as Measured).p50Us - floor.p50Us)),
    })),
  };
}

export const summarize = (windows: readonly Measured[]): Summary => ({
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
