import { hazardOf } from '../decision/concern.ts';
import { constantOf } from '../evaluate/constants.ts';
import type { Expression } from '../evaluate/expression.ts';
import { childrenOf, type Node, type QuantifierNode } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { printTree } from '../language/printer.ts';
import { conjunctsOf, type Demand, type Domain, demandOf, domainsOf, isWithin } from '../lint/domain.ts';

/** How the requests for which a text holds changed. */
export type Shift = 'SAME' | 'WIDER' | 'NARROWER' | 'OTHER';

/** A conjunct with what comparing it needs. */
export interface Claim {
  readonly node: Node;
  /** In canonical text, whatever its variables are called. */
  readonly text: string;
  readonly demand: Demand | undefined;
  readonly members: MemberDemand | undefined;
  readonly limit: Limit | undefined;
}

/** What a part demands of a value by a literal, whatever its type: decoded arguments have none before a request. */
export interface Limit {
  readonly kind: 'max' | 'min' | 'set';
  /** What is read, in canonical text. */
  readonly key: string;
  readonly read: Node;
  /** The largest or smallest number. */
  readonly bound: bigint;
  /** The literals that are accepted, with their spelling. */
  readonly values: ReadonlySet<string>;
}

/** An approver or credential that must be one of some: `approvers.any(user, user.id in [...])`. */
export interface MemberDemand {
  readonly key: string;
  readonly allowed: ReadonlySet<string>;
}

export interface Side {
  readonly tree: CheckedTree | undefined;
  readonly claims: readonly Claim[];
  readonly domains: ReadonlyMap<string, Domain>;
}

const EVERYTHING: Side = { tree: undefined, claims: [], domains: new Map() };

/** Larger texts are written by programs, and looking at every pair of their parts would take long. */
const CLAIMS_MAX = 200;

export function sideOf(expression: Expression | undefined): Side | undefined {
  if (expression === undefined) return EVERYTHING;
  const { tree } = expression;
  const conjuncts = conjunctsOf(tree.root).filter((node) => !(node.kind === 'bool' && node.value));
  if (conjuncts.length > CLAIMS_MAX) return undefined;
  return {
    tree,
    claims: conjuncts.map((node) => ({
      node,
      text: canonicalText(node),
      demand: demandOf(tree, node),
      members: memberDemandOf(node),
      limit: limitOf(node),
    })),
    domains: domainsOf(tree, conjuncts),
  };
}

/** The same text for parts that differ only in what their variables are called. */
export function canonicalText(node: Node): string {
  return printTree(renamed(node, new Map()));
}

function renamed(node: Node, scope: ReadonlyMap<string, string>): Node {
  if (childrenOf(node).length === 0 && node.kind !== 'name') return node;
  switch (node.kind) {
    case 'name':
      return { ...node, name: scope.get(node.name) ?? node.name };
    case 'list':
      return { ...node, items: node.items.map((item) => renamed(item, scope)) };
    case 'call':
      return { ...node, args: node.args.map((arg) => renamed(arg, scope)) };
    case 'field':
      return { ...node, target: renamed(node.target, scope) };
    case 'method':
      return { ...node, target: renamed(node.target, scope), args: node.args.map((arg) => renamed(arg, scope)) };
    case 'quantifier': {
      const variable = `item${scope.size}`;
      const inner = new Map(scope).set(node.variable, variable);
      return { ...node, target: renamed(node.target, scope), variable, body: renamed(node.body, inner) };
    }
    case 'index':
      return { ...node, target: renamed(node.target, scope), index: renamed(node.index, scope) };
    case 'slice':
      return {
        ...node,
        target: renamed(node.target, scope),
        from: renamed(node.from, scope),
        to: renamed(node.to, scope),
      };
    case 'not':
      return { ...node, operand: renamed(node.operand, scope) };
    case 'compare':
      return { ...node, left: renamed(node.left, scope), right: renamed(node.right, scope) };
    case 'logic':
      return { ...node, operands: node.operands.map((operand) => renamed(operand, scope)) };
    default:
      return node;
  }
}

/** `any` over people by one of their texts; a longer list is met by more approvals. */
function memberDemandOf(node: Node): MemberDemand | undefined {
  if (node.kind !== 'quantifier' || node.quantifier !== 'any') return undefined;
  if (node.target.kind !== 'name') return undefined;
  const found = membersIn(node.body, node);
  return found && { key: `${node.target.name} ${found.field}`, allowed: found.values };
}

interface Members {
  readonly field: string;
  readonly values: ReadonlySet<string>;
}

