import type { Node, QuantifierNode } from '../language/ast.ts';
import type { ExpressionKind } from '../language/checker.ts';
import type { Span } from '../language/errors.ts';
import { type Context, unitOf } from '../words/context.ts';
import { sayValue } from '../words/literals.ts';
import { NO_SCOPE, pathOf, type Scope, type Subject, subjectOf } from '../words/subjects.ts';
import type { Mark } from './description.ts';

/** An id in a text that nothing in the organization has. */
export interface UnknownId extends Span {
  readonly expression: ExpressionKind;
  readonly id: string;
}

const MARKS_MAX = 200;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export interface Marked {
  readonly marks: readonly Mark[];
  readonly unknownIds: readonly UnknownId[];
}

/** What the literals of an expression stand for. */
export function marksIn(expression: ExpressionKind, root: Node, context: Context): Marked {
  const marks: Mark[] = [];
  const unknownIds: UnknownId[] = [];

  const mark = (literal: Node, subject: Subject | undefined, isId: boolean): void => {
    if (literal.kind === 'list') {
      for (const item of literal.items) mark(item, subject, isId);
      return;
    }
    if (literal.kind !== 'string' && literal.kind !== 'integer') return;
    const value = String(literal.value);
    const span = { expression, start: literal.start, end: literal.end };
    const text = textFor(value, subject, context);
    if (text !== undefined && marks.length < MARKS_MAX) marks.push({ ...span, text });
    if (text === undefined && isId && ID.test(value) && unknownIds.length < MARKS_MAX)
      unknownIds.push({ ...span, id: value });
  };

  const visit = (node: Node, scope: Scope): void => {
    switch (node.kind) {
      case 'compare': {
        const [left, right] = [subjectOf(node.left, scope), subjectOf(node.right, scope)];
        mark(node.right, left, namesThing(node.left, scope));
        mark(node.left, right, namesThing(node.right, scope));
        visit(node.left, scope);
        visit(node.right, scope);
        return;
      }
      case 'method': {
        const [argument] = node.args;
        if (node.name === 'contains' && argument !== undefined) {
          mark(argument, subjectOf(node.target, scope), namesThing(node.target, scope));
          mark(node.target, subjectOf(argument, scope), namesThing(argument, scope));
        }
        visit(node.target, scope);
        return;
      }
      case 'quantifier':
        visit(node.target, scope);
        visit(node.body, innerScope(node, scope));
        return;
      case 'logic':
        for (const operand of node.operands) visit(operand, scope);
        return;
      case 'not':
        visit(node.operand, scope);
        return;
      case 'field':
        visit(node.target, scope);
        return;
      default:
        return;
    }
  };

  visit(root, NO_SCOPE);
  return {
    marks: marks.toSorted((one, other) => one.start - other.start),
    unknownIds: unknownIds.toSorted((one, other) => one.start - other.start),
  };
}

function innerScope({ target, variable }: QuantifierNode, scope: Scope): Scope {
  const path = pathOf(target, scope);
  return path === undefined ? scope : new Map(scope).set(variable, `${path}[]`);
}

/** Whether a literal here is the id of a user, tag, wallet or key of this organization. */
const THINGS =
  /^(?:wallet\.id|wallets\[\]\.id|private_key\.(?:id|tags)|approvers\[\]\.(?:id|tags)|credentials\[\]\.user_id)$/;
const namesThing = (node: Node, scope: Scope): boolean => THINGS.test(pathOf(node, scope) ?? '');

function textFor(value: string, subject: Subject | undefined, context: Context): string | undefined {
  const { names } = context;
  if (ID.test(value)) return names.thing(value.toLowerCase())?.name;
  if (ADDRESS.test(value)) {
    const token = context.caip2 === undefined ? undefined : names.token(context.caip2, value.toLowerCase());
    return token?.symbol ?? names.address(value);
  }
  if (subject === undefined || !/^[0-9]+$/.test(value)) return names.address(value);
  if (subject.form === 'chainId') return names.chain(`eip155:${value}`);
  return unitOf(subject, context) === undefined ? undefined : sayValue(value, subject, context);
}
