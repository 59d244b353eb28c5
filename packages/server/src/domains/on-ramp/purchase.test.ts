import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import type { OnRampProvider } from './model.ts';
import { moonpaySearch } from './moonpay.ts';
import {
  checkPurchase,
  ON_RAMP_CRYPTO_CURRENCIES,
  ON_RAMP_FIAT_CURRENCIES,
  ON_RAMP_NETWORKS,
  ON_RAMP_PAYMENT_METHODS,
  type OnRampCryptoCurrency,
  type OnRampNetwork,
  type OnRampPaymentMethod,
  type Purchase,
} from './purchase.ts';

const COINBASE = 'FIAT_ON_RAMP_PROVIDER_COINBASE';
const MOONPAY = 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
const network = (name: string) => `FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_${name}` as OnRampNetwork;
const currency = (name: string) => `FIAT_ON_RAMP_CRYPTO_CURRENCY_${name}` as OnRampCryptoCurrency;

const EVM = '0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe';
const SOLANA = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
const ADDRESS: Readonly<Record<string, string>> = {
  BITCOIN: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ETHEREUM: EVM,
  SOLANA,
  BASE: EVM,
};

const purchase = (change: Partial<Purchase> = {}): Purchase => ({
  onrampProvider: MOONPAY,
  walletAddress: EVM,
  network: network('ETHEREUM'),
  cryptoCurrencyCode: currency('ETH'),
  ...change,
});

/** The field that is refused, if any is. */
function refused(change: Partial<Purchase>): string | undefined {
  try {
    checkPurchase(purchase(change));
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'REQUEST_INVALID') throw error;
    return error.violations[0]?.field.replace('parameters.', '');
  }
}

test('the values are those of the wire protocol', () => {
  expect([ON_RAMP_NETWORKS.length, ON_RAMP_CRYPTO_CURRENCIES.length]).toEqual([4, 4]);
  expect([ON_RAMP_FIAT_CURRENCIES.length, ON_RAMP_PAYMENT_METHODS.length]).toEqual([34, 13]);
  expect(ON_RAMP_FIAT_CURRENCIES).toContain('FIAT_ON_RAMP_CURRENCY_ZAR');
  expect(ON_RAMP_PAYMENT_METHODS).toContain('FIAT_ON_RAMP_PAYMENT_METHOD_GBP_OPEN_BANKING_PAYMENT');
});

test('currencies are to be had on their networks only, and MoonPay has a name for each', () => {
  const names: Record<string, string | null> = {};
  for (const name of ['BITCOIN', 'ETHEREUM', 'SOLANA', 'BASE']) {
    for (const crypto of ['BTC', 'ETH', 'SOL', 'USDC']) {
      const wish = { network: network(name), cryptoCurrencyCode: currency(crypto), walletAddress: ADDRESS[name] ?? '' };
      if (refused(wish) !== undefined) {
        expect(refused(wish), `${crypto} ${name}`).toBe('network');
        continue;
      }
      const query = new URLSearchParams(moonpaySearch(purchase(wish), 'pk', 'id'));
      names[`${crypto} ${name}`] = query.get('currencyCode');
    }
  }
  expect(names).toEqual({
    'BTC BITCOIN': 'btc',
    'ETH ETHEREUM': 'eth',
    'USDC ETHEREUM': 'usdc',
    'SOL SOLANA': 'sol',
    'USDC SOLANA': 'usdc_sol',
    'ETH BASE': 'eth_base',
    'USDC BASE': 'usdc_base',
  });
});

