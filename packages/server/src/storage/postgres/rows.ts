import pg from 'pg';

// Times and counters are bigint; they stay far below 2^53 and are numbers everywhere in this program. A larger one was
// written by somebody else: it stays a bigint, because an error here would withhold all rows of the answer. Whoever
// verifies the rows, or reads them one by one, refuses that row alone (storage/integrity/one-by-one.ts).
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? toInteger : pg.types.getTypeParser(oid, format as 'text'),
};

function toInteger(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** How the rows of a statement are read; worked out once for as long as the server keeps the statement. */
export interface Columns {
  readonly names: readonly string[];
  /** Undefined for text, which stays as it is. */
  readonly parsers: readonly (((text: string) => unknown) | undefined)[];
  /** A copy of it has its shape at once. */
  readonly empty: Readonly<Record<string, unknown>>;
}

const { TEXT, VARCHAR } = pg.types.builtins;

export function columnsOf(fields: readonly pg.FieldDef[]): Columns {
  const names = fields.map(({ name }) => name);
  return {
    names,
    parsers: fields.map(({ dataTypeID: oid }) =>
      oid === TEXT || oid === VARCHAR ? undefined : types.getTypeParser(oid, 'text'),
    ),
    empty: Object.fromEntries(names.map((name) => [name, null])),
  };
}

export function readRow({ names, parsers, empty }: Columns, fields: readonly (string | null)[]): object {
  const row: Record<string, unknown> = { ...empty };
  for (let index = 0; index < names.length; index += 1) {
    const text = fields[index] ?? null;
    const name = names[index] as string;
    const parse = parsers[index];
    row[name] = text === null || parse === undefined ? text : parse(text);
  }
  return row;
}
