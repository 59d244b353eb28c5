import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/lib/error-codes.ts';
import { StubNode } from '../../chain/stub-node.ts';
import { openTestApp } from '../../harness/app.ts';
import type { Answer, TestClient } from '../../harness/client.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { encryptClientSecret, OAUTH2_CLIENT, Oauth2Providers, sha256Hex } from '../fixtures/oauth.ts';
import { ProxyWorld } from '../fixtures/proxy.ts';
import { aName, ethereum } from '../fixtures/wallets.ts';

// The code, the number and the HTTP status with which each refusal travels.

const DONE = [200, COMPLETED];
const AWAY = 'eip155:31338';
const ADDRESS = '0x00000000000000000000000000000000000000aa';
const MAIL = 'OTP_TYPE_EMAIL';
const X = 'OAUTH2_PROVIDER_X';

const newEmail = (): string => `person-${randomUUID()}@mail.example`;
/** The HTTP status, the number and the name of a refusal. */
const told = ({ status, body }: Answer) => [status, body.code, body.errorCode];
const initOtp = (client: TestClient, contact: string, otpType = MAIL) =>
  client.submit('init_otp', { otpType, contact, appName: 'App' });
const turn = (client: TestClient, name: string, value: string) =>
  client.run('set_organization_feature', { name: `FEATURE_NAME_${name}`, value });

