// Fiat on-ramp as users of the public packages have it: operations by the unmodified server SDK, secrets encrypted by the
// helper of the crypto package with our key, links checked by the provider's own package.
import { MoonPay } from '@moonpay/moonpay-node';
import { encryptOnRampSecret } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  COINBASE,
  COINBASE_KEY_ID,
  COINBASE_KEYS,
  ETH,
  MOONPAY,
  MOONPAY_KEYS,
  OnRampProviders,
  USDC_ON_BASE,
  WALLET,
} from '../packages/server/test/flows/fixtures/on-ramp.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { poll } from './chain/poll.ts';
import { connect, errorCodeOf, openCouncil, refusal, UNKNOWN_ID } from './sdk.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TIMES = { createdAt: expect.anything(), updatedAt: expect.anything() };

type Wish = Parameters<TurnkeyApiClient['initFiatOnRamp']>[0];
type Credential = Parameters<TurnkeyApiClient['createFiatOnRampCredential']>[0];

let providers: OnRampProviders;
let service: TestServer;
let root: TurnkeyApiClient;
let ourKey: string;

beforeAll(async () => {
  providers = await OnRampProviders.start();
  service = await TestServer.start({ env: providers.env });
  root = connect(service.baseUrl, service.credentials);
  const { keys } = (await (await fetch(`${service.baseUrl}/public/v1/discovery/keys`)).json()) as {
    keys: { role: string; publicKey: string; encoding: string }[];
  };
  const key = keys.find(({ role }) => role === 'on-ramp-secret');
  // Compressed is what the helper takes.
  expect(key?.encoding).toBe('compressed');
  ourKey = key?.publicKey ?? '';
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await providers?.[Symbol.asyncDispose]();
});

const moonpay = (sandboxMode = false): Credential => ({
  onrampProvider: MOONPAY,
  publishableApiKey: MOONPAY_KEYS.publishable,
  encryptedSecretApiKey: encryptOnRampSecret(MOONPAY_KEYS.secret, ourKey),
  sandboxMode,
});
const coinbase = (key: string): Credential => ({
  onrampProvider: COINBASE,
  projectId: 'a project',
  publishableApiKey: COINBASE_KEY_ID,
  encryptedSecretApiKey: encryptOnRampSecret('unused', ourKey),
  encryptedPrivateApiKey: encryptOnRampSecret(key, ourKey),
});
const wish = (onrampProvider: Wish['onrampProvider'], extra: Partial<Wish> = {}): Wish =>
  ({ onrampProvider, ...ETH, ...extra }) as Wish;

describe('credentials', () => {
  test('are created, listed as they were submitted, replaced and deleted', async () => {
    const first = coinbase(COINBASE_KEYS.ES256);
    const { fiatOnRampCredentialId } = await root.createFiatOnRampCredential(first);
    expect(fiatOnRampCredentialId).toMatch(UUID);
    const listed = async () =>
      (await root.listFiatOnRampCredentials({})).fiatOnRampCredentials.find(
        ({ fiatOnrampCredentialId }) => fiatOnrampCredentialId === fiatOnRampCredentialId,
      );
    const record = { fiatOnrampCredentialId: fiatOnRampCredentialId, sandboxMode: false, ...TIMES };
    const { organizationId } = service.credentials;
    expect(await listed()).toEqual({ ...record, organizationId, ...first });
    const { sandboxMode: _, ...second } = moonpay();
    const change = { fiatOnrampCredentialId: fiatOnRampCredentialId, ...second };
    expect(await root.updateFiatOnRampCredential(change)).toMatchObject({ fiatOnRampCredentialId });
    expect(await listed()).toEqual({ ...record, organizationId, ...second });
    const gone = { fiatOnrampCredentialId: fiatOnRampCredentialId };
    expect(await root.deleteFiatOnRampCredential(gone)).toMatchObject({ fiatOnRampCredentialId });
    expect(await listed()).toBeUndefined();
    expect(errorCodeOf(await refusal(root.deleteFiatOnRampCredential(gone)))).toBe('RESOURCE_NOT_FOUND');
  });

  test('that were encrypted to the key that the helper was built with are refused', async () => {
    const forSomebodyElse = { ...moonpay(), encryptedSecretApiKey: encryptOnRampSecret(MOONPAY_KEYS.secret) };
    const error = await refusal(root.createFiatOnRampCredential(forSomebodyElse));
    expect(errorCodeOf(error)).toBe('INVALID_BUNDLE');
    expect(error.message).toContain('on-ramp-secret');
  });
});

