import { randomUUID } from 'node:crypto';
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTables, type Tables } from '../../faults/support.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, currentType, type TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';

export const FRIEND = `0x${'cd'.repeat(20)}` as const;

export const transfer = (value: bigint) =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to: FRIEND,
    value,
    gas: 21_000n,
    nonce: 1,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
  });

export interface Request {
  readonly operation: string;
  readonly parameters: Record<string, unknown>;
}

/** The would-be submit body. */
export const wish = ({ operation, parameters }: Request, extra: Record<string, unknown> = {}) => ({
  request: { type: currentType(operation), parameters },
  ...extra,
});

export const renameRequest = ({ userId }: TestClient, userName = `Name ${randomUUID()}`): Request => ({
  operation: 'update_user_name',
  parameters: { userId, userName },
});

export const ask = (client: TestClient, request: Request, extra: Record<string, unknown> = {}): Promise<Answer> =>
  client.query('simulate_activity', wish(request, extra));

export const simulate = async (client: TestClient, request: Request, extra = {}): Promise<Answer['body']> => {
  const answer = await ask(client, request, extra);
  expect(answer.body.simulation, JSON.stringify(answer.body)).toBeDefined();
  return answer.body.simulation;
};

/** Opened before the tests of a file, closed after them. */
export function openSimulations(database: DatabaseKind) {
  let service: TestApp;
  let parent: TestClient;
  let tables: Tables;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    tables = await openTables(service.app.config.dataDir, service.app.config.databaseUrl);
  });

  afterAll(async () => {
    await tables?.[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  return {
    get tables() {
      return tables;
    },
    get parent() {
      return parent;
    },
  };
}
