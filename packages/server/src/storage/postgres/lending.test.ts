import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lending } from './lending.ts';

const MAX = 4;
const WAIT_MS = 2000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A pool whose connections are opened when the test says so. */
class FakePool {
  totalCount = 0;
  idle: number[] = [];
  /** One that was given back while somebody waits for an idle one: the driver hands it straight on. */
  handed: number | undefined;
  #opened = 0;
  readonly opening: { done(): void; fail(error: Error): void }[] = [];

  get idleCount(): number {
    return this.idle.length;
  }

  async connect(): Promise<number> {
    // As the driver does: what is idle now is handed out in a moment, if it is still there.
    if (this.idle.length > 0) await Promise.resolve();
    const idle = this.handed ?? this.idle.pop();
    this.handed = undefined;
    if (idle !== undefined) return idle;
    this.totalCount += 1;
    return await new Promise<number>((resolve, reject) => {
      const over = (): void => void this.opening.splice(this.opening.indexOf(attempt), 1);
      const attempt = {
        done: () => {
          over();
          this.#opened += 1;
          resolve(this.#opened);
        },
        fail: (error: Error) => {
          over();
          this.totalCount -= 1;
          reject(error);
        },
      };
      this.opening.push(attempt);
    });
  }
}

function open() {
  const pool = new FakePool();
  const giveBack = (connection: number): void => {
    pool.idle.push(connection);
    lending.serve();
  };
  const failures: string[] = [];
  const onFailure = ({ message }: Error): void => void failures.push(message);
  const lending = new Lending<number>({ connections: pool, max: MAX, waitMs: WAIT_MS, giveBack, onFailure });
  /** Who has which connection, in the order in which they got it. */
  const lent: [who: string, connection: number | string][] = [];
  const borrow = async (who: string, organizationId = ''): Promise<void> => {
    await lending.borrow(organizationId).then(
      (connection) => lent.push([who, connection]),
      (error: Error) => lent.push([who, error.message]),
    );
  };
  return { pool, lending, lent, failures, borrow, giveBack };
}

const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));

test('one that is given back goes to whoever is next, without the pool', async () => {
  const { pool, lending, lent, borrow } = open();
  for (const who of ['a', 'b', 'c']) void borrow(who);
  pool.opening[0]?.done();
  await settle();
  lending.giveBack(1);
  await settle();
  expect(lent).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  lending.giveBack(1);
  lending.giveBack(1);
  await settle();
  expect(lent).toHaveLength(3);
  expect(pool.idle).toEqual([1]);
});

test('few are opened at once, and the first that is free serves whoever is next', async () => {
  const { pool, lent, borrow, giveBack } = open();
  for (const who of ['a', 'b', 'c', 'd', 'e']) void borrow(who);
  expect(pool.opening).toHaveLength(2);
  pool.opening[1]?.done();
  await settle();
  expect(lent).toEqual([['a', 1]]);
  expect(pool.opening).toHaveLength(2);
  // The others are not there yet, and nobody waits for them who can be served before.
  for (const expected of ['b', 'c', 'd', 'e']) {
    giveBack(1);
    await settle();
    expect(lent.at(-1)).toEqual([expected, 1]);
  }
  for (const { done } of [...pool.opening]) done();
  await settle();
  expect(pool).toMatchObject({ totalCount: 3, idle: [2, 3], opening: [] });
});

test('no more are opened than may be, nor than somebody waits for', async () => {
  const { pool, lent, borrow } = open();
  void borrow('a');
  expect(pool.opening).toHaveLength(1);
  for (let count = 0; count < 10; count += 1) void borrow(`${count}`);
  for (let round = 0; round < 10; round += 1) {
    pool.opening[0]?.done();
    await settle();
  }
  expect(pool).toMatchObject({ totalCount: MAX, opening: [] });
  expect(lent).toHaveLength(MAX);
});

test('two who come in one turn do not both count on the same idle connection', async () => {
  const { pool, lent, borrow } = open();
  pool.totalCount = 1;
  pool.idle = [7];
  void borrow('a');
  void borrow('b');
  await settle();
  expect(lent).toEqual([['a', 7]]);
  expect(pool.opening).toHaveLength(1);
});

test('one that is given back while another is on its way to somebody serves the next', async () => {
  const { pool, lending, lent, borrow } = open();
  pool.totalCount = MAX;
  void borrow('a');
  void borrow('b');
  pool.idle.push(1);
  lending.serve();
  pool.handed = 2;
  lending.serve();
  await settle();
  expect(lent).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});

test('organizations take turns', async () => {
  const { pool, lent, borrow, giveBack } = open();
  for (const who of ['one 1', 'one 2', 'one 3', 'one 4']) void borrow(who, 'one');
  pool.totalCount = MAX;
  void borrow('two 1', 'two');
  for (let count = 0; count < 5; count += 1) {
    giveBack(1);
    await settle();
  }
  expect(lent.map(([who]) => who)).toEqual(['one 1', 'two 1', 'one 2', 'one 3', 'one 4']);
});

test('without any connection everybody who waits hears why', async () => {
  const { pool, lending, lent, borrow } = open();
  for (const who of ['a', 'b', 'c']) void borrow(who);
  pool.opening[0]?.fail(new Error('refused'));
  await settle();
  // Another one is still being opened.
  expect(lent).toEqual([]);
  pool.opening[0]?.fail(new Error('refused'));
  await settle();
  expect(lent).toEqual([
    ['a', 'refused'],
    ['b', 'refused'],
    ['c', 'refused'],
  ]);
  expect(lending.waiting).toBe(0);
});

test('while others are in use, a connection that cannot be opened fails nobody', async () => {
  const { pool, lent, failures, borrow, giveBack } = open();
  pool.totalCount = 1;
  void borrow('a');
  pool.opening[0]?.fail(new Error('too many connections'));
  await settle();
  expect(lent).toEqual([]);
  expect(failures).toEqual(['too many connections']);
  giveBack(1);
  await settle();
  expect(lent).toEqual([['a', 1]]);
});

test('nobody waits for long, and what takes longer to open serves those who come later', async () => {
  const { pool, lending, lent, borrow } = open();
  void borrow('a');
  const [slow] = pool.opening;
  await vi.advanceTimersByTimeAsync(WAIT_MS);
  expect(lent).toEqual([['a', 'timeout exceeded when trying to connect']]);
  expect(lending.waiting).toBe(0);
  // It may lead nowhere, so that others are tried beside it.
  void borrow('b');
  void borrow('c');
  void borrow('d');
  expect(pool.opening).toHaveLength(3);
  slow?.done();
  await settle();
  expect(lent.slice(1)).toEqual([['b', 1]]);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
});

test('who left no longer has a turn', async () => {
  const { pool, lent, borrow, giveBack } = open();
  pool.totalCount = MAX;
  void borrow('early', 'one');
  await vi.advanceTimersByTimeAsync(WAIT_MS / 2);
  void borrow('late', 'one');
  await vi.advanceTimersByTimeAsync(WAIT_MS / 2);
  giveBack(1);
  await settle();
  expect(lent).toEqual([
    ['early', 'timeout exceeded when trying to connect'],
    ['late', 1],
  ]);
});
