import type { CompareOperator, Node } from '../language/ast.ts';
import { printTree } from '../language/printer.ts';
import { type Context, labelOf, rankOf } from './context.ts';
import { sayValue } from './literals.ts';
import { ELEMENTS, pathOf, type Scope, type Subject, subjectOf } from './subjects.ts';
import { instantWords, windowWords } from './times.ts';
import { article, capitalize, cut, joinWords, numberWord } from './wording.ts';

/** One part of an expression in words. */
export interface Clause {
  /** What it asks for: "amount ≤ 1,000 USDC". */
  readonly text: string;
  /** Whether all of it was put into words; what was not stands in the text as code. */
  readonly isUnderstood: boolean;
  readonly rank: number;
  /** What would make it true: "an amount of at most 1,000 USDC". */
  readonly wish?: string;
  /** The sentence about a request whose value is this, without a full stop. */
  readonly finding?: (value: string, holds: boolean) => string;
  /** The node that is read, for looking up the value that it had. */
  readonly read?: Node;
}

const CODE_MAX = 120;
const LISTED_MAX = 3;
const OPERANDS_MAX = 8;

export const sayCode = (node: Node): string => `\`${cut(printTree(node).replace(/\s+/g, ' '), CODE_MAX)}\``;

const unknown = (node: Node): Clause => ({ text: sayCode(node), isUnderstood: false, rank: 1 });

/** A part in words; never claims more than it says, and shows as code what has no words. */
export function clauseOf(node: Node, context: Context, scope: Scope, isNegated = false): Clause {
  switch (node.kind) {
    case 'not':
      return clauseOf(node.operand, context, scope, !isNegated);
    case 'bool':
      return { text: node.value === isNegated ? 'never' : 'always', isUnderstood: true, rank: 0 };
    case 'logic':
      return logicClause(node.operands, (node.operator === '&&') !== isNegated, context, scope, isNegated);
    case 'compare':
      return compareClause(node, context, scope, isNegated) ?? negatable(unknown(node), isNegated);
    case 'method':
      return memberClause(node, context, scope, isNegated) ?? negatable(unknown(node), isNegated);
    case 'quantifier':
      return quantifierClause(node, context, scope, isNegated) ?? negatable(unknown(node), isNegated);
    case 'call':
      return windowClause(node, isNegated) ?? negatable(unknown(node), isNegated);
    default: {
      const subject = subjectOf(node, scope);
      if (subject === undefined) return negatable(unknown(node), isNegated);
      const label = labelOf(subject, context);
      return {
        text: `${label} is ${isNegated ? 'false' : 'true'}`,
        isUnderstood: true,
        rank: rankOf(subject, context),
      };
    }
  }
}

const negatable = (clause: Clause, isNegated: boolean): Clause =>
  isNegated ? { ...clause, text: `not ${clause.text}` } : clause;

function logicClause(
  operands: readonly Node[],
  isAnd: boolean,
  context: Context,
  scope: Scope,
  isNegated: boolean,
): Clause {
  const shown = operands.slice(0, OPERANDS_MAX).map((operand) => clauseOf(operand, context, scope, isNegated));
  const left = operands.length - shown.length;
  const words = shown.map(({ text }, index) => (operands[index]?.kind === 'logic' ? `(${text})` : text));
  if (left > 0) words.push(`${left} more`);
  return {
    text: joinWords(words, isAnd ? 'and' : 'or'),
    isUnderstood: left === 0 && shown.every(({ isUnderstood }) => isUnderstood),
    rank: Math.max(0, ...shown.map(({ rank }) => rank)),
    ...(left === 0 && shown.length <= LISTED_MAX && wishOf(shown, isAnd ? 'and' : 'or')),
  };
}

/** What would make several parts true, if that can be said of each. */
function wishOf(clauses: readonly Clause[], last: 'and' | 'or'): { readonly wish: string } | undefined {
  const wishes = clauses.flatMap(({ wish }) => wish ?? []);
  return wishes.length === clauses.length ? { wish: joinWords(wishes, last) } : undefined;
}

