import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../lib/start-error.ts';
import type { AnnouncedProcess } from './postgres.ts';
import type { Storage } from './storage.ts';
import type { DataModel } from './stores.ts';

export interface OpenOptions {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly databasePool: number;
  readonly databaseTimeoutSeconds?: number;
  readonly databaseWaitSeconds?: number;
  /** How long a request may wait for its turn; here it does so once more, for its organization's. */
  readonly admitWaitMs?: number;
  readonly dataModel: DataModel;
  readonly nowMs: number;
  readonly onIdleError: (error: Error) => void;
  /** Hears what the start waits for. */
  readonly onWaiting?: (what: string) => void;
  /** The service process that opens it; on PostgreSQL others know of it before anything is read for it. */
  readonly process?: AnnouncedProcess;
}

/** A turn may take longer than was expected of it, as at a gate. */
const TURN_WAITS = 2;

/** Opens the configured database and brings its schema up to date. Throws StartError with one clear sentence. */
export async function openStorage(options: OpenOptions): Promise<Storage> {
  const { dataDir, databaseUrl, databasePool, databaseTimeoutSeconds, databaseWaitSeconds, admitWaitMs, nowMs } =
    options;
  const { dataModel } = options;
  requireDataDir(dataDir);
  // Only the driver that is used is loaded.
  if (databaseUrl !== undefined) {
    const { openPostgres } = await import('./postgres.ts');
    return await openPostgres({
      url: databaseUrl,
      poolSize: databasePool,
      timeoutMs: databaseTimeoutSeconds && databaseTimeoutSeconds * 1000,
      turnWaitMs: admitWaitMs && TURN_WAITS * admitWaitMs,
      waitMs: databaseWaitSeconds && databaseWaitSeconds * 1000,
      dataModel,
      nowMs,
      onIdleError: options.onIdleError,
      onWaiting: options.onWaiting,
      process: options.process,
    });
  }
  const { openSqlite } = await import('./sqlite.ts');
  return await openSqlite({
    file: join(dataDir, 'custos.db'),
    lockFile: join(dataDir, 'custos.lock'),
    dataModel,
    nowMs,
  });
}

function requireDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(`cannot use the data directory ${dataDir}: ${(error as Error).message}`);
  }
}
