import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, send, stampFor, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { COMPLETED, outcome } from './fixtures/access.ts';
import { databaseText } from './fixtures/oauth.ts';
import {
  COINBASE,
  COINBASE_KEY_ID,
  COINBASE_KEYS,
  ETH,
  isSigned,
  MOONPAY,
  MOONPAY_KEYS,
  OnRampProviders,
  sealTo,
  USDC_ON_BASE,
  WALLET,
} from './fixtures/on-ramp.ts';

// Fiat on-ramp (protocol/on-ramp 2), with both providers on loopback.

const DONE = [200, COMPLETED];
const INVALID = [400, 'REQUEST_INVALID'];
const BAD_BUNDLE = [400, 'INVALID_BUNDLE'];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const DAY_MS = 86_400_000;

describe.each(databasesOf(import.meta.url))('fiat on-ramp on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let providers: OnRampProviders;
  let ourKey: string;

  beforeAll(async () => {
    providers = await OnRampProviders.start();
    app = await openTestApp(database, { ...providers.env, CUSTOS_TRUSTED_PROXIES: '127.0.0.1' });
    root = app.root;
    ourKey = app.app.serviceKeys.find(({ role }) => role === 'on-ramp-secret')?.publicKey ?? '';
  });

  afterAll(async () => {
    const { organizationId } = root;
    const text = await databaseText(app);
    await app[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
    expect(text).toContain(organizationId);
    const secrets = [MOONPAY_KEYS.secret, ...Object.values(COINBASE_KEYS)].map((secret) =>
      Buffer.from(secret).toString('latin1'),
    );
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  beforeEach(() => {
    providers.behaviour = undefined;
    providers.meanwhile = undefined;
  });

  const moonpay = (extra: Record<string, unknown> = {}) => ({
    onrampProvider: MOONPAY,
    publishableApiKey: MOONPAY_KEYS.publishable,
    encryptedSecretApiKey: sealTo(ourKey, MOONPAY_KEYS.secret),
    ...extra,
  });
  const coinbase = (extra: Record<string, unknown> = {}) => ({
    onrampProvider: COINBASE,
    projectId: 'a project',
    publishableApiKey: COINBASE_KEY_ID,
    encryptedSecretApiKey: sealTo(ourKey, 'not used when there is a private key'),
    encryptedPrivateApiKey: sealTo(ourKey, COINBASE_KEYS.ES256),
    ...extra,
  });
  const create = async (parameters: object, client = root): Promise<string> =>
    (await client.run('create_fiat_on_ramp_credential', parameters)).fiatOnRampCredentialId;
  const list = async (client = root) =>
    (await client.query('list_fiat_on_ramp_credentials')).body.fiatOnRampCredentials;
  const init = (parameters: object, client = root) => client.submit('init_fiat_on_ramp', parameters);
  const begin = (parameters: object, client = root) => client.run('init_fiat_on_ramp', parameters);
  const status = (transactionId: string, extra: object = {}, client = root) =>
    client.query('get_onramp_transaction_status', { transactionId, ...extra });
  /** So much later that the provider is asked again. */
  const waitForNews = (milliseconds = 2000): void => {
    app.advance(milliseconds);
    providers.offsetMs += milliseconds;
  };
  const refreshed = async (transactionId: string, client = root) => {
    waitForNews();
    return (await status(transactionId, { refresh: true }, client)).body.transactionStatus;
  };
  /** All credentials away, so that a test has its own only. */
  async function onlyWith(...parameters: readonly object[]): Promise<string[]> {
    for (const { fiatOnrampCredentialId } of await list()) {
      await root.run('delete_fiat_on_ramp_credential', { fiatOnrampCredentialId });
    }
    const ids: string[] = [];
    for (const each of parameters) ids.push(await create(each));
    return ids;
  }

  describe('credentials', () => {
    test('are kept, told as they were submitted, replaced and deleted', async () => {
      await onlyWith();
      const first = coinbase({ sandboxMode: true });
      const answer = await root.submit('create_fiat_on_ramp_credential', first);
      expect(outcome(answer)).toEqual(DONE);
      // The request and the record have one spelling, results another.
      const { fiatOnRampCredentialId: id } = answer.body.activity.result.createFiatOnRampCredentialResult;
      expect(answer.body.activity.intent.createFiatOnRampCredentialIntent).toEqual(first);
      const record = (parameters: object) => ({
        fiatOnrampCredentialId: id,
        organizationId: root.organizationId,
        sandboxMode: true,
        ...parameters,
        createdAt: expect.anything(),
        updatedAt: expect.anything(),
      });
      expect(await list()).toEqual([record(first)]);

      const second = moonpay();
      const changed = await root.run('update_fiat_on_ramp_credential', { fiatOnrampCredentialId: id, ...second });
      expect(changed).toEqual({ fiatOnRampCredentialId: id });
      // What the update does not name is gone; the mode alone stays.
      expect(await list()).toEqual([record(second)]);
      const blank = { fiatOnrampCredentialId: id, ...second, projectId: '', encryptedPrivateApiKey: '' };
      await root.run('update_fiat_on_ramp_credential', blank);
      expect(await list()).toEqual([record(second)]);

      await create(moonpay());
      const page = await root.query('list_fiat_on_ramp_credentials', { paginationOptions: { limit: '1' } });
      expect(page.body).toMatchObject({ fiatOnRampCredentials: [{}], pageInfo: { hasNextPage: true } });

      const gone = { fiatOnrampCredentialId: id };
      expect(await root.run('delete_fiat_on_ramp_credential', gone)).toEqual({ fiatOnRampCredentialId: id });
      expect((await list()).map((each: Record<string, string>) => each.fiatOnrampCredentialId)).not.toContain(id);
      const notFound = [404, 'RESOURCE_NOT_FOUND'];
      expect(outcome(await root.submit('delete_fiat_on_ramp_credential', gone))).toEqual(notFound);
      expect(outcome(await root.submit('update_fiat_on_ramp_credential', { ...gone, ...second }))).toEqual(notFound);
      // The spelling of results is not one of requests.
      const misspelt = await root.submit('delete_fiat_on_ramp_credential', { fiatOnRampCredentialId: id });
      expect(outcome(misspelt)).toEqual(INVALID);
    });

    test('have secrets that open, and keys that sign', async () => {
      const elsewhere = new Receiver().publicKey;
      const wrong = ['x', sealTo(ourKey, 'x').slice(1), sealTo(elsewhere, 'x'), sealTo(ourKey, '')];
      for (const secret of wrong) {
        for (const field of ['encryptedSecretApiKey', 'encryptedPrivateApiKey']) {
          const parameters = moonpay({ [field]: secret });
          const answer = await root.submit('create_fiat_on_ramp_credential', parameters);
          expect(outcome(answer), `${field} ${secret}`).toEqual(BAD_BUNDLE);
          expect(answer.body.message).toContain('secret');
        }
      }
      const keyless = [
        coinbase({ encryptedPrivateApiKey: sealTo(ourKey, 'no key') }),
        coinbase({ encryptedPrivateApiKey: undefined }),
      ];
      for (const parameters of keyless) {
        const answer = await root.submit('create_fiat_on_ramp_credential', parameters);
        expect(outcome(answer)).toEqual(BAD_BUNDLE);
        expect(answer.body.message).toContain('no key of the provider');
      }
      const id = await create(coinbase());
      const update = { fiatOnrampCredentialId: id, ...coinbase({ encryptedPrivateApiKey: sealTo(ourKey, 'no key') }) };
      expect(outcome(await root.submit('update_fiat_on_ramp_credential', update))).toEqual(BAD_BUNDLE);
      // Without a private key the secret one is the key.
      const alone = { encryptedSecretApiKey: sealTo(ourKey, COINBASE_KEYS.EdDSA), encryptedPrivateApiKey: undefined };
      expect(outcome(await root.submit('create_fiat_on_ramp_credential', coinbase(alone)))).toEqual(DONE);
      const broken = [
        { onrampProvider: 'FIAT_ON_RAMP_PROVIDER_VENDOR_A' },
        { publishableApiKey: '' },
        { publishableApiKey: 'pk é' },
        { encryptedSecretApiKey: undefined },
        { encryptedSecretApiKey: '1'.repeat(4097) },
        { sandboxMode: 'yes' },
      ];
      for (const change of broken) {
        const answer = await root.submit('create_fiat_on_ramp_credential', moonpay(change));
        expect(outcome(answer), JSON.stringify(change)).toEqual(INVALID);
      }
      expect(outcome(await root.submit('create_fiat_on_ramp_credential', moonpay()))).toEqual(DONE);
    });

    test('belong to a parent, and to who may', async () => {
      const sub = await createSubOrganization(root, 'sub');
      const plain = await createUser(root, 'plain');
      const parentOnly = [400, 'INVALID_ACTIVITY_CALLER'];
      expect(outcome(await sub.submit('create_fiat_on_ramp_credential', moonpay()))).toEqual(parentOnly);
      expect(await list(sub)).toEqual([]);
      expect(outcome(await plain.submit('create_fiat_on_ramp_credential', moonpay()))).toEqual(DENIED);
      const [{ fiatOnrampCredentialId }] = await list();
      const theirs = { fiatOnrampCredentialId };
      expect(outcome(await sub.submit('delete_fiat_on_ramp_credential', theirs))).toEqual(parentOnly);
      expect(outcome(await plain.submit('delete_fiat_on_ramp_credential', theirs))).toEqual(DENIED);
      const allowing = {
        policyName: `on-ramp ${randomUUID()}`,
        effect: 'EFFECT_ALLOW',
        consensus: `approvers.any(user, user.id == '${plain.userId}')`,
        condition: "activity.resource == 'ON_RAMP_CREDENTIALS' && activity.action == 'CREATE'",
        notes: '',
      };
      await root.run('create_policy', allowing);
      expect(outcome(await plain.submit('create_fiat_on_ramp_credential', moonpay()))).toEqual(DONE);
      expect(outcome(await plain.submit('delete_fiat_on_ramp_credential', theirs))).toEqual(DENIED);
      expect(outcome(await root.submit('delete_fiat_on_ramp_credential', theirs))).toEqual(DONE);
    });
  });

  describe('links', () => {
    test('of MoonPay carry what was asked for and a signature over it', async () => {
      await onlyWith(moonpay(), moonpay({ sandboxMode: true, publishableApiKey: 'pk_sandbox' }));
      const wish = {
        onrampProvider: MOONPAY,
        ...USDC_ON_BASE,
        fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_EUR',
        fiatCurrencyAmount: '20.01',
        paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_SEPA_BANK_TRANSFER',
        countryCode: 'US',
        countrySubdivisionCode: 'NY',
      };
      const before = providers.requests.length;
      const { onRampUrl, onRampTransactionId, ...rest } = await begin(wish);
      expect(rest).toEqual({});
      expect(isSigned(onRampUrl)).toBe(true);
      expect(isSigned(onRampUrl.replace('eur', 'usd'))).toBe(false);
      const url = new URL(onRampUrl);
      expect(`${url.origin}${url.pathname}`).toBe(`${providers.url}/buy`);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        apiKey: MOONPAY_KEYS.publishable,
        currencyCode: 'usdc_base',
        walletAddress: WALLET,
        baseCurrencyCode: 'eur',
        baseCurrencyAmount: '20.01',
        paymentMethod: 'sepa_bank_transfer',
        externalTransactionId: onRampTransactionId,
        signature: expect.any(String),
      });
      const least = new URL((await begin({ onrampProvider: MOONPAY, ...ETH, sandboxMode: true })).onRampUrl);
      expect(least.pathname).toBe('/buy-sandbox');
      expect([...least.searchParams.keys()]).toEqual([
        'apiKey',
        'currencyCode',
        'walletAddress',
        'externalTransactionId',
        'signature',
      ]);
      expect(least.searchParams.get('apiKey')).toBe('pk_sandbox');
      // Nobody had to be asked.
      expect(providers.requests.length).toBe(before);
    });

    test('of an application are signed, if they are of the credential and lead to its own wallets', async () => {
      await onlyWith(moonpay());
      const wallet = await root.run('create_wallet', {
        walletName: `wallet ${randomUUID()}`,
        accounts: [
          {
            curve: 'CURVE_SECP256K1',
            pathFormat: 'PATH_FORMAT_BIP32',
            path: "m/44'/60'/0'/0/0",
            addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          },
        ],
      });
      const [own] = wallet.addresses;
      const { publishable } = MOONPAY_KEYS;
      const sign = (urlForSignature: string) => init({ onrampProvider: MOONPAY, ...ETH, urlForSignature });
      const wallets = (addresses: unknown) => `walletAddresses=${encodeURIComponent(JSON.stringify(addresses))}`;
      const good = [
        `https://buy.moonpay.com?apiKey=${publishable}&walletAddress=${own}&redirectURL=https%3A%2F%2Fa.test%2F%3Fé`,
        `https://buy-sandbox.moonpay.com/?apiKey=${publishable}`,
        `https://buy.moonpay.com/?apiKey=${publishable}&${wallets({ eth: own, usdc: own.toLowerCase() })}`,
        `${providers.url}/anywhere?apiKey=${publishable}&walletAddress=${own}`,
      ];
      for (const url of good) {
        const answer = await sign(url);
        expect(outcome(answer), url).toEqual(DONE);
        const { onRampUrl, onRampUrlSignature } = answer.body.activity.result.initFiatOnRampResult;
        const { search } = new URL(url);
        expect(onRampUrlSignature).toBe(createHmac('sha256', MOONPAY_KEYS.secret).update(search).digest('base64'));
        expect(isSigned(`${url}&signature=${encodeURIComponent(onRampUrlSignature)}`)).toBe(true);
        expect(isSigned(onRampUrl)).toBe(true);
      }
      const base = `https://buy.moonpay.com/?apiKey=${publishable}`;
      // What belongs to the parent does not belong to its child.
      const sub = await createSubOrganization(root, 'buyer');
      const byChild = (urlForSignature: string) => init({ onrampProvider: MOONPAY, ...ETH, urlForSignature }, sub);
      expect(outcome(await byChild(base))).toEqual(DONE);
      expect(outcome(await byChild(`${base}&walletAddress=${own}`))).toEqual(INVALID);
      const bad = [
        'not a url',
        '',
        base.replace('https', 'http'),
        base.replace('moonpay.com', 'moonpay.com.evil.test'),
        base.replace('buy.moonpay.com', 'evilmoonpay.com'),
        base.replace('https://', 'https://user:password@'),
        'https://buy.moonpay.com/',
        'https://buy.moonpay.com/?apiKey=pk_other',
        `${base}&apiKey=pk_other`,
        `${base}&signature=x`,
        `${base}&walletAddress=${WALLET}`,
        `${base}&walletAddress=${own}&walletAddress=${WALLET}`,
        `${base}&${wallets({ eth: own, btc: WALLET })}`,
        `${base}&${wallets([])}`,
        `${base}&${wallets({ eth: 7 })}`,
        `${base}&walletAddresses=no-json`,
        `${base}&walletAddresses=${encodeURIComponent(`{"eth":"${WALLET}","eth":"${own}"}`)}`,
        `${base}&walletAddresses[eth]=${WALLET}`,
        `${base}&walletAddress[]=${WALLET}`,
        `${base}&WalletAddress=${WALLET}`,
        `${base}&x=1;walletAddress=${WALLET}`,
        `${base}&apikey=pk_other`,
        `${base}&redirectURL=${'é'.repeat(3000)}`,
        `${base}&${Array.from({ length: 17 }, () => `walletAddress=${own}`).join('&')}`,
      ];
      for (const url of bad) {
        const answer = await sign(url);
        expect(outcome(answer), url).toEqual(INVALID);
        expect(answer.body.details).toContainEqual(
          expect.objectContaining({
            fieldViolations: [expect.objectContaining({ field: 'parameters.urlForSignature' })],
          }),
        );
      }
    });

    test.each(['ES256', 'EdDSA'] as const)(
      'of Coinbase carry a session that was asked for with %s',
      async (algorithm) => {
        await onlyWith(coinbase({ encryptedPrivateApiKey: sealTo(ourKey, COINBASE_KEYS[algorithm]) }));
        const before = providers.sessions.length;
        const { onRampUrl, onRampTransactionId, ...rest } = await begin({
          onrampProvider: COINBASE,
          ...USDC_ON_BASE,
          fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_USD',
          fiatCurrencyAmount: 21,
          paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_CREDIT_DEBIT_CARD',
        });
        expect(rest).toEqual({});
        const [session] = providers.sessions.slice(before);
        expect(session?.request).toEqual({
          addresses: [{ address: WALLET, blockchains: ['base'] }],
          assets: ['USDC'],
        });
        const url = new URL(onRampUrl);
        expect(`${url.origin}${url.pathname}`).toBe(`${providers.url}/pay/buy/select-asset`);
        expect(Object.fromEntries(url.searchParams)).toEqual({
          sessionToken: session?.token,
          defaultNetwork: 'base',
          defaultAsset: 'USDC',
          presetFiatAmount: '21',
          fiatCurrency: 'USD',
          defaultPaymentMethod: 'CARD',
          partnerUserRef: onRampTransactionId,
        });
      },
    );

    test('of Coinbase are asked for with the address of whoever calls, if it is one of the internet', async () => {
      await onlyWith(coinbase());
      const path = '/public/v1/submit/init_fiat_on_ramp';
      for (const [address, told] of [
        ['93.184.215.14', '93.184.215.14'],
        ['::ffff:93.184.215.14', '93.184.215.14'],
        ['2606:2800:21F:0::1', '2606:2800:21f::1'],
        ['10.1.2.3', undefined],
        ['::ffff:192.168.0.9', undefined],
        ['fd00::1', undefined],
        ['169.254.169.254', undefined],
      ] as const) {
        const body = root.submitBody('init_fiat_on_ramp', { onrampProvider: COINBASE, ...ETH });
        const stamp = stampFor(Buffer.from(body), root.key);
        const answer = await send(root.baseUrl, path, body, { 'x-stamp': stamp, 'x-forwarded-for': address });
        expect(outcome(answer), address).toEqual(DONE);
        expect(providers.sessions.at(-1)?.request.clientIp, address).toBe(told);
      }
    });

    test('of Coinbase are asked for once, also when the decision has to be taken again', async () => {
      await onlyWith(coinbase());
      // A control that comes while the provider is asked: what was prepared without it is thrown away.
      const identifier = `control ${randomUUID()}`;
      providers.meanwhile = async () => {
        providers.meanwhile = undefined;
        await root.run('create_velocity_control', {
          name: 'many',
          identifier,
          dataSource: { activityExecution: {} },
          aggregation: {
            method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
            operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
            threshold: '1000',
            window: { rolling: { duration: '1h' } },
            groupBy: { organization: {} },
          },
        });
      };
      const before = providers.sessions.length;
      const { onRampUrl } = await begin({ onrampProvider: COINBASE, ...ETH });
      expect(providers.sessions.slice(before).map(({ token }) => token)).toEqual([
        new URL(onRampUrl).searchParams.get('sessionToken'),
      ]);
      expect((await root.query('list_velocity_controls')).body.velocityControls).toMatchObject([{ identifier }]);
    });

    test('use the newest credential of the mode, of the organization or else of its parent', async () => {
      const [, newest] = await onlyWith(
        moonpay({ publishableApiKey: 'pk_first' }),
        moonpay({ publishableApiKey: 'pk_second' }),
        moonpay({ publishableApiKey: 'pk_sandbox', sandboxMode: true }),
      );
      const sub = await createSubOrganization(root, 'buyer');
      const keyOf = async (client: TestClient, extra: object = {}) => {
        const { onRampUrl } = await begin({ onrampProvider: MOONPAY, ...ETH, ...extra }, client);
        expect(isSigned(onRampUrl)).toBe(true);
        return new URL(onRampUrl).searchParams.get('apiKey');
      };
      for (const client of [root, sub]) {
        expect(await keyOf(client)).toBe('pk_second');
        expect(await keyOf(client, { sandboxMode: false })).toBe('pk_second');
        expect(await keyOf(client, { sandboxMode: true })).toBe('pk_sandbox');
      }
      await root.run('delete_fiat_on_ramp_credential', { fiatOnrampCredentialId: newest });
      expect(await keyOf(sub)).toBe('pk_first');
      await onlyWith(moonpay({ sandboxMode: true }));
      for (const client of [root, sub]) {
        const answer = await init({ onrampProvider: MOONPAY, ...ETH }, client);
        expect(outcome(answer)).toEqual([400, 'ON_RAMP_NOT_CONFIGURED']);
        expect(answer.body.message).toContain('production credential for MoonPay');
        const other = await init({ onrampProvider: COINBASE, ...ETH, sandboxMode: true }, client);
        expect(outcome(other)).toEqual([400, 'ON_RAMP_NOT_CONFIGURED']);
        expect(other.body.message).toContain('sandbox credential for Coinbase');
      }
    });

    test('of the sandbox of Coinbase lead there, under a name that says so', async () => {
      await onlyWith(coinbase({ sandboxMode: true }));
      const { onRampUrl, onRampTransactionId } = await begin({ onrampProvider: COINBASE, ...ETH, sandboxMode: true });
      const url = new URL(onRampUrl);
      expect(url.pathname).toBe('/pay-sandbox/buy/select-asset');
      expect(url.searchParams.get('partnerUserRef')).toBe(`sandbox-${onRampTransactionId}`);
      providers.purchases.set(`sandbox-${onRampTransactionId}`, [{ status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS' }]);
      expect(await refreshed(onRampTransactionId)).toBe('COMPLETED');
    });

    test('are for who may, and nobody is asked for what is denied or makes no sense', async () => {
      await onlyWith(coinbase(), moonpay());
      const plain = await createUser(root, 'plain');
      const before = providers.requests.length;
      expect(outcome(await init({ onrampProvider: COINBASE, ...ETH }, plain))).toEqual(DENIED);
      const answer = await init({ onrampProvider: COINBASE, ...ETH, fiatCurrencyAmount: '20' });
      expect(outcome(answer)).toEqual(INVALID);
      expect(providers.requests.length).toBe(before);
      const allowing = {
        policyName: `buying ${randomUUID()}`,
        effect: 'EFFECT_ALLOW',
        consensus: `approvers.any(user, user.id == '${plain.userId}')`,
        condition: "activity.resource == 'FIAT_TRANSACTION' && activity.action == 'CREATE'",
        notes: '',
      };
      await root.run('create_policy', allowing);
      expect(outcome(await init({ onrampProvider: COINBASE, ...ETH }, plain))).toEqual(DONE);
    });

    test('that Coinbase refuses or does not answer are refused, and leave nothing', async () => {
      await onlyWith(coinbase());
      const wish = { onrampProvider: COINBASE, ...ETH };
      expect(outcome(await init(wish))).toEqual(DONE);
      const activities = async () =>
        (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_INIT_FIAT_ON_RAMP'] })).body.activities
          .length;
      const before = await activities();
      const failed = [400, 'ON_RAMP_PROVIDER_FAILED'];
      const away = [503, 'UNAVAILABLE'];
      const json =
        (status: number, body: unknown) =>
        (_request: unknown, response: { writeHead: (status: number) => { end: (text: string) => void } }) =>
          response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
      const cases: [string, OnRampProviders['behaviour'], unknown[], string][] = [
        ['a refusal with a name', json(401, { errorType: 'unauthorized' }), failed, 'unauthorized'],
        ['a refusal in many words', json(400, { errorType: `no ${'x'.repeat(100)}` }), failed, 'HTTP status 400'],
        ['no such path', json(404, {}), failed, 'HTTP status 404'],
        ['no JSON', json(200, '<html>'), failed, 'not JSON'],
        ['no object', json(200, 'null'), failed, 'without a session token'],
        ['no token', json(200, { token: 7 }), failed, 'without a session token'],
        ['a token of two lines', json(200, { token: 'a\nb' }), failed, 'without a session token'],
        ['too slow a request', json(408, {}), away, 'HTTP status 408'],
        ['too early a request', json(425, {}), away, 'HTTP status 425'],
        ['too many requests', json(429, {}), away, 'HTTP status 429'],
        ['its own error', json(500, {}), away, 'HTTP status 500'],
        ['a redirection', json(302, {}), away, 'HTTP status 302'],
        ['a huge answer', json(200, { token: 'x', filler: 'x'.repeat(300_000) }), away, 'cannot be reached'],
        ['nothing', (request) => request.socket.destroy(), away, 'cannot be reached'],
      ];
      for (const [name, behaviour, expected, message] of cases) {
        providers.behaviour = behaviour;
        const answer = await init(wish);
        expect(outcome(answer), name).toEqual(expected);
        expect(answer.body.message, name).toMatch(/^Coinbase /);
        expect(answer.body.message, name).toContain(message);
      }
      expect(await activities()).toBe(before);
      providers.behaviour = json(201, { token: 'made' });
      expect(outcome(await init(wish))).toEqual(DONE);
      providers.behaviour = undefined;
      expect(outcome(await init(wish))).toEqual(DONE);
      // A key that the provider does not know.
      await onlyWith(coinbase({ publishableApiKey: 'another' }));
      const stranger = await init(wish);
      expect(outcome(stranger)).toEqual(failed);
      expect(stranger.body.message).toContain('wrong_header');
    });
  });

  describe('what became of purchases', () => {
    const CASES: [string, string, readonly object[], string][] = [
      [MOONPAY, 'no payment yet', [{ status: 'waitingPayment' }], 'PENDING'],
      [MOONPAY, 'no authorization yet', [{ status: 'waitingAuthorization' }], 'PENDING'],
      [
        MOONPAY,
        'a status that nobody knows',
        [{ status: 'constructor' }, { status: 7 }, null as unknown as object],
        'PENDING',
      ],
      [MOONPAY, 'a purchase under another name', [{ status: 'completed', externalTransactionId: 'other' }], 'PENDING'],
      [MOONPAY, 'one that goes on after one that failed', [{ status: 'failed' }, { status: 'pending' }], 'PENDING'],
      [MOONPAY, 'a failure', [{ status: 'failed' }], 'FAILED'],
      [MOONPAY, 'a second attempt, of which nobody asked any more', [{ status: 'pending' }], 'FAILED'],
      [MOONPAY, 'nothing any more', [], 'FAILED'],
      [MOONPAY, 'a completed one', [{ status: 'failed' }, { status: 'completed' }], 'COMPLETED'],
      [COINBASE, 'nothing', [], 'PENDING'],
      [COINBASE, 'one that goes on', [{ status: 'ONRAMP_TRANSACTION_STATUS_IN_PROGRESS' }], 'PENDING'],
      [
        COINBASE,
        'one of somebody else',
        [{ status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS', partner_user_ref: 'other' }],
        'PENDING',
      ],
      [COINBASE, 'a failure', [{ status: 'ONRAMP_TRANSACTION_STATUS_FAILED' }], 'FAILED'],
      [COINBASE, 'a completed one', [{ status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS' }], 'COMPLETED'],
    ];

    test('is asked of the provider, and kept', async () => {
      await onlyWith(moonpay(), coinbase());
      const sub = await createSubOrganization(root, 'buyer');
      for (const client of [root, sub]) {
        for (const onrampProvider of [MOONPAY, COINBASE]) {
          const { onRampTransactionId: id } = await begin({ onrampProvider, ...ETH }, client);
          expect((await status(id, {}, client)).body).toEqual({ transactionStatus: 'PENDING' });
          expect(await refreshed(id, client)).toBe('PENDING');
          for (const [provider, name, found, expected] of CASES) {
            if (provider !== onrampProvider) continue;
            providers.purchases.set(id, found);
            // Without being told to, nobody is asked.
            const requests = providers.requests.length;
            await status(id, {}, client);
            await status(id, { refresh: false }, client);
            expect(providers.requests.length, name).toBe(requests);
            expect(await refreshed(id, client), name).toBe(expected);
            expect(providers.requests.length, name).toBe(requests + 1);
            expect((await status(id, {}, client)).body.transactionStatus, name).toBe(expected);
          }
          // What was completed is for good, and nobody is asked any more.
          providers.purchases.delete(id);
          const requests = providers.requests.length;
          expect(await refreshed(id, client)).toBe('COMPLETED');
          expect(providers.requests.length).toBe(requests);
        }
      }
    });

    test('is asked once for all who want to know within two seconds', async () => {
      await onlyWith(moonpay());
      const { onRampTransactionId: id } = await begin({ onrampProvider: MOONPAY, ...ETH });
      providers.purchases.set(id, [{ status: 'pending' }]);
      expect(await refreshed(id)).toBe('PENDING');
      const requests = providers.requests.length;
      providers.purchases.set(id, [{ status: 'completed' }]);
      expect((await status(id, { refresh: true })).body.transactionStatus).toBe('PENDING');
      expect(providers.requests.length).toBe(requests);
      expect(await refreshed(id)).toBe('COMPLETED');
      expect(providers.requests.length).toBe(requests + 1);
    });

    test('is told to nobody else, and of nothing else', async () => {
      await onlyWith(moonpay());
      const sub = await createSubOrganization(root, 'buyer');
      const { onRampTransactionId: id } = await begin({ onrampProvider: MOONPAY, ...ETH }, sub);
      expect((await status(id, {}, sub)).status).toBe(200);
      const notFound = [404, 'RESOURCE_NOT_FOUND'];
      for (const [transactionId, client] of [
        [id, root],
        [randomUUID(), sub],
      ] as const) {
        expect(outcome(await status(transactionId, { refresh: true }, client))).toEqual(notFound);
      }
      expect(outcome(await status('x', {}, sub))).toEqual(INVALID);
      expect(outcome(await status(id, { refresh: 'yes' }, sub))).toEqual(INVALID);
    });

    test('what a provider refuses or does not answer is told, and changes nothing', async () => {
      await onlyWith(moonpay());
      const { onRampTransactionId: id } = await begin({ onrampProvider: MOONPAY, ...ETH });
      providers.purchases.set(id, [{ status: 'failed' }]);
      expect(await refreshed(id)).toBe('FAILED');
      for (const [code, body, expected] of [
        [500, '', [503, 'UNAVAILABLE']],
        [403, '{"type":"ForbiddenError"}', [400, 'ON_RAMP_PROVIDER_FAILED']],
        [200, '{"status":"completed"}', [400, 'ON_RAMP_PROVIDER_FAILED']],
        [200, '[', [400, 'ON_RAMP_PROVIDER_FAILED']],
      ] as const) {
        providers.behaviour = (_request, response) => void response.writeHead(code).end(body);
        waitForNews();
        const answer = await status(id, { refresh: true });
        expect(outcome(answer), body).toEqual(expected);
        expect(answer.body.message).toMatch(/^MoonPay /);
        expect((await status(id)).body.transactionStatus).toBe('FAILED');
      }
    });

    test('goes on with another credential when its own is gone, and says so when there is none', async () => {
      await onlyWith(moonpay({ publishableApiKey: 'pk_gone' }));
      const { onRampTransactionId: id } = await begin({ onrampProvider: MOONPAY, ...ETH });
      providers.purchases.set(id, [{ status: 'completed' }]);
      // The provider does not know this key.
      expect(outcome(await status(id, { refresh: true }))).toEqual([400, 'ON_RAMP_PROVIDER_FAILED']);
      await onlyWith(coinbase());
      expect(outcome(await status(id, { refresh: true }))).toEqual([400, 'ON_RAMP_NOT_CONFIGURED']);
      await onlyWith(moonpay());
      expect(await refreshed(id)).toBe('COMPLETED');
    });

    // The last one: from here on the service's clock is a day ahead.
    test('is CANCELLED when the provider knows of none after a day, until it does', async () => {
      await onlyWith(moonpay(), coinbase());
      const ids: string[] = [];
      for (const onrampProvider of [MOONPAY, COINBASE]) {
        ids.push((await begin({ onrampProvider, ...ETH })).onRampTransactionId);
      }
      for (const id of ids) expect(await refreshed(id)).toBe('PENDING');
      const { onRampTransactionId: slow } = await begin({ onrampProvider: MOONPAY, ...ETH });
      providers.purchases.set(slow, [{ status: 'pending' }]);
      waitForNews(DAY_MS);
      for (const id of ids) {
        // Nobody has asked yet, so that nobody knows.
        expect((await status(id)).body.transactionStatus).toBe('PENDING');
        expect(await refreshed(id)).toBe('CANCELLED');
        expect((await status(id)).body.transactionStatus).toBe('CANCELLED');
        providers.purchases.set(id, [{ status: 'completed' }, { status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS' }]);
        expect(await refreshed(id)).toBe('COMPLETED');
      }
      expect(await refreshed(slow)).toBe('PENDING');
    });
  });
});
