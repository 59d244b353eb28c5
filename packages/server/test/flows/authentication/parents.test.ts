import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type KeyPair, newKeyPair, send, stampFor, TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { MINUTE, outcome, queryBody, stampHeader, WHOAMI } from './support.ts';

describe.each(databasesOf(import.meta.url))('resolving by the parent’s id on %s', (database) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const under = (organizationId: string, key: KeyPair) => new TestClient(app.baseUrl, organizationId, key);
  const whoami = (key: KeyPair) => under(app.root.organizationId, key).query('whoami');
  let offset = 0;
  const advance = (milliseconds: number) => {
    offset += milliseconds;
    app.advance(milliseconds);
  };
  /** A sub-organization whose root user has this key from its first moment. */
  async function subWith(key: KeyPair): Promise<string> {
    const apiKeys = [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const answer = await app.root.submit(
      'create_sub_organization',
      {
        subOrganizationName: 'Sub',
        rootQuorumThreshold: 1,
        rootUsers: [{ userName: 'r', apiKeys, authenticators: [], oauthProviders: [] }],
      },
      { timestampMs: String(Date.now() + offset) },
    );
    const { result } = answer.body.activity;
    return result.createSubOrganizationResultV8.subOrganizationId;
  }
  const CONFLICT = [401, 'CREDENTIAL_CONFLICT'];
  const UNKNOWN = [401, 'PUBLIC_KEY_NOT_FOUND'];

  test('one match acts there, and using the key proves it', async () => {
    const key = newKeyPair();
    const sub = await subWith(key);
    const answer = await whoami(key);
    expect(answer.body).toMatchObject({ organizationId: sub, username: 'r' });
    // It has stamped a request there now, so it counts for ever.
    advance(24 * 60 * MINUTE);
    expect((await whoami(key)).body.organizationId).toBe(sub);
    // Only whoami looks below; other queries stay where they were sent.
    expect(outcome(await under(app.root.organizationId, key).query('list_users'))).toEqual(UNKNOWN);
  });

  test('two fresh ones are a conflict until one is used', async () => {
    const key = newKeyPair();
    const [first, second] = [await subWith(key), await subWith(key)];
    const conflict = await whoami(key);
    expect(outcome(conflict)).toEqual(CONFLICT);
    expect(conflict.body.message).toContain('more than one suborg associated with a');
    // The conflict itself proved nothing.
    expect(outcome(await whoami(key))).toEqual(CONFLICT);
    expect((await under(second, key).query('whoami')).body.organizationId).toBe(second);
    expect((await whoami(key)).body.organizationId).toBe(second);
    // Of several proven ones the oldest wins.
    expect((await under(first, key).query('whoami')).body.organizationId).toBe(first);
    expect((await whoami(key)).body.organizationId).toBe(first);
  });

  test('a key that was never used counts for fifteen minutes', async () => {
    const key = newKeyPair();
    await subWith(key);
    advance(15 * MINUTE);
    expect(outcome(await whoami(key))).toEqual(UNKNOWN);
    const second = await subWith(key);
    // The first one is too old to count, so there is one match.
    advance(14 * MINUTE);
    expect((await whoami(key)).body.organizationId).toBe(second);
  });

  test('a stranger’s fresh registration does not disturb a proven key', async () => {
    const key = newKeyPair();
    const mine = await subWith(key);
    await under(mine, key).query('whoami');
    await subWith(key);
    await subWith(key);
    expect((await whoami(key)).body.organizationId).toBe(mine);
  });

  test('nor do many old ones that were registered in older organizations', async () => {
    const key = newKeyPair();
    const strangers: TestClient[] = [];
    for (let index = 0; index < 21; index += 1) {
      const own = newKeyPair();
      strangers.push(new TestClient(app.baseUrl, await subWith(own), own));
    }
    const mine = await subWith(key);
    await under(mine, key).query('whoami');
    expect((await whoami(key)).body.organizationId).toBe(mine);
    for (const stranger of strangers) {
      const { userId } = (await stranger.query('whoami')).body;
      const answer = await stranger.submit(
        'create_api_keys',
        { userId, apiKeys: [{ apiKeyName: 'stolen', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }] },
        { timestampMs: String(Date.now() + offset) },
      );
      expect(answer.status).toBe(200);
    }
    const answer = await whoami(key);
    expect(answer.body).toMatchObject({ organizationId: mine });
  });

  test('a bad signature is refused before anything is resolved or proven', async () => {
    const key = newKeyPair();
    await subWith(key);
    const body = queryBody(app.root.organizationId);
    const other = stampFor(Buffer.from(body), newKeyPair());
    const { signature } = JSON.parse(Buffer.from(other, 'base64url').toString());
    const stamp = stampHeader({ publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature });
    expect((await send(app.baseUrl, WHOAMI, body, { 'x-stamp': stamp })).status).toBe(401);
    advance(15 * MINUTE);
    // Had the forged request proven the key, it would still be found.
    expect(outcome(await whoami(key))).toEqual(UNKNOWN);
  });

  test('expiry has its documented text', async () => {
    const key = newKeyPair();
    const answer = await app.root.submit(
      'create_api_keys',
      {
        userId: app.root.userId,
        apiKeys: [
          { apiKeyName: 'short', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '3600' },
        ],
      },
      { timestampMs: String(Date.now() + offset) },
    );
    expect(answer.status).toBe(200);
    const client = app.root.as(key, app.root.userId);
    expect((await client.query('whoami')).status).toBe(200);
    advance(59 * MINUTE);
    expect((await client.query('whoami')).status).toBe(200);
    advance(MINUTE);
    for (const refused of [
      await client.query('whoami'),
      await client.submit('update_user_name', { userId: app.root.userId, userName: 'x' }),
    ]) {
      expect(outcome(refused)).toEqual([401, 'API_KEY_EXPIRED']);
      expect(refused.body.message).toContain(`Unauthenticated desc = expired api key publicKey=${key.publicKey}`);
    }
  });
});
