import { availableParallelism } from 'node:os';
import { type ConsoleFigures, consoleTitle, LONG_TASK_MS } from './console/console.ts';
import { type Figure, type FloorName, figureTitle, isKeyFigure, MANY, SINGLE } from './figures.ts';
import type { Scale } from './scale/scale.ts';
import type { PastFigure } from './webhooks/past.ts';
import type { WebhookFigure } from './webhooks/webhooks.ts';

/** A sentence of the goals with what was measured. */
export interface Verdict {
  readonly figure: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

const TIMES_FLOOR_MAX = 2;
const SHARE_OF_SHARED_COMMIT_MIN = 0.8;
const GAIN_BY_SHARING_MIN = 2;
const KEYRING_MS_MAX = 1;
const BATCH_TIMES_BARE_MAX = 1.3;
const SHARE_OF_CORES_MIN = 0.75;
const TIMES_AMONG_TEN_MAX = 1.2;
const DELIVERIES_PER_SECOND_MIN = 800;
const TIMES_BARE_POST_MAX = 3;
const TIMES_IDLE_MAX = 1.5;
const TIMES_WITHOUT_PAST_MAX = 1.2;
const FIRST_LOAD_KB_MAX = 250;
const INBOX_MS_MAX = 1000;
const REST_MB_MAX = 200;
const START_MS_MAX = 2000;

export function judgeFigure(figure: Figure, figures: readonly Figure[]): Verdict[] {
  const { plan, floors, service } = figure;
  const ratio = floors[0]?.ratio ?? Number.NaN;
  const title = figureTitle(plan);
  if (isKeyFigure(plan.name)) return judgeKeyFigure(figure);
  if (plan.name !== 'update_user_name' || plan.connections !== MANY) {
    const goal = `at most ${TIMES_FLOOR_MAX} times its floor`;
    return [{ figure: title, goal, measured: `${ratio.toFixed(2)} times`, met: ratio <= TIMES_FLOOR_MAX }];
  }
  const share = 1 / ratio;
  const verdicts = [
    {
      figure: title,
      goal: `at least ${SHARE_OF_SHARED_COMMIT_MIN * 100} % of the shared-commit floor`,
      measured: `${(share * 100).toFixed(0)} %`,
      met: share >= SHARE_OF_SHARED_COMMIT_MIN,
    },
  ];
  const single = figures.find(
    ({ plan: other }) => other.database === plan.database && other.name === plan.name && other.connections !== MANY,
  );
  if (single !== undefined) {
    const gain = service.rate / single.service.rate;
    verdicts.push({
      figure: title,
      goal: `at least ${GAIN_BY_SHARING_MIN} times the rate of one connection`,
      measured: `${gain.toFixed(2)} times`,
      met: gain >= GAIN_BY_SHARING_MIN,
    });
  }
  return verdicts;
}

function judgeKeyFigure({ plan: { name, connections }, plan, floors }: Figure): Verdict[] {
  const figure = figureTitle(plan);
  const floor = (wanted: FloorName) => floors.find((candidate) => candidate.name === wanted);
  if (name.startsWith('sign_raw_payload ') && connections === SINGLE) {
    const addedMs = (floor('keyless')?.addedUs ?? Number.NaN) / 1000;
    const goal = `the keyring adds at most ${KEYRING_MS_MAX} ms at p50`;
    return [{ figure, goal, measured: `${addedMs.toFixed(2)} ms`, met: addedMs <= KEYRING_MS_MAX }];
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
        atMost(TIMES_BARE_POST_MAX, 'the time of a bare POST loop'),
      ];
    case 'signing':
      return [atMost(TIMES_IDLE_MAX, 'the idle latency at p50')];
    case 'delay':
      return [];
  }
}

export const judgePast = ({ title: figure, beside, ratio }: PastFigure): Verdict => ({
  figure,
  goal: `at most ${TIMES_WITHOUT_PAST_MAX} times the time ${beside}`,
  measured: `${ratio.toFixed(2)} times`,
  met: ratio <= TIMES_WITHOUT_PAST_MAX,
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
