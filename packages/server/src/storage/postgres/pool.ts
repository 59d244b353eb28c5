import pg from 'pg';
import type { PoolLoad } from '../storage.ts';
import { isTimeout, translate, unavailable } from './errors.ts';
import { Lending } from './lending.ts';
import { types } from './rows.ts';
import { Session } from './session.ts';
import { POOL_SESSIONS } from './session-names.ts';

/**
 * How long a connection is waited for: a share of the time, but not too little to connect. A new one that takes longer is
 * there for those who come later.
 */
const ACQUIRE_SHARE = 0.4;
const ACQUIRE_MS_MIN = 2000;
const WAITING_MAX = 1024;
/** The server gives up a little earlier than this program, so that its answer is still heard. */
export const serverTimeoutMs = (leftMs: number): number => Math.max(1, Math.round(leftMs * 0.9));
const IDLE_IN_TRANSACTION_MS = 15_000;
const FAILURE_TOLD_MS = 5000;

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  readonly timeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  /** Where each session looks for objects; as the server has it where undefined. */
  readonly searchPath: string | undefined;
  /** Of a service: sessions with any other database than this one serve nobody. */
  readonly opened: OpenedDatabase | undefined;
  /** What the failure of a statement means; itself, where it has no other meaning. */
  readonly explain: (error: unknown) => unknown;
}

/** The database that a service began with. */
export interface OpenedDatabase {
  /** The last restore of a backup into it. */
  readonly restored: string | undefined;
  readonly onRestored: () => void;
}

/** What every connection of this program has in common. */
export const connectionConfig = (url: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: POOL_SESSIONS,
  keepAlive: true,
  types,
});

/** A number of connections, for reads or for writes, that nobody waits long for. */
export class SessionPool {
  readonly #name: PoolLoad['pool'];
  readonly #pool: pg.Pool;
  readonly #lending: Lending<pg.PoolClient>;
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
  readonly #explain: (error: unknown) => unknown;
  #timeouts = 0;

  constructor(name: PoolLoad['pool'], { url, size, timeoutMs, onIdleError, explain, searchPath, opened }: PoolOptions) {
    this.#explain = explain;
    const acquireMs = Math.min(timeoutMs, Math.max(ACQUIRE_MS_MIN, timeoutMs * ACQUIRE_SHARE));
    this.#name = name;
    this.#pool = new pg.Pool({
      ...connectionConfig(url),
      max: size,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: serverTimeoutMs(timeoutMs),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      // Statements of a transaction that do not wait for each other travel together.
      ...{ pipeline: true },
      ...{ onConnect: (client: pg.PoolClient) => requireServer(client, name, { timeoutMs, searchPath, opened }) },
    } as pg.PoolConfig);
    this.#lending = new Lending({
      connections: this.#pool,
      max: size,
      waitMs: acquireMs,
      giveBack: (client) => client.release(),
      onFailure: atMostEvery(FAILURE_TOLD_MS, onIdleError),
    });
    this.#pool.on('error', onIdleError);
    // A client in use has no listener of the pool, and an 'error' that nobody hears ends the process. Its statements
    // fail too.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  get load(): PoolLoad {
    const { totalCount, idleCount } = this.#pool;
    return {
      pool: this.#name,
      connections: totalCount,
      busy: totalCount - idleCount,
      waiting: this.#lending.waiting,
      timeouts: this.#timeouts,
    };
  }

  /**
   * Lends a session for some work, which has until the deadline; nobody has it afterwards. Organizations take turns; those
   * without one count as one.
   */
  async use<T>(deadlineMs: number, work: (session: Session) => Promise<T>, organizationId = ''): Promise<T> {
    if (this.#lending.waiting >= WAITING_MAX) throw unavailable('too many requests wait for the database');
    const session = this.#sessionOf(await this.#connect(organizationId));
    session.begin(deadlineMs);
    try {
      return await work(session);
    } finally {
      session.end();
      this.#giveBack(session);
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(organizationId: string): Promise<pg.PoolClient> {
    try {
      return await this.#lending.borrow(organizationId);
    } catch (error) {
      if (error instanceof Error && isTimeout(error)) this.#timeouts += 1;
      throw translate(error);
    }
  }

  #giveBack({ client, isSuspect }: Session): void {
    if (!isSuspect) {
      this.#lending.giveBack(client);
      return;
    }
    client.release(true);
    this.#lending.serve();
  }

  #sessionOf(client: pg.PoolClient): Session {
    let session = this.#sessions.get(client);
    if (session === undefined) {
      const onTimeout = (): void => {
        this.#timeouts += 1;
      };
      session = new Session(client, { onTimeout, explain: this.#explain });
      this.#sessions.set(client, session);
    }
    return session;
  }
}

/**
 * A standby is behind, nobody knows how far, and a primary that was demoted is one: neither is read nor written. One that
 * takes no writes for another reason is still read.
 *
 * A restore ends the sessions of all services (docs/decisions/0063). One that a process of before opens afterwards finds the
 * trace of the restore here, before anything is asked or written on it by what that process remembers.
 */
async function requireServer(
  client: pg.PoolClient,
  pool: PoolLoad['pool'],
  { timeoutMs, searchPath, opened }: Pick<PoolOptions, 'timeoutMs' | 'searchPath' | 'opened'>,
): Promise<void> {
  const ask = async (text: string) => await client.query({ text, ...{ query_timeout: timeoutMs } });
  const pinned = searchPath === undefined ? undefined : ask(`SET search_path TO ${searchPath}`);
  const asked = ask(
    "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only",
  );
  const last = opened && ask("SELECT value FROM deployment WHERE name = 'restored'");
  const [{ rows }, , restored] = await Promise.all([asked, pinned, last]);
  const { standby, read_only } = rows[0] as { standby: boolean; read_only: boolean };
  if (standby) throw readOnly('the PostgreSQL server is a standby');
  if (read_only && pool === 'write') throw readOnly('the PostgreSQL server takes no writes');
  if (opened === undefined || restored?.rows[0]?.value === opened.restored) return;
  opened.onRestored();
  throw new Error('a backup was restored into the database after this process had started');
}

const readOnly = (message: string): Error => Object.assign(new Error(message), { code: '25006' });

/** Many connections fail for one reason, which is told now and then. */
function atMostEvery(intervalMs: number, tell: (error: Error) => void): (error: Error) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < intervalMs) return;
    toldAtMs = nowMs;
    tell(error);
  };
}