describe('addresses are of their network', () => {
  const of = (name: string, crypto: string, walletAddress: string) =>
    refused({ network: network(name), cryptoCurrencyCode: currency(crypto), walletAddress });

  test.each([
    ['BITCOIN', 'BTC', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['BITCOIN', 'BTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
    ['BITCOIN', 'BTC', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
    ['BITCOIN', 'BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['ETHEREUM', 'ETH', EVM.toLowerCase()],
    ['BASE', 'USDC', EVM],
    ['SOLANA', 'USDC', SOLANA],
  ])('%s %s %s', (name, crypto, address) => expect(of(name, crypto, address)).toBeUndefined());

  test.each([
    ['BITCOIN', 'BTC', EVM],
    ['BITCOIN', 'BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3b4'],
    ['BITCOIN', 'BTC', ''],
    ['ETHEREUM', 'ETH', EVM.slice(2)],
    ['ETHEREUM', 'ETH', `${EVM}0`],
    ['ETHEREUM', 'ETH', SOLANA],
    ['ETHEREUM', 'ETH', `${EVM}&walletAddress=${EVM}`],
    ['SOLANA', 'SOL', EVM],
    ['SOLANA', 'SOL', SOLANA.replace('7', '0')],
  ])('and no others: %s %s %s', (name, crypto, address) => expect(of(name, crypto, address)).toBe('walletAddress'));
});

test('methods of payment are of their provider', () => {
  const taken = (onrampProvider: OnRampProvider) =>
    ON_RAMP_PAYMENT_METHODS.filter((paymentMethod) => refused({ onrampProvider, paymentMethod }) === undefined).map(
      (name) => name.replace('FIAT_ON_RAMP_PAYMENT_METHOD_', ''),
    );
  expect(taken(COINBASE)).toEqual([
    'CREDIT_DEBIT_CARD',
    'APPLE_PAY',
    'CRYPTO_ACCOUNT',
    'FIAT_WALLET',
    'ACH_BANK_ACCOUNT',
  ]);
  expect(taken(MOONPAY)).toEqual([
    'CREDIT_DEBIT_CARD',
    'APPLE_PAY',
    'GBP_BANK_TRANSFER',
    'GBP_OPEN_BANKING_PAYMENT',
    'GOOGLE_PAY',
    'SEPA_BANK_TRANSFER',
    'PIX_INSTANT_PAYMENT',
    'PAYPAL',
    'VENMO',
    'MOONPAY_BALANCE',
  ]);
  const paymentMethod: OnRampPaymentMethod = 'FIAT_ON_RAMP_PAYMENT_METHOD_FIAT_WALLET';
  expect(refused({ paymentMethod })).toBe('paymentMethod');
});

test('amounts are above 20, in a currency that the provider takes them in', () => {
  const fiatCurrencyCode = 'FIAT_ON_RAMP_CURRENCY_EUR';
  for (const fiatCurrencyAmount of ['20.01', '21', '100', '999999999.99', '020.5']) {
    expect(refused({ fiatCurrencyCode, fiatCurrencyAmount }), fiatCurrencyAmount).toBeUndefined();
  }
  for (const fiatCurrencyAmount of [
    '20',
    '20.00',
    '0',
    '-21',
    '+21',
    '1e3',
    '21.',
    '.5',
    '21.001',
    '0x20',
    '',
    'NaN',
    '1 000',
  ]) {
    expect(refused({ fiatCurrencyCode, fiatCurrencyAmount }), fiatCurrencyAmount).toBe('fiatCurrencyAmount');
  }
  const inCurrency = (onrampProvider: OnRampProvider, code?: string) =>
    refused({ onrampProvider, fiatCurrencyCode: code, fiatCurrencyAmount: '50' });
  // Coinbase takes it for dollars; MoonPay would guess.
  expect([inCurrency(COINBASE), inCurrency(MOONPAY)]).toEqual([undefined, 'fiatCurrencyCode']);
  const taken = ON_RAMP_FIAT_CURRENCIES.filter((code) => inCurrency(COINBASE, code) === undefined);
  expect(taken.map((code) => code.slice(-3))).toEqual(['CAD', 'EUR', 'GBP', 'USD']);
  expect(inCurrency(COINBASE, 'FIAT_ON_RAMP_CURRENCY_CHF')).toBe('fiatCurrencyAmount');
  expect(ON_RAMP_FIAT_CURRENCIES.filter((code) => inCurrency(MOONPAY, code) !== undefined)).toEqual([]);
  // Without an amount the buyer types one.
  expect(refused({ onrampProvider: COINBASE, fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_CHF' })).toBeUndefined();
});

test('the United States need a state, and a state its country', () => {
  expect(refused({ countryCode: 'US' })).toBe('countrySubdivisionCode');
  expect(refused({ countryCode: 'US', countrySubdivisionCode: 'NY' })).toBeUndefined();
  expect(refused({ countryCode: 'GB' })).toBeUndefined();
  expect(refused({ countrySubdivisionCode: 'NY' })).toBe('countryCode');
});

test('only MoonPay signs URLs', () => {
  const urlForSignature = 'https://buy.moonpay.com/?apiKey=pk';
  expect(refused({ urlForSignature })).toBeUndefined();
  expect(refused({ onrampProvider: COINBASE, urlForSignature })).toBe('urlForSignature');
});
