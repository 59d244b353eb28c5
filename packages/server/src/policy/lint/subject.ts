import { ALL_TYPES, type TypeSet } from '../catalog/type-set.ts';
import { possibleTypes } from '../decision/concern.ts';
import type { PreparedPolicy } from '../decision/policy-set.ts';
import type { Node } from '../language/ast.ts';
import { printTree } from '../language/printer.ts';
import { conjunctsOf, type Domain, domainsOf } from './domain.ts';

/** A policy with what comparing it with many others needs, found once. */
export interface Subject {
  readonly prepared: PreparedPolicy;
  readonly conjuncts: readonly Node[];
  /** The conjuncts in canonical text. */
  readonly texts: ReadonlySet<string>;
  readonly domains: ReadonlyMap<string, Domain>;
  readonly types: TypeSet;
}

export function subjectOf(prepared: PreparedPolicy): Subject {
  const tree = prepared.condition?.tree;
  if (tree === undefined) return { prepared, conjuncts: [], texts: new Set(), domains: new Map(), types: ALL_TYPES };
  const conjuncts = conjunctsOf(tree.root);
  return {
    prepared,
    conjuncts,
    texts: new Set(conjuncts.map(printTree)),
    domains: domainsOf(tree, conjuncts),
    types: possibleTypes(tree).true,
  };
}
