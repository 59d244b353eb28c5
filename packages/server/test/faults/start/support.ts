import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import type { RootCredentials } from '../../../src/credentials-file.ts';
import { StartError } from '../../../src/lib/start-error.ts';
import { startService } from '../../../src/service.ts';
import { TestClient } from '../../harness/client.ts';
import { createPostgresDatabase, type DatabaseKind } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../support.ts';

export const modeOf = (path: string): number => statSync(path).mode & 0o777;

export const readCredentials = (path: string): RootCredentials =>
  JSON.parse(readFileSync(path, 'utf8')) as RootCredentials;

/** A data directory and, for PostgreSQL, a database; the environment that names both. */
export async function newPlace(database: DatabaseKind) {
  const postgres = database === 'postgres' ? await createPostgresDatabase({ isEmpty: true }) : undefined;
  const folder = temporaryFolder();
  const env: Record<string, string> = {
    CUSTOS_DATA_DIR: folder.path,
    CUSTOS_PORT: '0',
    // The start of a keyring process is tried in the files of its own, and would be most of the time that this one
    // takes.
    CUSTOS_KEYRING: 'inline',
    ...(postgres && { CUSTOS_DATABASE_URL: postgres.url }),
  };
  const file = (name: string): string => join(folder.path, name);
  return {
    path: folder.path,
    url: postgres?.url,
    env,
    file,
    names: (): string[] => readdirSync(folder.path).sort(),
    start: (extra: Record<string, string> = {}): Promise<TestServer> =>
      TestServer.start({ dataDir: folder.path, env: { ...env, ...extra } }),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      folder[Symbol.dispose]();
      await postgres?.[Symbol.asyncDispose]();
    },
  };
}

export async function expectWhoami(
  baseUrl: string,
  { organizationId, apiPublicKey, apiPrivateKey, userId }: RootCredentials,
) {
  const key = { publicKey: apiPublicKey, privateKey: apiPrivateKey };
  const { status, body } = await new TestClient(baseUrl, organizationId, key).query('whoami');
  expect(status).toBe(200);
  expect(body).toMatchObject({ organizationId, userId });
}

/**
 * Why a service does not start, asked in this process, because one of its own loads for a second. That a program says it in one
 * line and ends is what `runService` shows.
 */
export async function whyNoStart(env: Readonly<Record<string, string>>): Promise<string> {
  const refused = await startService(readConfig({ ...env, CUSTOS_LOG_LEVEL: 'silent' })).then(
    (service) => service.stop(),
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(StartError);
  const { message } = refused as StartError;
  expect(message).not.toContain('\n');
  return message;
}

/** Starts, uses the first credentials, stops in order. */
export async function startOnce(place: Awaited<ReturnType<typeof newPlace>>): Promise<RootCredentials> {
  await using server = await place.start();
  await expectWhoami(server.baseUrl, server.credentials);
  expect(await server.stop()).toBe(0);
  return server.credentials;
}

/** After a refusal a start with everything in order works as before, with the same credentials. */
export async function expectWorks(
  place: Awaited<ReturnType<typeof newPlace>>,
  credentials: RootCredentials,
): Promise<void> {
  await using server = await place.start();
  expect(server.credentials).toEqual(credentials);
  await expectWhoami(server.baseUrl, credentials);
  expect(await server.stop()).toBe(0);
}
