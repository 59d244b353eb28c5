import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  type KeyPair,
  newKeyPair,
  send,
  stampFor,
  TestClient,
} from '../harness/client.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

const MINUTE = 60_000;
const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity?.status];
const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');
const path = (operation: string) => `/public/v1/submit/${operation}`;
const WHOAMI = '/public/v1/query/whoami';

/** A key of one of the stamp schemes, made and used with another library than the server's. */
interface Scheme {
  readonly scheme: string;
  readonly curveType: string;
  readonly credentialType: string;
  readonly newKey: () => { publicKey: string; sign: (body: Uint8Array) => string };
}

const ecdsa = (curve: typeof p256 | typeof secp256k1, digest: (body: Uint8Array) => Uint8Array) => () => {
  const secret = curve.utils.randomSecretKey();
  return {
    publicKey: hex(curve.getPublicKey(secret, true)),
    sign: (body: Uint8Array) => hex(curve.sign(digest(body), secret, { prehash: false, format: 'der' })),
  };
};
const personalMessage = (body: Uint8Array) =>
  keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${body.length}`, 'latin1'), body]));

const SCHEMES: readonly Scheme[] = [
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    curveType: 'API_KEY_CURVE_P256',
    credentialType: 'CREDENTIAL_TYPE_API_KEY_P256',
    newKey: ecdsa(p256, sha256),
  },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1',
    curveType: 'API_KEY_CURVE_SECP256K1',
    credentialType: 'CREDENTIAL_TYPE_API_KEY_SECP256K1',
    newKey: ecdsa(secp256k1, sha256),
  },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
    curveType: 'API_KEY_CURVE_SECP256K1',
    credentialType: 'CREDENTIAL_TYPE_API_KEY_SECP256K1',
    newKey: ecdsa(secp256k1, personalMessage),
  },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_ED25519',
    curveType: 'API_KEY_CURVE_ED25519',
    credentialType: 'CREDENTIAL_TYPE_API_KEY_ED25519',
    newKey: () => {
      const secret = ed25519.utils.randomSecretKey();
      return { publicKey: hex(ed25519.getPublicKey(secret)), sign: (body) => hex(ed25519.sign(body, secret)) };
    },
  },
];

const stampHeader = (fields: Record<string, unknown>): string => base64url(JSON.stringify(fields));

async function sendSigned(
  client: TestClient,
  url: string,
  body: string,
  key: { publicKey: string; sign: (body: Uint8Array) => string },
  scheme: string,
): Promise<Answer> {
  const stamp = { publicKey: key.publicKey, scheme, signature: key.sign(Buffer.from(body)) };
  return await send(client.baseUrl, url, body, { 'x-stamp': stampHeader(stamp) });
}

const addKey = (client: TestClient, userId: string, publicKey: string, extra: Record<string, unknown> = {}) =>
  client.run('create_api_keys', {
    userId,
    apiKeys: [{ apiKeyName: randomUUID(), publicKey, curveType: 'API_KEY_CURVE_P256', ...extra }],
  });

const queryBody = (organizationId: string) => JSON.stringify({ organizationId });

describe.each(DATABASES)('stamps on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database, env: { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' } });
    parent = TestClient.root(server.credentials, server.baseUrl);
    root = await createSubOrganization(parent, 'Org');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describe.each(SCHEMES)('$scheme', ({ scheme, curveType, credentialType, newKey }) => {
    test('queries, submits and votes; the vote keeps what was sent', async () => {
      const key = newKey();
      const user = await createUser(root, 'signer');
      await addKey(root, user.userId, key.publicKey, { curveType });
      const who = await sendSigned(root, WHOAMI, queryBody(root.organizationId), key, scheme);
      expect(who.body.userId).toBe(user.userId);
      const body = root.submitBody('create_api_keys', {
        userId: user.userId,
        apiKeys: [{ apiKeyName: 'own', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
      const done = await sendSigned(root, path('create_api_keys'), body, key, scheme);
      expect(outcome(done)).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
      expect(done.body.activity.votes).toMatchObject([{ scheme, publicKey: key.publicKey, message: body }]);
      const { apiKeys } = (await root.query('get_api_keys', { userId: user.userId })).body;
      expect(apiKeys[1].credential).toEqual({ publicKey: key.publicKey, type: credentialType });
    });

    test('tampering with the body, the key or the signature is noticed', async () => {
      const key = newKey();
      const user = await createUser(root, 'victim');
      await addKey(root, user.userId, key.publicKey, { curveType });
      const body = queryBody(root.organizationId);
      const signature = key.sign(Buffer.from(body));
      const attempt = (fields: Record<string, unknown>, text = body) =>
        send(root.baseUrl, WHOAMI, text, {
          'x-stamp': stampHeader({ publicKey: key.publicKey, scheme, signature, ...fields }),
        });
      expect((await attempt({})).status).toBe(200);
      expect(outcome(await attempt({}, `${body} `))).toEqual([401, 'SIGNATURE_INVALID']);
      expect(outcome(await attempt({}, body.replace('{', '{ ')))).toEqual([401, 'SIGNATURE_INVALID']);
      const other = newKey();
      expect(outcome(await attempt({ signature: other.sign(Buffer.from(body)) }))).toEqual([401, 'SIGNATURE_INVALID']);
      expect(outcome(await attempt({ publicKey: other.publicKey }))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
      for (const fields of [
        { signature: '' },
        { signature: 'zz' },
        { signature: signature.slice(0, -2) },
        { signature: `${signature}00` },
        { signature: 5 },
        { scheme: 'SIGNATURE_SCHEME_NONE' },
        { scheme: '' },
        { publicKey: '' },
        { publicKey: `02${'00'.repeat(31)}` },
        { publicKey: null },
      ]) {
        const answer = await attempt(fields);
        expect([answer.status, answer.body.code], JSON.stringify(fields)).toEqual([401, 16]);
      }
    });
  });

  test('a key signs only in a scheme of its curve', async () => {
    const keys = SCHEMES.map((scheme) => ({ ...scheme, key: scheme.newKey() }));
    const user = await createUser(root, 'curves');
    for (const { key, curveType } of keys) await addKey(root, user.userId, key.publicKey, { curveType });
    const body = queryBody(root.organizationId);
    for (const { key, scheme, curveType } of keys) {
      for (const claimed of keys) {
        const answer = await sendSigned(root, WHOAMI, body, key, claimed.scheme);
        if (claimed.scheme === scheme) expect(answer.status).toBe(200);
        else expect(answer.status, `${scheme} as ${claimed.scheme} (${curveType})`).toBe(401);
      }
    }
  });

  test('a point of one curve that is registered on another does not authenticate', async () => {
    // The same x coordinate is often on both curves: find a secp256k1 key that is also a P-256 point.
    let key = SCHEMES[1]!.newKey();
    const isP256 = (publicKey: string) => {
      try {
        p256.Point.fromHex(publicKey);
        return true;
      } catch {
        return false;
      }
    };
    while (!isP256(key.publicKey)) key = SCHEMES[1]!.newKey();
    const user = await createUser(root, 'two curves');
    await addKey(root, user.userId, key.publicKey, { curveType: 'API_KEY_CURVE_P256' });
    const body = queryBody(root.organizationId);
    const answer = await sendSigned(root, WHOAMI, body, key, 'SIGNATURE_SCHEME_TK_API_SECP256K1');
    expect(outcome(answer)).toEqual([401, 'SIGNATURE_INVALID']);
  });

  test('high-S signatures and an uncompressed key are fine', async () => {
    const secret = p256.utils.randomSecretKey();
    const user = await createUser(root, 'high');
    await addKey(root, user.userId, hex(p256.getPublicKey(secret, true)));
    const body = Buffer.from(queryBody(root.organizationId));
    const signature = p256.Signature.fromBytes(p256.sign(sha256(body), secret, { prehash: false, lowS: true }));
    const high = new p256.Signature(signature.r, p256.Point.Fn.ORDER - signature.s);
    for (const form of [signature, high]) {
      const answer = await send(root.baseUrl, WHOAMI, body, {
        'x-stamp': stampHeader({
          publicKey: hex(p256.getPublicKey(secret, false)),
          scheme: 'SIGNATURE_SCHEME_TK_API_P256',
          signature: hex(form.toBytes('der')),
        }),
      });
      expect(answer.status).toBe(200);
    }
  });

  describe('headers', () => {
    const body = () => queryBody(root.organizationId);
    const stamped = () => stampFor(Buffer.from(body()), root.key);

    test('exactly one', async () => {
      const none = await send(root.baseUrl, WHOAMI, body());
      expect(outcome(none)).toEqual([401, 'SIGNATURE_MISSING']);
      expect(none.body).toMatchObject({ code: 16, message: 'no valid authentication signature found for request' });
      for (const second of ['x-stamp-webauthn', 'x-stamp-attested', 'x-session']) {
        const both = await send(root.baseUrl, WHOAMI, body(), { 'x-stamp': stamped(), [second]: '{}' });
        expect(outcome(both), second).toEqual([400, 'REQUEST_INVALID']);
      }
      const twice = await fetch(`${root.baseUrl}${WHOAMI}`, {
        method: 'POST',
        body: body(),
        headers: [
          ['content-type', 'application/json'],
          ['x-stamp', stamped()],
          ['x-stamp', stamped()],
        ],
      });
      expect(twice.status).toBe(400);
    });

    test('both alphabets of base64, with and without padding', async () => {
      const bytes = Buffer.from(stamped(), 'base64url');
      for (const value of [
        bytes.toString('base64url'),
        bytes.toString('base64'),
        bytes.toString('base64').replace(/=+$/, ''),
      ]) {
        expect((await send(root.baseUrl, WHOAMI, body(), { 'x-stamp': value })).status).toBe(200);
      }
    });

    test.each([
      'x',
      '!!!!',
      base64url('text'),
      base64url('[]'),
      base64url('null'),
      base64url('{}'),
      base64url('{"publicKey":'),
      base64url(Buffer.of(0xff, 0xfe)),
    ])('X-Stamp %j is malformed', async (value) => {
      const answer = await send(root.baseUrl, WHOAMI, body(), { 'x-stamp': value });
      expect(outcome(answer)).toEqual([401, 'SIGNATURE_INVALID']);
      expect(answer.body.message).toContain('could not extract api key stamp');
    });

    test.each(['x', '{}', '[]', '{"authenticatorData":"a","clientDataJson":"b","credentialId":"c","signature":5}'])(
      'X-Stamp-WebAuthn %j is malformed',
      async (value) => {
        const answer = await send(root.baseUrl, WHOAMI, body(), { 'x-stamp-webauthn': value });
        expect(outcome(answer)).toEqual([401, 'SIGNATURE_INVALID']);
        expect(answer.body.message).toContain('could not extract webauthn stamp');
      },
    );

    test('X-Stamp-Attested that cannot be read is refused; flows/sessions.test.ts has those that can', async () => {
      const answer = await send(root.baseUrl, WHOAMI, body(), { 'x-stamp-attested': 'e30' });
      expect(outcome(answer)).toEqual([401, 'SIGNATURE_INVALID']);
      expect(answer.body.message).toContain('could not extract attested stamp');
    });

    test('a stamp is for one body, not for a path', async () => {
      const stamp = stamped();
      // The same bytes and stamp on another query are fine, as a submit they are not.
      expect((await send(root.baseUrl, '/public/v1/query/list_users', body(), { 'x-stamp': stamp })).status).toBe(200);
      expect((await send(root.baseUrl, path('delete_sub_organization'), body(), { 'x-stamp': stamp })).status).toBe(
        400,
      );
      const submit = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
      const asQuery = await root.sendStamped(WHOAMI, submit);
      expect(outcome(asQuery)).toEqual([400, 'REQUEST_INVALID']);
      expect(JSON.stringify(asQuery.body.details)).toContain('"field":"type"');
    });
  });

  test('an unknown key has its documented text', async () => {
    const answer = await root.as(newKeyPair()).query('whoami');
    expect(outcome(answer)).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
    expect(answer.body.message).toContain('could not find public key in organization or its parent organization');
    // Also where the organization has no parent, and for a bad signature of an unknown key.
    const top = await parent.as(newKeyPair()).query('list_users');
    expect(top.body.message).toContain('could not find public key in organization or its parent organization');
  });

  test('an unknown organization is 404 whoever asks', async () => {
    for (const client of [root, root.as(newKeyPair())]) {
      const answer = await client.query('list_users', { organizationId: randomUUID() });
      expect(outcome(answer)).toEqual([404, 'ORGANIZATION_NOT_FOUND']);
      expect(answer.body.message).toBe('no organization found with the given ID');
    }
  });

  test('the same key in parent and child: the child’s user wins under the child’s id', async () => {
    const shared = newKeyPair();
    const above = await createUser(parent, 'above');
    await addKey(parent, above.userId, shared.publicKey);
    const sub = await createSubOrganization(parent, 'shared');
    const as = (organizationId: string) => new TestClient(parent.baseUrl, organizationId, shared);
    // Before: the parent's user reads the child and may not write there.
    const before = await as(sub.organizationId).query('whoami');
    expect(before.body).toMatchObject({ organizationId: parent.organizationId, userId: above.userId });
    const rename = () =>
      as(sub.organizationId).submit('update_user_name', { userId: sub.userId, userName: 'by the shared key' });
    expect(outcome(await rename())).toEqual([400, 'ORGANIZATION_MISMATCH']);
    await addKey(sub, sub.userId, shared.publicKey);
    const after = await as(sub.organizationId).query('whoami');
    expect(after.body).toMatchObject({ organizationId: sub.organizationId, userId: sub.userId });
    expect(outcome(await rename())).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
    // Under the parent's id it is still the parent's user.
    expect((await as(parent.organizationId).query('whoami')).body.userId).toBe(above.userId);
  });
});

describe.each(DATABASES)('resolving by the parent’s id on %s', (database) => {
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

/** Puts a read-only session into the database, as the operation that creates them will. */
async function insertSession(
  app: TestApp,
  database: DatabaseKind,
  session: { organizationId: string; token: string; userId: string; expiresAtMs: number },
): Promise<void> {
  const values = [session.organizationId, hex(sha256(session.token)), session.userId, session.expiresAtMs];
  if (database === 'postgres') {
    const client = new pg.Client({ connectionString: app.app.config.databaseUrl });
    await client.connect();
    await client.query('INSERT INTO read_session VALUES ($1, $2, $3, $4)', values);
    await client.end();
    return;
  }
  const file = new SqliteFile(`${app.app.config.dataDir}/custos.db`);
  file.prepare('INSERT INTO read_session VALUES (?, ?, ?, ?)').run(...values);
  file.close();
}

describe.each(DATABASES)('read-only sessions on %s', (database) => {
  test('read, never submit, and end', async () => {
    await using app = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    const { root } = app;
    const sub = await createSubOrganization(root, 'sub');
    const user = await createUser(root, 'reader');
    const token = base64url(randomBytes(32));
    const session = {
      organizationId: root.organizationId,
      token,
      userId: user.userId,
      expiresAtMs: Date.now() + 3600_000,
    };
    await insertSession(app, database, session);
    const ask = (url: string, body: string, value = token) => send(app.baseUrl, url, body, { 'x-session': value });
    const body = queryBody(root.organizationId);
    expect((await ask(WHOAMI, body)).body).toMatchObject({ userId: user.userId });
    expect((await ask('/public/v1/query/list_users', body)).body.users).toHaveLength(2);
    // Neither submits nor votes.
    const pending = root.submitBody('create_api_keys', {
      userId: user.userId,
      apiKeys: [{ apiKeyName: 'k', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    expect(outcome(await ask(path('create_api_keys'), pending))).toEqual([401, 'UNAUTHENTICATED']);
    const vote = root.submitBody('approve_activity', { fingerprint: `sha256:${'0'.repeat(64)}` });
    expect(outcome(await ask(path('approve_activity'), vote))).toEqual([401, 'UNAUTHENTICATED']);
    // For its own organization only, not even for a child of it.
    expect(outcome(await ask(WHOAMI, queryBody(sub.organizationId)))).toEqual([401, 'UNAUTHENTICATED']);
    expect(outcome(await ask(WHOAMI, queryBody(randomUUID())))).toEqual([404, 'ORGANIZATION_NOT_FOUND']);
    expect(outcome(await ask(WHOAMI, body, `${token}x`))).toEqual([401, 'UNAUTHENTICATED']);
    expect(outcome(await ask(WHOAMI, body, hex(sha256(token))))).toEqual([401, 'UNAUTHENTICATED']);
    // With its user.
    const doomed = await createUser(root, 'doomed');
    await insertSession(app, database, { ...session, token: 'doomed', userId: doomed.userId });
    expect((await ask(WHOAMI, body, 'doomed')).status).toBe(200);
    await root.run('delete_users', { userIds: [doomed.userId] });
    expect(outcome(await ask(WHOAMI, body, 'doomed'))).toEqual([401, 'UNAUTHENTICATED']);
    // With its time.
    app.advance(3600_000);
    expect(outcome(await ask(WHOAMI, body))).toEqual([401, 'UNAUTHENTICATED']);
  });
});

describe('the limit of failed authentications', () => {
  test('slows failures down and never a valid stamp', async () => {
    await using app = await openTestApp('sqlite', { CUSTOS_FAILED_AUTH_PER_MINUTE: '3' });
    const stranger = app.root.as(newKeyPair());
    for (let failure = 0; failure < 3; failure += 1) {
      expect(outcome(await stranger.query('whoami'))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
    }
    const limited = await stranger.query('whoami');
    expect(outcome(limited)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(limited.body.code).toBe(8);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(outcome(await stranger.submit('delete_users', { userIds: [randomUUID()] }))).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
    ]);
    // A valid stamp from the same address passes, and does not reset the count.
    expect((await app.root.query('whoami')).status).toBe(200);
    expect((await app.root.submit('update_user_name', { userId: app.root.userId, userName: 'x' })).status).toBe(200);
    expect((await stranger.query('whoami')).status).toBe(429);
    // What is wrong with the request itself is still said.
    expect((await app.root.query('get_user', { userId: 'x' })).status).toBe(400);
    app.advance(MINUTE);
    expect((await stranger.query('whoami')).status).toBe(401);
  });

  test('is off at 0, and the child process knows the setting', async () => {
    await using server = await TestServer.start({ env: { CUSTOS_FAILED_AUTH_PER_MINUTE: '1' } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const stranger = root.as(newKeyPair());
    expect((await stranger.query('whoami')).status).toBe(401);
    expect((await stranger.query('whoami')).status).toBe(429);
    expect((await root.query('whoami')).status).toBe(200);
    await using off = await openTestApp('sqlite', { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    const unknown = off.root.as(newKeyPair());
    const answers = await Promise.all(Array.from({ length: 20 }, () => unknown.query('whoami')));
    expect(answers.every(({ status }) => status === 401)).toBe(true);
  });
});

/** A software authenticator with one ES256 passkey. */
class Passkey {
  readonly id = randomBytes(24);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly rpId: string;
  readonly origin: string;
  #counter = 0;

  constructor(rpId = 'app.example', origin = `https://${rpId}`) {
    this.rpId = rpId;
    this.origin = origin;
  }

  get credentialId(): string {
    return base64url(this.id);
  }

  get cose(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** Parameters of create_authenticators, attestation none. */
  register(authenticatorName = `passkey ${this.credentialId}`, overrides: Record<string, unknown> = {}) {
    const challenge = base64url(randomBytes(32));
    const authData = Buffer.concat([
      sha256(this.rpId),
      Buffer.of(0x45),
      Buffer.alloc(20),
      Buffer.of(0, this.id.length),
      this.id,
      this.cose,
    ]);
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.of(authData.length >> 8, authData.length & 0xff),
      authData,
    ]);
    const clientData = { type: 'webauthn.create', challenge, origin: this.origin, ...overrides };
    return {
      authenticatorName,
      challenge,
      attestation: {
        credentialId: this.credentialId,
        clientDataJson: base64url(JSON.stringify(clientData)),
        attestationObject: base64url(attestationObject),
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
      },
    };
  }

  stamp(
    body: string,
    options: {
      rpId?: string;
      flags?: number;
      counter?: number;
      clientData?: Record<string, unknown>;
      signer?: Passkey;
    } = {},
  ): string {
    const counter = Buffer.alloc(4);
    this.#counter += 1;
    counter.writeUInt32BE(options.counter ?? this.#counter);
    const authenticatorData = Buffer.concat([
      sha256(options.rpId ?? this.rpId),
      Buffer.of(options.flags ?? 0x05),
      counter,
    ]);
    const clientDataJson = Buffer.from(
      JSON.stringify({
        type: 'webauthn.get',
        challenge: base64url(hex(sha256(body))),
        origin: this.origin,
        crossOrigin: false,
        ...options.clientData,
      }),
    );
    const signer = options.signer ?? this;
    const signature = sign(
      'sha256',
      Buffer.concat([authenticatorData, sha256(clientDataJson)]),
      signer.#keys.privateKey,
    );
    return JSON.stringify({
      authenticatorData: base64url(authenticatorData),
      clientDataJson: base64url(clientDataJson),
      credentialId: this.credentialId,
      signature: base64url(signature),
    });
  }

  /** Checks a vote with nothing but what the vote carries and this authenticator's public key. */
  verifies(vote: Answer['body']): boolean {
    const { authenticatorData, clientDataJson, credentialId } = vote.webauthn;
    const clientData = Buffer.from(clientDataJson, 'base64url');
    const { challenge } = JSON.parse(clientData.toString());
    const signed = Buffer.concat([Buffer.from(authenticatorData, 'base64url'), sha256(clientData)]);
    return (
      credentialId === this.credentialId &&
      Buffer.from(challenge, 'base64url').toString() === hex(sha256(vote.message)) &&
      vote.publicKey === hex(this.cose) &&
      verify('sha256', signed, this.#keys.publicKey, Buffer.from(vote.signature, 'base64url'))
    );
  }
}

describe.each(DATABASES)('passkeys on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database, env: { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' } });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);
  const register = (client: TestClient, passkey: Passkey, userId = client.userId) =>
    client.submit('create_authenticators', { userId, authenticators: [passkey.register()] });
  type StampOptions = Parameters<Passkey['stamp']>[1];
  const sendWith = (passkey: Passkey, url: string, body: string, options?: StampOptions) =>
    send(parent.baseUrl, url, body, { 'x-stamp-webauthn': passkey.stamp(body, options) });

  test('query, submit and vote; the votes can be verified', async () => {
    const root = await newOrg();
    const second = await createUser(root, 'second');
    const [mine, theirs] = [new Passkey(), new Passkey()];
    expect((await register(root, mine)).status).toBe(200);
    expect((await register(root, theirs, second.userId)).status).toBe(200);
    const who = await sendWith(mine, WHOAMI, queryBody(root.organizationId));
    expect(who.body).toMatchObject({ organizationId: root.organizationId, userId: root.userId });

    const body = root.submitBody('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const done = await sendWith(mine, path('update_root_quorum'), body);
    expect(outcome(done)).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
    const [vote] = done.body.activity.votes;
    expect(vote).toMatchObject({
      scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
      message: body,
      publicKey: hex(mine.cose),
      userId: root.userId,
    });
    expect(mine.verifies(vote)).toBe(true);
    expect(theirs.verifies(vote)).toBe(false);

    const proposal = root.submitBody('update_organization_name', { organizationName: 'By passkeys' });
    const pending = (await sendWith(mine, path('update_organization_name'), proposal)).body.activity;
    const approval = root.submitBody('approve_activity', { fingerprint: pending.fingerprint });
    const approved = (await sendWith(theirs, path('approve_activity'), approval)).body.activity;
    expect(approved.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(theirs.verifies(approved.votes[1])).toBe(true);
    // It is read back with the same evidence.
    const stored = (await root.query('get_activity', { activityId: pending.id })).body.activity;
    expect(stored.votes).toEqual(approved.votes);
  });

  test('every part of a stamp is checked', async () => {
    const root = await newOrg();
    const [passkey, other] = [new Passkey(), new Passkey()];
    await register(root, passkey);
    const body = queryBody(root.organizationId);
    expect((await sendWith(passkey, WHOAMI, body)).status).toBe(200);
    const attacks: [string, StampOptions][] = [
      ['another relying party', { rpId: 'evil.example' }],
      ['nobody present', { flags: 0x04 }],
      ['a registration instead of a use', { clientData: { type: 'webauthn.create' } }],
      ['the challenge of another body', { clientData: { challenge: base64url(hex(sha256(`${body} `))) } }],
      ['the digest without its hex form', { clientData: { challenge: base64url(sha256(body)) } }],
      ['an origin of another site', { clientData: { origin: 'https://evil.example' } }],
      ['no origin', { clientData: { origin: undefined } }],
      ['another key', { signer: other }],
    ];
    for (const [what, options] of attacks) {
      const answer = await sendWith(passkey, WHOAMI, body, options);
      expect(outcome(answer), what).toEqual([401, 'SIGNATURE_INVALID']);
      expect(answer.body.message, what).toContain('could not verify WebAuthN signature');
    }
    const moved = await send(parent.baseUrl, WHOAMI, `${body} `, { 'x-stamp-webauthn': passkey.stamp(body) });
    expect(outcome(moved)).toEqual([401, 'SIGNATURE_INVALID']);
    const unknown = await sendWith(other, WHOAMI, body);
    expect(outcome(unknown)).toEqual([401, 'CREDENTIAL_NOT_FOUND']);
    // User verification is not asked for; a counter that stands still or goes back is no refusal.
    expect((await sendWith(passkey, WHOAMI, body, { flags: 0x01, counter: 0 })).status).toBe(200);
    expect((await sendWith(passkey, WHOAMI, body, { counter: 1 })).status).toBe(200);
  });

  test('a subdomain may use the relying party of its parent domain', async () => {
    const root = await newOrg();
    const passkey = new Passkey('example.org', 'https://login.example.org');
    expect((await register(root, passkey)).status).toBe(200);
    expect((await sendWith(passkey, WHOAMI, queryBody(root.organizationId))).status).toBe(200);
    const wrong = new Passkey('login.example.org', 'https://example.org');
    expect(outcome(await register(root, wrong))).toEqual([400, 'INVALID_ATTESTATION']);
  });

  test('the credential id may come raw or as a CBOR byte string, and is answered raw', async () => {
    const root = await newOrg();
    const passkey = new Passkey();
    const params = passkey.register('cbor');
    params.attestation.credentialId = base64url(Buffer.concat([Buffer.of(0x58, passkey.id.length), passkey.id]));
    await root.run('create_authenticators', { userId: root.userId, authenticators: [params] });
    const { authenticators } = (await root.query('get_authenticators', { userId: root.userId })).body;
    expect(authenticators[0].credentialId).toBe(passkey.credentialId);
    expect((await sendWith(passkey, WHOAMI, queryBody(root.organizationId))).status).toBe(200);
    const found = await parent.query('list_suborgs', {
      filterType: 'CREDENTIAL_ID',
      filterValue: passkey.credentialId,
    });
    expect(found.body.organizationIds).toEqual([root.organizationId]);
  });

  test('a registration is verified', async () => {
    const root = await newOrg();
    type Registration = ReturnType<Passkey['register']>;
    const attempts: [string, (params: Registration) => Registration, Record<string, unknown>?][] = [
      ['a use instead of a registration', (params) => params, { type: 'webauthn.get' }],
      ['another origin', (params) => params, { origin: 'https://evil.example' }],
      ['another challenge', (params) => ({ ...params, challenge: base64url(randomBytes(32)) })],
      ...(
        [
          ['another credential id', { credentialId: base64url(randomBytes(24)) }],
          ['no attestation', { attestationObject: '' }],
          ['not CBOR', { attestationObject: base64url('text') }],
          ['not JSON', { clientDataJson: base64url('text') }],
        ] as [string, Partial<Registration['attestation']>][]
      ).map(([what, part]): [string, (params: Registration) => Registration] => [
        what,
        (params) => ({ ...params, attestation: { ...params.attestation, ...part } }),
      ]),
    ];
    for (const [what, change, clientData] of attempts) {
      const authenticators = [change(new Passkey().register('bad', clientData))];
      const answer = await root.submit('create_authenticators', { userId: root.userId, authenticators });
      expect(outcome(answer), what).toEqual([400, 'INVALID_ATTESTATION']);
    }
    expect((await root.query('get_authenticators', { userId: root.userId })).body.authenticators).toEqual([]);
  });

  test('the first version of a registration names its user twice, and the two must agree', async () => {
    const root = await newOrg();
    const other = await createUser(root, 'other');
    const attempt = (userId: unknown) => {
      const { attestation, ...rest } = new Passkey().register();
      const { credentialId, clientDataJson, attestationObject } = attestation;
      const browserStyle = {
        ...rest,
        userId,
        attestation: { id: credentialId, type: 'public-key', response: { clientDataJson, attestationObject } },
      };
      const type = 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS';
      return root.submit('create_authenticators', { userId: root.userId, authenticators: [browserStyle] }, { type });
    };
    expect((await attempt(root.userId)).status).toBe(200);
    expect((await attempt(undefined)).status).toBe(200);
    expect(outcome(await attempt(other.userId))).toEqual([400, 'REQUEST_INVALID']);
    const { authenticators } = (await root.query('get_authenticators', { userId: root.userId })).body;
    expect(authenticators.map((item: Answer['body']) => item.transports)).toEqual([[], []]);
  });

  test('a credential id is unique in the parent’s tree, a name per user', async () => {
    const [a, b] = [await newOrg(), await newOrg()];
    const passkey = new Passkey();
    expect((await register(a, passkey)).status).toBe(200);
    expect(outcome(await register(a, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await register(b, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await register(parent, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    const same = () =>
      a.submit('create_authenticators', { userId: a.userId, authenticators: [new Passkey().register('same')] });
    expect((await same()).status).toBe(200);
    expect(outcome(await same())).toEqual([409, 'ALREADY_EXISTS']);
    const twice = [new Passkey().register('x'), new Passkey().register('x')];
    expect((await a.submit('create_authenticators', { userId: a.userId, authenticators: twice })).status).toBe(400);
    // Free again once it is deleted.
    const { authenticators } = (await a.query('get_authenticators', { userId: a.userId })).body;
    const { authenticatorId } = authenticators.find(
      (item: Answer['body']) => item.credentialId === passkey.credentialId,
    );
    await a.run('delete_authenticators', { userId: a.userId, authenticatorIds: [authenticatorId] });
    expect(outcome(await sendWith(passkey, WHOAMI, queryBody(a.organizationId)))).toEqual([
      401,
      'CREDENTIAL_NOT_FOUND',
    ]);
    expect((await register(b, passkey)).status).toBe(200);
    // The parent's own registration is in the tree as well.
    const above = new Passkey();
    expect((await register(parent, above)).status).toBe(200);
    expect(outcome(await register(a, above))).toEqual([409, 'ALREADY_EXISTS']);
  });

  test('whoami by the parent’s id, and the parent’s passkey on a child', async () => {
    const root = await newOrg();
    const [mine, above] = [new Passkey(), new Passkey()];
    await register(root, mine);
    await register(parent, above);
    const resolved = await sendWith(mine, WHOAMI, queryBody(parent.organizationId));
    expect(resolved.body.organizationId).toBe(root.organizationId);
    const users = await sendWith(above, '/public/v1/query/list_users', queryBody(root.organizationId));
    expect(users.status).toBe(200);
    const submit = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
    expect(outcome(await sendWith(above, path('update_user_name'), submit))).toEqual([400, 'ORGANIZATION_MISMATCH']);
  });

  test('a user manages its own passkeys, and a passkey is a way in for the quorum', async () => {
    const root = await newOrg();
    const user = await createUser(root, 'user');
    const passkey = new Passkey();
    expect((await register(user, passkey)).status).toBe(200);
    expect(outcome(await register(user, new Passkey(), root.userId))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const { authenticators } = (await user.query('get_authenticators', { userId: user.userId })).body;
    const authenticatorIds = [authenticators[0].authenticatorId];
    const remove = { userId: user.userId, authenticatorIds };
    expect((await user.submit('delete_authenticators', remove)).status).toBe(200);
    expect(outcome(await user.submit('delete_authenticators', remove))).toEqual([404, 'RESOURCE_NOT_FOUND']);

    const way = new Passkey();
    await register(root, way);
    const { apiKeys } = (await root.query('get_api_keys', { userId: root.userId })).body;
    const apiKeyIds = [apiKeys[0].apiKeyId];
    expect((await root.submit('delete_api_keys', { userId: root.userId, apiKeyIds })).status).toBe(200);
    const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'passkey only' });
    expect(outcome(await sendWith(way, path('update_user_name'), body))).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
    const own = await sendWith(
      way,
      '/public/v1/query/get_authenticators',
      JSON.stringify({ organizationId: root.organizationId, userId: root.userId }),
    );
    const last = root.submitBody('delete_authenticators', {
      userId: root.userId,
      authenticatorIds: [own.body.authenticators[0].authenticatorId],
    });
    expect(outcome(await sendWith(way, path('delete_authenticators'), last))).toEqual([400, 'INVALID_QUORUM']);
  });
});

describe.each(DATABASES)('allowed origins on %s', (database) => {
  test('the parent’s list holds for its tree, at registration and at every stamp', async () => {
    await using server = await TestServer.start({ database, env: { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' } });
    const parent = TestClient.root(server.credentials, server.baseUrl);
    const sub = await createSubOrganization(parent, 'sub');
    const [good, bad] = [new Passkey('good.example'), new Passkey('bad.example')];
    const register = (client: TestClient, passkey: Passkey) =>
      client.submit('create_authenticators', { userId: client.userId, authenticators: [passkey.register()] });
    const ask = (client: TestClient, passkey: Passkey) => {
      const body = queryBody(client.organizationId);
      return send(client.baseUrl, WHOAMI, body, { 'x-stamp-webauthn': passkey.stamp(body) });
    };
    const setOrigins = (client: TestClient, value: string) =>
      client.run('set_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
    // Unset: any origin.
    expect((await register(sub, bad)).status).toBe(200);
    expect((await ask(sub, bad)).status).toBe(200);
    await setOrigins(parent, 'https://good.example');
    expect(outcome(await ask(sub, bad))).toEqual([401, 'SIGNATURE_INVALID']);
    expect(outcome(await register(sub, new Passkey('bad.example')))).toEqual([400, 'INVALID_ATTESTATION']);
    expect((await register(sub, good)).status).toBe(200);
    expect((await ask(sub, good)).status).toBe(200);
    // Exact: scheme, host and port.
    const port = new Passkey('good.example', 'https://good.example:8443');
    expect(outcome(await register(sub, port))).toEqual([400, 'INVALID_ATTESTATION']);
    // What a child says about itself does not widen the parent's list.
    await setOrigins(sub, 'https://bad.example');
    expect(outcome(await ask(sub, bad))).toEqual([401, 'SIGNATURE_INVALID']);
    expect((await ask(sub, good)).status).toBe(200);
    // Also when the child is found by the parent's id.
    const body = queryBody(parent.organizationId);
    const byParent = (passkey: Passkey) =>
      send(parent.baseUrl, WHOAMI, body, { 'x-stamp-webauthn': passkey.stamp(body) });
    expect((await byParent(good)).body.organizationId).toBe(sub.organizationId);
    expect(outcome(await byParent(bad))).toEqual([401, 'SIGNATURE_INVALID']);
    await setOrigins(parent, '["https://good.example","https://bad.example"]');
    expect((await ask(sub, bad)).status).toBe(200);
    await parent.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
    expect((await ask(sub, bad)).status).toBe(200);
  });
});
