// Which rows a statement asks for, read from its text: a database whose schema somebody changed may answer a look-up with another
// row, and that row may be genuine.

/** One thing that a column is to be equal to. */
export type Operand =
  | { readonly kind: 'parameter'; readonly index: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'column'; readonly ref: ColumnRef };

export interface ColumnRef {
  /** The table's name in the statement. */
  readonly source: string;
  readonly column: string;
}

/** What a column of each answered row must be equal to one of. */
export interface Asked extends ColumnRef {
  readonly operands: readonly Operand[];
  /** The joined table without whose row the condition says nothing; undefined for a condition of all rows. */
  readonly within: string | undefined;
}

export interface AskedFacts {
  /** The table behind each name. */
  readonly sources: ReadonlyMap<string, string>;
  readonly asked: readonly Asked[];
}

const NOTHING: AskedFacts = { sources: new Map(), asked: [] };
/** Longer lists are for many rows at once, and to compare each row with each value takes long. */
const OPERANDS_MAX = 8;

interface Token {
  readonly kind: 'name' | 'word' | 'text' | 'number' | 'parameter' | 'sign' | 'group';
  readonly text: string;
  /** Of a parameter. */
  readonly index?: number;
  /** What is in a pair of brackets. */
  readonly inner?: readonly Token[];
}

const TOKEN =
  /\s+|--[^\n]*|'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([a-z_][a-z0-9_]*)|(\d+(?:\.\d+)?)|\$(\d+)|(\?)|(<=|>=|<>|!=|\|\||::|->>|->|.)/giy;

/** The tokens of a text, with brackets as one token each; undefined where it has brackets that do not fit. */
function tokensOf(text: string): readonly Token[] | undefined {
  const stack: Token[][] = [[]];
  let parameters = 0;
  for (const [, quoted, name, word, number, numbered, mark, sign] of text.matchAll(TOKEN)) {
    const current = stack.at(-1) as Token[];
    if (quoted !== undefined) current.push({ kind: 'text', text: quoted.replaceAll("''", "'") });
    else if (name !== undefined) current.push({ kind: 'name', text: name.replaceAll('""', '"') });
    else if (word !== undefined) current.push({ kind: 'word', text: word.toLowerCase() });
    else if (number !== undefined) current.push({ kind: 'number', text: number });
    else if (numbered !== undefined) current.push({ kind: 'parameter', text: '$', index: Number(numbered) - 1 });
    else if (mark !== undefined) {
      current.push({ kind: 'parameter', text: '?', index: parameters });
      parameters += 1;
    } else if (sign === '(') stack.push([]);
    else if (sign === ')') {
      const inner = stack.pop();
      const outer = stack.at(-1);
      if (inner === undefined || outer === undefined) return undefined;
      outer.push({ kind: 'group', text: '()', inner });
    } else if (sign !== undefined) current.push({ kind: 'sign', text: sign });
  }
  return stack.length === 1 ? stack[0] : undefined;
}

const isWord = (token: Token | undefined, ...words: readonly string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text);
const isSign = (token: Token | undefined, sign: string): boolean => token?.kind === 'sign' && token.text === sign;
const isIdentifier = (token: Token | undefined): token is Token => token?.kind === 'name' || token?.kind === 'word';

const END_OF_SOURCES = ['where', 'group', 'having', 'window', 'order', 'limit', 'offset', 'fetch', 'for'];
const JOINS = ['join', 'inner', 'left', 'outer', 'cross'];

/**
 * Reads what the top level of a SELECT asks for: equalities that its WHERE joins by AND, and those of its joins. Nothing is said of
 * what cannot be read so: of alternatives, subqueries, functions, and joins of another kind.
 */
export function askedOf(text: string): AskedFacts {
  const tokens = tokensOf(text);
  if (tokens === undefined || !isWord(tokens[0], 'select')) return NOTHING;
  if (tokens.some((token) => isWord(token, 'union', 'intersect', 'except', 'right', 'full', 'natural', 'using')))
    return NOTHING;
  const from = tokens.findIndex((token) => isWord(token, 'from'));
  if (from === -1) return NOTHING;
  const reader = new SourceReader(tokens, from + 1);
  return reader.read() ?? NOTHING;
}

class SourceReader {
  readonly #tokens: readonly Token[];
  #at: number;
  readonly #sources = new Map<string, string>();
  readonly #conditions: { readonly tokens: readonly Token[]; readonly within: string | undefined }[] = [];

  constructor(tokens: readonly Token[], at: number) {
    this.#tokens = tokens;
    this.#at = at;
  }

