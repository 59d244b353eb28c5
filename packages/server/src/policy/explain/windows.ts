import { type Expression, evaluate } from '../evaluate/expression.ts';
import { type CallNode, descend } from '../language/ast.ts';
import { instantFromMs } from '../time/timestamp.ts';
import { turningPointWords } from '../words/times.ts';

const MINUTE_MS = 60_000;
const STRIDE_MS = 15 * MINUTE_MS;
const SEARCH_MS = 8 * 24 * 60 * MINUTE_MS;

/** Evaluations that all searches of one answer may take together. */
export interface SearchBudget {
  evaluations: number;
}
export const newSearchBudget = (): SearchBudget => ({ evaluations: 4_000 });

/** The zone of the first window of a time expression. */
export function zoneOf({ tree }: Expression<'time'>): string | undefined {
  const isWindow = (node: { readonly kind: string }): node is CallNode =>
    node.kind === 'call' && (node as CallNode).name === 'CronSpan';
  const [, , zone] = [...descend(tree.root)].find(isWindow)?.args ?? [];
  return zone?.kind === 'string' ? zone.value : undefined;
}

/** When, in the next days, a time expression turns true or false; undefined if it does not, or that takes too long. */
export function nextTurn(
  expression: Expression<'time'>,
  wanted: boolean,
  fromMs: number,
  budget: SearchBudget,
): number | undefined {
  const isWanted = (atMs: number): boolean => {
    budget.evaluations -= 1;
    const evaluation = evaluate(expression, { time: { now: instantFromMs(atMs) } });
    return evaluation.ok && evaluation.value === wanted;
  };
  const startMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS;
  for (let atMs = startMs; atMs <= startMs + SEARCH_MS; atMs += STRIDE_MS) {
    if (budget.evaluations <= 0) return undefined;
    if (!isWanted(atMs)) continue;
    let firstMs = atMs;
    while (firstMs - MINUTE_MS > Math.max(startMs, atMs - STRIDE_MS) && isWanted(firstMs - MINUTE_MS))
      firstMs -= MINUTE_MS;
    return firstMs;
  }
  return undefined;
}

/** "the same request after 08:00 on Monday". */
export function turnWish(
  expression: Expression<'time'>,
  wanted: boolean,
  fromMs: number,
  budget: SearchBudget,
): string | undefined {
  const zone = zoneOf(expression);
  const atMs = nextTurn(expression, wanted, fromMs, budget);
  const words = zone === undefined || atMs === undefined ? undefined : turningPointWords(atMs, zone);
  return words && `the same request after ${words}`;
}
