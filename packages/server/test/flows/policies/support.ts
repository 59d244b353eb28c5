import { type Hex, serializeTransaction } from 'viem';
import { afterAll, beforeAll } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import type { TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';

export const FRIEND = `0x${'cd'.repeat(20)}` as const;

export const ethereumTransaction = (to: Hex, data: Hex, extra = {}) =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to,
    data,
    gas: 60_000n,
    nonce: 1,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
    ...extra,
  });

/** Opened before the tests of a file, closed after them. */
export function openPolicies(database: DatabaseKind) {
  let service: TestApp;

  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });

  afterAll(() => service[Symbol.asyncDispose]());

  return {
    get parent() {
      return parent;
    },
  };
}
