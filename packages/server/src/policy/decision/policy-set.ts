import { NAMESPACES } from '../catalog/namespaces.ts';
import { ALL_TYPES, type TypeSet } from '../catalog/type-set.ts';
import { describeStaticError, type Expression } from '../evaluate/expression.ts';
import type { ExpressionCache } from '../evaluate/expression-cache.ts';
import { descend } from '../language/ast.ts';
import type { ExpressionKind } from '../language/checker.ts';
import type { StaticError } from '../language/errors.ts';
import type { Namespaces } from '../language/structs.ts';
import { type Hazard, hazardOf, possibleTypes } from './concern.ts';
import { type ConsensusShape, shapeOf } from './consensus-shape.ts';
import {
  type Cost,
  type Group,
  indexPolicies,
  NO_COST,
  type PolicyExpressions,
  type PolicyIndex,
  type Sought,
} from './policy-index.ts';

export type PolicyEffect = 'EFFECT_ALLOW' | 'EFFECT_DENY';

/** A policy as it is stored; an absent or empty expression counts as true (protocol/policies 1.3). */
export interface Policy {
  readonly id: string;
  readonly name?: string | undefined;
  readonly effect: PolicyEffect;
  readonly condition?: string | null | undefined;
  readonly consensus?: string | null | undefined;
  readonly time?: string | null | undefined;
}

/** What is wrong with one expression of a policy, ready to be the message of a 400 (protocol/policies 6.1). */
export interface PolicyProblem {
  readonly expression: ExpressionKind;
  readonly error: StaticError;
  readonly message: string;
}

/** Every expression of a policy that would be refused at creation. */
export function checkPolicy(policy: Pick<Policy, ExpressionKind>, cache: ExpressionCache): readonly PolicyProblem[] {
  return (['condition', 'consensus', 'time'] as const).flatMap((expression) => {
    const text = policy[expression] ?? '';
    const compilation = text === '' ? undefined : cache.compile(expression, text);
    if (compilation === undefined || compilation.ok) return [];
    const { error } = compilation;
    return [{ expression, error, message: describeStaticError(expression, text, error) }];
  });
}

/** An expression that was stored but is no longer one of the language. */
export interface InvalidExpression {
  readonly kind: ExpressionKind;
  readonly error: StaticError;
}

export interface PreparedPolicy extends PolicyExpressions {
  readonly policy: Policy;
  readonly invalid: InvalidExpression | undefined;
  /** The activity types for which the condition can be true. */
  readonly types: TypeSet;
  /** When it must be evaluated although its condition cannot be true. */
  readonly hazard: Hazard;
}

/** Policies that are ready to decide requests. Make it once for each state of an organization's policies. */
export interface PolicySet {
  readonly policies: readonly PreparedPolicy[];
  readonly byId: ReadonlyMap<string, PreparedPolicy>;
  /** Those that can concern an activity, in their order. Never leaves one out that could change the decision. */
  concerned(types: TypeSet, present: ReadonlySet<string>): readonly PreparedPolicy[];
  /** Of these, only those whose comparisons hold, and those that may fail (docs/decisions/0048). */
  matching(
    types: TypeSet,
    present: ReadonlySet<string>,
    sought: Sought,
    fits: (leftOut: Cost) => boolean,
  ): Matching | undefined;
}

export interface Matching {
  readonly policies: readonly PreparedPolicy[];
  /** What the policies that were left out would cost at most. */
  readonly leftOut: Cost;
}

const NO_HAZARD: Hazard = { always: false, namespaces: new Set() };
const ANY_HAZARD: Hazard = { always: true, namespaces: new Set() };
const SELECTIONS_KEPT_MAX = 64;

/** What does not depend on the facts of a request. */
interface Selection {
  readonly others: readonly number[];
  readonly groups: readonly Group[];
  readonly leftOut: Cost;
}

export function preparePolicies(policies: readonly Policy[], cache: ExpressionCache): PolicySet {
  const prepared = policies.map((policy) => prepare(policy, cache));
  const selections = new Map<string, Selection>();
  let byId: ReadonlyMap<string, PreparedPolicy> | undefined;
  let index: PolicyIndex | undefined;
  return {
    policies: prepared,
    get byId() {
      byId ??= new Map(prepared.map((candidate) => [candidate.policy.id, candidate]));
      return byId;
    },
    concerned: (types, present) => prepared.filter((candidate) => canConcern(candidate, types, present)),
    matching(types, present, sought, fits) {
      index ??= indexPolicies(prepared);
      const concerns = (position: number): boolean => canConcern(prepared[position] as PreparedPolicy, types, present);
      const key = `${types} ${[...present].join(' ')}`;
      const selection = selections.get(key) ?? {
        others: index.others.filter(concerns),
        groups: index.groups.filter(({ positions }) => positions.some(concerns)),
        leftOut: index.costOf(concerns),
      };
      if (selections.size < SELECTIONS_KEPT_MAX) selections.set(key, selection);
      const { others, groups, leftOut } = selection;
      if (!fits(leftOut)) return undefined;
      const found = index.find(groups, sought).filter(concerns);
      const positions = found.length === 0 ? others : [...new Set([...others, ...found])].sort((a, b) => a - b);
      return { policies: positions.map((position) => prepared[position] as PreparedPolicy), leftOut };
    },
  };
}

