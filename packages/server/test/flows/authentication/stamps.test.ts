import { randomUUID } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  newKeyPair,
  send,
  stampFor,
  TestClient,
} from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import { base64url, hex, MINUTE, outcome, path, queryBody, sha256, stampHeader, WHOAMI } from './support.ts';

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

describe.each(databasesOf(import.meta.url))('stamps on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    parent = service.root;
    root = await createSubOrganization(parent, 'Org');
  });
  afterAll(() => service[Symbol.asyncDispose]());

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
