import { plain, type TextPart } from '../../lib/text-part.ts';
import { compileExpression, type Expression } from '../evaluate/expression.ts';
import type { ExpressionCache } from '../evaluate/expression-cache.ts';
import type { ExpressionKind } from '../language/checker.ts';
import { clauseOf } from '../words/clauses.ts';
import { type Context, contextOfTree, labelOf } from '../words/context.ts';
import { sayNumber, sayValue } from '../words/literals.ts';
import { type Names, NO_NAMES } from '../words/names.ts';
import { NO_SCOPE, subjectOf } from '../words/subjects.ts';
import { cut, joinWords } from '../words/wording.ts';
import { type Claim, failsAsOften, type Limit, type Shift, type Side, shiftOf, sideOf } from './implication.ts';

/** A policy as it is stored or proposed; an absent or empty expression counts as true. */
export interface PolicyText {
  readonly policyName?: string | undefined;
  readonly effect: string;
  readonly condition?: string | undefined;
  readonly consensus?: string | undefined;
  readonly time?: string | undefined;
  readonly notes?: string | undefined;
}

/** What a change does to what can be done: more, less, or something that cannot be told. */
export type Direction = 'WIDEN' | 'NARROW' | 'CHANGE';

export interface PolicyComparison {
  readonly direction: Direction;
  /** Each a clause without a full stop: "the limit rises from 1,000 to 5,000 USDC". */
  readonly changes: readonly (readonly TextPart[])[];
}

export interface CompareOptions {
  readonly names?: Names;
  readonly cache?: ExpressionCache;
}

const CHANGES_MAX = 8;
const LISTED_MAX = 3;

/**
 * What a change of a policy means. Absent before: it is created; absent after: it is deleted. A direction is claimed
 * only where the texts prove it: conjuncts added or removed, numeric limits and lists of literals, effect and time.
 */
export function comparePolicies(
  before: PolicyText | undefined,
  after: PolicyText | undefined,
  { names = NO_NAMES, cache }: CompareOptions = {},
): PolicyComparison {
  const isDeny = (policy: PolicyText): boolean => policy.effect === 'EFFECT_DENY';
  if (before === undefined || after === undefined) {
    const only = before ?? after;
    if (only === undefined) return { direction: 'CHANGE', changes: [] };
    const adds = before === undefined;
    return { direction: adds === isDeny(only) ? 'NARROW' : 'WIDEN', changes: [] };
  }
  const sides = (['condition', 'consensus', 'time'] as const).map((kind) => studyOf(kind, before, after, names, cache));
  const changes = sides.flatMap((side) => side.changes);
  if (isDeny(before) !== isDeny(after)) {
    const said = isDeny(after) ? 'it denies what it allowed' : 'it allows what it denied';
    return { direction: isDeny(after) ? 'NARROW' : 'WIDEN', changes: bounded([said, ...changes]) };
  }
  const shift = sides.map((side) => side.shift).reduce(together);
  const renamed =
    before.policyName !== undefined && after.policyName !== undefined && before.policyName !== after.policyName
      ? [`the name changes from “${cut(before.policyName, 80)}” to “${cut(after.policyName, 80)}”`]
      : [];
  return { direction: directionOf(shift, isDeny(after), sides[0]), changes: bounded([...changes, ...renamed]) };
}

const together = (one: Shift, other: Shift): Shift => {
  if (one === 'SAME') return other;
  return other === 'SAME' || other === one ? one : 'OTHER';
};

function directionOf(shift: Shift, isDeny: boolean, condition: Study | undefined): Direction {
  if (shift !== 'WIDER' && shift !== 'NARROWER') return 'CHANGE';
  if (!isDeny) return shift === 'WIDER' ? 'WIDEN' : 'NARROW';
  const [before, after] = [condition?.before, condition?.after];
  if (before === undefined || after === undefined) return 'CHANGE';
  // A denial also denies when it fails in certain ways, which a removed part no longer does.
  if (shift === 'WIDER') return failsAsOften(before, after) ? 'NARROW' : 'CHANGE';
  return failsAsOften(after, before) ? 'WIDEN' : 'CHANGE';
}