function membersIn(body: Node, { variable }: QuantifierNode): Members | undefined {
  const fieldOf = (node: Node): string | undefined =>
    node.kind === 'field' && node.target.kind === 'name' && node.target.name === variable ? node.name : undefined;
  const some = (read: Node, literal: Node): Members | undefined => {
    const field = fieldOf(read);
    const values = literal.kind === 'string' ? [literal.value] : constantOf(literal);
    return field === undefined || values === undefined ? undefined : { field, values: new Set(values.map(String)) };
  };
  if (body.kind === 'compare' && body.operator === '==')
    return some(body.left, body.right) ?? some(body.right, body.left);
  if (body.kind === 'compare' && body.operator === 'in') {
    return body.right.kind === 'list' ? some(body.left, body.right) : some(body.right, body.left);
  }
  if (body.kind === 'method' && body.name === 'contains') return some(body.target, body.args[0] as Node);
  if (body.kind !== 'logic' || body.operator !== '||') return undefined;
  const all = body.operands.map((operand) => membersIn(operand, { variable } as QuantifierNode));
  const [first] = all;
  if (first === undefined || !all.every((one) => one?.field === first.field)) return undefined;
  return { field: first.field, values: new Set(all.flatMap((one) => [...(one as Members).values])) };
}

const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==' };

function limitOf(node: Node): Limit | undefined {
  if (node.kind === 'method' && node.name === 'contains' && node.target.kind === 'list') {
    return setLimit(node.args[0] as Node, node.target);
  }
  if (node.kind !== 'compare') return undefined;
  if (node.operator === 'in') return setLimit(node.left, node.right);
  const isMirrored = node.left.kind === 'integer' || node.left.kind === 'string';
  const [read, literal] = isMirrored ? [node.right, node.left] : [node.left, node.right];
  const operator = isMirrored ? MIRRORED[node.operator] : node.operator;
  if (operator === '==')
    return literal.kind === 'string' || literal.kind === 'integer' ? setLimit(read, literal) : undefined;
  if (literal.kind !== 'integer' || constantOf(read) !== undefined) return undefined;
  const base = { key: canonicalText(read), read, values: new Set<string>() };
  switch (operator) {
    case '<':
      return { ...base, kind: 'max', bound: literal.value - 1n };
    case '<=':
      return { ...base, kind: 'max', bound: literal.value };
    case '>':
      return { ...base, kind: 'min', bound: literal.value + 1n };
    case '>=':
      return { ...base, kind: 'min', bound: literal.value };
    default:
      return undefined;
  }
}

function setLimit(read: Node, literal: Node): Limit | undefined {
  const values = literal.kind === 'string' || literal.kind === 'integer' ? [literal.value] : constantOf(literal);
  if (values === undefined || read.kind === 'string' || read.kind === 'integer') return undefined;
  return { kind: 'set', key: canonicalText(read), read, bound: 0n, values: new Set(values.map(String)) };
}

function isTighter(own: Limit, other: Limit): boolean {
  if (own.key !== other.key || own.kind !== other.kind) return false;
  if (own.kind === 'set') return isSubset(own.values, other.values);
  return own.kind === 'max' ? own.bound <= other.bound : own.bound >= other.bound;
}

/** An empty set demands what cannot be, which is no narrowing that somebody meant. */
const isSubset = (inner: ReadonlySet<string>, outer: ReadonlySet<string>): boolean =>
  inner.size > 0 && [...inner].every((value) => outer.has(value));

/** Whether the second holds wherever the first does. */
export function implies(first: Side, second: Side): boolean {
  return second.claims.every((claim) => isImplied(claim, first));
}

export function isImplied({ text, demand, members, limit }: Claim, { claims, domains }: Side): boolean {
  if (claims.some((own) => own.text === text)) return true;
  if (limit !== undefined && claims.some(({ limit: own }) => own !== undefined && isTighter(own, limit))) return true;
  if (members !== undefined) {
    return claims.some(({ members: own }) => own?.key === members.key && isSubset(own.allowed, members.allowed));
  }
  const domain = demand === undefined ? undefined : domains.get(demand.key);
  return demand !== undefined && domain !== undefined && isWithin(domain, demand);
}

export function shiftOf(before: Side | undefined, after: Side | undefined): Shift {
  if (before === undefined || after === undefined) return 'OTHER';
  const isWider = implies(before, after);
  const isNarrower = implies(after, before);
  if (isWider && isNarrower) return 'SAME';
  return isWider ? 'WIDER' : isNarrower ? 'NARROWER' : 'OTHER';
}

/** Whether a denial that ends in an error, and so denies, does that for at least as many requests as another. */
export function failsAsOften(one: Side, other: Side): boolean {
  const [own, others] = [one, other].map(({ tree }) => (tree === undefined ? undefined : hazardOf(tree)));
  if (own === undefined) return true;
  if (others === undefined) return !own.always && own.namespaces.size === 0;
  return (!own.always || others.always) && [...own.namespaces].every((name) => others.namespaces.has(name));
}