const OPPOSITES: Readonly<Record<Exclude<CompareOperator, 'in'>, Exclude<CompareOperator, 'in'>>> = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};
const MIRRORED: Readonly<Record<Exclude<CompareOperator, 'in'>, Exclude<CompareOperator, 'in'>>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

const literalText = (node: Node): string | undefined => {
  if (node.kind === 'string' || node.kind === 'integer' || node.kind === 'bool') return String(node.value);
  return undefined;
};

/** `Timestamp('2026-03-01T00:00:00Z')` as a moment. */
const timestampText = (node: Node): string | undefined => {
  const [argument] = node.kind === 'call' && node.name === 'Timestamp' ? node.args : [];
  if (argument?.kind !== 'string') return undefined;
  const atMs = Date.parse(argument.value);
  return Number.isNaN(atMs) ? undefined : instantWords(BigInt(atMs) * 1_000_000n);
};

function compareClause(
  { operator, left, right }: Extract<Node, { readonly kind: 'compare' }>,
  context: Context,
  scope: Scope,
  isNegated: boolean,
): Clause | undefined {
  if (operator === 'in') return inClause(left, right, context, scope, isNegated);
  const isMirrored = literalText(right) === undefined && timestampText(right) === undefined;
  const [read, literal] = isMirrored ? [right, left] : [left, right];
  const relation = isMirrored ? MIRRORED[operator] : operator;
  const wanted = isNegated ? OPPOSITES[relation] : relation;
  const counted = countClause(read, wanted, literal, context, scope);
  if (counted !== undefined) return counted;
  const subject = subjectOf(read, scope);
  const text = literalText(literal);
  const moment = timestampText(literal);
  if (subject === undefined || (text === undefined && moment === undefined)) return undefined;
  const value = moment ?? sayValue(text as string, subject, context);
  return relationClause(subject, wanted, value, read, context);
}

const SAID: Readonly<
  Record<string, { readonly sign: string; readonly fails: string; readonly holds: string; readonly wish: string }>
> = {
  '<': { sign: '<', fails: 'is not below', holds: 'is below', wish: 'below' },
  '<=': { sign: '≤', fails: 'is above the limit of', holds: 'is at most', wish: 'of at most' },
  '>': { sign: '>', fails: 'is not above', holds: 'is above', wish: 'above' },
  '>=': { sign: '≥', fails: 'is below', holds: 'is at least', wish: 'of at least' },
};

function relationClause(
  subject: Subject,
  operator: Exclude<CompareOperator, 'in'>,
  value: string,
  read: Node,
  context: Context,
): Clause {
  const label = labelOf(subject, context);
  const rank = rankOf(subject, context);
  const base = { isUnderstood: true, rank, read } as const;
  const said = SAID[operator];
  const actual = (raw: string): string => sayValue(raw, subject, context);
  if (said !== undefined) {
    const isTime = subject.form === 'instant';
    const sign = isTime ? (operator.startsWith('<') ? 'before' : 'after') : said.sign;
    return {
      ...base,
      text: isTime ? `${label} is ${sign} ${value}` : `${label} ${said.sign} ${value}`,
      wish: isTime ? `the same request ${sign} ${value}` : `${article(label)} ${label} ${said.wish} ${value}`,
      finding: (raw, holds) => `${capitalize(label)} ${actual(raw)} ${holds ? said.holds : said.fails} ${value}`,
    };
  }
  const isEqual = operator === '==';
  return {
    ...base,
    text: `${label} is ${isEqual ? '' : 'not '}${value}`,
    wish: isEqual ? `the ${label} ${value}` : `another ${label} than ${value}`,
    finding: (raw, holds) =>
      isEqual === holds ? `${capitalize(label)} is ${value}` : `${capitalize(label)} is ${actual(raw)}, not ${value}`,
  };
}

