import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addSessionKey, COMPLETED, outcome, propose, Rows } from '../flows/fixtures/access.ts';
import { attemptOf, LoginService, MAIL, newEmail, type Person } from '../flows/fixtures/logins.ts';
import { boundTo, encryptClientSecret, LOOPBACK, OAUTH2_CLIENT, Oauth2Providers } from '../flows/fixtures/oauth.ts';
import { ProxyClient } from '../flows/fixtures/proxy.ts';
import { type Answer, newKeyPair, send, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { MAIL_TEMPLATES } from '../harness/mail-templates.ts';

// Somebody who can write to the database, and has no key of the service, changes what lets people in: codes, clients at providers,
// profiles of sessions, invitations and the sign-up proxy.

const DONE = [200, COMPLETED];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];

type Row = Record<string, unknown>;
type Cell = string | number | null;

describe.each(DATABASES)('ways in that somebody else wrote, on %s', (database) => {
  let logins: LoginService;
  let providers: Oauth2Providers;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    providers = await Oauth2Providers.start();
    const env = { CUSTOS_OTP_REQUESTS: '0', CUSTOS_PROXY_REQUESTS_PER_MINUTE: '0', ...MAIL_TEMPLATES };
    logins = await LoginService.open(database, { ...LOOPBACK, ...providers.env, ...env });
    parent = logins.parent;
    rows = await Rows.open(logins.service.app.config);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await logins?.[Symbol.asyncDispose]();
    await providers?.[Symbol.asyncDispose]();
  });

  const update = (table: string, id: string, column: string, value: string) =>
    rows.forge(`UPDATE ${table} SET ${column} = ${value} WHERE id = ?`, [id]);
  const find = async (table: string, id: string): Promise<Row> => {
    const [row] = await rows.forge(`SELECT * FROM ${table} WHERE id = ?`, [id]);
    expect(row?.[`${table}_mac`]).toEqual(expect.any(String));
    return row as Row;
  };
  const insert = async (table: string, row: Row): Promise<void> => {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?');
    await rows.forge(`INSERT INTO ${table} (${columns}) VALUES (${marks})`, Object.values(row) as Cell[]);
  };
  const count = async (from: string) => Number((await rows.forge(`SELECT count(*) AS n FROM ${from}`))[0]?.['n']);

  describe('codes', () => {
    const sent = async (person: Person) => ({
      person,
      code: await logins.sendCode(person.byParent, person.email),
    });
    const verify = ({ person, code }: Awaited<ReturnType<typeof sent>>) =>
      person.byParent.submit('verify_otp', attemptOf(code, newKeyPair(), code.code));

    test.each([
      ['attempts_left', '100'],
      ['expires_at_ms', 'expires_at_ms + 1'],
      ['contact', "'thief@mail.example'"],
      ['contact_key', "'thief@mail.example'"],
      ['user_id', "'x'"],
      ['type', "'OTP_TYPE_SMS'"],
      ['is_encrypted', '0'],
      ['otp_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const person = await logins.newPerson();
      expect(outcome(await verify(await sent(person)))).toEqual(DONE);
      const attacked = await sent(person);
      await update('otp', attacked.code.otpId, column, value);
      expect(outcome(await verify(attacked))).toEqual(REFUSED);
      expect(await count(`otp WHERE id = '${attacked.code.otpId}'`)).toBe(1);
    });

    test('one of another organization', async () => {
      const [one, two] = [await logins.newPerson(), await logins.newPerson()];
      const attacked = await sent(one);
      expect(outcome(await verify({ ...attacked, person: two }))).toEqual([400, 'INVALID_OTP_CODE']);
      await insert('otp', {
        ...(await find('otp', attacked.code.otpId)),
        organization_id: two.user.organizationId,
      });
      expect(outcome(await verify({ ...attacked, person: two }))).toEqual(REFUSED);
      expect(outcome(await verify(attacked))).toEqual(DONE);
    });
  });

  describe('clients at OAuth 2.0 providers', () => {
    const made = async () => {
      const key = logins.service.app.serviceKeys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
      await rows.forge('DELETE FROM oauth2_credential');
      const { oauth2CredentialId } = await parent.run('create_oauth2_credential', {
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, key),
      });
      return oauth2CredentialId as string;
    };
    const exchange = (oauth2CredentialId: string, client = parent) =>
      client.submit('oauth2_authenticate', {
        oauth2CredentialId,
        ...providers.authorize(),
        nonce: boundTo('02ab').nonce,
      });

    test.each([
      ['client_id', "'thief'"],
      ['provider', "'OAUTH2_PROVIDER_DISCORD'"],
      ['encrypted_client_secret', "'x'"],
      ['updated_at_ms', '1'],
      ['oauth2_credential_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const id = await made();
      expect(outcome(await exchange(id))).toEqual(DONE);
      await update('oauth2_credential', id, column, value);
      expect(outcome(await exchange(id))).toEqual(REFUSED);
    });

    test('a copy under another id', async () => {
      const id = await made();
      const copy = { ...(await find('oauth2_credential', id)), id: randomUUID() };
      await rows.forge('DELETE FROM oauth2_credential');
      await insert('oauth2_credential', copy);
      expect(outcome(await exchange(copy.id))).toEqual(REFUSED);
    });
  });

  describe('profiles of sessions', () => {
    const inSession = async (scope: string) => {
      const { user } = await logins.newPerson();
      const profile = { sessionProfileName: randomUUID(), scope };
      const { sessionProfileId } = await parent.run('create_session_profile', profile);
      return { session: await addSessionKey(logins.rows, user, { sessionProfileId }), sessionProfileId };
    };

    test.each([
      ['scope', "'true || true'"],
      ['expiration_seconds', '1'],
      ['name', "'Another'"],
      ['session_profile_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { session, sessionProfileId } = await inSession('true');
      expect(outcome(await propose(session))).toEqual(DONE);
      await update('session_profile', sessionProfileId, column, value);
      expect(outcome(await propose(session))).toEqual(REFUSED);
    });

    test('a wider one under the same id', async () => {
      const [narrow, wide] = [await inSession('false'), await inSession('true')];
      expect(outcome(await propose(narrow.session))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const copy = await find('session_profile', wide.sessionProfileId);
      await rows.forge('DELETE FROM session_profile');
      await insert('session_profile', { ...copy, id: narrow.sessionProfileId });
      expect(outcome(await propose(narrow.session))).toEqual(REFUSED);
    });
  });

  describe('invitations', () => {
    const call = (name: 'open' | 'accept', body: object): Promise<Answer> =>
      send(logins.service.baseUrl, `/public/v1/invitation/${name}`, JSON.stringify(body));

    async function invite() {
      const email = newEmail();
      const { invitationIds } = await parent.run('create_invitations', {
        invitations: [
          {
            receiverUserName: 'Guest',
            receiverUserEmail: email,
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_ALL',
            senderUserId: parent.userId,
          },
        ],
      });
      const { text } = await logins.message(email);
      const [, fragment = ''] = /http:\/\/localhost:\d+\/invitation#(\S+)/.exec(text) ?? [];
      return { link: Object.fromEntries(new URLSearchParams(fragment)), id: invitationIds[0] as string };
    }
    const accept = (link: object) =>
      call('accept', {
        ...link,
        apiKey: { apiKeyName: 'key', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' },
      });

    test.each([
      ['receiver_user_name', "'Thief'"],
      ['receiver_email', "'thief@mail.example'"],
      ['receiver_user_tags', `'["x"]'`],
      ['access_type', "'ACCESS_TYPE_API'"],
      ['expires_at_ms', 'expires_at_ms + 1'],
      ['invitation_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { link, id } = await invite();
      expect((await call('open', link)).status).toBe(200);
      await update('invitation', id, column, value);
      const users = await count('app_user');
      expect(outcome(await call('open', link))).toEqual(REFUSED);
      expect(outcome(await accept(link))).toEqual(REFUSED);
      expect(await count('app_user')).toBe(users);
    });

    test('one that was used is open again, or is one of another organization', async () => {
      const { link, id } = await invite();
      expect((await accept(link)).status).toBe(200);
      await update('invitation', id, 'status', "'INVITATION_STATUS_CREATED'");
      expect(outcome(await accept(link))).toEqual(REFUSED);
      const [{ link: second, id: secondId }, { user }] = [await invite(), await logins.newPerson()];
      await insert('invitation', { ...(await find('invitation', secondId)), organization_id: user.organizationId });
      expect(outcome(await accept({ ...second, organizationId: user.organizationId }))).toEqual(REFUSED);
      expect((await accept(second)).status).toBe(200);
    });
  });

  describe('the sign-up proxy', () => {
    test.each([
      ['settings', `'{"allowedOrigins":["*"]}'`],
      ['enabled', '2'],
      ['user_id', `'${randomUUID()}'`],
      ['public_key', "'02'"],
      ['auth_proxy_config_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { configId } = (await parent.query('get_auth_proxy_config')).body.authProxyConfig;
      const proxy = new ProxyClient(logins.service.baseUrl, configId);
      const begin = () => proxy.call('otp_init', { otpType: MAIL, contact: newEmail() });
      expect((await begin()).status).toBe(200);
      const before = await find('auth_proxy_config', configId);
      await update('auth_proxy_config', configId, column, value);
      const codes = await count('otp');
      expect(outcome(await begin())).toEqual(REFUSED);
      expect(outcome(await parent.submit('update_auth_proxy_config', { otpLength: 7 }))).toEqual(REFUSED);
      expect(await count('otp')).toBe(codes);
      await rows.forge('DELETE FROM auth_proxy_config WHERE id = ?', [configId]);
      await insert('auth_proxy_config', before);
    });
  });
});
