import { plain, strong, type TextPart } from '../../lib/text-part.ts';
import type { PolicyEvaluation, VoteEvaluation } from '../decision/outcome.ts';
import { compileExpression } from '../evaluate/expression.ts';
import type { TraceNode } from '../evaluate/trace.ts';
import { clauseOf } from '../words/clauses.ts';
import type { Names } from '../words/names.ts';
import { NO_SCOPE } from '../words/subjects.ts';
import { momentWords } from '../words/times.ts';
import { capitalize, count, joinWords } from '../words/wording.ts';
import {
  type Approver,
  contextIn,
  type ExplainedPart,
  isCutShort,
  type Leaf,
  partsOf,
  type Reading,
  readTrace,
} from './reading.ts';
import { newSearchBudget, type SearchBudget, turnWish, zoneOf } from './windows.ts';

/** Why a policy said what it said, in plain words. */
export interface Explanation {
  readonly sentence: readonly TextPart[];
  readonly parts: readonly ExplainedPart[];
  /** What would make it pass, where that can be told. */
  readonly whatWouldPass?: string;
}

export interface ExplainOptions {
  readonly names: Names;
  /** When it was evaluated. */
  readonly atMs: number;
  readonly approvers?: readonly Approver[];
  /** Who could still approve by this policy; known where a decision was just taken. */
  readonly pendingNames?: (policyId: string) => readonly string[] | undefined;
  readonly budget?: SearchBudget;
}

const PARTS_MAX = 60;
const WISHES_MAX = 3;
const PEOPLE_MAX = 5;

interface Read {
  readonly time: Reading | undefined;
  readonly timeTrace: TraceNode | undefined;
  readonly condition: Reading | undefined;
  readonly consensus: Reading | undefined;
}

/** The explanation of one evaluated policy, made of what was stored when it was evaluated. Pure and bounded. */
export function explainEvaluation(
  evaluation: PolicyEvaluation | VoteEvaluation,
  { names, atMs, approvers = [], pendingNames, budget = newSearchBudget() }: ExplainOptions,
): Explanation {
  const { trace } = evaluation;
  const conditionTrace = trace?.conditions[0];
  const context = contextIn(conditionTrace, names);
  const read = (tree: TraceNode | undefined): Reading | undefined => tree && readTrace(tree, context);
  const readings: Read = {
    time: read(trace?.time),
    timeTrace: trace?.time,
    condition: read(conditionTrace),
    consensus: read(trace?.consensus),
  };
  const said = sentenceFor(evaluation, readings, atMs, budget, pendingNames?.(evaluation.policyId));
  const trees = [trace?.time, conditionTrace, trace?.consensus];
  return {
    sentence: said.sentence,
    parts: bounded(
      [readings.time, readings.condition, readings.consensus].flatMap((reading) =>
        reading === undefined ? [] : partsOf(reading, approvers),
      ),
      trees.some((tree) => tree !== undefined && isCutShort(tree)),
    ),
    ...(said.whatWouldPass !== undefined && { whatWouldPass: said.whatWouldPass }),
  };
}

function bounded(parts: readonly ExplainedPart[], isCut: boolean): readonly ExplainedPart[] {
  const shown = parts.slice(0, PARTS_MAX);
  const left = parts.length - shown.length;
  if (left === 0 && !isCut) return shown;
  const text =
    left === 0 ? 'more parts, not shown' : `${count(left, 'more part')}${isCut ? ' at least' : ''}, not shown`;
  return [...shown, { text, holds: null, depth: 0 }];
}

type Said = Pick<Explanation, 'sentence' | 'whatWouldPass'>;

/** What the request had, as a sentence; names in it are somebody's words. */
const finding = (text: string): TextPart => ({ text, strong: true, userText: true });