const bounded = (texts: readonly string[]): TextPart[][] => {
  const shown = texts.slice(0, CHANGES_MAX).map((text): TextPart[] => [{ text, userText: true }]);
  const left = texts.length - shown.length;
  return left > 0 ? [...shown, [plain(`${left} more changes`)]] : shown;
};

interface Study {
  readonly shift: Shift;
  readonly changes: readonly string[];
  readonly before: Side | undefined;
  readonly after: Side | undefined;
}

function studyOf(
  kind: ExpressionKind,
  before: PolicyText,
  after: PolicyText,
  names: Names,
  cache: ExpressionCache | undefined,
): Study {
  const [old, next] = [before[kind] ?? '', after[kind] ?? ''];
  const [oldExpression, nextExpression] = [old, next].map((text) => compiled(kind, text, cache));
  const isReadable = oldExpression !== 'invalid' && nextExpression !== 'invalid';
  if (!isReadable) {
    const changes = old === next ? [] : [`the ${kind} changes, and one of its texts cannot be read`];
    return { shift: old === next ? 'SAME' : 'OTHER', changes, before: undefined, after: undefined };
  }
  const sides = { before: sideOf(oldExpression), after: sideOf(nextExpression) };
  const shift = old === next ? 'SAME' : shiftOf(sides.before, sides.after);
  if (shift === 'SAME') return { shift, changes: [], ...sides };
  const { before: from, after: to } = sides;
  if (from === undefined || to === undefined) return { shift, changes: [`the ${kind} changes`], ...sides };
  const changes = kind === 'condition' ? conditionChanges(from, to, names) : wholeChange(kind, from, to, names);
  return { shift, changes, ...sides };
}

function compiled(
  kind: ExpressionKind,
  text: string,
  cache: ExpressionCache | undefined,
): Expression | 'invalid' | undefined {
  if (text === '') return undefined;
  const compilation = cache === undefined ? compileExpression(kind, text) : cache.compile(kind, text);
  return compilation.ok ? compilation.expression : 'invalid';
}

const contextFor = ({ tree, claims }: Side, names: Names): Context =>
  tree === undefined
    ? { names, isCall: false }
    : contextOfTree(
        tree.root,
        claims.map(({ node }) => node),
        names,
      );

const textIn = (side: Side, names: Names): string => {
  const context = contextFor(side, names);
  return joinWords(
    side.claims.slice(0, LISTED_MAX).map(({ node }) => clauseOf(node, context, NO_SCOPE).text),
    'and',
  );
};

/** Approvals and times are short: the whole of before and after says most. */
function wholeChange(kind: 'consensus' | 'time', from: Side, to: Side, names: Names): string[] {
  const [old, next] = [textIn(from, names), textIn(to, names)];
  if (kind === 'consensus') {
    if (from.claims.length === 0) return [`approvals are now asked for: ${next}`];
    if (to.claims.length === 0) return [`approvals are no longer asked for: ${old}`];
    return [`the approvals change from “${old}” to “${next}”`];
  }
  if (from.claims.length === 0) return [`it now applies only while ${next}`];
  if (to.claims.length === 0) return [`it now applies always, no longer only while ${old}`];
  return [`the time changes from “${old}” to “${next}”`];
}

function conditionChanges(from: Side, to: Side, names: Names): string[] {
  const removed = from.claims.filter(({ text }) => !to.claims.some((claim) => claim.text === text));
  const added = to.claims.filter(({ text }) => !from.claims.some((claim) => claim.text === text));
  const contexts = { old: contextFor(from, names), next: contextFor(to, names) };
  const changes: string[] = [];
  const paired = new Set<Claim>();
  for (const old of removed) {
    const match = added.find((next) => !paired.has(next) && isSameLimit(old.limit, next.limit));
    if (match === undefined) {
      changes.push(lifted(old, contexts.old));
      continue;
    }
    paired.add(match);
    changes.push(...moved(old.limit as Limit, match.limit as Limit, contexts.old, contexts.next));
  }
  return [...changes, ...added.filter((next) => !paired.has(next)).map((next) => imposed(next, contexts.next))];
}