function inClause(item: Node, list: Node, context: Context, scope: Scope, isNegated: boolean): Clause | undefined {
  const own = literalText(item);
  const read = pathOf(list, scope);
  if (own !== undefined && read !== undefined) return taggedClause(own, read, context, isNegated);
  if (list.kind !== 'list') return undefined;
  const subject = subjectOf(item, scope);
  const literals = list.items.map(literalText);
  if (subject === undefined || literals.includes(undefined)) return undefined;
  const label = labelOf(subject, context);
  const values = (literals as string[]).map((text) =>
    literals.length > LISTED_MAX ? '' : sayValue(text, subject, context),
  );
  const isShort = values.length <= LISTED_MAX;
  const noun =
    subject.form === 'address' ? 'addresses' : subject.form === 'kind' || subject.form === 'type' ? 'kinds' : 'values';
  const listed = isShort ? joinWords(values, 'or') : `one of ${values.length} ${noun}`;
  return {
    text: values.length === 0 ? (isNegated ? 'always' : 'never') : `${label} is ${isNegated ? 'not ' : ''}${listed}`,
    isUnderstood: true,
    rank: rankOf(subject, context),
    read: item,
    wish: isNegated ? `another ${label} than ${listed}` : `a ${label} that is ${listed}`,
    finding: (raw, holds) => {
      const actual = sayValue(raw, subject, context);
      const isIn = holds !== isNegated;
      if (isIn) return isShort ? `${capitalize(label)} is ${actual}` : `${capitalize(label)} ${actual} is ${listed}`;
      return isShort
        ? `${capitalize(label)} is ${actual}, not ${listed}`
        : `${capitalize(label)} ${actual} is not ${listed}`;
    },
  };
}

/** `'…' in user.tags`, and the same with `contains`. */
function taggedClause(literal: string, path: string, { names }: Context, isNegated: boolean): Clause | undefined {
  if (!path.endsWith('.tags')) return undefined;
  const name = cut(names.thing(literal)?.name ?? literal, 80);
  const owner = path === 'private_key.tags' ? 'private key ' : '';
  return { text: `${owner}is ${isNegated ? 'not ' : ''}tagged ${name}`, isUnderstood: true, rank: 3 };
}

function memberClause(
  node: Extract<Node, { readonly kind: 'method' }>,
  context: Context,
  scope: Scope,
  isNegated: boolean,
): Clause | undefined {
  const [argument] = node.args;
  if (node.name !== 'contains' || argument === undefined) return undefined;
  if (node.target.kind === 'list') return inClause(argument, node.target, context, scope, isNegated);
  const literal = literalText(argument);
  const path = pathOf(node.target, scope);
  if (literal === undefined || path === undefined) return undefined;
  const tagged = taggedClause(literal, path, context, isNegated);
  if (tagged !== undefined) return tagged;
  const element = ELEMENTS[path];
  const subject = subjectOf(argument, scope);
  if (element === undefined || subject !== undefined) return undefined;
  const shown = sayValue(
    literal,
    { path, label: element, form: literal.includes('-') ? 'thing' : 'address', rank: 3 },
    context,
  );
  return { text: `${isNegated ? 'no' : 'one'} ${element} is ${shown}`, isUnderstood: true, rank: 3 };
}

/** The body of a lambda, and what its elements are called. */
function bodyOf(
  node: Extract<Node, { readonly kind: 'quantifier' }>,
  context: Context,
  scope: Scope,
  isNegated = false,
): { readonly element: string; readonly body: Clause } | undefined {
  const path = pathOf(node.target, scope);
  const element = path === undefined ? undefined : ELEMENTS[path];
  if (element === undefined) return undefined;
  const inner = new Map(scope).set(node.variable, `${path}[]`);
  const body = clauseOf(node.body, context, inner, isNegated);
  return { element, body };
}

/** "is tagged Ops" says who it is about by itself; "recipient is Ada" does not. */
const ofElement = (text: string): string => (/^is /.test(text) ? text : `has ${text}`);