function sentenceFor(
  evaluation: PolicyEvaluation | VoteEvaluation,
  readings: Read,
  atMs: number,
  budget: SearchBudget,
  pending: readonly string[] | undefined,
): Said {
  const isDeny = evaluation.effect === 'EFFECT_DENY';
  if (evaluation.outcome === 'OUTCOME_REJECTED') {
    return { sentence: [plain('It waited for approvals, and the request was rejected.')] };
  }
  if (evaluation.outcome === 'OUTCOME_REQUIRES_AUTHENTICATORS') {
    return { sentence: [plain('It would allow this once the further factors of the user are proven.')] };
  }
  switch (evaluation.reason) {
    case 'APPLIES':
      return isDeny ? deniesSaid(readings, atMs, budget) : { sentence: [plain(`${heldText(readings)}.`)] };
    case 'CONDITION_FALSE':
      return conditionSaid(readings.condition, isDeny);
    case 'TIME_INACTIVE':
      return timeSaid(readings, isDeny, atMs, budget);
    case 'CONSENSUS_PENDING':
    case 'CONSENSUS_UNDECIDED':
      return pendingSaid(readings.consensus, pending);
    case 'CONSENSUS_UNREACHABLE':
      return consensusSaid('Nobody who is left could complete its approvals', readings.consensus);
    case 'APPROVER_NOT_INCLUDED':
      return {
        ...consensusSaid('No approval so far counts for it', readings.consensus),
        ...wishOfConsensus(readings.consensus),
      };
    case 'CONSENSUS_NOT_MET':
      return consensusSaid('It denies only certain approvers, and none of them approved', readings.consensus);
    case 'EVALUATION_ERROR':
    case 'ERROR_DENIES':
    case 'EXPRESSION_INVALID':
      return errorSaid(evaluation, isDeny);
  }
}

/** "All 5 parts hold, and its approvals are complete". */
function heldText({ time, condition, consensus }: Read): string {
  const parts = (time?.leaves.length ?? 0) + (condition?.leaves.length ?? 0);
  const held = parts === 0 ? 'It has no condition' : parts === 1 ? 'Its condition holds' : `All ${parts} parts hold`;
  return consensus === undefined ? held : `${held}, and its approvals are complete`;
}

/** The parts that say most first, each with the value that the request had. */
function tellingFindings(
  reading: Reading | undefined,
  holds: boolean,
): { readonly leaf: Leaf; readonly text: string }[] {
  return (reading?.leaves ?? [])
    .flatMap((leaf) => {
      const text =
        leaf.holds === holds && leaf.value !== undefined ? leaf.clause.finding?.(leaf.value, holds) : undefined;
      return text === undefined ? [] : [{ leaf, text }];
    })
    .toSorted((one, other) => other.leaf.clause.rank - one.leaf.clause.rank);
}

function deniesSaid(readings: Read, atMs: number, budget: SearchBudget): Said {
  const window = momentSaid(readings, atMs);
  const [first] = tellingFindings(readings.condition, true);
  const isTold = first !== undefined && first.leaf.clause.rank > 2;
  const sentence: TextPart[] = [];
  if (window !== undefined) sentence.push(...window.moment, plain(` It denies while ${window.text}.`));
  if (isTold) sentence.push(...(sentence.length > 0 ? [plain(' ')] : []), finding(`${first.text}.`));
  if (sentence.length === 0) sentence.push(plain(`${heldText(readings)}, so it denies.`));
  const wish =
    timeWish(readings, false, atMs, budget) ?? oppositeWish(isTold ? first?.leaf : undefined, readings.condition);
  return { sentence, ...(wish !== undefined && { whatWouldPass: wish }) };
}

/** A denial passes as soon as one of its parts is false. */
function oppositeWish(leaf: Leaf | undefined, reading: Reading | undefined): string | undefined {
  if (leaf?.node === undefined || reading === undefined) return undefined;
  return clauseOf(leaf.node, reading.context, NO_SCOPE, true).wish;
}

function momentSaid(
  { time, timeTrace }: Read,
  atMs: number,
): { readonly moment: TextPart[]; readonly text: string } | undefined {
  const compiled = timeTrace === undefined ? undefined : compileExpression('time', timeTrace.text);
  if (time === undefined || compiled?.ok !== true) return undefined;
  const words = momentWords(atMs, zoneOf(compiled.expression) ?? 'UTC');
  if (words === undefined) return undefined;
  const text = joinWords(
    time.leaves.map(({ clause }) => clause.text),
    'and',
  );
  return { moment: [plain('It was '), strong(words), plain('.')], text };
}

function timeWish({ timeTrace }: Read, wanted: boolean, atMs: number, budget: SearchBudget): string | undefined {
  const compiled = timeTrace === undefined ? undefined : compileExpression('time', timeTrace.text);
  return compiled?.ok === true ? turnWish(compiled.expression, wanted, atMs, budget) : undefined;
}

