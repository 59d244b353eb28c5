import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importOperatorKeyFor } from '../../chain/earn-chain.ts';
import { newKnownCredential, Outside, turnLoginsOn } from '../../fixtures/outside.ts';
import { type Answer, createSubOrganization, createUser, TestClient } from '../../harness/client.ts';
import { type DatabaseKind, databasesOf } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import type { World } from '../../operations/every-case.ts';

export const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

export function expectError(answer: Answer, status: number, errorCode: string, code?: number): void {
  expect({ status: answer.status, errorCode: answer.body.errorCode }, JSON.stringify(answer.body)).toEqual({
    status,
    errorCode,
  });
  if (code !== undefined) expect(answer.body.code).toBe(code);
}

/** Opened before the tests of a file, closed after them. */
export function openEvery(database: DatabaseKind, testFile: string) {
  let server: TestServer;
  let outside: Outside;
  let parent: TestClient;

  beforeAll(async () => {
    outside = await Outside.start();
    server = await TestServer.start({ database, env: outside.env });
    await importOperatorKeyFor(server, outside.ethereum);
    parent = TestClient.root(server.credentials, server.baseUrl);
    await turnLoginsOn(parent, outside);
    await newKnownCredential(parent);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  async function newWorld(place?: 'parent'): Promise<World> {
    const root = place === 'parent' ? parent : await createSubOrganization(parent, `World ${randomUUID()}`);
    return { parent, root, plain: await createUser(root, 'plain'), outside };
  }

  const path = (name: string) => `/public/v1/submit/${name}`;

  /**
   * What a request says, and who may send it, is judged alike whatever the database, so `npm test` tries it on one;
   * what it does there is done on each.
   */
  const isChosen = databasesOf(testFile).includes(database);

  /** A test that there is for some operations only; the others do not have it rather than skip it. */
  const testIf =
    (isThere: boolean | undefined) =>
    (title: string, body: () => Promise<void>): void => {
      if (isThere) test(title, body);
    };

  return {
    get parent() {
      return parent;
    },
    path,
    newWorld,
    testIf,
    isChosen,
  };
}
