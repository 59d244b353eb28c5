import { GOVERNED_TYPES, type GovernedType } from '../catalog/activity-facts.ts';
import { isKnownValue, OTHER_TYPES, type TypeFact, typesIn, valuesOf } from '../catalog/type-set.ts';
import { possibleTypes, typeFactOf } from '../decision/concern.ts';
import type { PreparedPolicy } from '../decision/policy-set.ts';
import { compileNode } from '../evaluate/compile.ts';
import { constantOf } from '../evaluate/constants.ts';
import type { Expression } from '../evaluate/expression.ts';
import { type CompareNode, childrenOf, descend, type MethodNode, type Node } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { RuntimeFailure } from '../language/errors.ts';
import { alwaysEvaluated } from '../language/paths.ts';
import { printTree } from '../language/printer.ts';
import { fieldOf } from '../language/types.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { instantFromMs } from '../time/timestamp.ts';
import { canBeTrue, conjunctsOf, domainsOf } from './domain.ts';
import type { LintFinding } from './findings.ts';
import { feasibleAlternatives, readsOf } from './reads.ts';

/** Larger policies are written by programs, and looking at every pair of their parts would take long. */
const NODES_MAX = 2_000;
/** A few examples of one mistake are enough. */
const UNKNOWN_VALUES_MAX = 10;
const SHOWN_MAX = 64;

/** Findings about the expressions of one policy by themselves. */
export function lintExpressions(prepared: PreparedPolicy, nowMs: number | undefined): LintFinding[] {
  const { policy, invalid, condition, consensus, time } = prepared;
  if (invalid !== undefined) {
    const { message, code, start, end } = invalid.error;
    const about = { policyId: policy.id, expression: invalid.kind, span: { start, end } };
    return [{ code: 'EXPRESSION_INVALID', message: `${message} (${code})`, ...about }];
  }
  const nodes = [time, condition, consensus].reduce((sum, expression) => sum + (expression?.tree.nodeCount ?? 0), 0);
  if (nodes > NODES_MAX) return [];
  return [
    ...(time === undefined ? [] : lintTruth(policy.id, time)),
    ...(time === undefined || nowMs === undefined ? [] : lintElapsed(policy.id, time, nowMs)),
    ...(condition === undefined ? [] : lintCondition(prepared, condition)),
    ...(consensus === undefined ? [] : lintTruth(policy.id, consensus)),
  ];
}

function lintCondition({ policy }: PreparedPolicy, condition: Expression<'condition'>): LintFinding[] {
  const findings = lintTruth(policy.id, condition);
  findings.push(
    ...unknownValues(condition.tree)
      .slice(0, UNKNOWN_VALUES_MAX)
      .map((finding) => ({ ...finding, policyId: policy.id })),
  );
  if (policy.effect === 'EFFECT_DENY') {
    const weak = weakPart(condition.tree);
    if (weak !== undefined) {
      findings.push({
        code: 'DENY_CAN_BE_SWITCHED_OFF',
        policyId: policy.id,
        expression: 'condition',
        span: { start: weak.start, end: weak.end },
        message:
          'this part can fail on a request that is made so, and a denial that fails does not deny, whatever the rest of it says; ' +
          'give it a policy of its own, or allow what is wanted instead of denying what is not',
      });
    }
  }
  if (findings.length === 0) findings.push(...lintReads(policy.id, condition.tree));
  return findings;
}

/** Expressions that are the same for every request, or contradict themselves. */
function lintTruth(policyId: string, { tree, kind }: Expression): LintFinding[] {
  const failing = failingConstant(tree);
  if (failing !== undefined) {
    const { node, failure } = failing;
    const span = { start: node.start, end: node.end };
    const message = `this always fails with ${failure.code}: ${failure.message}`;
    return [{ code: 'ALWAYS_ERRORS', policyId, expression: kind, span, message }];
  }
  const isFalse = isConstant(tree.root) ? constantValue(tree, tree.root) === false : !canBeTrue(tree, tree.root);
  if (isFalse) {
    const message = `the ${kind} can never be true: it contradicts itself`;
    return [{ code: 'NEVER_MATCHES', policyId, expression: kind, message }];
  }
  if (kind === 'condition' && (possibleTypes(tree).true & ~OTHER_TYPES) === 0n) {
    const message = 'no activity has the type, kind, resource and action that the condition asks for together';
    return [{ code: 'NEVER_MATCHES', policyId, expression: kind, message }];
  }
  return [];
}

function lintElapsed(policyId: string, { tree }: Expression<'time'>, nowMs: number): LintFinding[] {
  const latest = domainsOf(tree, conjunctsOf(tree.root)).get('time.now')?.max;
  if (latest === undefined || latest >= instantFromMs(nowMs)) return [];
  const message = 'the time in which this policy applies has passed';
  return [{ code: 'NEVER_MATCHES', policyId, expression: 'time', message }];
}

const isConstant = (node: Node): boolean =>
  ![...descend(node)].some(({ kind }) => kind === 'name' || kind === 'call' || kind === 'quantifier');

function constantValue(tree: CheckedTree, node: Node): unknown {
  const frame = { roots: {}, slots: new Array(tree.slotCount), fuel: POLICY_LIMITS.steps };
  try {
    return compileNode(tree, node)(frame);
  } catch (error) {
    if (error instanceof RuntimeFailure) return error;
    throw error;
  }
}

