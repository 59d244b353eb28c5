// Loaded into the service before it starts: keeps each statement that it runs, with the values it first had.
import { writeFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { serialize } from 'node:v8';
import { statements } from './recording-sqlite.mjs';

// The driver's own classes cannot be changed, so the service gets others in their place.
const stand = JSON.stringify(new URL('./recording-sqlite.mjs', import.meta.url).href);
const hook = `export const resolve = (name, context, next) =>
  name === '@photostructure/sqlite' ? { url: ${stand}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { prototype } = createRequire(new URL('../../packages/server/package.json', import.meta.url))('pg').Client;
const query = prototype.query;
prototype.query = function (statement, ...rest) {
  if (statement?.values !== undefined && !statements.has(statement.text)) {
    statements.set(statement.text, [...statement.values]);
  }
  return query.call(this, statement, ...rest);
};

process.on('exit', () => writeFileSync(process.env.BENCH_STATEMENTS, serialize(statements)));
