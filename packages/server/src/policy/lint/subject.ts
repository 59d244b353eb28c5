import { ALL_TYPES, type TypeSet } from '../catalog/type-set.ts';
import { possibleTypes, typeFactOf } from '../decision/concern.ts';
import type { PreparedPolicy } from '../decision/policy-set.ts';
import type { Expression } from '../evaluate/expression.ts';
import { descend, type Node } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { namespacesRead } from '../language/paths.ts';
import { printTree } from '../language/printer.ts';
import { conjunctsOf, type Demand, type Domain, demandOf, domainsOf } from './domain.ts';

/** One of the parts that must all be true, with what comparing it with other policies needs. */
export interface Claim {
  readonly node: Node;
  /** In canonical text. */
  readonly text: string;
  /** The types for which it may be false, if it asks for nothing but types. */
  readonly typesFalse: TypeSet | undefined;
  readonly demand: Demand | undefined;
}

/** A policy with what comparing it with many others needs, found once. */
export interface Subject {
  readonly prepared: PreparedPolicy;
  readonly claims: readonly Claim[];
  readonly texts: ReadonlySet<string>;
  readonly domains: ReadonlyMap<string, Domain>;
  readonly types: TypeSet;
  readonly reads: ReadonlySet<string>;
}

type Findings = Omit<Subject, 'prepared'>;

const UNCONDITIONAL: Findings = {
  claims: [],
  texts: new Set(),
  domains: new Map(),
  types: ALL_TYPES,
  reads: new Set(),
};

// Expressions are shared by text, so what was found out about one is kept for as long as the expression itself.
const known = new WeakMap<Expression<'condition'>, Findings>();

export function subjectOf(prepared: PreparedPolicy): Subject {
  const { condition } = prepared;
  if (condition === undefined) return { prepared, ...UNCONDITIONAL };
  let findings = known.get(condition);
  if (findings === undefined) {
    findings = studyCondition(condition.tree);
    known.set(condition, findings);
  }
  return { prepared, ...findings };
}

function studyCondition(tree: CheckedTree): Findings {
  const conjuncts = conjunctsOf(tree.root);
  const claims = conjuncts.map(
    (node): Claim => ({
      node,
      text: printTree(node),
      typesFalse: asksOnlyForTypes(tree, node) ? possibleTypes(tree, node).false : undefined,
      demand: demandOf(tree, node),
    }),
  );
  return {
    claims,
    texts: new Set(claims.map(({ text }) => text)),
    domains: domainsOf(tree, conjuncts),
    types: possibleTypes(tree).true,
    reads: namespacesRead(tree),
  };
}

/** Whether a part reads nothing but the type, kind, resource and action of the activity, in ways that cannot fail. */
function asksOnlyForTypes(tree: CheckedTree, node: Node): boolean {
  const parts = [...descend(node)];
  const isSimple = parts.every(({ kind }) => kind !== 'quantifier' && kind !== 'index' && kind !== 'slice');
  const names = parts.filter(({ kind }) => kind === 'name').length;
  return isSimple && names === parts.filter((part) => typeFactOf(tree, part) !== undefined).length;
}
