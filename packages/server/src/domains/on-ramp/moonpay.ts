import type { Config } from '../../config/config.ts';
import { invalidField } from '../../lib/errors.ts';
import { parseStrictJson } from '../../lib/strict-json.ts';
import { parseUrl } from '../../lib/url.ts';
import { ask, membersOf, providerFailed } from './ask.ts';
import type { OnRampStatus } from './model.ts';
import { type Purchase, shortName } from './purchase.ts';

const PROVIDER = 'FIAT_ON_RAMP_PROVIDER_MOONPAY';

/** The provider's name of what is bought, by currency and network. */
const CURRENCY_CODES: Readonly<Record<string, string>> = {
  'BTC BITCOIN': 'btc',
  'ETH ETHEREUM': 'eth',
  'ETH BASE': 'eth_base',
  'SOL SOLANA': 'sol',
  'USDC ETHEREUM': 'usdc',
  'USDC BASE': 'usdc_base',
  'USDC SOLANA': 'usdc_sol',
};

export const moonpayPage = (config: Config, isSandbox: boolean): URL =>
  new URL(isSandbox ? config.moonpaySandboxUrl : config.moonpayUrl);

/** The query that is signed, with its leading `?` and every value escaped (protocol/on-ramp 2.3). */
export function moonpaySearch(purchase: Purchase, apiKey: string, externalTransactionId: string): string {
  const { cryptoCurrencyCode, network, walletAddress, fiatCurrencyCode, fiatCurrencyAmount, paymentMethod } = purchase;
  const query = new URLSearchParams({
    apiKey,
    currencyCode: CURRENCY_CODES[`${shortName(cryptoCurrencyCode)} ${shortName(network)}`] as string,
    walletAddress,
  });
  if (fiatCurrencyCode !== undefined) query.set('baseCurrencyCode', shortName(fiatCurrencyCode).toLowerCase());
  if (fiatCurrencyAmount !== undefined) query.set('baseCurrencyAmount', fiatCurrencyAmount);
  if (paymentMethod !== undefined) query.set('paymentMethod', shortName(paymentMethod).toLowerCase());
  query.set('externalTransactionId', externalTransactionId);
  return `?${query}`;
}

/** The signature is the last parameter, since it signs everything before it. */
export const signedUrl = ({ origin, pathname }: URL, search: string, signature: string): string =>
  `${origin}${pathname}${search}&signature=${encodeURIComponent(signature)}`;

const URL_FIELD = 'parameters.urlForSignature';
/** What the keyring signs at most. */
const SEARCH_LENGTH_MAX = 16_384;
const WALLETS_MAX = 16;
/** The names that say where money goes, and whose page it is. */
const KNOWN: ReadonlySet<string> = new Set(['apiKey', 'walletAddress', 'walletAddresses', 'walletAddressTag']);

export interface WidgetUrl {
  readonly search: string;
  /** To where money would go. */
  readonly walletAddresses: readonly string[];
}

/**
 * A URL that an application made for the provider's page and wants signed. A signature is good for whatever the query
 * says, so that it must be one of the credential's own and name no wallet that is not known.
 */
export function parseWidgetUrl(text: string, apiKey: string, page: URL): WidgetUrl {
  const url = parseUrl(text);
  if (url === undefined || !isProviders(url, page) || url.username !== '' || url.password !== '') {
    throw invalidField(URL_FIELD, 'must be an https URL on a host of MoonPay');
  }
  const { search, searchParams } = url;
  if (search.length > SEARCH_LENGTH_MAX) throw invalidField(URL_FIELD, `has more than ${SEARCH_LENGTH_MAX} characters`);
  const apiKeys = searchParams.getAll('apiKey');
  if (apiKeys.length !== 1 || apiKeys[0] !== apiKey) {
    throw invalidField(URL_FIELD, 'must have the publishable key of the credential as its apiKey');
  }
  if (searchParams.has('signature')) throw invalidField(URL_FIELD, 'is signed already');
  // Whoever reads the query may take other spellings for the same name, and a semicolon for the next parameter.
  const odd = [...searchParams.keys()].find((name) => !KNOWN.has(name) && /wallet|signature|apikey/i.test(name));
  if (odd !== undefined || search.includes(';')) {
    throw invalidField(
      URL_FIELD,
      'must have wallets and keys under the exact names that MoonPay documents, and no semicolon',
    );
  }
  const walletAddresses = [
    ...searchParams.getAll('walletAddress'),
    ...searchParams.getAll('walletAddresses').flatMap(parseWallets),
  ];
  if (walletAddresses.length > WALLETS_MAX) throw invalidField(URL_FIELD, `names more than ${WALLETS_MAX} wallets`);
  return { search, walletAddresses };
}

const isProviders = (url: URL, page: URL): boolean =>
  url.origin === page.origin || (url.protocol === 'https:' && /(?:^|\.)moonpay\.com$/.test(url.hostname));

/** `walletAddresses` is an object as JSON, with an address for each currency. */
function parseWallets(text: string): string[] {
  let value: unknown;
  try {
    // Of a currency that is named twice another reader may take the first.
    value = parseStrictJson(Buffer.from(text));
  } catch {
    value = undefined;
  }
  const addresses = Object.values(membersOf(value));
  if (addresses.length === 0 || !addresses.every((address) => typeof address === 'string')) {
    throw invalidField(URL_FIELD, 'has walletAddresses that are no JSON object of addresses');
  }
  return addresses as string[];
}

/** Every other one is of a purchase that goes on. */
const STATUSES: ReadonlyMap<unknown, OnRampStatus> = new Map([
  ['completed', 'COMPLETED'],
  ['failed', 'FAILED'],
]);

/**
 * What became of the purchases under one of our ids; none if the provider knows of none. It is asked with the publishable
 * key, because the secret one does not leave the keyring (protocol/on-ramp 1.2).
 */
export async function moonpayStatuses(config: Config, apiKey: string, id: string): Promise<OnRampStatus[]> {
  const query = new URLSearchParams({ apiKey });
  const answer = await ask({
    provider: PROVIDER,
    method: 'GET',
    url: `${config.moonpayApiUrl}/v1/transactions/ext/${id}?${query}`,
    subject: 'the request for the transaction',
  });
  if (answer === undefined) return [];
  if (!Array.isArray(answer)) throw providerFailed(PROVIDER, 'answered with something that is no list of transactions');
  return answer
    .map(membersOf)
    .filter(({ externalTransactionId = id }) => externalTransactionId === id)
    .map(({ status }) => STATUSES.get(status) ?? 'PENDING');
}
