import { type Figure, figureTitle, MANY } from './figures.ts';

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
const REST_MB_MAX = 200;
const START_MS_MAX = 2000;

export function judgeFigure(figure: Figure, figures: readonly Figure[]): Verdict[] {
  const { plan, floors, service } = figure;
  const ratio = floors[0]?.ratio ?? Number.NaN;
  const title = figureTitle(plan);
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
