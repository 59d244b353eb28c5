import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invitationCalls } from '../../../src/domains/organizations/invitations/calls.ts';
import { proxyCalls, proxyPathOf } from '../../../src/domains/sign-up-proxy/calls.ts';
import { LIMITS } from '../../../src/lib/limits.ts';
import { operations, pathOf } from '../../../src/registry.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, send, type TestClient } from '../../harness/client.ts';

const KIB = 1024;

const operationOf = (name: string) => {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no such operation: ${name}`);
  return { path: pathOf(found), bodyLimit: found.bodyLimit };
};
const limitOf = (name: string): number => operationOf(name).bodyLimit;

/** A body of exactly this many bytes; what fills it is a field that nobody knows. */
const padded = (body: string, bytes: number): string => {
  const open = `${body.slice(0, -1)},"unknown":"`;
  return `${open}${'x'.repeat(bytes - open.length - 2)}"}`;
};

const refusal = ({ status, body }: Answer) => [status, body.errorCode, body.message];
const tooLarge = (limit: number) => [
  413,
  'BODY_TOO_LARGE',
  `the body is larger than ${limit} bytes, which is the limit of this operation`,
];

describe('how large a body may be', () => {
  let app: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    app = await openTestApp('sqlite');
    ({ root } = app);
  });
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]();
  });

  test('an operation of short fields reads 64 KiB and no byte more', async () => {
    const path = '/public/v1/submit/update_organization_name';
    const body = () => root.submitBody('update_organization_name', { organizationName: 'Renamed' });
    expect((await root.sendStamped(path, padded(body(), 64 * KIB))).status).toBe(200);
    expect(refusal(await root.sendStamped(path, padded(body(), 64 * KIB + 1)))).toEqual(tooLarge(64 * KIB));
  });

  test.each(['approve_activity', 'reject_activity', 'whoami', 'delete_users', 'create_wallet', 'sign_transaction'])(
    '%s reads as much as its schema has a use for',
    async (name) => {
      const { path, bodyLimit } = operationOf(name);
      const body = `{"organizationId":"${root.organizationId}"}`;
      expect((await root.sendStamped(path, padded(body, bodyLimit))).status).not.toBe(413);
      expect(refusal(await root.sendStamped(path, padded(body, bodyLimit + 1)))).toEqual(tooLarge(bodyLimit));
    },
  );

  test('every operation and every call without a stamp refuses one byte more than its limit', async () => {
    const routes = [
      ...operations.map((operation) => [pathOf(operation), operation.bodyLimit] as const),
      ...invitationCalls.map(({ path, bodyLimit }) => [path, bodyLimit] as const),
      ...proxyCalls.map((call) => [proxyPathOf(call), call.bodyLimit] as const),
    ];
    for (const [path, limit] of routes) {
      expect(limit, path).toBeLessThanOrEqual(LIMITS.bodyBytes);
      // Content-Length alone is enough: nothing of it is read.
      const answer = await send(app.baseUrl, path, Buffer.alloc(limit + 1, 'x'));
      expect(refusal(answer), path).toEqual(tooLarge(limit));
    }
  });

  test('paths that nothing serves read no more than 64 KiB', async () => {
    for (const path of ['/public/v1/submit/no_such_operation', '/anything']) {
      const answer = await send(app.baseUrl, path, Buffer.alloc(64 * KIB + 1, 'x'));
      expect([404, 413]).toContain(answer.status);
    }
  });

  test('a body of more values or names than any operation has a use for is refused', async () => {
    const body = (count: number, names = 0) =>
      root.submitBody('sign_raw_payload', {
        unknown: Array(count).fill(0),
        members: Object.fromEntries(Array.from({ length: names }, (_, index) => [`name${index}`, 0])),
      });
    const few = await root.sendStamped('/public/v1/submit/sign_raw_payload', body(90_000));
    expect(few.body.message).not.toContain('values');
    const many = await root.sendStamped('/public/v1/submit/sign_raw_payload', body(100_001));
    expect([many.status, many.body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
    const named = await root.sendStamped('/public/v1/submit/sign_raw_payload', body(0, 5000));
    expect(named.body.message).toContain('more than 5000 names at byte');
    expect(many.body.message).toContain('more than 100000 values at byte');
  });

  test('what honest requests need stays open', () => {
    expect(limitOf('approve_activity')).toBe(8 * KIB);
    expect(limitOf('sign_transaction')).toBe(LIMITS.bodyBytes);
    expect(limitOf('sign_raw_payloads')).toBe(LIMITS.bodyBytes);
    // A contract interface of the largest size, all of whose quotation marks are escaped.
    expect(limitOf('create_smart_contract_interface')).toBeGreaterThan(2 * 400_000);
    expect(limitOf('create_users')).toBe(1024 * KIB);
    for (const name of ['delete_users', 'delete_policies', 'whoami']) {
      expect(limitOf(name), name).toBe(64 * KIB);
    }
  });
});