/** Some of the policies, as they were prepared: in the order of the ids, as long as their text is not too much. */
export function somePolicies(
  { byId }: PolicySet,
  ids: ReadonlySet<string>,
  charactersMax: number = Number.POSITIVE_INFINITY,
): PolicySet {
  let left = charactersMax;
  const some = [...ids].flatMap((id) => {
    const prepared = byId.get(id);
    if (prepared === undefined) return [];
    const { condition, consensus, time } = prepared;
    left -= [condition, consensus, time].reduce((sum, expression) => sum + (expression?.text.length ?? 0), 0);
    return left >= 0 ? [prepared] : [];
  });
  return { policies: some, byId, concerned: () => some, matching: () => ({ policies: some, leftOut: NO_COST }) };
}

function canConcern({ types: own, hazard }: PreparedPolicy, types: TypeSet, present: ReadonlySet<string>): boolean {
  if ((own & types) !== 0n || hazard.always) return true;
  for (const namespace of hazard.namespaces) if (present.has(namespace)) return true;
  return false;
}

function prepare(policy: Policy, cache: ExpressionCache): PreparedPolicy {
  let invalid: InvalidExpression | undefined;
  const compile = <K extends ExpressionKind>(kind: K, text: string | null | undefined): Expression<K> | undefined => {
    if (text === undefined || text === null || text === '') return undefined;
    const compilation = cache.compile(kind, text);
    if (compilation.ok) return compilation.expression;
    invalid ??= { kind, error: compilation.error };
    return undefined;
  };
  const time = compile('time', policy.time);
  const condition = compile('condition', policy.condition);
  const consensus = compile('consensus', policy.consensus);
  const texts = { policy, time, condition, consensus, invalid };
  if (invalid !== undefined) return { ...texts, types: ALL_TYPES, hazard: NO_HAZARD };
  const types = condition === undefined ? ALL_TYPES : concernOf(condition).types;
  return { ...texts, types, hazard: policyHazard(policy, condition, time) };
}

/** Only a DENY policy can do something by failing. */
function policyHazard(
  { effect }: Policy,
  condition: Expression<'condition'> | undefined,
  time: Expression<'time'> | undefined,
): Hazard {
  if (effect === 'EFFECT_ALLOW' || condition === undefined) return NO_HAZARD;
  const timeLoops = time !== undefined && [...descend(time.tree.root)].some(({ kind }) => kind === 'quantifier');
  return timeLoops ? ANY_HAZARD : concernOf(condition).hazard;
}

type Concern = Pick<PreparedPolicy, 'types' | 'hazard'>;

// Expressions are shared by text, so what was found out about one is kept for as long as the expression itself.
const concerns = new WeakMap<Expression<'condition'>, Concern>();
const shapes = new WeakMap<Expression<'consensus'>, ConsensusShape>();

function concernOf(condition: Expression<'condition'>): Concern {
  const known = concerns.get(condition);
  if (known !== undefined) return known;
  const concern: Concern = { types: possibleTypes(condition.tree).true, hazard: hazardOf(condition.tree) };
  concerns.set(condition, concern);
  return concern;
}

/** What a consensus asks of approvers. */
export function consensusShape(expression: Expression<'consensus'>): ConsensusShape {
  const known = shapes.get(expression);
  if (known !== undefined) return known;
  const shape = shapeOf(expression.tree);
  shapes.set(expression, shape);
  return shape;
}

/** The namespaces that a request has; parameters always exist. */
export function presentNamespaces(requests: readonly Namespaces[]): ReadonlySet<string> {
  const present = new Set(['activity.params']);
  for (const request of requests) {
    for (const namespace of NAMESPACES) {
      const [root = '', member] = namespace.split('.');
      const facts = (request as Readonly<Record<string, unknown>>)[root];
      const found = member === undefined ? facts : (facts as Record<string, unknown> | undefined)?.[member];
      if (found !== undefined) present.add(namespace);
    }
  }
  return present;
}
