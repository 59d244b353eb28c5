/** Where in a text something stands; both count from one, columns in code points. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The members and list items that lead to a value. */
export type Path = readonly (string | number)[];

/** A text that was read, and where each of its values stands. */
export interface CommentedJson {
  readonly value: unknown;
  /** The place of a value, or of the nearest one that holds it. */
  placeOf(path: Path): Place;
}

export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

const NESTING_MAX = 64;
const SPACE = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"/y;
const NUMBER = /-?[0-9][-+.0-9a-zA-Z]*/y;
const WORD = /[A-Za-z_$][A-Za-z0-9_$]*/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * JSON with comments and commas after the last element. Refuses what people and programs could read differently: members
 * that occur twice, and numbers that would be rounded.
 */
export function parseCommentedJson(source: string): CommentedJson {
  const text = source.replace(/^\uFEFF/, '');
  const offsets = new Map<string, number>();
  let offset = 0;

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) offset += found.length;
    return found;
  };
  const fail = (message: string, at = offset): never => {
    throw new JsonTextError(placeIn(text, at), message);
  };
  const unexpected = (expected: string): never => {
    if (offset >= text.length) return fail(`expected ${expected}, but the text ends here`);
    if (text.startsWith('/*', offset)) return fail('this comment is never closed');
    const [shown = ''] = text.slice(offset);
    return fail(shown === "'" ? `expected ${expected}; texts stand in double quotes` : `expected ${expected}`);
  };
  const accept = (character: string): boolean => {
    take(SPACE);
    if (text[offset] !== character) return false;
    offset += 1;
    return true;
  };

  const readString = (expected: string): string => {
    const start = offset;
    const found = take(STRING);
    if (found === undefined) {
      return text[offset] === '"' ? fail('this text is not closed on its line') : unexpected(expected);
    }
    try {
      return JSON.parse(found) as string;
    } catch {
      return fail('this text has an escape that JSON does not know', start);
    }
  };
  const readNumber = (): number | undefined => {
    const start = offset;
    const found = take(NUMBER);
    if (found === undefined) return undefined;
    if (!/^-?(?:0|[1-9][0-9]*)$/.test(found)) return fail(`${found} is not an integer; write it as a text`, start);
    const value = Number(found);
    // Amounts in wei are beyond what a number holds exactly.
    return Number.isSafeInteger(value)
      ? value
      : fail(`${found} would be rounded; write it as a text: "${found}"`, start);
  };
  const readWord = (): unknown => {
    const start = offset;
    const found = take(WORD);
    if (found === undefined) return unexpected('a value');
    return WORDS.has(found) ? WORDS.get(found) : fail(`expected a value; texts stand in double quotes`, start);
  };

  const readList = (path: Path): unknown[] => {
    const items: unknown[] = [];
    while (!accept(']')) {
      if (items.length > 0 && !accept(',')) return unexpected("',' or ']'");
      if (items.length > 0 && accept(']')) break;
      items.push(readValue([...path, items.length]));
    }
    return items;
  };
  const readObject = (path: Path): object => {
    const members = new Map<string, unknown>();
    while (!accept('}')) {
      if (members.size > 0 && !accept(',')) return unexpected("',' or '}'");
      if (members.size > 0 && accept('}')) break;
      take(SPACE);
      const start = offset;
      const name = readString('a name in double quotes');
      if (members.has(name)) return fail(`${JSON.stringify(name)} occurs twice`, start);
      if (!accept(':')) return unexpected("':'");
      members.set(name, readValue([...path, name]));
      // Whoever misspells a name looks for the name, not for its value.
      offsets.set(keyOf([...path, name]), start);
    }
    return Object.fromEntries(members);
  };
  const readValue = (path: Path): unknown => {
    take(SPACE);
    offsets.set(keyOf(path), offset);
    if (path.length > NESTING_MAX) return fail(`nested more than ${NESTING_MAX} deep`);
    if (accept('{')) return readObject(path);
    if (accept('[')) return readList(path);
    if (text[offset] === '"') return readString('a text');
    return readNumber() ?? readWord();
  };

  const value = readValue([]);
  take(SPACE);
  if (offset < text.length) unexpected('nothing more');
  return {
    value,
    placeOf(path) {
      for (let length = path.length; length >= 0; length -= 1) {
        const found = offsets.get(keyOf(path.slice(0, length)));
        if (found !== undefined) return placeIn(text, found);
      }
      return { line: 1, column: 1 };
    },
  };
}

const keyOf = (path: Path): string => JSON.stringify(path.map(String));

function placeIn(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}
