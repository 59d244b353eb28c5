/** All columns of a table, for a statement that reads its rows whole under other names: a missing one does not compile. */
export const everyColumn = <Row>(
  columns: Readonly<Record<keyof Row & string, true>>,
): readonly (keyof Row & string)[] => Object.keys(columns) as (keyof Row & string)[];
