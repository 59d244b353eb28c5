// Stands in for the driver of SQLite: the same, but that it keeps the statements.
import { createRequire } from 'node:module';

const driver = createRequire(new URL('../../packages/server/package.json', import.meta.url))('@photostructure/sqlite');

/** By text, with the values that they first had. */
export const statements = new Map();

export class DatabaseSync extends driver.DatabaseSync {
  prepare(sql) {
    const statement = super.prepare(sql);
    const kept =
      (method) =>
      (...values) => {
        if (!statements.has(sql)) statements.set(sql, values);
        return statement[method](...values);
      };
    return {
      columns: () => statement.columns(),
      setReturnArrays: (value) => statement.setReturnArrays(value),
      all: kept('all'),
      run: kept('run'),
    };
  }
}