function quantifierClause(
  node: Extract<Node, { readonly kind: 'quantifier' }>,
  context: Context,
  scope: Scope,
  isNegated: boolean,
): Clause | undefined {
  if (node.quantifier === 'filter') return undefined;
  const found = bodyOf(node, context, scope);
  if (found === undefined) return undefined;
  const { element, body } = found;
  const who = personText(body.text, element);
  const isAny = node.quantifier === 'any';
  const start = isAny
    ? isNegated
      ? `no ${element}`
      : `one ${element}`
    : isNegated
      ? `not every ${element}`
      : `every ${element}`;
  return {
    text: who === undefined ? `${start} ${ofElement(body.text)}` : `${start} is ${who}`,
    isUnderstood: body.isUnderstood,
    rank: Math.max(3, body.rank),
    ...(isAny && !isNegated && element === 'approver' && { wish: approvalOf(body.text) }),
  };
}

/** `user is Ada` about an approver is Ada. */
const personText = (text: string, element: string): string | undefined =>
  element === 'approver' || element === 'credential' || element === 'wallet'
    ? /^(?:user|credential|wallet) is (?!not )([^“`]*)$/.exec(text)?.[1]
    : undefined;

/** Whose approval a body asks for. */
export function approvalOf(body: string): string {
  const person = personText(body, 'approver');
  if (person !== undefined)
    return `the approval of ${person.includes(' or ') || person.includes(', ') ? `one of ${person}` : person}`;
  const [, tag] = /^is tagged (.*)$/.exec(body) ?? [];
  return tag === undefined
    ? `the approval of somebody who ${ofElement(body)}`
    : `the approval of somebody tagged ${tag}`;
}

/** `approvers.count() >= 2`, `approvers.filter(user, …).count() >= 2`. */
function countClause(
  read: Node,
  operator: Exclude<CompareOperator, 'in'>,
  literal: Node,
  context: Context,
  scope: Scope,
): Clause | undefined {
  const isCount = (read.kind === 'method' || read.kind === 'field') && read.name === 'count';
  if (!isCount || literal.kind !== 'integer') return undefined;
  const amount = {
    '>=': 'at least ',
    '>': 'more than ',
    '<=': 'at most ',
    '<': 'fewer than ',
    '==': 'exactly ',
    '!=': 'any number but ',
  }[operator];
  const number = numberWord(Number(literal.value));
  const path = pathOf(read.target, scope);
  const plural = literal.value === 1n ? '' : 's';
  if (path !== undefined && ELEMENTS[path] !== undefined) {
    const isWished = (operator === '>=' || operator === '>') && path === 'approvers';
    return {
      text: `${amount}${number} ${ELEMENTS[path]}${plural}`,
      isUnderstood: true,
      rank: 3,
      ...(isWished && { wish: `${amount}${number} approvals` }),
    };
  }
  if (read.target.kind !== 'quantifier' || read.target.quantifier !== 'filter') return undefined;
  const found = bodyOf(read.target, context, scope);
  if (found === undefined) return undefined;
  const tagged = found.body.text.startsWith('is ') ? found.body.text.slice(3) : `with ${found.body.text}`;
  return {
    text: `${amount}${number} ${found.element}${plural} ${tagged}`,
    isUnderstood: found.body.isUnderstood,
    rank: 3,
    ...((operator === '>=' || operator === '>') &&
      found.element === 'approver' && { wish: `${amount}${number} approvals of users ${tagged}` }),
  };
}

function windowClause(node: Extract<Node, { readonly kind: 'call' }>, isNegated: boolean): Clause | undefined {
  if (node.name !== 'CronSpan') return undefined;
  const [schedule, duration, zone] = node.args.map(literalText);
  if (schedule === undefined || duration === undefined || zone === undefined) return undefined;
  const words = windowWords(schedule, duration, zone);
  const where =
    words === undefined
      ? `the window “${schedule}” for ${duration}, ${zone}`
      : `${words.days}, ${words.hours}, ${zone}`;
  return { text: `time is ${isNegated ? 'not ' : ''}within ${where}`, isUnderstood: true, rank: 3 };
}