describe('error codes', () => {
  let world: ProxyWorld;
  let root: TestClient;
  let node: StubNode;
  let providers: Oauth2Providers;

  beforeAll(async () => {
    node = await StubNode.start();
    providers = await Oauth2Providers.start();
    const chains = { ...node.settings(), [AWAY]: { rpcUrls: ['http://127.0.0.1:1'] } };
    world = await ProxyWorld.open('sqlite', {
      ...providers.env,
      CUSTOS_CHAINS: JSON.stringify(chains),
      CUSTOS_OTP_REQUESTS: '1',
      CUSTOS_PROXY_CODES_PER_MINUTE: '2',
    });
    root = world.root;
    for (const name of ['OTP_EMAIL_AUTH', 'SMS_AUTH']) await turn(root, name, 'true');
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
  });

  test('a feature that is off is FEATURE_DISABLED, 7/403', async () => {
    expect(outcome(await initOtp(root, newEmail()))).toEqual(DONE);
    await turn(root, 'OTP_EMAIL_AUTH', 'false');
    const refused = await initOtp(root, newEmail());
    await turn(root, 'OTP_EMAIL_AUTH', 'true');
    expect(told(refused)).toEqual([403, 7, 'FEATURE_DISABLED']);
  });

  test('a service that cannot send mail or text messages says so with 14/503, and not to come back', async () => {
    expect(outcome(await initOtp(root, newEmail()))).toEqual(DONE);
    await using silent = await openTestApp('sqlite', { CUSTOS_DEV_INBOX: 'off' });
    for (const name of ['OTP_EMAIL_AUTH', 'SMS_AUTH']) await turn(silent.root, name, 'true');
    for (const [type, contact, code] of [
      [MAIL, newEmail(), 'EMAIL_SENDING_DISABLED'],
      ['OTP_TYPE_SMS', '+447009100001', 'SMS_SENDING_DISABLED'],
    ] as const) {
      const refused = await initOtp(silent.root, contact, type);
      expect(told(refused)).toEqual([503, 14, code]);
      expect(refused.headers.get('retry-after')).toBeNull();
    }
  });

  test('a code too many is MAX_OTP_INITIATED, 8/429, from the API and through the sign-up proxy', async () => {
    const contact = newEmail();
    expect(outcome(await initOtp(root, contact))).toEqual(DONE);
    const refused = await initOtp(root, contact);
    expect(told(refused)).toEqual([429, 8, 'MAX_OTP_INITIATED']);
    expect(refused.body.message).toContain('Max number of OTPs have been initiated');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

    const init = () => world.proxy.call('otp_init', { otpType: MAIL, contact: newEmail() });
    expect([(await init()).status, (await init()).status]).toEqual([200, 200]);
    expect(told(await init())).toEqual([429, 8, 'MAX_OTP_INITIATED']);
  });

  test.each([
    ['curve', 'CURVE_BLS', 'INVALID_CURVE'],
    ['pathFormat', 'PATH_FORMAT_SLIP10', 'INVALID_PATH_FORMAT'],
    ['path', 'm/x', 'INVALID_PATH'],
    ['addressFormat', 'ADDRESS_FORMAT_MYSPACE', 'INVALID_ADDRESS_FORMAT'],
  ])('an account with an unusable %s has a code of its own', async (field, value, code) => {
    const create = (account: object) =>
      root.submit('create_wallet', { walletName: aName('wallet'), accounts: [{ ...ethereum(), ...account }] });
    expect(outcome(await create({}))).toEqual(DONE);
    const refused = await create({ [field]: value });
    expect(told(refused)).toEqual([400, 3, code]);
    expect(refused.body.message).toContain(`parameters.accounts.0.${field}`);
  });

  test('a time expression that does not compile is INVALID_TIME, 3/400', async () => {
    const { policyId } = await root.run('create_policy', {
      policyName: aName('policy'),
      effect: 'EFFECT_DENY',
      condition: 'false',
      notes: '',
    });
    const update = (time: string) => root.submit('update_policy', { policyId, time });
    expect(outcome(await update("time.now >= Timestamp('2026-01-01T00:00:00Z')"))).toEqual(DONE);
    expect(told(await update('time.now >='))).toEqual([400, 3, 'INVALID_TIME']);
  });

  test.each(['person@-mail.example', 'person@mail_.example', 'person@mail..example'])(
    'the domain of %s is INVALID_FQDN, 3/400',
    async (email) => {
      const { userId } = root;
      expect(outcome(await root.submit('update_user', { userId, userEmail: 'person@mail.example' }))).toEqual(DONE);
      expect(told(await root.submit('update_user', { userId, userEmail: email }))).toEqual([400, 3, 'INVALID_FQDN']);
      expect(told(await initOtp(root, email))).toEqual([400, 3, 'INVALID_FQDN']);
      expect(told(await initOtp(root, 'person'))).toEqual([400, 3, 'INVALID_EMAIL']);
    },
  );

  test('OAuth 2.0 tells a provider that does not exist from one without a credential, and a client id that is not known', async () => {
    const ourKey = world.app.serviceKeys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
    const credential = (provider: string) => ({
      provider,
      clientId: OAUTH2_CLIENT.id,
      encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, ourKey),
    });
    const authenticate = (extra: object = {}) =>
      world.proxy.call('oauth2_authenticate', {
        provider: X,
        clientId: OAUTH2_CLIENT.id,
        nonce: sha256Hex('02ab'),
        ...providers.authorize(),
        ...extra,
      });
    expect(told(await authenticate())).toEqual([400, 9, 'OAUTH2_PROVIDER_NOT_CONFIGURED']);
    await root.run('create_oauth2_credential', credential(X));
    expect((await authenticate()).status).toBe(200);
    expect(told(await authenticate({ clientId: 'another' }))).toEqual([404, 5, 'OAUTH2_CREDENTIAL_NOT_FOUND']);
    const unknown = [400, 9, 'INVALID_OAUTH2_PROVIDER'];
    expect(told(await authenticate({ provider: 'OAUTH2_PROVIDER_MYSPACE' }))).toEqual(unknown);
    expect(told(await root.submit('create_oauth2_credential', credential('OAUTH2_PROVIDER_MYSPACE')))).toEqual(unknown);
  });

  test('a chain without a node that answers is RPC_CALL_ERROR, 14/503, worth another try', async () => {
    const ask = (caip2: string) => root.query('get_nonces', { address: ADDRESS, caip2, nonce: true });
    expect((await ask('eip155:31337')).status).toBe(200);
    const refused = await ask(AWAY);
    expect(told(refused)).toEqual([503, 14, 'RPC_CALL_ERROR']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('codes whose case does not exist here are not among those that the service sends', () => {
    const absent = ['OAUTH2_PROVIDER_NOT_FOUND', 'SIGNING_QUOTA_EXCEEDED', 'API_OPERATIONS_DISABLED', 'FORBIDDEN'];
    expect(absent.filter((code) => code in ERROR_CODES)).toEqual([]);
  });
});
