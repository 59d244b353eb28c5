import { POLICY_LIMITS } from '../limits.ts';
import type { Node, Quantifier } from './ast.ts';
import { type Span, StaticFailure } from './errors.ts';
import { createLexer, requireSize, type Token } from './lexer.ts';

const INT_MAX = 2n ** 127n - 1n;
const INT_MIN = -(2n ** 127n);
const UINT_MAX = 2n ** 256n - 1n;
/** No number that we accept has more digits, so longer texts are not even converted. */
const DIGITS_MAX = 78;

const COMPARE_OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
const QUANTIFIERS: ReadonlySet<string> = new Set(['any', 'all', 'filter']);

export interface ParsedTree {
  readonly root: Node;
  readonly nodeCount: number;
}

/** How deep a node nests; a chain of `&&`, `||` or a comparison adds nothing, everything else that contains does. */
interface Parsed {
  readonly node: Node;
  readonly nesting: number;
}

/** Text to tree by the grammar of protocol/policies 3. Throws StaticFailure with E_SYNTAX, E_INT_RANGE or E_LIMIT. */
export function parseTree(text: string): ParsedTree {
  requireSize(text);
  const loneSurrogate = /\p{Surrogate}/u.exec(text);
  if (loneSurrogate !== null) {
    const start = loneSurrogate.index;
    throw new StaticFailure('E_SYNTAX', { start, end: start + 1 }, 'the text is not well-formed Unicode');
  }
  const next = createLexer(text);
  let token = next();
  let previousEnd = 0;
  let nodeCount = 0;
  let depth = 0;

  const advance = (): Token => {
    const taken = token;
    previousEnd = taken.end;
    token = next();
    return taken;
  };
  const isSymbol = (symbol: string): boolean => token.kind === 'symbol' && token.text === symbol;
  const take = (symbol: string): boolean => {
    if (!isSymbol(symbol)) return false;
    advance();
    return true;
  };
  const expected = (what: string): StaticFailure =>
    new StaticFailure('E_SYNTAX', token, `expected ${what}, found ${describeToken(token)}`);
  const expectToken = (symbol: string): void => {
    if (!take(symbol)) throw expected(`'${symbol}'`);
  };
  const spanFrom = (start: number): { readonly id: number } & Span => {
    nodeCount += 1;
    return { id: nodeCount - 1, start, end: previousEnd };
  };
  const tooDeep = (): StaticFailure =>
    new StaticFailure('E_LIMIT', token, `nested deeper than ${POLICY_LIMITS.nesting} levels`);
  /** Guards our own stack while reading, as `nested` guards everyone who later walks the tree. */
  const within = (read: () => Parsed): Parsed => {
    depth += 1;
    if (depth > POLICY_LIMITS.nesting) throw tooDeep();
    const parsed = read();
    depth -= 1;
    return parsed;
  };
  const nested = (node: Node, ...parts: readonly Parsed[]): Parsed => {
    const nesting = 1 + deepest(parts);
    if (nesting > POLICY_LIMITS.nesting) throw tooDeep();
    return { node, nesting };
  };

  const logic = (operator: '&&' | '||', read: () => Parsed): Parsed => {
    const { start } = token;
    const first = read();
    if (!isSymbol(operator)) return first;
    const parts = [first];
    while (take(operator)) parts.push(read());
    const operands = parts.map((part) => part.node);
    return { node: { kind: 'logic', operator, operands, ...spanFrom(start) }, nesting: deepest(parts) };
  };
  const expression = (): Parsed => logic('||', () => logic('&&', compare));

  const compare = (): Parsed => {
    const { start } = token;
    const left = unary();
    if (token.kind !== 'symbol' || !COMPARE_OPERATORS.has(token.text)) return left;
    const operator = advance().text as '==';
    const right = unary();
    if (token.kind === 'symbol' && COMPARE_OPERATORS.has(token.text)) {
      throw new StaticFailure('E_SYNTAX', token, 'comparisons do not chain: join two of them with && or use brackets');
    }
    const node: Node = { kind: 'compare', operator, left: left.node, right: right.node, ...spanFrom(start) };
    return { node, nesting: deepest([left, right]) };
  };

  const unary = (): Parsed => {
    const { start } = token;
    if (take('!')) {
      const operand = within(unary);
      return nested({ kind: 'not', operand: operand.node, ...spanFrom(start) }, operand);
    }
    if (!take('-')) return suffixes(primary(), start);
    if (token.kind !== 'integer') throw expected("a number after '-', which only begins negative numbers");
    const digits = advance();
    const value = -readInteger(digits);
    const span = spanFrom(start);
    if (value < INT_MIN) throw new StaticFailure('E_INT_RANGE', span, 'below -2^127, the smallest number');
    return suffixes({ node: { kind: 'integer', value, ...span }, nesting: 0 }, start);
  };

  const suffixes = (primaryPart: Parsed, start: number): Parsed => {
    let target = primaryPart;
    for (;;) {
      if (take('.')) target = member(target, start);
      else if (take('[')) target = access(target, start);
      else return target;
    }
  };

  const member = (target: Parsed, start: number): Parsed => {
    if (token.kind !== 'name') throw expected("a field or method name after '.'");
    const nameSpan = { start: token.start, end: token.end };
    const name = advance().text;
    if (!take('(')) return nested({ kind: 'field', target: target.node, name, nameSpan, ...spanFrom(start) }, target);
    if (!QUANTIFIERS.has(name)) {
      const args = take(')') ? [] : listUntil(')', Number.POSITIVE_INFINITY);
      const nodes = args.map((arg) => arg.node);
      return nested(
        { kind: 'method', target: target.node, name, nameSpan, args: nodes, ...spanFrom(start) },
        target,
        ...args,
      );
    }
    if (token.kind !== 'name') throw expected(`a variable name: ${name}(name, condition)`);
    const variable = advance().text;
    if (!take(',')) throw expected(`',' and a condition: ${name}(${variable}, condition)`);
    const body = within(expression);
    expectToken(')');
    const quantifier = name as Quantifier;
    return nested(
      { kind: 'quantifier', target: target.node, quantifier, variable, body: body.node, ...spanFrom(start) },
      target,
      body,
    );
  };

  const access = (target: Parsed, start: number): Parsed => {
    const first = within(expression);
    if (take('..')) {
      const last = within(expression);
      expectToken(']');
      const [from, to] = [first.node, last.node];
      return nested({ kind: 'slice', target: target.node, from, to, ...spanFrom(start) }, target, first, last);
    }
    expectToken(']');
    return nested({ kind: 'index', target: target.node, index: first.node, ...spanFrom(start) }, target, first);
  };

  /** One or more expressions and the closing symbol. */
  const listUntil = (closing: string, itemsMax: number): Parsed[] => {
    const items = [within(expression)];
    while (take(',')) {
      if (items.length === itemsMax) {
        throw new StaticFailure('E_LIMIT', token, `a list has at most ${itemsMax} elements`);
      }
      items.push(within(expression));
    }
    if (!take(closing)) throw expected(`',' or '${closing}'`);
    return items;
  };

  const primary = (): Parsed => {
    const { start } = token;
    if (token.kind === 'integer') {
      const value = readInteger(advance());
      return { node: { kind: 'integer', value, ...spanFrom(start) }, nesting: 0 };
    }
    if (token.kind === 'string') {
      const value = advance().text;
      return { node: { kind: 'string', value, ...spanFrom(start) }, nesting: 0 };
    }
    if (isSymbol('true') || isSymbol('false')) {
      const value = advance().text === 'true';
      return { node: { kind: 'bool', value, ...spanFrom(start) }, nesting: 0 };
    }
    if (token.kind === 'name') return nameOrCall(start);
    if (take('[')) {
      const items = take(']') ? [] : listUntil(']', POLICY_LIMITS.listItems);
      return nested({ kind: 'list', items: items.map((item) => item.node), ...spanFrom(start) }, ...items);
    }
    if (!take('(')) throw expected('a value');
    const inner = within(expression);
    expectToken(')');
    return nested(inner.node, inner);
  };

  const nameOrCall = (start: number): Parsed => {
    const name = advance().text;
    if (!take('(')) return { node: { kind: 'name', name, ...spanFrom(start) }, nesting: 0 };
    const args = listUntil(')', Number.POSITIVE_INFINITY);
    return nested({ kind: 'call', name, args: args.map((arg) => arg.node), ...spanFrom(start) }, ...args);
  };

  const { node: root } = expression();
  if (token.kind !== 'end') throw expected('an operator or the end of the expression');
  return { root, nodeCount };
}

const deepest = (parts: readonly Parsed[]): number => parts.reduce((most, part) => Math.max(most, part.nesting), 0);

function readInteger(digits: Token): bigint {
  const value = digits.text.length > DIGITS_MAX ? undefined : BigInt(digits.text);
  if (value === undefined || value > UINT_MAX) {
    throw new StaticFailure('E_INT_RANGE', digits, 'above 2^256-1, the largest number');
  }
  return value;
}

/** The type of a literal is given by its value: up to 2^127-1 it is an int, beyond a uint (protocol/policies 2). */
export const isIntLiteral = (value: bigint): boolean => value <= INT_MAX;

function describeToken(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end of the expression';
    case 'string':
      return 'a string';
    case 'integer':
      return `the number ${token.text.length > 20 ? `${token.text.slice(0, 20)}…` : token.text}`;
    case 'name':
    case 'symbol':
      return `'${token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text}'`;
  }
}
