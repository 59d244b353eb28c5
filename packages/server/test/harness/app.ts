import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { buildApp, type Parts } from '../../src/app.ts';
import { createFirstOrganization, openRootKey } from '../../src/bootstrap.ts';
import { readConfig } from '../../src/config/config.ts';
import { keyringLimits } from '../../src/config/keyring-settings.ts';
import { dataModel } from '../../src/domains.ts';
import { buildServer } from '../../src/http/server.ts';
import { requireLoadedIntegrity } from '../../src/integrity/load.ts';
import { openServiceKeys } from '../../src/service-keys.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { newKeyPair, TestClient } from './client.ts';
import { copyTables, createPostgresDatabase, type DatabaseKind } from './databases.ts';
import { PATIENT } from './server.ts';

/**
 * A service in this process whose clock the test moves. It listens like any other, and costs a tenth of a `TestServer`,
 * which is for what the process itself does: how it starts and ends, what it prints, several of them on one database.
 */
export interface TestApp extends AsyncDisposable {
  readonly app: ReturnType<typeof buildApp>;
  readonly server: FastifyInstance;
  readonly baseUrl: string;
  readonly root: TestClient;
  /** Lets milliseconds pass. */
  readonly advance: (milliseconds: number) => void;
  /** Sets the time of day so many milliseconds ahead of what it is, which lets no time pass. */
  readonly setClock: (milliseconds: number) => void;
  /** Starts it again on the same data and port; `meanwhile` has the database before anything of it is served. */
  readonly restart: (meanwhile?: (storage: Storage) => Promise<void>) => Promise<void>;
}

export async function openTestApp(
  database: DatabaseKind,
  env: Record<string, string> = {},
  parts: Pick<Parts, 'poster' | 'nodes' | 'earn'> = {},
): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'custos-app-'));
  const postgres = database === 'postgres' ? await createPostgresDatabase() : undefined;
  if (postgres === undefined) copyTables(dataDir);
  const config = readConfig({
    CUSTOS_DATA_DIR: dataDir,
    CUSTOS_LOG_LEVEL: 'silent',
    ...PATIENT,
    ...(postgres && {
      CUSTOS_DATABASE_URL: postgres.url,
      CUSTOS_DATABASE_POOL: '8',
      // A busy machine is no reason to be refused.
      CUSTOS_DATABASE_TIMEOUT_SECONDS: '60',
    }),
    ...env,
  });
  let offset = 0;
  let passed = 0;
  const clocks = { clock: () => Date.now() + offset, elapsed: () => performance.now() + passed };

  async function open(port: number, meanwhile?: (storage: Storage) => Promise<void>) {
    const storage = await openStorage({ dataModel, ...config, nowMs: Date.now(), onIdleError: () => {} });
    const keyring = await openRootKey(storage, config.rootKey, 'inline', { ...keyringLimits(config), log: () => {} });
    if (meanwhile !== undefined) {
      await requireLoadedIntegrity(storage, keyring);
      await meanwhile(storage);
    }
    const serviceKeys = await openServiceKeys(storage, keyring, Date.now(), clocks);
    const app = buildApp({
      config,
      storage,
      keyring,
      serviceKeys,
      log: pino({ level: 'silent' }),
      ...clocks,
      baseUrl: () => baseUrl,
      ...parts,
    });
    const server = buildServer(app);
    const baseUrl = await server.listen({ host: '127.0.0.1', port });
    app.timekeeper.start();
    app.outbox.start();
    app.webhooks.start();
    const close = async (): Promise<void> => {
      await server.close();
      await Promise.all([
        app.timekeeper.stop(),
        app.outbox.stop(),
        app.webhooks.stop(),
        app.sends.stop(),
        app.balances.stop(),
      ]);
      app.nodes.close();
      await storage.close();
      await keyring.close();
    };
    return { app, server, baseUrl, close };
  }

  let opened = await open(0);
  const { storage, keyring } = opened.app;
  const key = newKeyPair();
  const first = { organizationName: 'Test', userName: 'Root', apiKeyName: 'root', publicKey: key.publicKey };
  const created = await createFirstOrganization(storage, keyring, first, Date.now());
  if (created === undefined) throw new Error('the test database was not empty');
  return {
    get app() {
      return opened.app;
    },
    get server() {
      return opened.server;
    },
    baseUrl: opened.baseUrl,
    root: new TestClient(opened.baseUrl, created.organizationId, key, created.userId),
    advance: (milliseconds) => {
      offset += milliseconds;
      passed += milliseconds;
    },
    setClock: (milliseconds) => {
      offset = passed + milliseconds;
    },
    restart: async (meanwhile = async () => {}) => {
      const { port } = opened.server.server.address() as AddressInfo;
      await opened.close();
      opened = await open(port, meanwhile);
    },
    [Symbol.asyncDispose]: async () => {
      await opened.close();
      await postgres?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
