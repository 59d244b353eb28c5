import { availableParallelism } from 'node:os';
import type { BackupFigure } from './backup/backup.ts';
import { type ConsoleFigures, consoleTitle, LONG_TASK_MS } from './console/console.ts';
import { type Figure, type FloorName, figureTitle, MANY, SINGLE } from './figures.ts';
import { type IntegrityFigure, shareOf } from './integrity/integrity.ts';
import type { LoginFigure } from './logins/logins.ts';
import { MEMORY_TITLE, type MemoryFigure } from './memory.ts';
import { isAgainstOne, type PolicyFigure } from './policies/policies.ts';
import { floorLabel } from './report.ts';
import type { AmongFigure } from './scale/activities.ts';
import type { Scale } from './scale/scale.ts';
import { type DatabaseKind, type FigureName, isKeyFigure } from './stage.ts';
import type { PastFigure } from './webhooks/past.ts';
import type { WebhookFigure } from './webhooks/webhooks.ts';
import type { WorkerFigure } from './workers.ts';

/** A sentence of the goals with what was measured. */
export interface Verdict {
  readonly figure: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

const LOGIN_SHARE_MIN = 0.6;
/** What the garbage collector leaves for later is not counted as growth. */
const TIMES_MEMORY_OF_FEW_MAX = 2;
const TIMES_ONE_POLICY_MAX = 3;
const TIMES_ONE_WORKER_CPU_MAX = 1.15;
const SHARE_OF_ONE_WORKER_MIN = 0.95;
const KEYRING_MS_MAX = 1;
const BATCH_TIMES_BARE_MAX = 1.3;
const SHARE_OF_CORES_MIN = 0.75;
const TIMES_AMONG_TEN_MAX = 1.2;
const TIMES_AMONG_FEW_MAX = 1.2;
/** Flat, but for what a collector has not come to yet. */
const TIMES_EARLY_MAX = 1.1;
const DELIVERIES_PER_SECOND_MIN = 800;
const SHARE_OF_BARE_POST_MIN = 0.7;
const TIMES_IDLE_MAX = 1.5;
const TIMES_WITHOUT_PAST_MAX = 1.2;
const SHARE_OF_MARKS_MAX = 0.05;
const FIRST_LOAD_KB_MAX = 250;
const INBOX_MS_MAX = 1000;
const REST_MB_MAX = 150;
const START_MS_MAX = 800;

/** The least share of its floor, by floor: SQLite at 32 connections, where nothing else is said. */
interface ShareGoal {
  readonly name: FigureName;
  readonly database: DatabaseKind;
  readonly connections: number;
  readonly floor: FloorName;
  readonly share: number;
}

const share = (database: DatabaseKind, connections: number, name: FigureName, floor: FloorName, least: number) => ({
  database,
  connections,
  name,
  floor,
  share: least,
});
const SHARES: readonly ShareGoal[] = [
  share('sqlite', MANY, 'whoami', 'row', 0.8),
  share('sqlite', MANY, 'list_users', 'row', 0.6),
  share('sqlite', MANY, 'update_user_name', 'unit', 0.8),
  share('sqlite', MANY, 'sign_raw_payload secp256k1', 'written', 0.7),
  share('sqlite', MANY, 'sign_raw_payload ed25519', 'written', 0.7),
  share('sqlite', SINGLE, 'whoami', 'row', 0.7),
  share('sqlite', SINGLE, 'update_user_name', 'row', 0.7),
  share('sqlite', SINGLE, 'sign_raw_payload secp256k1', 'written', 0.7),
  share('sqlite', SINGLE, 'sign_raw_payload ed25519', 'written', 0.7),
  share('postgres', MANY, 'whoami', 'row', 0.7),
  share('postgres', MANY, 'update_user_name', 'written', 0.6),
];
const TIMES_KEYS_AND_FLOOR_MAX = 1.3;

const goalOf = ({ plan }: Figure): ShareGoal | undefined =>
  SHARES.find(
    ({ name, database, connections }) =>
      name === plan.name && database === plan.database && connections === plan.connections,
  );

/** The floor that a goal speaks of, or the first. */
export function floorOfGoal(figure: Figure): Figure['floors'][number] | undefined {
  const goal = goalOf(figure);
  return figure.floors.find(({ name }) => name === goal?.floor) ?? figure.floors[0];
}

/** At one connection the median requests are compared, and at many what is answered in a second. */
function judgeShare(figure: Figure): Verdict[] {
  const { plan } = figure;
  const [goal, floor] = [goalOf(figure), floorOfGoal(figure)];
  if (goal === undefined || floor === undefined) return [];
  const measured = 1 / (plan.connections === SINGLE ? floor.p50Ratio : floor.ratio);
  const what = `${floorLabel(plan, floor.name)}${plan.connections === SINGLE ? ' at p50' : ''}`;
  return [
    {
      figure: figureTitle(plan),
      goal: `at least ${goal.share} of ${what}`,
      measured: measured.toFixed(2),
      met: measured >= goal.share,
    },
  ];
}

export function judgeFigure(figure: Figure): Verdict[] {
  return [...judgeShare(figure), ...(isKeyFigure(figure.plan.name) ? judgeKeyFigure(figure) : [])];
}

function judgeKeyFigure({ plan: { name, connections }, plan, floors }: Figure): Verdict[] {
  const figure = figureTitle(plan);
  const floor = (wanted: FloorName) => floors.find((candidate) => candidate.name === wanted);
  if (name.startsWith('sign_raw_payload ') && connections === SINGLE) {
    const addedMs = (floor('keyless')?.addedUs ?? Number.NaN) / 1000;
    const goal = `the keyring adds at most ${KEYRING_MS_MAX} ms at p50`;
    return [{ figure, goal, measured: `${addedMs.toFixed(2)} ms`, met: addedMs <= KEYRING_MS_MAX }];
  }
  if (name === 'create_wallet' || name === 'create_wallet_accounts' || name === 'export_wallet') {
    const times = floor('written')?.ratio ?? Number.NaN;
    if (connections === SINGLE || plan.database === 'postgres') return [];
    const goal = `at most ${TIMES_KEYS_AND_FLOOR_MAX} times ${floorLabel(plan, 'written')}`;
    return [{ figure, goal, measured: `${times.toFixed(2)} times`, met: times <= TIMES_KEYS_AND_FLOOR_MAX }];
  }
  if (name !== 'sign_raw_payloads 100') return [];
  const ratio = floor('bare')?.ratio ?? Number.NaN;
  if (connections === SINGLE) {
    // One after the other they are timed, not counted: what the request around them takes is no cost of signatures.
    const times = (floor('keyless')?.addedUs ?? Number.NaN) / (floor('bare')?.summary.p50Us ?? Number.NaN);
    return [
      {
        figure,
        goal: `adds at most ${BATCH_TIMES_BARE_MAX} times the bare cryptography to a request at p50`,
        measured: `${times.toFixed(2)} times (${ratio.toFixed(2)} with the request)`,
        met: times <= BATCH_TIMES_BARE_MAX,
      },
    ];
  }
  const gain = 1 / (floor('core')?.ratio ?? Number.NaN);
  const gainMin = SHARE_OF_CORES_MIN * availableParallelism();
  return [
    {
      figure,
      goal: `at most ${BATCH_TIMES_BARE_MAX} times the bare cryptography`,
      measured: `${ratio.toFixed(2)} times`,
      met: ratio <= BATCH_TIMES_BARE_MAX,
    },
    {
      figure,
      goal: `at least ${gainMin} times what one core signs`,
      measured: `${gain.toFixed(2)} times`,
      met: gain >= gainMin,
    },
  ];
}

export function judgePolicies(policies: PolicyFigure): Verdict[] {
  if (!isAgainstOne(policies)) return [];
  const { title: figure, beside, cpuRatio } = policies;
  const goal = `at most ${TIMES_ONE_POLICY_MAX} times the processor time of ${beside}`;
  return [{ figure, goal, measured: `${cpuRatio.toFixed(2)} times`, met: cpuRatio <= TIMES_ONE_POLICY_MAX }];
}

export const judgeWorkers = ({ title: figure, beside, ratio, cpuRatio }: WorkerFigure): Verdict[] => [
  {
    figure,
    goal: `at most ${TIMES_ONE_WORKER_CPU_MAX} times the processor time of ${beside}`,
    measured: `${cpuRatio.toFixed(2)} times`,
    met: cpuRatio <= TIMES_ONE_WORKER_CPU_MAX,
  },
  {
    figure,
    goal: `at least ${SHARE_OF_ONE_WORKER_MIN} of the rate of ${beside}`,
    measured: (1 / ratio).toFixed(2),
    met: 1 / ratio >= SHARE_OF_ONE_WORKER_MIN,
  },
];

/** Whole flows at many connections; at one they are shown. */
export function judgeLogin({ title: figure, connections, beside, ratio }: LoginFigure): Verdict[] {
  if (connections === SINGLE) return [];
  const goal = `at least ${LOGIN_SHARE_MIN} of ${beside}`;
  return [{ figure, goal, measured: (1 / ratio).toFixed(2), met: 1 / ratio >= LOGIN_SHARE_MIN }];
}

export function judgeScale(database: string, { figures, plans }: Scale): Verdict[] {
  const slow = plans.filter(({ seeks }) => !seeks).length;
  return [
    ...figures.map(({ title, ratio }) => ({
      figure: title,
      goal: `at most ${TIMES_AMONG_TEN_MAX} times the time among ten wallets`,
      measured: `${ratio.toFixed(2)} times`,
      met: ratio <= TIMES_AMONG_TEN_MAX,
    })),
    {
      figure: `${database} scale`,
      goal: 'every statement searches an index',
      measured: `${plans.length - slow} of ${plans.length}`,
      met: slow === 0,
    },
  ];
}

export function judgeWebhooks({ title: figure, name, other: { rate }, ratio }: WebhookFigure): Verdict[] {
  const atMost = (max: number, what: string): Verdict => ({
    figure,
    goal: `at most ${max} times ${what}`,
    measured: `${ratio.toFixed(2)} times`,
    met: ratio <= max,
  });
  switch (name) {
    case 'deliveries':
    case 'fan-out':
      return [
        {
          figure,
          goal: `at least ${DELIVERIES_PER_SECOND_MIN} deliveries a second`,
          measured: rate.toFixed(0),
          met: rate >= DELIVERIES_PER_SECOND_MIN,
        },
        {
          figure,
          goal: `at least ${SHARE_OF_BARE_POST_MIN} of a bare POST loop`,
          measured: (1 / ratio).toFixed(2),
          met: 1 / ratio >= SHARE_OF_BARE_POST_MIN,
        },
      ];
    case 'signing':
      return [atMost(TIMES_IDLE_MAX, 'the idle latency at p50')];
    case 'signed deliveries':
    case 'delay':
      return [];
  }
}

export const judgeAmong = ({ title: figure, beside, ratio }: AmongFigure): Verdict => ({
  figure,
  goal: `at most ${TIMES_AMONG_FEW_MAX} times the time ${beside}`,
  measured: `${ratio.toFixed(2)} times`,
  met: ratio <= TIMES_AMONG_FEW_MAX,
});

export const judgeMemory = ({ minutes, earlyMb, lateMb }: MemoryFigure): Verdict => ({
  figure: MEMORY_TITLE,
  goal: `at the end of ${minutes} minutes at most ${TIMES_EARLY_MAX} times what it was early on`,
  measured: `${(lateMb / earlyMb).toFixed(2)} times (${earlyMb.toFixed(0)} to ${lateMb.toFixed(0)} MB)`,
  met: lateMb <= earlyMb * TIMES_EARLY_MAX,
});

/** A backup is a stream: how much there is of it must not show in its memory. */
export const judgeBackups = (figures: readonly BackupFigure[]): Verdict[] =>
  [...new Set(figures.map(({ title }) => title))].map((figure) => {
    const [few, many] = figures.filter(({ title }) => title === figure);
    const times = (many?.peakMb ?? Number.NaN) / (few?.peakMb ?? Number.NaN);
    return {
      figure,
      goal: `at most ${TIMES_MEMORY_OF_FEW_MAX} times the memory that ${few?.wallets} take`,
      measured: `${times.toFixed(2)} times (${few?.peakMb.toFixed(0)} to ${many?.peakMb.toFixed(0)} MB)`,
      met: times <= TIMES_MEMORY_OF_FEW_MAX,
    };
  });

export const judgePast = ({ title: figure, beside, ratio }: PastFigure): Verdict => ({
  figure,
  goal: `at most ${TIMES_WITHOUT_PAST_MAX} times the time ${beside}`,
  measured: `${ratio.toFixed(2)} times`,
  met: ratio <= TIMES_WITHOUT_PAST_MAX,
});

export const judgeIntegrity = (integrity: IntegrityFigure): Verdict => ({
  figure: integrity.title,
  goal: `marks take under ${SHARE_OF_MARKS_MAX * 100} % of the processor time`,
  measured: `${(shareOf(integrity) * 100).toFixed(1)} %`,
  met: shareOf(integrity) < SHARE_OF_MARKS_MAX,
});

export const judgeRest = (residentMb: number): Verdict => ({
  figure: 'memory at rest',
  goal: `under ${REST_MB_MAX} MB`,
  measured: `${residentMb.toFixed(0)} MB`,
  met: residentMb < REST_MB_MAX,
});

export const judgeStart = (milliseconds: number): Verdict => ({
  figure: 'start',
  goal: `under ${START_MS_MAX / 1000} s`,
  measured: `${(milliseconds / 1000).toFixed(2)} s`,
  met: milliseconds < START_MS_MAX,
});

export function judgeConsole({ firstLoadBytes, inboxMs, scroll }: ConsoleFigures): Verdict[] {
  const kilobytes = (firstLoadBytes ?? 0) / 1000;
  return [
    ...(firstLoadBytes === undefined
      ? []
      : [
          {
            figure: consoleTitle('first load'),
            goal: `at most ${FIRST_LOAD_KB_MAX} kB gzipped, to the inbox`,
            measured: `${kilobytes.toFixed(0)} kB`,
            met: kilobytes <= FIRST_LOAD_KB_MAX,
          },
        ]),
    ...(inboxMs === undefined
      ? []
      : [
          {
            figure: consoleTitle('inbox'),
            goal: `usable within ${INBOX_MS_MAX} ms of a warm start`,
            measured: `${inboxMs.toFixed(0)} ms`,
            met: inboxMs <= INBOX_MS_MAX,
          },
        ]),
    ...(scroll === undefined
      ? []
      : [
          {
            figure: consoleTitle('scroll'),
            goal: `${scroll.rows.toLocaleString('en')} activities without a task over ${LONG_TASK_MS} ms`,
            measured: `${scroll.longTasks} over it, the longest ${scroll.longestTaskMs.toFixed(0)} ms`,
            met: scroll.longTasks === 0,
          },
        ]),
  ];
}
