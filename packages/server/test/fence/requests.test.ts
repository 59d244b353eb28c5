import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proxyCalls } from '../../src/domains/sign-up-proxy/calls.ts';
import { activities, operations, votes } from '../../src/registry.ts';
import { COMPLETED, outcome, Rows } from '../flows/fixtures/access.ts';
import type { LoginService } from '../flows/fixtures/logins.ts';
import { newEmail } from '../flows/fixtures/logins.ts';
import { createUser, newKeyPair, send, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { RawDatabase } from '../hostile/database.ts';
import { accept, BEYOND_BODIES_MS, FENCED, openLogins, restore } from './support.ts';

// What a service answers whose database was restored and is not accepted yet, and afterwards.

const codeOf = ({ body }: { readonly body: { readonly errorCode?: string } }): string => body.errorCode ?? 'OK';

describe.each(databasesOf(import.meta.url))('behind the fence on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;
  let plain: TestClient;
  let child: TestClient;
  let configId: string;
  let link: Record<string, string>;

  beforeAll(async () => {
    logins = await openLogins(database);
    parent = logins.parent;
    plain = await createUser(parent, 'Plain');
    child = (await logins.newPerson()).user;
    configId = (await parent.query('get_auth_proxy_config')).body.authProxyConfig.configId;
    const email = newEmail();
    await parent.run('create_invitations', {
      invitations: [
        {
          ...{ receiverUserName: 'Guest', receiverUserEmail: email, receiverUserTags: [] },
          ...{ accessType: 'ACCESS_TYPE_ALL', senderUserId: parent.userId },
        },
      ],
    });
    const { text } = await logins.message(email);
    link = Object.fromEntries(new URLSearchParams(/\/invitation#(\S+)/.exec(text)?.[1] ?? ''));
    await restore(logins.service);
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const proxy = (name: string) =>
    send(logins.service.baseUrl, `/v1/${name}`, '{}', { 'x-auth-proxy-config-id': configId });
  const status = async (path: string) => await (await fetch(`${logins.service.baseUrl}${path}`)).json();

  test('every submit and every vote is refused for everybody, and nothing is stored', async () => {
    const { config } = logins.service.app;
    await using raw = await RawDatabase.open(config);
    const watch = await raw.watch();
    for (const { name, versions } of activities) {
      for (const { type } of versions) {
        for (const client of [parent, child]) {
          const answer = await client.submit(name, {}, { type });
          expect([name, type, ...outcome(answer)]).toEqual([name, type, ...FENCED]);
        }
      }
    }
    for (const { name } of votes) {
      const answer = await plain.submit(name, { fingerprint: `sha256:${'0'.repeat(64)}` });
      expect([name, ...outcome(answer)]).toEqual([name, ...FENCED]);
    }
    expect(await watch.changes()).toEqual([]);
  });

  test('the answer says since when, what to do, that nothing was done, and asks nobody to come again', async () => {
    const { body, headers } = await parent.submit('create_user_tag', { userTagName: 'x', userIds: [] });
    expect(body).toMatchObject({ code: 9, errorCode: 'FENCED' });
    expect(body.message).toMatch(
      /restored from a backup at 20\S+Z: .*custos restore review, custos restore accept.*nothing was done/s,
    );
    expect(headers.get('retry-after')).toBeNull();
  });

  test('who does not authenticate is told that, and nothing else', async () => {
    expect(outcome(await parent.as(newKeyPair()).submit('create_user_tag', {}))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
  });

  test('every query is answered', async () => {
    const fenced: string[] = [];
    for (const { name, kind } of operations) {
      if (kind === 'query' && codeOf(await parent.query(name)) === 'FENCED') fenced.push(name);
    }
    expect(fenced).toEqual([]);
    const { body } = await parent.query('list_users');
    expect(body.users.map(({ userName }: { userName: string }) => userName)).toContain('Plain');
  });

  test('the sign-up proxy only reads', async () => {
    const answers = await Promise.all(proxyCalls.map(async ({ name }) => [name, codeOf(await proxy(name))]));
    const going = answers.filter(([, code]) => code !== 'FENCED').map(([name]) => name);
    expect(going.sort()).toEqual(['account', 'wallet_kit_client_params', 'wallet_kit_config']);
  });

  test('an invitation is not accepted', async () => {
    const apiKey = { apiKeyName: 'Laptop', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' };
    const body = JSON.stringify({ ...link, apiKey });
    expect(outcome(await send(logins.service.baseUrl, '/public/v1/invitation/accept', body))).toEqual(FENCED);
  });

  test('the operator is shown it', async () => {
    const restoredAt = expect.stringMatching(/^20\d\d-.*Z$/);
    expect(await status('/readyz')).toMatchObject({
      status: 'ready',
      fence: { up: true, organizations: 'all', restoredAt },
    });
    const metrics = await (await fetch(`${logins.service.baseUrl}/metrics`)).text();
    expect(metrics).toContain('\ncustos_fence_up 1\n');
    // On PostgreSQL no organization is the operator's unless a setting says so.
    if (database === 'postgres') return;
    const { body } = await parent.query('get_operations');
    expect(body.fence).toEqual({ up: true, isWhole: true, restoredAt });
  });

  test('a first use of a key, and of a session, is not written down', async () => {
    await using rows = await Rows.open(logins.service.app.config);
    expect((await plain.query('whoami')).status).toBe(200);
    const [key] = await rows.run('SELECT first_used_at_ms FROM api_key WHERE user_id = ?', [plain.userId]);
    expect(key?.first_used_at_ms).toBeNull();
  });

  test('once it is accepted for an organization its requests go on, and those of others do not', async () => {
    await accept(logins.service, { organizationId: child.organizationId });
    logins.advance(BEYOND_BODIES_MS);
    expect(outcome(await child.submit('create_user_tag', { userTagName: 'here', userIds: [] }))).toEqual([
      200,
      COMPLETED,
    ]);
    expect(outcome(await parent.submit('create_user_tag', { userTagName: 'there', userIds: [] }))).toEqual(FENCED);
    // Its parent decides logins in it, by rules that nobody has looked at yet.
    const { byParent, email } = { byParent: logins.client(child.organizationId, parent.key), email: newEmail() };
    const code = { otpType: 'OTP_TYPE_EMAIL', contact: email, appName: 'App' };
    expect(outcome(await byParent.submit('init_otp', code))).toEqual(FENCED);
    expect((await status('/readyz')).fence).toMatchObject({ up: true, organizations: 'some' });
    const metrics = await (await fetch(`${logins.service.baseUrl}/metrics`)).text();
    expect(metrics).toContain('\ncustos_fence_up 0.5\n');
  });

  test('once it is accepted for all everything goes on, for organizations of since too', async () => {
    await accept(logins.service);
    expect((await status('/readyz')).fence).toEqual({ up: false });
    if (database === 'sqlite')
      expect((await parent.query('get_operations')).body.fence).toEqual({ up: false, isWhole: false });
    expect(outcome(await parent.submit('create_user_tag', { userTagName: 'there', userIds: [] }))).toEqual([
      200,
      COMPLETED,
    ]);
    const person = await logins.newPerson();
    expect(outcome(await person.user.submit('create_user_tag', { userTagName: 'new', userIds: [] }))).toEqual([
      200,
      COMPLETED,
    ]);
    await using rows = await Rows.open(logins.service.app.config);
    const records = await rows.run("SELECT name, value FROM deployment WHERE name LIKE 'restore-accepted:%'");
    expect(records).toHaveLength(2);
    for (const { value } of records)
      expect(JSON.parse(String(value))).toEqual({
        acceptedBy: expect.stringMatching(/^[^@]+@.+$/),
        acceptedAtMs: expect.any(Number),
      });
  });

  test('a restart finds it accepted', async () => {
    await logins.service.restart();
    expect((await status('/readyz')).fence).toEqual({ up: false });
    expect(codeOf(await parent.submit('create_user_tag', { userTagName: 'again', userIds: [] }))).toBe('OK');
  });
});
