import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { addPasskey, type PasskeyCaller, policyFor, Rows } from '../fixtures/access.ts';

export const API_KEY = { type: 'AUTHENTICATION_TYPE_API_KEY' };

export const PASSKEY = { type: 'AUTHENTICATION_TYPE_PASSKEY' };

interface Method {
  readonly type: string;
  readonly id?: string;
}

export const step = (...any: Method[]) => ({ any });

/** API key, then passkey: what most tests here ask for. */
export const KEY_THEN_PASSKEY = [step(API_KEY), step(PASSKEY)];

interface MfaOptions {
  readonly condition?: string;
  readonly order?: number;
  readonly notes?: string;
}

export const mfaParameters = (
  userId: string,
  steps: object[],
  { condition = 'true', order = 0, ...rest }: MfaOptions = {},
) => ({
  userId,
  mfaPolicyName: `mfa ${randomUUID()}`,
  condition,
  requiredAuthenticationMethods: steps,
  order,
  ...rest,
});

/** Enforces the steps on the user of a client. */
export async function enforce(root: TestClient, { userId }: TestClient, steps: object[], options?: MfaOptions) {
  return (await root.run('create_mfa_policy', mfaParameters(userId, steps, options))).mfaPolicyId as string;
}

export const statuses = async (client: TestClient, activityId: string, userId?: string) =>
  (await client.query('get_mfa_status', { activityId, ...(userId !== undefined && { userId }) })).body.mfaStatuses;

/** How many steps the one requirement of an activity has seen proven. */
export const proven = async (client: TestClient, activityId: string): Promise<number> => {
  const [status] = await statuses(client, activityId);
  return status.satisfiedMethods.length;
};

/** Opened before the tests of a file, closed after them. */
export function openMfa(database: DatabaseKind) {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });

  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);

  /** An organization with a user that may do everything, has a passkey, and is not root. */
  async function newUser(): Promise<{ root: TestClient; user: TestClient; passkey: PasskeyCaller }> {
    const root = await newOrg();
    const user = await createUser(root, 'user');
    await policyFor(root, user);
    return { root, user, passkey: await addPasskey(user) };
  }

  return {
    newUser,
    get rows() {
      return rows;
    },
    get parent() {
      return parent;
    },
    newOrg,
  };
}