  read(): AskedFacts | undefined {
    if (this.#source() === undefined) return undefined;
    for (;;) {
      const token = this.#next;
      if (token === undefined || isWord(token, ...END_OF_SOURCES)) break;
      if (isSign(token, ',')) {
        this.#at += 1;
        if (this.#source() === undefined) return undefined;
      } else if (isWord(token, ...JOINS)) {
        const isOuter = isWord(token, 'left');
        while (isWord(this.#next, ...JOINS)) this.#at += 1;
        const joined = this.#source();
        if (joined === undefined) return undefined;
        if (!isWord(this.#next, 'on')) continue;
        this.#at += 1;
        this.#conditions.push({
          tokens: this.#until([...JOINS, ...END_OF_SOURCES]),
          within: isOuter ? joined : undefined,
        });
      } else return undefined;
    }
    if (isWord(this.#next, 'where')) {
      this.#at += 1;
      this.#conditions.push({ tokens: this.#until(END_OF_SOURCES), within: undefined });
    }
    const asked = this.#conditions.flatMap(({ tokens, within }) => this.#conjuncts(tokens, within));
    return { sources: this.#sources, asked };
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** A table with its name; a subquery has only a name, and a name that occurs twice is none. */
  #source(): string | undefined {
    const first = this.#next;
    if (first?.kind !== 'group' && !isIdentifier(first)) return undefined;
    this.#at += 1;
    // A table of another schema, or the arguments of a function.
    if (isSign(this.#next, '.') || this.#next?.kind === 'group') return undefined;
    let name = first.text;
    if (isWord(this.#next, 'as')) this.#at += 1;
    const alias = this.#next;
    if (isIdentifier(alias) && !isWord(alias, 'on', ...JOINS, ...END_OF_SOURCES)) {
      name = alias.text;
      this.#at += 1;
    }
    if (this.#sources.has(name)) return undefined;
    this.#sources.set(name, first.kind === 'group' ? '' : first.text);
    return name;
  }

  #until(words: readonly string[]): readonly Token[] {
    const start = this.#at;
    while (this.#next !== undefined && !isWord(this.#next, ...words) && !isSign(this.#next, ',')) this.#at += 1;
    return this.#tokens.slice(start, this.#at);
  }

  #conjuncts(tokens: readonly Token[], within: string | undefined): Asked[] {
    if (tokens.some((token) => isWord(token, 'or', 'case', 'between'))) return [];
    const asked: Asked[] = [];
    let start = 0;
    for (let at = 0; at <= tokens.length; at += 1) {
      if (at < tokens.length && !isWord(tokens[at], 'and')) continue;
      const conjunct = tokens.slice(start, at);
      const [only] = conjunct;
      if (conjunct.length === 1 && only?.inner !== undefined) asked.push(...this.#conjuncts(only.inner, within));
      else asked.push(...this.#equality(conjunct, within));
      start = at + 1;
    }
    return asked;
  }

  #equality(tokens: readonly Token[], within: string | undefined): Asked[] {
    const equal = tokens.findIndex((token) => isSign(token, '='));
    const [left, right] =
      equal === -1
        ? [tokens.slice(0, -2), this.#list(tokens.slice(-2))]
        : [tokens.slice(0, equal), this.#operand(tokens.slice(equal + 1))];
    const ref = this.#ref(left);
    if (right === undefined) return [];
    if (ref !== undefined) return [{ ...ref, operands: [right].flat(), within }];
    // The other way round.
    const other = this.#operand(left);
    if (other === undefined || Array.isArray(right) || right.kind !== 'column') return [];
    return [{ ...right.ref, operands: [other], within }];
  }

  /** `in (…)` */
  #list([word, group]: readonly Token[]): Operand[] | undefined {
    if (!isWord(word, 'in') || group?.inner === undefined) return undefined;
    const operands: Operand[] = [];
    let start = 0;
    for (let at = 0; at <= group.inner.length; at += 1) {
      if (at < group.inner.length && !isSign(group.inner[at], ',')) continue;
      const operand = this.#operand(group.inner.slice(start, at));
      if (operand === undefined || operands.length === OPERANDS_MAX) return undefined;
      operands.push(operand);
      start = at + 1;
    }
    return operands;
  }

  #operand(tokens: readonly Token[]): Operand | undefined {
    const [only] = tokens;
    if (tokens.length === 1 && only?.kind === 'parameter') return { kind: 'parameter', index: only.index ?? 0 };
    if (tokens.length === 1 && (only?.kind === 'text' || only?.kind === 'number'))
      return { kind: 'text', value: only.text };
    const ref = this.#ref(tokens);
    return ref && { kind: 'column', ref };
  }

  /** Without a table only where there is one. */
  #ref(tokens: readonly Token[]): ColumnRef | undefined {
    const [first, dot, second] = tokens;
    if (tokens.length === 1 && isIdentifier(first)) {
      const [source, ...others] = this.#sources.keys();
      return source === undefined || others.length > 0 ? undefined : { source, column: first.text };
    }
    if (tokens.length !== 3 || !isIdentifier(first) || !isSign(dot, '.') || !isIdentifier(second)) return undefined;
    return this.#sources.has(first.text) ? { source: first.text, column: second.text } : undefined;
  }
}
