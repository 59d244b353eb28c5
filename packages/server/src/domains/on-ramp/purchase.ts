import { invalidField } from '../../lib/errors.ts';
import type { OnRampProvider } from './model.ts';

/** What somebody wants to buy, and how; values are those of the wire protocol. */
export interface Purchase {
  readonly onrampProvider: OnRampProvider;
  readonly walletAddress: string;
  readonly network: OnRampNetwork;
  readonly cryptoCurrencyCode: OnRampCryptoCurrency;
  readonly fiatCurrencyCode?: string | undefined;
  readonly fiatCurrencyAmount?: string | undefined;
  readonly paymentMethod?: OnRampPaymentMethod | undefined;
  readonly countryCode?: string | undefined;
  readonly countrySubdivisionCode?: string | undefined;
  readonly urlForSignature?: string | undefined;
}

const prefixed = <Prefix extends string, Name extends string>(
  prefix: Prefix,
  names: readonly Name[],
): `${Prefix}${Name}`[] => names.map((name): `${Prefix}${Name}` => `${prefix}${name}`);

const NETWORK_NAMES = ['BITCOIN', 'ETHEREUM', 'SOLANA', 'BASE'] as const;
const CRYPTO_NAMES = ['BTC', 'ETH', 'SOL', 'USDC'] as const;
const FIAT_NAMES =
  'AUD BGN BRL CAD CHF COP CZK DKK DOP EGP EUR GBP HKD IDR ILS JOD KES KWD LKR MXN NGN NOK NZD OMR PEN PLN RON SEK THB TRY TWD USD VND ZAR'.split(
    ' ',
  );
const COMMON_METHODS = ['CREDIT_DEBIT_CARD', 'APPLE_PAY'] as const;
const MOONPAY_METHODS = [
  'GBP_BANK_TRANSFER',
  'GBP_OPEN_BANKING_PAYMENT',
  'GOOGLE_PAY',
  'SEPA_BANK_TRANSFER',
  'PIX_INSTANT_PAYMENT',
  'PAYPAL',
  'VENMO',
  'MOONPAY_BALANCE',
] as const;
const COINBASE_METHODS = ['CRYPTO_ACCOUNT', 'FIAT_WALLET', 'ACH_BANK_ACCOUNT'] as const;

const METHOD = 'FIAT_ON_RAMP_PAYMENT_METHOD_';
export const ON_RAMP_NETWORKS = prefixed('FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_', NETWORK_NAMES);
export const ON_RAMP_CRYPTO_CURRENCIES = prefixed('FIAT_ON_RAMP_CRYPTO_CURRENCY_', CRYPTO_NAMES);
export const ON_RAMP_FIAT_CURRENCIES = prefixed('FIAT_ON_RAMP_CURRENCY_', FIAT_NAMES);
export const ON_RAMP_PAYMENT_METHODS = prefixed(METHOD, [...COMMON_METHODS, ...MOONPAY_METHODS, ...COINBASE_METHODS]);

export type OnRampNetwork = (typeof ON_RAMP_NETWORKS)[number];
export type OnRampCryptoCurrency = (typeof ON_RAMP_CRYPTO_CURRENCIES)[number];
export type OnRampPaymentMethod = (typeof ON_RAMP_PAYMENT_METHODS)[number];

/** A value of the wire protocol without the part that all of its kind share. */
export const shortName = (value: string): string =>
  value.replace(/^FIAT_ON_RAMP_(?:BLOCKCHAIN_NETWORK|CRYPTO_CURRENCY|CURRENCY|PAYMENT_METHOD)_/, '');

/** Where each currency is to be had. */
const NETWORKS_OF: Readonly<Record<string, readonly string[]>> = {
  BTC: ['BITCOIN'],
  ETH: ['ETHEREUM', 'BASE'],
  SOL: ['SOLANA'],
  USDC: ['ETHEREUM', 'SOLANA', 'BASE'],
};

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** By their form alone: whether somebody has the key is for the buyer to know. */
const ADDRESSES: Readonly<Record<string, RegExp>> = {
  BITCOIN: /^(?:(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{8,87}|[1-9A-HJ-NP-Za-km-z]{26,35})$/,
  ETHEREUM: EVM_ADDRESS,
  SOLANA: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
  BASE: EVM_ADDRESS,
};

const METHODS_OF: Readonly<Record<OnRampProvider, readonly string[]>> = {
  FIAT_ON_RAMP_PROVIDER_COINBASE: prefixed(METHOD, [...COMMON_METHODS, ...COINBASE_METHODS]),
  FIAT_ON_RAMP_PROVIDER_MOONPAY: prefixed(METHOD, [...COMMON_METHODS, ...MOONPAY_METHODS]),
};

/** In which Coinbase takes an amount; in others the buyer types it. */
const COINBASE_AMOUNT_CURRENCIES = ['USD', 'CAD', 'GBP', 'EUR'];

const AMOUNT = /^[0-9]{1,9}(?:\.[0-9]{1,2})?$/;
const AMOUNT_ABOVE = 20;

/** The rules on a purchase that its schema cannot state (protocol/on-ramp 2.2). */
export function checkPurchase(purchase: Purchase): void {
  const { onrampProvider, walletAddress, paymentMethod, countryCode, countrySubdivisionCode } = purchase;
  const network = shortName(purchase.network);
  const currency = shortName(purchase.cryptoCurrencyCode);
  if (!NETWORKS_OF[currency]?.includes(network)) {
    throw invalid('network', `${currency} is to be had on ${NETWORKS_OF[currency]?.join(', ')}`);
  }
  if (!ADDRESSES[network]?.test(walletAddress)) throw invalid('walletAddress', `is not an address of ${network}`);
  if (paymentMethod !== undefined && !METHODS_OF[onrampProvider].includes(paymentMethod)) {
    throw invalid('paymentMethod', `is not one of ${onrampProvider}`);
  }
  if (countryCode === 'US' && countrySubdivisionCode === undefined) {
    throw invalid('countrySubdivisionCode', 'is required for the country US');
  }
  if (countrySubdivisionCode !== undefined && countryCode === undefined) {
    throw invalid('countryCode', 'is required with countrySubdivisionCode');
  }
  checkAmount(purchase);
  if (purchase.urlForSignature !== undefined && onrampProvider !== 'FIAT_ON_RAMP_PROVIDER_MOONPAY') {
    throw invalid('urlForSignature', 'is for FIAT_ON_RAMP_PROVIDER_MOONPAY only');
  }
}

function checkAmount({ onrampProvider, fiatCurrencyAmount, fiatCurrencyCode }: Purchase): void {
  if (fiatCurrencyAmount === undefined) return;
  if (!AMOUNT.test(fiatCurrencyAmount) || !(Number(fiatCurrencyAmount) > AMOUNT_ABOVE)) {
    throw invalid('fiatCurrencyAmount', `must be an amount above ${AMOUNT_ABOVE}, with at most two decimals`);
  }
  if (onrampProvider === 'FIAT_ON_RAMP_PROVIDER_MOONPAY') {
    // Its page would take the amount in a currency that it guesses from where the buyer is.
    if (fiatCurrencyCode === undefined) throw invalid('fiatCurrencyCode', 'is required with fiatCurrencyAmount');
    return;
  }
  if (!COINBASE_AMOUNT_CURRENCIES.includes(shortName(fiatCurrencyCode ?? 'USD'))) {
    throw invalid('fiatCurrencyAmount', `Coinbase takes amounts in ${COINBASE_AMOUNT_CURRENCIES.join(', ')} only`);
  }
}

const invalid = (field: string, description: string) => invalidField(`parameters.${field}`, description);
