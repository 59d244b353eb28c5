import type { TraceNode } from '../evaluate/trace.ts';
import type { Node } from '../language/ast.ts';
import { StaticFailure } from '../language/errors.ts';
import { parseTree } from '../language/parser.ts';
import { type Clause, clauseOf } from '../words/clauses.ts';
import { type Context, contextOf } from '../words/context.ts';
import type { Names } from '../words/names.ts';
import { NO_SCOPE } from '../words/subjects.ts';
import { cut } from '../words/wording.ts';

/** One line of the reason tree. */
export interface ExplainedPart {
  readonly text: string;
  /** Null where an error ended the evaluation first, or was met here. */
  readonly holds: boolean | null;
  /** The part from which a false result follows. */
  readonly decides?: true;
  readonly depth: number;
}

/** Somebody who approved. */
export interface Approver {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
}

/** A conjunct of an expression, as it was evaluated. */
export interface Leaf {
  readonly clause: Clause;
  readonly node: Node | undefined;
  readonly trace: TraceNode;
  readonly holds: boolean | null;
  /** What the request had where the part reads one value. */
  readonly value: string | undefined;
}

/** An evaluated expression in words. */
export interface Reading {
  readonly leaves: readonly Leaf[];
  readonly context: Context;
}

const CUT = '…';

const holdsOf = ({ trueCount, falseCount, error }: TraceNode): boolean | null => {
  if (error !== undefined || trueCount + falseCount === 0) return null;
  return trueCount > 0 && falseCount === 0;
};

/** The tree of a part's source; undefined where the source was cut, or is of another version of the language. */
function parsed({ text }: TraceNode): Node | undefined {
  if (text.endsWith(CUT)) return undefined;
  try {
    return parseTree(text).root;
  } catch (error) {
    if (error instanceof StaticFailure) return undefined;
    throw error;
  }
}

/** The operator of a chain, which its source shows between the first two parts. */
function operatorOf(trace: TraceNode): '&&' | '||' {
  const [first, second] = trace.children;
  if (first === undefined || second === undefined) return '&&';
  const between = trace.text.slice(first.end - trace.start, second.start - trace.start);
  if (between.includes('&&')) return '&&';
  if (between.includes('||')) return '||';
  // The source is cut before it: a chain that is true although a part is false is an or.
  return holdsOf(trace) === true && trace.children.some((child) => holdsOf(child) === false) ? '||' : '&&';
}

/** The parts that must all be true. */
export function conjunctsIn(trace: TraceNode): readonly TraceNode[] {
  const isAnd = trace.kind === 'logic' && operatorOf(trace) === '&&';
  return isAnd ? trace.children.flatMap(conjunctsIn) : [trace];
}

/** How many parts a tree that is too large leaves out, as far as it tells; at least one. */
export const isCutShort = (trace: TraceNode): boolean =>
  trace.isCut === true || (trace.kind === 'logic' && trace.children.some(isCutShort));

const KNOWN_BY_VALUE: ReadonlySet<string> = new Set([
  'eth.tx.to',
  'eth.tx.chain_id',
  'eth.tx.function_name',
  'eth.tx.function_signature',
  'tempo.tx.chain_id',
  'activity.params.chain_caip2',
]);

/** A value as the trace renders it, without the quotes of texts. */
const valueText = (value: string): string => (value.startsWith("'") ? value.slice(1, -1) : value);

/** What the request is about, as far as the condition has looked. */
export function contextIn(trace: TraceNode | undefined, names: Names): Context {
  const values = new Map<string, string>();
  const paths = new Set<string>();
  const open: TraceNode[] = trace === undefined ? [] : [trace];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'field' || next.kind === 'index') {
      const path = next.text.replace(/\s+/g, '');
      paths.add(path);
      if (KNOWN_BY_VALUE.has(path) && next.value !== undefined) values.set(path, valueText(next.value));
    }
    open.push(...next.children);
  }
  return contextOf(names, values, paths);
}

/** The value that a part of a parsed source had: the same place in the trace. */
function valueIn(trace: TraceNode, read: Node | undefined): string | undefined {
  if (read === undefined) return undefined;
  const found = trace.children.find(
    ({ start, end }) => start - trace.start === read.start && end - trace.start === read.end,
  );
  return found?.value === undefined ? undefined : valueText(found.value);
}

/** A part whose source was cut: what its trace still shows. */
function cutClause(trace: TraceNode): Clause {
  return { text: `\`${cut(trace.text.replace(/\s+/g, ' '), 120)}\``, isUnderstood: false, rank: 1 };
}

export function readTrace(trace: TraceNode, context: Context): Reading {
  const leaves = conjunctsIn(trace).map((part): Leaf => {
    const node = parsed(part);
    const clause = node === undefined ? cutClause(part) : clauseOf(node, context, NO_SCOPE);
    return { clause, node, trace: part, holds: holdsOf(part), value: valueIn(part, clause.read) };
  });
  return { leaves, context };
}

const ALTERNATIVES_MAX = 12;

/** The lines of an expression: its conjuncts, and below an alternative its parts. */
export function partsOf({ leaves, context }: Reading, approvers: readonly Approver[]): ExplainedPart[] {
  const isFalse = leaves.some(({ holds }) => holds !== true);
  let decided = false;
  return leaves.flatMap(({ clause, trace, holds, node }): ExplainedPart[] => {
    const decides = isFalse && !decided && trace.decisive && holds !== true;
    if (decides) decided = true;
    const who = holds === true && node !== undefined ? approversOf(node, trace, approvers) : undefined;
    const line: ExplainedPart = {
      text: who === undefined ? clause.text : `${clause.text}: ${who}`,
      holds,
      ...(decides && { decides: true as const }),
      depth: 0,
    };
    if (trace.kind !== 'logic') return [line];
    const shown = trace.children.slice(0, ALTERNATIVES_MAX).map((part): ExplainedPart => {
      const own = parsed(part);
      const text = own === undefined ? cutClause(part).text : clauseOf(own, context, NO_SCOPE).text;
      return { text, holds: holdsOf(part), depth: 1 };
    });
    const left = trace.children.length - shown.length;
    return [line, ...shown, ...(left > 0 ? [{ text: `${left} more`, holds: null, depth: 1 }] : [])];
  });
}

/**
 * Who made a part about approvers true. Tags may have changed since, so names are told only where as many approvers
 * have them as the evaluation counted.
 */
function approversOf(node: Node, trace: TraceNode, approvers: readonly Approver[]): string | undefined {
  if (node.kind !== 'quantifier' || node.quantifier !== 'any' || node.target.kind !== 'name') return undefined;
  if (node.target.name !== 'approvers') return undefined;
  const tag = tagAskedFor(node.body, node.variable);
  if (tag === undefined) return undefined;
  const body = trace.children.at(-1);
  const tagged = approvers.filter(({ tags }) => tags.includes(tag));
  if (tagged.length === 0 || tagged.length !== body?.trueCount) return undefined;
  return tagged.map(({ name }) => name).join(', ');
}

function tagAskedFor(body: Node, variable: string): string | undefined {
  const isTags = (node: Node): boolean =>
    node.kind === 'field' && node.name === 'tags' && node.target.kind === 'name' && node.target.name === variable;
  if (body.kind === 'method' && body.name === 'contains' && isTags(body.target)) {
    const [argument] = body.args;
    return argument?.kind === 'string' ? argument.value : undefined;
  }
  return body.kind === 'compare' && body.operator === 'in' && isTags(body.right) && body.left.kind === 'string'
    ? body.left.value
    : undefined;
}
