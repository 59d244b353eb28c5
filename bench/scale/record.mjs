// Loaded into the service before it starts: keeps each statement that it runs, with the values it first had.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { serialize } from 'node:v8';

const requireOfServer = createRequire(new URL('../../packages/server/package.json', import.meta.url));
const statements = new Map();

const Statement = Object.getPrototypeOf(new (requireOfServer('better-sqlite3'))(':memory:').prepare('SELECT 1'));
for (const name of ['all', 'run']) {
  const original = Statement[name];
  Statement[name] = function (...values) {
    if (!statements.has(this.source)) statements.set(this.source, values);
    return original.apply(this, values);
  };
}

const { prototype } = requireOfServer('pg').Client;
const query = prototype.query;
prototype.query = function (statement, ...rest) {
  if (statement?.values !== undefined && !statements.has(statement.text)) {
    statements.set(statement.text, [...statement.values]);
  }
  return query.call(this, statement, ...rest);
};

process.on('exit', () => writeFileSync(process.env.BENCH_STATEMENTS, serialize(statements)));