describe('MoonPay', () => {
  const checker = new MoonPay(MOONPAY_KEYS.secret);

  test('links pass the check of its own package, and changed ones do not', async () => {
    await root.createFiatOnRampCredential(moonpay());
    const { onRampUrl, onRampTransactionId } = await root.initFiatOnRamp(
      wish(MOONPAY, {
        fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_EUR',
        fiatCurrencyAmount: '99.5',
        paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_APPLE_PAY',
      }),
    );
    expect(onRampTransactionId).toMatch(UUID);
    expect(checker.url.isSignatureValid(onRampUrl)).toBe(true);
    expect(checker.url.isSignatureValid(onRampUrl.replace('99.5', '9.5'))).toBe(false);
    expect(new MoonPay('sk_test_other').url.isSignatureValid(onRampUrl)).toBe(false);
    expect(new URL(onRampUrl).searchParams.get('walletAddress')).toBe(WALLET);
  });

  test('signatures of links that its package made are those that it would make', async () => {
    const { addresses } = await root.createWallet({
      walletName: 'A wallet',
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    });
    const made = checker.url.generate({
      flow: 'buy',
      params: {
        apiKey: MOONPAY_KEYS.publishable,
        currencyCode: 'eth',
        walletAddress: addresses[0] as string,
        redirectURL: 'https://app.example/back?from=buy&ä=1',
        colorCode: '#7d00ff',
      },
    });
    const unsigned = new URL(made);
    expect(unsigned.hostname).toBe('buy-sandbox.moonpay.com');
    unsigned.searchParams.delete('signature');
    const { onRampUrl, onRampUrlSignature } = await root.initFiatOnRamp(
      wish(MOONPAY, { urlForSignature: unsigned.href }),
    );
    expect(onRampUrlSignature).toBe(checker.url.generateSignature(unsigned.href));
    expect(onRampUrlSignature).toBe(new URL(made).searchParams.get('signature'));
    expect(checker.url.isSignatureValid(onRampUrl)).toBe(true);
    const theirs = await refusal(
      root.initFiatOnRamp(wish(MOONPAY, { urlForSignature: unsigned.href.replace(addresses[0] as string, WALLET) })),
    );
    expect(errorCodeOf(theirs)).toBe('REQUEST_INVALID');
    expect(theirs.message).toContain('not one of this organization');
  });

  test('a user of a sub-organization buys with the credential of its parent, and learns what became of it', async () => {
    await root.createFiatOnRampCredential(moonpay(true));
    const { members } = await openCouncil(service.baseUrl, root, 1);
    const [member] = members as [TurnkeyApiClient];
    const { onRampUrl, onRampTransactionId } = await member.initFiatOnRamp(wish(MOONPAY, { sandboxMode: true }));
    expect(new URL(onRampUrl).pathname).toBe('/buy-sandbox');
    const statusOf = async (refresh: boolean) =>
      (await member.getOnRampTransactionStatus({ transactionId: onRampTransactionId, refresh })).transactionStatus;
    expect(await statusOf(true)).toBe('PENDING');
    providers.purchases.set(onRampTransactionId, [{ status: 'completed' }]);
    expect(await statusOf(false)).toBe('PENDING');
    // An answer of the provider that is a moment old serves again.
    await poll(
      () => statusOf(true),
      (status) => status === 'COMPLETED',
    );
    expect(await statusOf(false)).toBe('COMPLETED');
    const unknown = await refusal(member.getOnRampTransactionStatus({ transactionId: UNKNOWN_ID }));
    expect(errorCodeOf(unknown)).toBe('RESOURCE_NOT_FOUND');
  });
});

describe('Coinbase', () => {
  test.each(['ES256', 'EdDSA'] as const)('a key of %s gets a session, and what became of it', async (algorithm) => {
    await root.createFiatOnRampCredential(coinbase(COINBASE_KEYS[algorithm]));
    const before = providers.sessions.length;
    const { onRampUrl, onRampTransactionId } = await root.initFiatOnRamp(wish(COINBASE, USDC_ON_BASE as Partial<Wish>));
    const sessions = providers.sessions.slice(before);
    expect(sessions).toMatchObject([{ request: { addresses: [{ address: WALLET, blockchains: ['base'] }] } }]);
    const { searchParams } = new URL(onRampUrl);
    expect(searchParams.get('sessionToken')).toBe(sessions[0]?.token);
    expect(searchParams.get('partnerUserRef')).toBe(onRampTransactionId);
    providers.purchases.set(onRampTransactionId, [{ status: 'ONRAMP_TRANSACTION_STATUS_FAILED' }]);
    const status = { transactionId: onRampTransactionId, refresh: true };
    expect((await root.getOnRampTransactionStatus(status)).transactionStatus).toBe('FAILED');
  });

  test('its refusals are told', async () => {
    await root.createFiatOnRampCredential({ ...coinbase(COINBASE_KEYS.ES256), publishableApiKey: 'another' });
    const error = await refusal(root.initFiatOnRamp(wish(COINBASE)));
    expect(errorCodeOf(error)).toBe('ON_RAMP_PROVIDER_FAILED');
    expect(error.message).toContain('Coinbase refused');
  });
});