function timeSaid(readings: Read, isDeny: boolean, atMs: number, budget: SearchBudget): Said {
  const window = momentSaid(readings, atMs);
  if (window === undefined) return { sentence: [plain('It does not apply at this time.')] };
  const wish = isDeny ? undefined : timeWish(readings, true, atMs, budget);
  return {
    sentence: [...window.moment, plain(` It applies only while ${window.text}.`)],
    ...(wish !== undefined && { whatWouldPass: wish }),
  };
}

function conditionSaid(reading: Reading | undefined, isDeny: boolean): Said {
  const failing = (reading?.leaves ?? []).filter(({ holds }) => holds === false);
  const decisive = failing.find(({ trace }) => trace.decisive) ?? failing[0];
  if (decisive === undefined) return { sentence: [plain('Its condition does not hold.')] };
  const { clause, value } = decisive;
  const found = value === undefined ? undefined : clause.finding?.(value, false);
  const more =
    failing.length > 1
      ? ` ${capitalize(count(failing.length - 1, 'more part'))} ${failing.length === 2 ? 'does' : 'do'} not hold.`
      : '';
  const sentence = [
    ...(found === undefined ? [plain('This does not hold: '), finding(`${clause.text}.`)] : [finding(`${found}.`)]),
    ...(more === '' ? [] : [plain(more)]),
  ];
  const wishes = failing.flatMap(({ clause: { wish } }) => wish ?? []);
  // A part that stands as code, or too many of them: better to say nothing than half of it.
  const isTold = !isDeny && wishes.length === failing.length && failing.length <= WISHES_MAX;
  const isWhole = reading?.leaves.every(({ holds }) => holds !== null) === true;
  return { sentence, ...(isTold && isWhole && { whatWouldPass: joinWords(wishes, 'and') }) };
}

function pendingSaid(reading: Reading | undefined, pending: readonly string[] | undefined): Said {
  const said = consensusSaid('It waits for approvals', reading);
  if (pending !== undefined && pending.length > 0 && pending.length <= PEOPLE_MAX) {
    const who = pending.length === 1 ? pending[0] : `one of ${joinWords(pending, 'or')}`;
    return { ...said, whatWouldPass: `the approval of ${who}` };
  }
  return { ...said, ...wishOfConsensus(reading) };
}

const failingIn = (reading: Reading | undefined): readonly Leaf[] =>
  (reading?.leaves ?? []).filter(({ holds }) => holds === false);

function consensusSaid(start: string, reading: Reading | undefined): Said {
  const texts = failingIn(reading).map(({ clause }) => clause.text);
  if (texts.length === 0) return { sentence: [plain(`${start}.`)] };
  return {
    sentence: [plain(`${start}. It asks for: `), finding(joinWords(texts.slice(0, WISHES_MAX), 'and')), plain('.')],
  };
}

function wishOfConsensus(reading: Reading | undefined): Pick<Said, 'whatWouldPass'> {
  const failing = failingIn(reading);
  const wishes = failing.flatMap(({ clause: { wish } }) => wish ?? []);
  return failing.length > 0 && wishes.length === failing.length ? { whatWouldPass: joinWords(wishes, 'and') } : {};
}

const MISSING = /^this request has no (.*)$/s;
const MISSING_KEY = /^there is no key '(.*)'$/s;

function errorSaid({ reason, error }: PolicyEvaluation | VoteEvaluation, isDeny: boolean): Said {
  const missing = MISSING.exec(error?.message ?? '')?.[1];
  const key = MISSING_KEY.exec(error?.message ?? '')?.[1];
  const why =
    reason === 'EXPRESSION_INVALID'
      ? `Its ${error?.expression ?? 'condition'} is no expression of this version of the language`
      : missing !== undefined
        ? `It reads “${missing}”, which this request does not have`
        : key !== undefined
          ? `It reads “${key}”, which this request does not have`
          : `Its ${error?.expression ?? 'condition'} has no value for this request: ${error?.message ?? 'an error'}`;
  const effect =
    reason === 'EVALUATION_ERROR'
      ? isDeny
        ? 'A denial without an answer does not deny.'
        : 'An allow without an answer does not allow.'
      : isDeny
        ? 'A denial denies then.'
        : 'An allow does not allow then.';
  return { sentence: [{ text: `${why}. `, userText: true }, plain(effect)] };
}
