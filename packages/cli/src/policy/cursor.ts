import { readFileSync } from 'node:fs';
import { type CommentedJson, JsonTextError, type Path, type Place, parseCommentedJson } from './commented-json.ts';

/** What is wrong with a file, and where. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  readonly file: string;
  readonly place: Place | undefined;
  /** What the problem is in, such as a case by its name. */
  readonly subject: string | undefined;
  readonly reason: string;

  constructor(file: string, place: Place | undefined, subject: string | undefined, reason: string) {
    const where = place === undefined ? file : `${file}:${place.line}:${place.column}`;
    super([where, ...(subject === undefined ? [] : [subject]), reason].join(': '));
    this.file = file;
    this.place = place;
    this.subject = subject;
    this.reason = reason;
  }
}

/** A value of a file that knows where it stands, so that whoever does not like it can say so. */
export class Cursor {
  readonly value: unknown;
  readonly #file: string;
  readonly #document: CommentedJson;
  readonly #path: Path;
  readonly #subject: string | undefined;

  constructor(file: string, document: CommentedJson, path: Path, value: unknown, subject?: string) {
    this.#file = file;
    this.#document = document;
    this.#path = path;
    this.value = value;
    this.#subject = subject;
  }

  /** The same value, whose problems are those of a named case or policy. */
  within(subject: string): Cursor {
    return new Cursor(this.#file, this.#document, this.#path, this.value, subject);
  }

  /** Refuses the value, or one inside it. */
  fail(reason: string, inner: Path = []): never {
    const path = [...this.#path, ...inner];
    throw new FileProblem(this.#file, this.#document.placeOf(path), this.#subject, reason);
  }

  #child(key: string | number, value: unknown): Cursor {
    return new Cursor(this.#file, this.#document, [...this.#path, key], value, this.#subject);
  }

  /** The members of an object that has no others than these. */
  members<Name extends string>(what: string, known: readonly Name[]): Partial<Record<Name, Cursor>> {
    const members = this.entries(what);
    for (const [name, cursor] of members) {
      if (!(known as readonly string[]).includes(name)) {
        cursor.fail(`unknown field ${JSON.stringify(name)} of ${what}; expected ${known.join(', ')}`);
      }
    }
    return Object.fromEntries(members) as Partial<Record<Name, Cursor>>;
  }

  /** The members of an object whose names are the author's. */
  entries(what: string): [string, Cursor][] {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.fail(`${what} is an object`);
    return Object.entries(value).map(([name, member]) => [name, this.#child(name, member)]);
  }

  items(what: string): Cursor[] {
    const { value } = this;
    if (!Array.isArray(value)) return this.fail(`${what} is a list`);
    return value.map((item, index) => this.#child(index, item));
  }

  text(what: string): string {
    return typeof this.value === 'string' ? this.value : this.fail(`${what} is a text`);
  }

  flag(what: string): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail(`${what} is true or false`);
  }

  oneOf<Choice extends string>(what: string, choices: readonly Choice[]): Choice {
    const found = choices.find((choice) => choice === this.value);
    return found ?? this.fail(`${what} is one of ${choices.join(', ')}`);
  }
}

/** A member that must be there. */
export function required(owner: Cursor, members: Partial<Record<string, Cursor>>, name: string): Cursor {
  return members[name] ?? owner.fail(`${JSON.stringify(name)} is missing`);
}

/** Reads what can be read and keeps what is wrong with the rest, so that one run names every problem. */
export function collect<Item, Result>(
  items: readonly Item[],
  problems: FileProblem[],
  read: (item: Item, index: number) => Result,
): Result[] {
  return items.flatMap((item, index) => {
    try {
      return [read(item, index)];
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      problems.push(error);
      return [];
    }
  });
}

export function openFile(file: string): Cursor {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileProblem(
      file,
      undefined,
      undefined,
      code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`,
    );
  }
  return openText(file, text);
}

export function openText(file: string, text: string): Cursor {
  try {
    const document = parseCommentedJson(text);
    return new Cursor(file, document, [], document.value);
  } catch (error) {
    if (error instanceof JsonTextError) throw new FileProblem(file, error.place, undefined, error.message);
    throw error;
  }
}
