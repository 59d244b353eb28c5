import { compileNode } from '../evaluate/compile.ts';
import type { Expression } from '../evaluate/expression.ts';
import type { Frame, Run } from '../evaluate/frame.ts';
import type { CompareNode, Node, QuantifierNode } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { RuntimeFailure } from '../language/errors.ts';
import { accessPath } from '../language/paths.ts';
import type { ConsensusFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';

/** How many approvals of those that a consensus asks for are there. */
export interface ConsensusProgress {
  readonly given: number;
  readonly required: number;
}

type Measure = (frame: Frame) => ConsensusProgress | undefined;

const measures = new WeakMap<Expression<'consensus'>, Measure>();

/**
 * How far a consensus is, where its text tells: it counts approvers, asks for any one of some, or joins such parts. For
 * every other text there is no number that would be true, and so none.
 */
export function consensusProgress(
  expression: Expression<'consensus'>,
  facts: ConsensusFacts,
): ConsensusProgress | undefined {
  let measure = measures.get(expression);
  if (measure === undefined) {
    measure = measureOf(expression.tree, expression.tree.root);
    measures.set(expression, measure);
  }
  const frame: Frame = {
    roots: facts,
    slots: new Array(expression.tree.slotCount),
    fuel: POLICY_LIMITS.steps,
  };
  try {
    return measure(frame);
  } catch (error) {
    if (error instanceof RuntimeFailure) return undefined;
    throw error;
  }
}

const UNTOLD: Measure = () => undefined;

function measureOf(tree: CheckedTree, node: Node): Measure {
  switch (node.kind) {
    case 'compare':
      return measureOfCompare(tree, node);
    case 'quantifier':
      return measureOfAny(tree, node);
    case 'logic': {
      const parts = node.operands.map((operand) => measureOf(tree, operand));
      return node.operator === '||' ? nearestOf(parts) : sumOf(node.operands, parts);
    }
    default:
      return UNTOLD;
  }
}

/** `approvers.count() >= 2`, also of those whom a filter leaves, and the other way round. */
function measureOfCompare(tree: CheckedTree, { operator, left, right }: CompareNode): Measure {
  const isTurned = left.kind === 'integer';
  const [counted, number] = isTurned ? [right, left] : [left, right];
  if (number.kind !== 'integer' || number.value > BigInt(POLICY_LIMITS.consensusUsers)) return UNTOLD;
  const people = countedPeople(tree, counted);
  if (people === undefined) return UNTOLD;
  const required = requiredBy(isTurned ? TURNED[operator] : operator, Number(number.value));
  if (required === undefined) return UNTOLD;
  const run = compileNode(tree, people);
  return (frame) => ({ given: Math.min(lengthOf(run, frame), required), required });
}

const TURNED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '==': '==' };

function requiredBy(operator: string | undefined, number: number): number | undefined {
  if (operator === '>=' || operator === '==') return number;
  return operator === '>' ? number + 1 : undefined;
}

const lengthOf = (run: Run, frame: Frame): number => (run(frame) as readonly unknown[]).length;

/** The list whose elements are counted, where it is of approvers or credentials. */
function countedPeople(tree: CheckedTree, node: Node): Node | undefined {
  const isCount = (node.kind === 'method' || node.kind === 'field') && node.name === 'count';
  return isCount && isPeople(tree, node.target) ? node.target : undefined;
}

const isPeople = (tree: CheckedTree, node: Node): boolean =>
  accessPath(tree, node)?.length === 1 ||
  (node.kind === 'quantifier' && node.quantifier === 'filter' && isPeople(tree, node.target));

/** `approvers.any(user, …)`: one of them. */
function measureOfAny(tree: CheckedTree, node: QuantifierNode): Measure {
  if (node.quantifier !== 'any' || !isPeople(tree, node.target)) return UNTOLD;
  const run = compileNode(tree, node);
  return (frame) => ({ given: run(frame) === true ? 1 : 0, required: 1 });
}

/** Of several ways the one that lacks least. */
const nearestOf =
  (parts: readonly Measure[]): Measure =>
  (frame) => {
    const told = parts.map((part) => part(frame));
    if (told.includes(undefined)) return undefined;
    return (told as ConsensusProgress[]).reduce((best, next) => (lack(next) < lack(best) ? next : best));
  };

const lack = ({ given, required }: ConsensusProgress): number => required - given;

/** Parts that each ask for one are added; a number of all together says something else than its parts do. */
const sumOf = (operands: readonly Node[], parts: readonly Measure[]): Measure =>
  operands.every((operand) => operand.kind === 'quantifier')
    ? (frame) => {
        const told = parts.map((part) => part(frame));
        if (told.includes(undefined)) return undefined;
        return (told as ConsensusProgress[]).reduce((sum, { given, required }) => ({
          given: sum.given + given,
          required: sum.required + required,
        }));
      }
    : UNTOLD;
