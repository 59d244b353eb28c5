/** A PostgreSQL server in a temporary directory. */
export interface TestPostgres extends AsyncDisposable {
  /** Connection string of the superuser on the `postgres` database. */
  readonly url: string;
  /** The server process, undefined while it is stopped. */
  readonly pid: number | undefined;
  /** Holds the data, the log and the unix socket. */
  readonly directory: string;
  /** Starts it again on the same data and port. */
  start(): Promise<void>;
  /** Shuts it down in order, ending open sessions. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Ends it as a power failure would. */
  kill(): Promise<void>;
  /** Ends it and removes its directory. */
  dispose(): Promise<void>;
}

export function startPostgres(): Promise<TestPostgres>;
