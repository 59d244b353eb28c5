import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import type { Answer, TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import type { App } from '../../harness/deployments.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export const anId = expect.stringMatching(UUID);

export const TIMESTAMP = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d{1,9}$/) };

export const TIMES = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };

export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

export function expectError({ status, body }: Answer, expected: number, code: string, message?: string | RegExp): void {
  expect({ status, errorCode: body.errorCode }, JSON.stringify(body)).toEqual({ status: expected, errorCode: code });
  if (message !== undefined) expect(body.message).toMatch(message);
}

export const getApp = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('get_tvc_app', { tvcAppId: appId })).body.tvcApp;

export const getDeployment = async (client: TestClient, deploymentId: string) =>
  (await client.query('get_tvc_deployment', { deploymentId })).body.tvcDeployment;

export const liveOf = async (client: TestClient, app: Pick<App, 'appId'>): Promise<string | undefined> =>
  (await getApp(client, app)).liveDeploymentId;

export const statusOf = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('get_app_status', { appId })).body.appStatus;

export const listDeployments = async (client: TestClient, { appId }: Pick<App, 'appId'>) =>
  (await client.query('list_tvc_app_deployments', { appId })).body.tvcDeployments;

export const shownOperator = (name: string, publicKey: string) => ({
  id: anId,
  name,
  publicKey,
  ...TIMES,
  encryptPublicKey: '',
  signPublicKey: publicKey,
  keySource: 'EXTERNAL_KEY',
});

/** Opened before the tests of a file, closed after them. */
export function openDeployments(database: DatabaseKind) {
  let service: TestApp;

  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_APP_DOMAIN: 'apps.example' });
    root = service.root;
  });

  afterAll(() => service?.[Symbol.asyncDispose]());

  const approve = (manifestId: string, approvals: unknown) =>
    root.submit('create_tvc_manifest_approvals', { manifestId, approvals });

  return {
    get root() {
      return root;
    },
    approve,
  };
}
