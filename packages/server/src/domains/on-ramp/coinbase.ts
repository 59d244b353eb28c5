import type { CoinbaseCall, Holder, Keyring } from '@custos/keyring';
import type { Config } from '../../config/config.ts';
import { parseAddress } from '../../lib/network.ts';
import { classifyAddress } from '../../outbound/classify-address.ts';
import { ask, membersOf, providerFailed, type Question } from './ask.ts';
import type { OnRampCredential, OnRampStatus } from './model.ts';
import { type Purchase, shortName } from './purchase.ts';

const PROVIDER = 'FIAT_ON_RAMP_PROVIDER_COINBASE';
const TOKEN_PATH = '/onramp/v1/token';
const SESSION_TOKEN = /^[\w.~+/=-]{1,2048}$/;

/** A credential, and as whose it opens. */
export interface CoinbaseAccess {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly credential: Pick<OnRampCredential, 'publishableApiKey' | 'sealedSecretKey' | 'sealedPrivateKey'>;
  readonly holder: Holder;
  readonly nowMs: number;
}

/** By what the provider knows a purchase, of less than 50 characters. */
export const partnerUserRef = (id: string, isSandbox: boolean): string => (isSandbox ? `sandbox-${id}` : id);

/** A session token for one purchase, good once and for five minutes (protocol/on-ramp 2.4). */
export async function openSession(
  access: CoinbaseAccess,
  { walletAddress, network, cryptoCurrencyCode }: Purchase,
  callerAddress: string | undefined,
): Promise<string> {
  const clientIp = publicAddress(callerAddress);
  const answer = await call(access, 'POST', TOKEN_PATH, 'the request for a session', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      addresses: [{ address: walletAddress, blockchains: [shortName(network).toLowerCase()] }],
      assets: [shortName(cryptoCurrencyCode)],
      ...(clientIp !== undefined && { clientIp }),
    }),
  });
  const { token } = membersOf(answer);
  if (typeof token !== 'string' || !SESSION_TOKEN.test(token)) {
    throw providerFailed(PROVIDER, 'answered without a session token');
  }
  return token;
}

/** As the provider reads it; undefined where it would say nothing about a buyer, or something about our network. */
function publicAddress(text: string | undefined): string | undefined {
  if (text === undefined || classifyAddress(text, []) !== 'public') return undefined;
  return parseAddress(text)?.toString();
}

/** Whether the credential's key can sign at all; refused as a bundle that does not hold what it should, if not. */
export async function checkKey(access: CoinbaseAccess): Promise<void> {
  await sign(access, 'POST', TOKEN_PATH);
}

export function coinbaseUrl(config: Config, purchase: Purchase, sessionToken: string, id: string, isSandbox: boolean) {
  const { network, cryptoCurrencyCode, fiatCurrencyCode, fiatCurrencyAmount, paymentMethod } = purchase;
  const query = new URLSearchParams({
    sessionToken,
    defaultNetwork: shortName(network).toLowerCase(),
    defaultAsset: shortName(cryptoCurrencyCode),
  });
  if (fiatCurrencyAmount !== undefined) query.set('presetFiatAmount', fiatCurrencyAmount);
  if (fiatCurrencyCode !== undefined) query.set('fiatCurrency', shortName(fiatCurrencyCode));
  if (paymentMethod !== undefined) query.set('defaultPaymentMethod', methodOf(paymentMethod));
  query.set('partnerUserRef', partnerUserRef(id, isSandbox));
  return `${isSandbox ? config.coinbaseSandboxUrl : config.coinbasePayUrl}/buy/select-asset?${query}`;
}

const methodOf = (paymentMethod: string): string => {
  const name = shortName(paymentMethod);
  return name === 'CREDIT_DEBIT_CARD' ? 'CARD' : name;
};

/** Every other one is of a purchase that goes on. */
const STATUSES: ReadonlyMap<unknown, OnRampStatus> = new Map([
  ['ONRAMP_TRANSACTION_STATUS_SUCCESS', 'COMPLETED'],
  ['ONRAMP_TRANSACTION_STATUS_FAILED', 'FAILED'],
]);

/** What became of the purchases under one of our references; none if the provider knows of none. */
export async function coinbaseStatuses(access: CoinbaseAccess, reference: string): Promise<OnRampStatus[]> {
  const path = `/onramp/v1/buy/user/${reference}/transactions`;
  const answer = await call(access, 'GET', path, 'the request for the transaction', {});
  if (answer === undefined) return [];
  const { transactions } = membersOf(answer);
  if (!Array.isArray(transactions)) {
    throw providerFailed(PROVIDER, 'answered with something that is no list of transactions');
  }
  return transactions
    .map(membersOf)
    .filter(({ partner_user_ref: theirs = reference }) => theirs === reference)
    .map(({ status }) => STATUSES.get(status) ?? 'PENDING');
}

async function call(
  access: CoinbaseAccess,
  method: CoinbaseCall['method'],
  path: string,
  subject: string,
  { headers, body }: Pick<Question, 'headers' | 'body'>,
): Promise<unknown> {
  const token = await sign(access, method, path);
  return await ask({
    provider: PROVIDER,
    url: `${access.config.coinbaseApiUrl}${path}`,
    subject,
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body }),
  });
}

/** The token of one call; it is made inside the keyring, from a key that does not leave it (protocol/on-ramp 1.2). */
async function sign(access: CoinbaseAccess, method: CoinbaseCall['method'], path: string): Promise<string> {
  const { config, keyring, credential, holder, nowMs } = access;
  const { host, pathname } = new URL(config.coinbaseApiUrl);
  return await keyring.signCoinbaseToken(holder, credential.sealedPrivateKey ?? credential.sealedSecretKey, {
    keyId: credential.publishableApiKey,
    method,
    host,
    path: `${pathname.replace(/\/$/, '')}${path}`,
    nowMs,
  });
}
