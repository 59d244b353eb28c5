import { type Hex, serializeTransaction } from 'viem';
import { afterAll, beforeAll } from 'vitest';
import { TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';

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
  let server: TestServer;

  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });

  afterAll(() => server[Symbol.asyncDispose]());

  return {
    get parent() {
      return parent;
    },
  };
}
