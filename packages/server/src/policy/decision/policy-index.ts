import { compileNode } from '../evaluate/compile.ts';
import type { Expression } from '../evaluate/expression.ts';
import type { Frame, Run } from '../evaluate/frame.ts';
import { textOf } from '../evaluate/values.ts';
import { RuntimeFailure } from '../language/errors.ts';
import type { ConditionFacts, PolicyUser } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { matchesOf, namedApprovers } from './approver-requirements.ts';
import {
  type Comparisons,
  comparisonsOf,
  isUsable,
  type Match,
  type Read,
  type Requirement,
  spellingOf,
  stepsOfTime,
} from './requirements.ts';

/** The expressions of a policy, as far as they are valid. */
export interface PolicyExpressions {
  readonly condition: Expression<'condition'> | undefined;
  readonly consensus: Expression<'consensus'> | undefined;
  readonly time: Expression<'time'> | undefined;
  /** What is wrong with one of them; undefined for nothing. */
  readonly invalid: object | undefined;
}

/** What a decision is about, as far as policies are found by it. */
export interface Sought {
  /** One for each element of the request. */
  readonly conditions: readonly ConditionFacts[];
  readonly approvers: readonly PolicyUser[];
}

/** Policies by what they compare (docs/decisions/0048). Positions are those in the list that was indexed. */
export interface PolicyIndex {
  /** The policies that no comparison finds, in their order. */
  readonly others: readonly number[];
  /**
   * Of the rest, those that may come to something else than an inactive time, a false condition, or a consensus that no
   * approver is part of; in no order, and some of them twice.
   */
  find(groups: readonly Group[], sought: Sought): readonly number[];
  /** The rest, by what they read. */
  readonly groups: readonly Group[];
  /** What the policies at these positions cost at most while `find` leaves them out. */
  costOf(isIncluded: (position: number) => boolean): Cost;
}

/** Steps of evaluations, and of searches for approvals that could still come. */
export interface Cost {
  readonly once: number;
  readonly perElement: number;
  /** By what `weightOfApprovers` counts. */
  readonly perApprover: number;
}

/**
 * A match for so many characters of policies, each of which counts a hundred more, as for the cache that keeps them: the
 * index takes a fifth of what the compiled policies take at most. Policies beyond are evaluated.
 */
const CHARACTERS_PER_MATCH = 40;

const roomFor = (policies: readonly PolicyExpressions[]): number =>
  policies.reduce(
    (sum, { condition, consensus, time }) =>
      [condition, consensus, time].reduce((all, expression) => all + (expression?.text.length ?? 0), sum + 100),
    0,
  ) / CHARACTERS_PER_MATCH;

export const NO_COST: Cost = { once: 0, perElement: 0, perApprover: 0 };

/** A policy that can be found. */
interface Findable {
  readonly position: number;
  readonly reads: readonly Read[];
  readonly requirements: readonly Requirement[];
  /** The last of the requirements, if the consensus has one. */
  readonly named: Requirement | undefined;
  readonly steps: { readonly time: number; readonly condition: number; readonly consensus: number };
}

/** A read, compiled once for all policies. */
interface Column {
  readonly name: string;
  readonly type: Read['type'];
  readonly run: Run;
}

/** The policies that read the same: a comparison counts only where all of it can be read. */
export interface Group {
  readonly columns: readonly Column[];
  readonly namesApprovers: boolean;
  readonly positions: number[];
}

export function indexPolicies(policies: readonly PolicyExpressions[], matchesMax = roomFor(policies)): PolicyIndex {
  const others: number[] = [];
  const findable: Findable[] = [];
  let room = matchesMax;
  for (const [position, policy] of policies.entries()) {
    const one = room > 0 ? findableAs(position, policy) : undefined;
    if (one === undefined) others.push(position);
    else findable.push(one);
    room -= one?.requirements.reduce((sum, { length }) => sum + length, 0) ?? 0;
  }
  const crowds = new Table<number>();
  for (const { requirements } of findable) {
    for (const { column, value } of requirements.flat()) {
      crowds.set(column, value, (crowds.get(column, value) ?? 0) + 1);
    }
  }
  const columns = new Map<string, Column>();
  const columnFor = ({ column: name, type, tree, node }: Read): Column => {
    const column = columns.get(name) ?? { name, type, run: compileNode(tree, node) };
    columns.set(name, column);
    return column;
  };
  const groups = new Map<string, Group>();
  const positions = new Table<number[]>();
  const costs = new Map<number, Cost>();
  for (const { position, reads, requirements, named, steps } of findable) {
    const requirement = rarest(requirements, crowds);
    const namesApprovers = requirement === named;
    const key = [String(namesApprovers), ...reads.map(({ column }) => column).sort()].join(' ');
    const group = groups.get(key) ?? { columns: reads.map(columnFor), namesApprovers, positions: [] };
    groups.set(key, group);
    group.positions.push(position);
    costs.set(position, {
      once: steps.time + (namesApprovers ? steps.consensus : 0),
      perElement: steps.condition,
      perApprover: namesApprovers ? 2 * steps.consensus : 0,
    });
    for (const { column, value } of requirement) {
      const bucket = positions.get(column, value) ?? [];
      positions.set(column, value, bucket);
      bucket.push(position);
    }
  }
  return {
    others,
    groups: [...groups.values()],
    find: (some, sought) => find(some, positions, sought),
    costOf: (isIncluded) => sumOf([...costs].flatMap(([position, cost]) => (isIncluded(position) ? [cost] : []))),
  };
}

