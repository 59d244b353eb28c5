import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'node:v8';
import { type FloorDatabase, openSqlite, pg } from '../floors/drivers.ts';
import type { StartOptions } from '../service.ts';
import { FILLED_TABLES } from './fill.ts';

/** How the database runs one statement. */
export interface Plan {
  readonly statement: string;
  readonly steps: readonly string[];
  /** Whether rows are found by searches in indexes alone, and nothing is sorted. */
  readonly seeks: boolean;
}

const FILLED = new RegExp(`\\b(from|into|update|join) "?(${FILLED_TABLES.join('|')})\\b`, 'i');
/** SQLite and PostgreSQL, each when it reads all rows, and when it sorts. */
const SLOW = /^SCAN|TEMP B-TREE|Seq Scan|\bSort\b/;

const fileIn = (folder: string): string => join(folder, 'statements');

/** Starts a service that keeps its statements in the folder. */
export const recordingIn = (folder: string): StartOptions => ({
  node: ['--import', new URL('./record.mjs', import.meta.url).href],
  env: { BENCH_STATEMENTS: fileIn(folder) },
});

/** The plans of the recorded statements on the filled tables, for the values that they had. */
export async function explain(database: FloorDatabase, folder: string): Promise<Plan[]> {
  const recorded = deserialize(readFileSync(fileIn(folder))) as ReadonlyMap<string, readonly unknown[]>;
  const read = database.kind === 'sqlite' ? sqlitePlans(database.file) : await postgresPlans(database.url);
  const plans: Plan[] = [];
  for (const [statement, values] of recorded) {
    if (!FILLED.test(statement)) continue;
    const steps = await read.plan(statement, values);
    plans.push({ statement, steps, seeks: !steps.some((step) => SLOW.test(step)) });
  }
  await read.close();
  return plans;
}

interface PlanReader {
  plan(sql: string, values: readonly unknown[]): Promise<string[]>;
  close(): Promise<void>;
}

function sqlitePlans(file: string): PlanReader {
  const db = openSqlite(file);
  return {
    plan: async (sql, values) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as unknown as { detail: string }[]).map(
        ({ detail }) => detail,
      ),
    close: async () => void db.close(),
  };
}

async function postgresPlans(url: string): Promise<PlanReader> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    plan: async (sql, values) => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, [...values]);
      return rows.map((row) => row['QUERY PLAN']);
    },
    close: () => client.end(),
  };
}
