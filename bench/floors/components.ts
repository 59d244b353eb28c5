// The parts that floors are made of, each alone on the machine: what the arithmetic sums are made from.
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { answerParent } from '../child.ts';
import { type FloorDatabase, openSqlite } from './drivers.ts';
import { RECORDED_UNIT as unit } from './recorded.ts';
import { openFloor } from './storage.ts';
import { sqliteUnit } from './unit.ts';

export interface ComponentQuestion {
  readonly database: FloorDatabase;
  readonly seconds: number;
}

/** Operations per second by name. */
export type ComponentRates = Readonly<Record<string, number>>;

const IN_FLIGHT = 32;
const UNITS_GROUPED = 32;

answerParent(async (question: ComponentQuestion): Promise<ComponentRates> => {
  const { database, seconds } = question;
  const [user] = unit.users as [(typeof unit.users)[number]];
  if (database.kind === 'postgres') {
    const row = await openFloor({ database, commits: { kind: 'row' }, user });
    const whole = await openFloor({ database, commits: { kind: 'unit', unit }, user });
    const [commitRow, commitUnit] = [() => row.commit(''), () => whole.commit('')];
    const rates = {
      'PostgreSQL prepared read, 1 client': await rate(seconds, 1, row.read),
      'PostgreSQL prepared read, 32 at once': await rate(seconds, IN_FLIGHT, row.read),
      'PostgreSQL one-row commit, 1 client': await rate(seconds, 1, commitRow),
      'PostgreSQL one-row commit, 32 at once': await rate(seconds, IN_FLIGHT, commitRow),
      'PostgreSQL unit commit, 1 client': await rate(seconds, 1, commitUnit),
      'PostgreSQL unit commit, 32 at once': await rate(seconds, IN_FLIGHT, commitUnit),
    };
    await Promise.all([row.close(), whole.close()]);
    return rates;
  }
  const db = openSqlite(database.file);
  db.exec('CREATE TABLE IF NOT EXISTS floor (id integer PRIMARY KEY, payload text NOT NULL)');
  const insert = db.prepare('INSERT INTO floor (payload) VALUES (?)');
  const read = db.prepare('SELECT * FROM app_user WHERE organization_id = ? AND id = ?');
  const writeUnit = sqliteUnit(db, unit);
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const group = (units: number, write: () => void) => () => {
    begin.run();
    for (let count = 0; count < units; count += 1) write();
    commit.run();
  };
  const payload = 'x'.repeat(600);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = Buffer.from('x'.repeat(250));
  const signature = sign('sha256', body, privateKey);
  const rates = {
    'P-256 verify, 1 thread': rateSync(seconds, () => verify('sha256', body, publicKey, signature)),
    'P-256 verify, thread pool, 32 in flight': await rate(
      seconds,
      IN_FLIGHT,
      () => new Promise<void>((resolve) => verify('sha256', body, publicKey, signature, () => resolve())),
    ),
    'SQLite prepared read': rateSync(seconds, () => read.get(user.organizationId, user.userId)),
    'SQLite one-row commit': rateSync(
      seconds,
      group(1, () => insert.run(payload)),
    ),
    'SQLite unit commit': rateSync(seconds, group(1, writeUnit)),
    'SQLite units, 32 to a commit': rateSync(seconds, group(UNITS_GROUPED, writeUnit)) * UNITS_GROUPED,
  };
  db.close();
  return rates;
});

function rateSync(seconds: number, work: () => unknown): number {
  const startedAt = performance.now();
  let count = 0;
  let now = startedAt;
  for (; now < startedAt + seconds * 1000; now = performance.now()) {
    work();
    count += 1;
  }
  return (count * 1000) / (now - startedAt);
}

async function rate(seconds: number, inFlight: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < endsAt) {
        await work();
        count += 1;
      }
    }),
  );
  return (count * 1000) / (performance.now() - startedAt);
}