const sumOf = (costs: readonly Cost[]): Cost =>
  costs.reduce(
    (sum, { once, perElement, perApprover }) => ({
      once: sum.once + once,
      perElement: sum.perElement + perElement,
      perApprover: sum.perApprover + perApprover,
    }),
    NO_COST,
  );

function find(groups: readonly Group[], positions: Table<number[]>, { conditions, approvers }: Sought): number[] {
  const approving = matchesOf(approvers);
  const found: number[] = [];
  const add = ({ column, value }: Match): void => {
    for (const position of positions.get(column, value) ?? []) found.push(position);
  };
  for (const match of approving ?? []) add(match);
  const usable = new Map<string, boolean>();
  const use = ({ name, type, run }: Column): boolean => {
    const known = usable.get(name);
    if (known !== undefined) return known;
    const longest = positions.longest(name);
    const isUsed = conditions.every((facts) => {
      const value = readValue(run, facts);
      if (value === undefined || !isUsable(type, value)) return false;
      for (const item of type.kind === 'list' ? (value as readonly unknown[]) : [value]) {
        // No literal is as long, so a long text need not be looked at.
        if ((textOf(item)?.length ?? 0) <= longest) add({ column: name, value: spellingOf(item) });
      }
      return true;
    });
    usable.set(name, isUsed);
    return isUsed;
  };
  for (const group of groups) {
    const isSure = (!group.namesApprovers || approving !== undefined) && group.columns.every(use);
    if (!isSure) for (const position of group.positions) found.push(position);
  }
  return found;
}

/** As an evaluation would read it; undefined where that fails. */
function readValue(run: Run, facts: ConditionFacts): unknown {
  const frame: Frame = { roots: facts, slots: [], fuel: POLICY_LIMITS.steps };
  try {
    return run(frame);
  } catch (error) {
    if (error instanceof RuntimeFailure) return undefined;
    throw error;
  }
}

/** The requirement that the fewest other policies share. */
function rarest(requirements: readonly Requirement[], crowds: Table<number>): Requirement {
  const crowdOf = (requirement: Requirement): number =>
    requirement.reduce((most, { column, value }) => Math.max(most, crowds.get(column, value) ?? 0), 0);
  return requirements.reduce((best, next) => {
    const [least, crowd] = [crowdOf(best), crowdOf(next)];
    return crowd < least || (crowd === least && next.length < best.length) ? next : best;
  });
}

// Expressions are shared by text, so what was found out about one is kept for as long as the expression itself.
const ofConditions = new WeakMap<Expression<'condition'>, Comparisons | 'none'>();
const ofConsensuses = new WeakMap<Expression<'consensus'>, Requirement | 'none'>();

const kept = <E extends object, T>(cache: WeakMap<E, T | 'none'>, key: E, make: () => T | undefined): T | undefined => {
  const known = cache.get(key) ?? make() ?? 'none';
  cache.set(key, known);
  return known === 'none' ? undefined : known;
};

/** What a policy can be found by, or undefined for one that has to be evaluated. */
function findableAs(
  position: number,
  { condition, consensus, time, invalid }: PolicyExpressions,
): Findable | undefined {
  const timeSteps = time === undefined ? 0 : stepsOfTime(time.tree);
  if (invalid !== undefined || timeSteps === undefined) return undefined;
  const comparisons =
    condition === undefined ? NOTHING : kept(ofConditions, condition, () => comparisonsOf(condition.tree));
  if (comparisons === undefined) return undefined;
  const named =
    consensus === undefined ? undefined : kept(ofConsensuses, consensus, () => namedApprovers(consensus.tree));
  const requirements = named === undefined ? comparisons.requirements : [...comparisons.requirements, named];
  if (requirements.length === 0) return undefined;
  const { evaluationSteps } = POLICY_LIMITS;
  const steps = {
    time: timeSteps + evaluationSteps,
    condition: comparisons.steps + evaluationSteps,
    consensus: (consensus?.tree.nodeCount ?? 0) + evaluationSteps,
  };
  return { position, reads: comparisons.reads, requirements, named, steps };
}

const NOTHING: Comparisons = { reads: [], requirements: [], steps: 0 };

/** Entries by column and value. */
class Table<T> {
  readonly #columns = new Map<string, { readonly values: Map<string, T>; longest: number }>();

  get(column: string, value: string): T | undefined {
    return this.#columns.get(column)?.values.get(value);
  }

  set(column: string, value: string, entry: T): void {
    const home = this.#columns.get(column) ?? { values: new Map<string, T>(), longest: KEY_LENGTH };
    this.#columns.set(column, home);
    home.values.set(value, entry);
    home.longest = Math.max(home.longest, value.length);
  }

  /** The length of the longest spelling of a value in this column. */
  longest(column: string): number {
    return this.#columns.get(column)?.longest ?? -1;
  }
}

/** A public key is longest with both coordinates, and kept by the spelling with one. */
const KEY_LENGTH = 130;
