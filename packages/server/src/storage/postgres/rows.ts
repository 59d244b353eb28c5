import pg from 'pg';

// Times and counters are bigint; they stay far below 2^53 and are numbers everywhere in this program.
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? toSafeInteger : pg.types.getTypeParser(oid, format as 'text'),
};

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`database integer out of range: ${text}`);
  return value;
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