/** The first part without keywords that fails, which it then does on every request. */
function failingConstant(tree: CheckedTree): { readonly node: Node; readonly failure: RuntimeFailure } | undefined {
  for (const node of alwaysEvaluated(tree.root)) {
    const isAccess = node.kind === 'index' || node.kind === 'slice' || node.kind === 'method';
    if (!isAccess || !isConstant(node)) continue;
    const value = constantValue(tree, node);
    if (value instanceof RuntimeFailure) return { node, failure: value };
  }
  return undefined;
}

/** Comparisons of `activity.kind` and the like with values that do not occur. */
function unknownValues(tree: CheckedTree): Omit<LintFinding, 'policyId'>[] {
  const findings: Omit<LintFinding, 'policyId'>[] = [];
  for (const node of descend(tree.root)) {
    for (const { fact, value, at } of valuesCompared(tree, node)) {
      if (isKnownValue(fact, value)) continue;
      findings.push({
        code: 'UNKNOWN_ACTIVITY_VALUE',
        expression: 'condition',
        span: { start: at.start, end: at.end },
        message: `no activity has the ${fact} ${value.slice(0, SHOWN_MAX)}${suggestion(fact, value)}`,
      });
    }
  }
  return findings;
}

interface Compared {
  readonly fact: TypeFact;
  readonly value: string;
  readonly at: Node;
}

function valuesCompared(tree: CheckedTree, node: Node): readonly Compared[] {
  const pairs: readonly (readonly [Node, Node])[] =
    node.kind === 'compare'
      ? [
          [(node as CompareNode).left, node.right],
          [node.right, node.left],
        ]
      : node.kind === 'method' && node.name === 'contains'
        ? [[(node as MethodNode).args[0] as Node, node.target]]
        : [];
  return pairs.flatMap(([subject, literal]) => {
    const fact = typeFactOf(tree, subject);
    const values = literal.kind === 'string' ? [literal.value] : (constantOf(literal) ?? []);
    return fact === undefined ? [] : values.map((value) => ({ fact, value: String(value), at: literal }));
  });
}

/** What was probably meant: another fact's value, or the same with or without the prefix of types. */
function suggestion(fact: TypeFact, value: string): string {
  const bare = value.replace(/^ACTIVITY_TYPE_/, '').replace(/_V[0-9]+$/, '');
  const guesses = [value.toUpperCase(), bare, `ACTIVITY_TYPE_${bare}`];
  const same = guesses.find((guess) => isKnownValue(fact, guess));
  if (same !== undefined) return `, did you mean ${same}?`;
  const other = (['type', 'kind', 'resource', 'action'] as const).find((name) => isKnownValue(name, value));
  if (other !== undefined) return `, that is a value of activity.${other}`;
  const known = valuesOf(fact);
  return known.length > 30 ? '' : `; there are ${known.join(', ')}`;
}

/** Reads that fail on every activity, or on every activity that the condition asks for. */
function lintReads(policyId: string, tree: CheckedTree): LintFinding[] {
  const reads = readsOf(tree);
  const domains = domainsOf(tree, conjunctsOf(tree.root));
  const isFeasible = (row: GovernedType): boolean => feasibleAlternatives(reads, domains, row).length > 0;
  const { namespaces, params } = reads;
  const read = [...namespaces, ...[...params].map((name) => `activity.params.${name}`)].join(', ');
  if (!GOVERNED_TYPES.some(isFeasible)) {
    const message = `no request has all of ${read}, and both sides of && and || are always evaluated: split the policy`;
    return [{ code: 'ALWAYS_ERRORS', policyId, expression: 'condition', message }];
  }
  if (!typesIn(possibleTypes(tree).true).some(isFeasible)) {
    const message = `the activities that the condition asks for never have all of ${read}`;
    return [{ code: 'FIELD_NEVER_PRESENT', policyId, expression: 'condition', message }];
  }
  return [];
}

/**
 * What is there only if the bytes of a call decode exactly as the interface says; whoever writes the bytes can see to
 * it.
 */
const DECODED = new Set(['contract_call_args', 'parsed_instruction_data']);

/** A part of a denial that can fail while another part would deny: one side of an or, or the body of a lambda. */
function weakPart(tree: CheckedTree): Node | undefined {
  for (const node of descend(tree.root)) {
    if (node.kind === 'field' && DECODED.has(node.name)) return node;
    if (node.kind === 'quantifier') {
      const [weak] = failingParts(tree, node.body).values();
      if (weak !== undefined) return weak;
    }
    if (node.kind !== 'logic' || node.operator !== '||') continue;
    const sides = node.operands.map((operand) => failingParts(tree, operand));
    for (const side of sides) {
      // What stands on all sides takes nothing away that another side could still deny.
      for (const [text, part] of side) if (!sides.every((other) => other.has(text))) return part;
    }
  }
  return undefined;
}

const failingParts = (tree: CheckedTree, node: Node): ReadonlyMap<string, Node> =>
  new Map([...descend(node)].filter((part) => canFail(tree, part)).map((part) => [printTree(part), part]));

/** Parts whose failure depends on what a request contains, not on what kind of request it is. */
function canFail(tree: CheckedTree, node: Node): boolean {
  switch (node.kind) {
    case 'index':
    case 'slice':
      return !isConstant(node);
    case 'method':
      return node.name === 'hex_to_uint';
    case 'field': {
      const type = tree.types[node.target.id];
      return type?.kind === 'struct' && fieldOf(type, node.name)?.field.presence === 'optional';
    }
    case 'compare':
      return childrenOf(node).some((part) => tree.types[part.id]?.kind === 'any');
    default:
      return false;
  }
}
