/** A row as the database gives it, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;
