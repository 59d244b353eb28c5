import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { COMPLETED, outcome, PENDING, policyFor } from '../flows/fixtures/access.ts';
import { attemptOf, type LoginService, loginParameters, newEmail } from '../flows/fixtures/logins.ts';
import { apiKeyOf, boundTo, idToken, LOOPBACK, signUp } from '../flows/fixtures/oauth.ts';
import { createUser, newKeyPair, send, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ec, Issuer, toJwk } from '../harness/oidc-issuer.ts';
import { accept, BEYOND_BODIES_MS, ISSUED_BEFORE, openLogins, restore } from './support.ts';

// What was issued before a restore may have been used after the backup was made, without a trace in it: it is refused for ever.

const HOUR_MS = 3_600_000;
const DONE = [200, COMPLETED];

describe.each(databasesOf(import.meta.url))('what was issued before a restore on %s', (database) => {
  async function open(env: Record<string, string> = {}): Promise<LoginService> {
    const logins = await openLogins(database, { ...LOOPBACK, ...env });
    onTestFinished(() => logins[Symbol.asyncDispose]());
    return logins;
  }
  const tag = (client: TestClient, userTagName: string) =>
    client.submitBody('create_user_tag', { userTagName, userIds: [] });
  const submit = (client: TestClient, body: string) => client.sendStamped('/public/v1/submit/create_user_tag', body);

  test('bodies, also those of a clock that was ahead, whether or not the backup knows them', async () => {
    const logins = await open();
    const { parent } = logins;
    const nowMs = logins.service.app.clock();
    const [lost, known] = [tag(parent, 'lost'), tag(parent, 'known')];
    const ahead = parent.submitBody(
      'create_user_tag',
      { userTagName: 'ahead', userIds: [] },
      { timestampMs: String(nowMs + 4 * 60_000) },
    );
    expect(outcome(await submit(parent, known))).toEqual(DONE);
    await restore(logins.service);
    await accept(logins.service);
    for (const body of [lost, known, ahead, tag(parent, 'of this minute')])
      expect(outcome(await submit(parent, body))).toEqual(ISSUED_BEFORE);
    const { body } = await submit(parent, lost);
    expect(body.message).toMatch(
      /^timestampMs: .* restored from a backup at 20.*; sign one with a timestamp after 20.* 5 minutes ahead$/,
    );
    logins.advance(BEYOND_BODIES_MS);
    for (const old of [lost, known, ahead]) expect(outcome(await submit(parent, old))).toEqual(ISSUED_BEFORE);
    const fresh = tag(parent, 'fresh');
    expect(outcome(await submit(parent, fresh))).toEqual(DONE);
    // As ever, the same bytes count once.
    expect(outcome(await submit(parent, fresh))).toEqual(DONE);
    const { userTags } = (await parent.query('list_user_tags')).body;
    expect(userTags.map(({ tagName }: { tagName: string }) => tagName).sort()).toEqual(['fresh', 'known']);
  });

  test('activities that wait: they are rejected, and proposed anew', async () => {
    const logins = await open();
    const root = (await logins.newPerson()).user;
    const [a, b] = [await createUser(root, 'a'), await createUser(root, 'b')];
    const consensus = [a, b].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    await policyFor(root, a, { consensus });
    const propose = async (userTagName: string) => {
      const answer = await a.submit('create_user_tag', { userTagName, userIds: [] });
      expect(outcome(answer)).toEqual([200, PENDING]);
      return answer.body.activity.fingerprint as string;
    };
    const [first, second] = [await propose('first'), await propose('second')];
    await restore(logins.service);
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    const vote = (name: string, fingerprint: string) => b.submit(name, { fingerprint });
    expect(outcome(await vote('approve_activity', first))).toEqual(ISSUED_BEFORE);
    expect(outcome(await vote('reject_activity', second))).toEqual([200, 'ACTIVITY_STATUS_REJECTED']);
    expect(outcome(await vote('approve_activity', await propose('third')))).toEqual(DONE);
    const { userTags } = (await root.query('list_user_tags')).body;
    expect(userTags.map(({ tagName }: { tagName: string }) => tagName)).toEqual(['third']);
  });

  test('one-time codes and verification tokens', async () => {
    const logins = await open();
    // Ids have the time of the machine in them, which the clock of the service does not move.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const { byParent, email, user } = await logins.newPerson();
    const key = newKeyPair();
    const old = await logins.sendCode(byParent, email, { expirationSeconds: '600' });
    const token = await logins.verify(byParent, email, key);
    await restore(logins.service);
    await accept(logins.service);
    vi.setSystemTime(Date.now() + BEYOND_BODIES_MS);
    expect(outcome(await byParent.submit('verify_otp', attemptOf(old, key)))).toEqual(ISSUED_BEFORE);
    expect(outcome(await byParent.submit('otp_login', loginParameters(token, key, newKeyPair())))).toEqual(
      ISSUED_BEFORE,
    );
    const fresh = await logins.verify(byParent, email, key);
    const session = newKeyPair();
    expect(outcome(await byParent.submit('otp_login', loginParameters(fresh, key, session)))).toEqual(DONE);
    expect((await user.as(session).query('whoami')).status).toBe(200);
  });

  test('sessions, which may have been ended since: for queries as well, also while the fence is up', async () => {
    const logins = await open();
    const { user } = await logins.newPerson();
    const [login, session] = [newKeyPair(), newKeyPair()];
    await user.run('stamp_login', { publicKey: login.publicKey, expirationSeconds: '7200' });
    await user
      .run('create_read_write_session', { targetPublicKey: session.publicKey, expirationSeconds: '7200' })
      .catch(() => {});
    const { session: reading } = await user.run('create_read_only_session', {});
    const read = (token: string) => {
      const body = JSON.stringify({ organizationId: user.organizationId });
      return send(user.baseUrl, '/public/v1/query/whoami', body, { 'x-session': token });
    };
    expect([(await user.as(login).query('whoami')).status, (await read(reading)).status]).toEqual([200, 200]);
    await restore(logins.service);
    const refused = async () => [outcome(await user.as(login).query('whoami')), outcome(await read(reading))];
    const ended = [
      [401, 'API_KEY_EXPIRED'],
      [401, 'UNAUTHENTICATED'],
    ];
    expect(await refused()).toEqual(ended);
    expect((await user.query('whoami')).status).toBe(200);
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    expect(await refused()).toEqual(ended);
    // The same key counts again once it has logged in again.
    await user.run('stamp_login', { publicKey: login.publicKey });
    expect((await user.as(login).query('whoami')).status).toBe(200);
    const { session: again } = await user.run('create_read_only_session', {});
    expect((await read(again)).status).toBe(200);
  });

  test('OpenID tokens, also of an issuer whose clock was ahead or that does not say when', async () => {
    const logins = await open();
    const { parent } = logins;
    const issuer = await Issuer.start(toJwk(ec));
    const keys = [newKeyPair(), newKeyPair(), newKeyPair(), newKeyPair()] as const;
    const oauthProviders = [{ providerName: 'issuer', oidcToken: idToken(issuer, boundTo(keys[0].publicKey)) }];
    const { organizationId } = await signUp(parent, { oauthProviders, apiKeys: [apiKeyOf(keys[0])] });
    const target = logins.client(organizationId, parent.key);
    const login = (oidcToken: string, publicKey: string) => target.submit('oauth_login', { oidcToken, publicKey });
    const exp = Math.floor((Date.now() + HOUR_MS) / 1000);
    const old = idToken(issuer, { ...boundTo(keys[1].publicKey), exp });
    const ahead = idToken(issuer, { ...boundTo(keys[2].publicKey), exp }, ec, Date.now() + 40_000);
    const silent = idToken(issuer, { ...boundTo(keys[3].publicKey), exp, iat: undefined });
    await restore(logins.service);
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    expect(outcome(await login(old, keys[1].publicKey))).toEqual(ISSUED_BEFORE);
    expect(outcome(await login(ahead, keys[2].publicKey))).toEqual(ISSUED_BEFORE);
    expect(outcome(await login(silent, keys[3].publicKey))).toEqual(ISSUED_BEFORE);
    const fresh = idToken(issuer, boundTo(keys[1].publicKey), ec, logins.service.app.clock());
    expect(outcome(await login(fresh, keys[1].publicKey))).toEqual(DONE);
  });

  test('invitations, which may have been revoked or accepted since', async () => {
    const logins = await open();
    const { parent } = logins;
    const invite = async (): Promise<Record<string, string>> => {
      const email = newEmail();
      const guest = { receiverUserName: `Guest ${email}`, receiverUserEmail: email, receiverUserTags: [] };
      const whose = { accessType: 'ACCESS_TYPE_ALL', senderUserId: parent.userId };
      await parent.run('create_invitations', { invitations: [{ ...guest, ...whose }] });
      const { text } = await logins.message(email);
      return Object.fromEntries(new URLSearchParams(/\/invitation#(\S+)/.exec(text)?.[1] ?? ''));
    };
    const call = (name: string, body: object) =>
      send(parent.baseUrl, `/public/v1/invitation/${name}`, JSON.stringify(body));
    const apiKey = apiKeyOf(newKeyPair());
    const old = await invite();
    await restore(logins.service);
    expect(outcome(await call('open', old))).toEqual(ISSUED_BEFORE);
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    expect(outcome(await call('accept', { ...old, apiKey }))).toEqual(ISSUED_BEFORE);
    expect((await call('accept', { ...(await invite()), apiKey })).status).toBe(200);
  });

  test('of several restores the last one counts, whatever the clock said', async () => {
    const logins = await open();
    const { parent } = logins;
    const { app } = logins.service;
    const old = tag(parent, 'old');
    await restore(logins.service);
    await accept(logins.service);
    // By a machine whose clock is an hour behind.
    await restore(logins.service, { restoredAtMs: app.clock() - HOUR_MS });
    expect(outcome(await submit(parent, old))).toEqual([400, 'FENCED']);
    await accept(logins.service);
    expect(outcome(await submit(parent, old))).toEqual(ISSUED_BEFORE);
    logins.advance(BEYOND_BODIES_MS);
    expect(outcome(await submit(parent, tag(parent, 'new')))).toEqual(DONE);
  });
});
