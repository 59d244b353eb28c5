// The unmodified server SDK against the running service: only the base URL and the first credentials are ours.

import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, vi } from 'vitest';
import { newKeyPair } from '../../packages/server/test/harness/client.ts';
import type { DatabaseKind } from '../../packages/server/test/harness/databases.ts';
import { TestServer } from '../../packages/server/test/harness/server.ts';
import { connect, credentialsOf, fresh, userOf } from '../sdk.ts';

export const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What the SDK puts on the wire while `work` runs. */
export async function record<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly sent: readonly Sent[] }> {
  const spy = vi.spyOn(globalThis, 'fetch');
  try {
    const value = await work();
    const sent = spy.mock.calls.map(([url, init]) => ({
      path: new URL(String(url)).pathname,
      headers: init?.headers as Record<string, string>,
      body: String(init?.body),
    }));
    return { value, sent };
  } finally {
    spy.mockRestore();
  }
}

/** Opened before the tests of a file, closed after them. */
export function openServer(database: DatabaseKind) {
  let service: TestServer;

  let root: TurnkeyApiClient;

  let credentials: TestServer['credentials'];

  const openChild = async (extra: { userEmail?: string; userPhoneNumber?: string } = {}) => {
    const key = newKeyPair();
    const name = fresh('child');
    const userName = `root of ${name}`;
    const { subOrganizationId, rootUserIds, activity } = await root.createSubOrganization({
      subOrganizationName: name,
      rootQuorumThreshold: 1,
      rootUsers: [{ ...userOf(userName, key), ...extra }],
    });
    const userId = rootUserIds?.[0] as string;
    const client = connect(service.baseUrl, credentialsOf(subOrganizationId, key));
    return { id: subOrganizationId, name, userName, userId, key, client, activity };
  };

  const createUser = async (extra: Record<string, unknown> = {}) => {
    const key = newKeyPair();
    const { userIds } = await root.createUsers({
      users: [{ ...userOf(fresh('user'), key), userTags: [], ...extra }],
    });
    const client = connect(service.baseUrl, credentialsOf(credentials.organizationId, key));
    return { userId: userIds[0] as string, key, client };
  };

  beforeAll(async () => {
    service = await TestServer.start({ database, env: { CUSTOS_DEV_INBOX: 'on' } });
    ({ credentials } = service);
    root = connect(service.baseUrl, credentials);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  return {
    get root() {
      return root;
    },
    get credentials() {
      return credentials;
    },
    createUser,
    get service() {
      return service;
    },
    openChild,
  };
}