const isSameLimit = (one: Limit | undefined, other: Limit | undefined): boolean =>
  one !== undefined && one.kind === other?.kind && one.key === other.key;

/** "recipients", for what a set of literals limits. */
const plural = (label: string): string => (label.endsWith('s') ? label : `${label}s`);

function lifted({ node, limit }: Claim, context: Context): string {
  const said = limit && limitWords(limit, context);
  if (said === undefined) return `no longer required: ${clauseOf(node, context, NO_SCOPE).text}`;
  return said.isSet
    ? `${plural(said.label)} are no longer limited to ${said.text}`
    : `the ${said.label} is no longer limited to ${said.text}`;
}

function imposed({ node, limit }: Claim, context: Context): string {
  const said = limit && limitWords(limit, context);
  if (said === undefined) return `now also required: ${clauseOf(node, context, NO_SCOPE).text}`;
  return said.isSet
    ? `${plural(said.label)} are now limited to ${said.text}`
    : `the ${said.label} is now limited to ${said.text}`;
}

function limitWords(
  limit: Limit,
  context: Context,
): { readonly label: string; readonly text: string; readonly isSet: boolean } | undefined {
  const subject = subjectOf(limit.read, NO_SCOPE);
  if (subject === undefined) return undefined;
  const label = labelOf(subject, context);
  if (limit.kind !== 'set') {
    return {
      label,
      text: `at ${limit.kind === 'max' ? 'most' : 'least'} ${sayNumber(limit.bound, subject, context)}`,
      isSet: false,
    };
  }
  const values = [...limit.values];
  const noun = subject.form === 'address' || label === 'recipient' ? 'addresses' : 'values';
  const text =
    values.length > LISTED_MAX || (noun === 'addresses' && values.length > 1)
      ? `${values.length} ${noun}`
      : joinWords(
          values.map((value) => sayValue(value, subject, context)),
          'and',
        );
  return { label, text, isSet: true };
}

function moved(old: Limit, next: Limit, oldContext: Context, nextContext: Context): string[] {
  const subject = subjectOf(next.read, NO_SCOPE);
  if (subject === undefined) return [`the limit of \`${cut(next.key, 80)}\` changes`];
  const label = labelOf(subject, nextContext);
  if (next.kind === 'set')
    return movedSet(old, next, label, (value, context) => sayValue(value, subject, context), oldContext, nextContext);
  const [from, to] = [sayNumber(old.bound, subject, oldContext), sayNumber(next.bound, subject, nextContext)];
  const unit = /\u00a0[^\u00a0]+$/.exec(to)?.[0];
  const short = unit !== undefined && from.endsWith(unit) ? from.slice(0, -unit.length) : from;
  const what = `the ${next.kind === 'max' ? '' : 'lower '}limit${label === 'amount' ? '' : ` of the ${label}`}`;
  return [`${what} ${next.bound > old.bound ? 'rises' : 'falls'} from ${short} to ${to}`];
}

function movedSet(
  old: Limit,
  next: Limit,
  label: string,
  say: (value: string, context: Context) => string,
  oldContext: Context,
  nextContext: Context,
): string[] {
  const added = [...next.values].filter((value) => !old.values.has(value));
  const removed = [...old.values].filter((value) => !next.values.has(value));
  const listed = (values: readonly string[], context: Context): string =>
    values.length > LISTED_MAX
      ? `${values.length} more`
      : joinWords(
          values.map((value) => say(value, context)),
          'and',
        );
  if (old.values.size === 1 && next.values.size === 1) {
    return [`the ${label} changes from ${listed(removed, oldContext)} to ${listed(added, nextContext)}`];
  }
  return [
    ...(added.length > 0 ? [`${plural(label)} now include ${listed(added, nextContext)}`] : []),
    ...(removed.length > 0 ? [`${plural(label)} no longer include ${listed(removed, oldContext)}`] : []),
  ];
}
