// protocol/policies 3, one function per rule. Names of methods and functions are not judged here: an unknown one is a
// matter of the checker (case list-087), while the shape of a quantifier is syntax (case list-086).
import { type StaticCode, type StaticError, SyntaxRefusal } from './codes.ts';
import { type Token, tokenize } from './lexer.ts';
import {
  EXPRESSION_CODE_POINTS_MAX,
  INT_MAX,
  INT_MIN,
  LIST_LITERAL_ELEMENTS_MAX,
  NESTING_DEPTH_MAX,
  UINT_MAX,
} from './limits.ts';
import type { CompareOperator, Node, Quantifier, Suffix } from './tree.ts';

const COMPARE_OPERATORS: readonly string[] = ['==', '!=', '<', '<=', '>', '>=', 'in'];
const QUANTIFIERS: readonly string[] = ['any', 'all', 'filter'];
const METHODS: readonly string[] = ['contains', 'count', 'hex_to_uint'];

/** A tree may come with errors that do not hide the rest (ranges, list size); all others end the parse. */
export interface ParseResult {
  readonly tree?: Node;
  readonly errors: readonly StaticError[];
}

/** Reads one expression. */
export function parse(source: string): ParseResult {
  const collected: StaticError[] = [];
  const alternatives: StaticCode[] = [];
  try {
    if ([...source].length > EXPRESSION_CODE_POINTS_MAX) throw new SyntaxRefusal('E_LIMIT', 1, 'expression too long');
    return { tree: new Parser(tokenize(source), collected, alternatives).whole(), errors: collected };
  } catch (error) {
    if (!(error instanceof SyntaxRefusal)) throw error;
    return { errors: [...collected, { ...error.refusal, alternatives }] };
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #collected: StaticError[];
  /** What a parser that knows the names of methods would have reported before it came to the syntax error. */
  readonly #alternatives: StaticCode[];
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], collected: StaticError[], alternatives: StaticCode[]) {
    this.#tokens = tokens;
    this.#collected = collected;
    this.#alternatives = alternatives;
  }

  whole(): Node {
    const tree = this.#expression();
    if (this.#current.kind !== 'end') throw this.#unexpected();
    return tree;
  }

  #expression(): Node {
    return this.#junction('or', '||', () => this.#junction('and', '&&', () => this.#compare()));
  }

  #junction(kind: 'or' | 'and', operator: string, operand: () => Node): Node {
    const { column } = this.#current;
    const operands = [operand()];
    while (this.#takes(operator)) operands.push(operand());
    return operands.length === 1 ? operands[0]! : { kind, operands, column };
  }

  #compare(): Node {
    const { column } = this.#current;
    const left = this.#unary();
    const { kind, text } = this.#current;
    if ((kind !== 'punctuator' && kind !== 'reserved') || !COMPARE_OPERATORS.includes(text)) return left;
    this.#position += 1;
    return { kind: 'compare', operator: text as CompareOperator, left, right: this.#unary(), column };
  }

  #unary(): Node {
    const { column } = this.#current;
    if (this.#takes('!')) return { kind: 'not', operand: this.#nested(() => this.#unary()), column };
    if (this.#takes('-')) return this.#suffixed(this.#integer(-1n, column));
    return this.#suffixed(this.#primary());
  }

  #suffixed(primary: Node): Node {
    const suffixes: Suffix[] = [];
    for (;;) {
      const { column } = this.#current;
      if (this.#takes('.')) suffixes.push(this.#dotSuffix(column));
      else if (this.#takes('[')) suffixes.push(this.#nested(() => this.#bracketSuffix(column)));
      else break;
    }
    return suffixes.length === 0 ? primary : { kind: 'postfix', primary, suffixes, column: primary.column };
  }

  #dotSuffix(column: number): Suffix {
    const name = this.#name();
    if (!this.#takes('(')) return { kind: 'field', name, column };
    if (![...QUANTIFIERS, ...METHODS].includes(name)) this.#alternatives.push('E_UNKNOWN_FUNCTION');
    return this.#nested((): Suffix => {
      if (!QUANTIFIERS.includes(name)) return { kind: 'method', name, args: this.#expressionsUntil(')'), column };
      const variable = this.#name();
      this.#expect(',');
      const body = this.#expression();
      this.#expect(')');
      return { kind: 'quantifier', name: name as Quantifier, variable, body, column };
    });
  }

  #bracketSuffix(column: number): Suffix {
    const from = this.#expression();
    const to = this.#takes('..') ? this.#expression() : undefined;
    this.#expect(']');
    return to === undefined ? { kind: 'index', index: from, column } : { kind: 'slice', from, to, column };
  }

  #primary(): Node {
    const { kind, text, column } = this.#current;
    if (kind === 'integer') return this.#integer(1n, column);
    if (kind === 'string') {
      this.#position += 1;
      return { kind: 'string', value: text, column };
    }
    if (kind === 'reserved' && text !== 'in') {
      this.#position += 1;
      return { kind: 'bool', value: text === 'true', column };
    }
    if (kind === 'name') {
      this.#position += 1;
      if (!this.#takes('(')) return { kind: 'name', name: text, column };
      return this.#nested((): Node => ({ kind: 'call', name: text, args: this.#expressionsUntil(')'), column }));
    }
    if (this.#takes('[')) return this.#nested(() => this.#list(column));
    if (this.#takes('(')) {
      return this.#nested(() => {
        const inner = this.#expression();
        this.#expect(')');
        return inner;
      });
    }
    throw this.#unexpected();
  }

  #list(column: number): Node {
    const items = this.#expressionsUntil(']');
    if (items.length > LIST_LITERAL_ELEMENTS_MAX) this.#collect('E_LIMIT', column, 'list literal too long');
    return { kind: 'list', items, column };
  }

  #integer(sign: 1n | -1n, column: number): Node {
    if (this.#current.kind !== 'integer') throw this.#unexpected();
    const value = sign * BigInt(this.#current.text);
    this.#position += 1;
    const max = sign === 1n ? UINT_MAX : INT_MAX;
    if (value < INT_MIN || value > max) this.#collect('E_INT_RANGE', column, 'integer literal out of range');
    return { kind: 'integer', value, column };
  }

  #expressionsUntil(close: string): Node[] {
    if (this.#takes(close)) return [];
    const items = [this.#expression()];
    while (this.#takes(',')) items.push(this.#expression());
    this.#expect(close);
    return items;
  }

  #name(): string {
    if (this.#current.kind !== 'name') throw this.#unexpected();
    const { text } = this.#current;
    this.#position += 1;
    return text;
  }

  /** Every bracket, every parenthesis and every `!` is one level of nesting. */
  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > NESTING_DEPTH_MAX) throw new SyntaxRefusal('E_LIMIT', this.#current.column, 'nested too deeply');
    const result = read();
    this.#depth -= 1;
    return result;
  }

  get #current(): Token {
    return this.#tokens[this.#position]!;
  }

  #takes(punctuator: string): boolean {
    const matches = this.#current.kind === 'punctuator' && this.#current.text === punctuator;
    if (matches) this.#position += 1;
    return matches;
  }

  #expect(punctuator: string): void {
    if (!this.#takes(punctuator)) throw this.#unexpected();
  }

  #collect(code: StaticCode, column: number, detail: string): void {
    this.#collected.push({ code, column, detail });
  }

  #unexpected(): SyntaxRefusal {
    const { kind, text, column } = this.#current;
    return new SyntaxRefusal('E_SYNTAX', column, kind === 'end' ? 'unexpected end' : `unexpected ${text}`);
  }
}
