import { describe, expect, test } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import { SOLANA_CHAIN } from '../../../test/chain/fake-solana.ts';
import { costOf, costTerms, isPaidByOperator } from './cost.ts';
import type { Send, SendAttempt, SendRequest } from './model.ts';

const ETHER = `${CHAIN.caip2}/slip44:60`;
const call = { to: '0x', value: '0', data: '0x' };
const own: SendRequest = { kind: 'ethereum', calls: [call] };
const sponsored: SendRequest = { ...own, sponsored: { batchNonce: '1' } };
const solana = { kind: 'solana', transaction: '', signers: [], takesFreshBlockhash: true } as const;

const attempt = (terms: Pick<SendAttempt, 'maxCost' | 'usdPrice'>): SendAttempt => ({
  hash: '0x',
  raw: '0x',
  signedAtMs: 0,
  ...terms,
});
const block = (fee: string) => ({ number: 1, hash: '0x', timestamp: 0, fee });
const send = (extra: Partial<Send>) =>
  ({
    caip2: CHAIN.caip2,
    purpose: 'send',
    request: sponsored,
    state: 'BROADCASTING',
    attempts: [],
    block: undefined,
    isOpen: true,
    ...extra,
  }) as Send;

test.each<[boolean, Partial<Send>]>([
  [true, { request: sponsored }],
  [true, { request: own, purpose: 'earn-deploy' }],
  [true, { request: { ...solana, isSponsored: true } }],
  [false, { request: own }],
  [false, { request: own, purpose: 'earn-deposit' }],
  [false, { request: { kind: 'ethereum-raw', raw: '0x' }, purpose: 'raw' }],
  [false, { request: { ...solana, isSponsored: false } }],
])('the operator pays: %s', (isPaid, extra) => {
  expect(isPaidByOperator(send(extra))).toBe(isPaid);
});

describe('what an attempt says of its cost', () => {
  const chain = { ...CHAIN, prices: new Map([[ETHER, '2000.50']]) };

  test('is the most that it can come to, and the price of the native asset', () => {
    expect(costTerms(chain, send({}), 7n)).toEqual({ maxCost: '7', usdPrice: '2000.50' });
    expect(costTerms(CHAIN, send({}), 7n)).toEqual({ maxCost: '7' });
  });

  test('is nothing where the sender pays', () => {
    expect(costTerms(chain, send({ request: own }), 7n)).toEqual({});
  });

  test('keeps the price of the first one, or that it had none', () => {
    const first = attempt({ maxCost: '1', usdPrice: '3' });
    expect(costTerms(chain, send({ attempts: [first] }), 7n)).toEqual({ maxCost: '7', usdPrice: '3' });
    expect(costTerms(chain, send({ attempts: [attempt({ maxCost: '1' })] }), 7n)).toEqual({ maxCost: '7' });
  });

  test('knows the native asset of Solana, whose chains have capital letters', () => {
    const prices = new Map([[`${SOLANA_CHAIN.caip2}/slip44:501`.toLowerCase(), '150']]);
    const request = { ...solana, isSponsored: true };
    expect(costTerms({ ...SOLANA_CHAIN, prices }, send({ request }), 5000n)).toEqual({
      maxCost: '5000',
      usdPrice: '150',
    });
  });
});

describe('what a send costs', () => {
  const GWEI = 10n ** 9n;
  const first = attempt({ maxCost: String(100n * GWEI), usdPrice: '2000' });
  const second = attempt({ maxCost: String(150n * GWEI), usdPrice: '2000' });
  const attempts = [first, second];
  const settled = { state: 'FAILED', isOpen: false } as const;

  test.each<[string, Partial<Send>, bigint]>([
    ['nothing before it is signed', { state: 'INITIALIZED' }, 0n],
    ['the most that it can cost while it is on its way', { attempts: [first] }, 100n],
    ['the most of all its forms', { attempts }, 150n],
    ['what was paid, in a block', { attempts, state: 'INCLUDED', block: block(String(42n * GWEI)) }, 42n],
    ['what was paid for a failure, in a block', { attempts, state: 'FAILED', block: block(String(42n * GWEI)) }, 42n],
    ['no more than was offered, whatever a node says', { attempts, block: block(String(10n ** 40n)) }, 150n],
    ['what was offered, where nobody tells what was paid', { attempts, state: 'INCLUDED', block: block('') }, 150n],
    ['the most that it can cost when it failed and may still land', { attempts, state: 'FAILED' }, 150n],
    ['nothing when it failed and is let go', { attempts, state: 'FAILED', isOpen: false }, 0n],
    ['what was paid for a failure that is let go', { attempts, ...settled, block: block(String(42n * GWEI)) }, 42n],
    ['nothing when it was signed before costs were kept', { attempts: [attempt({})] }, 0n],
  ])('%s', (_name, extra, gwei) => {
    expect(costOf(send(extra))).toEqual({ native: gwei, usdMicros: gwei * 2n });
  });

  test('is rounded up, in both units', () => {
    const tiny = attempt({ maxCost: '1', usdPrice: '0.000000000000000001' });
    expect(costOf(send({ attempts: [tiny] }))).toEqual({ native: 1n, usdMicros: 1n });
    const odd = attempt({ maxCost: String(GWEI + 1n), usdPrice: '1500.25' });
    // 2 gwei at 1500.25 are 3.0005 millionths.
    expect(costOf(send({ attempts: [odd] }))).toEqual({ native: 2n, usdMicros: 4n });
  });

  test('is in lamports on Solana', () => {
    const attempts = [attempt({ maxCost: '10000', usdPrice: '150' })];
    expect(costOf(send({ caip2: SOLANA_CHAIN.caip2, attempts }))).toEqual({ native: 10_000n, usdMicros: 1500n });
  });

  test('is no dollars where the native asset had no price', () => {
    expect(costOf(send({ attempts: [attempt({ maxCost: String(GWEI) })] }))).toEqual({ native: 1n, usdMicros: 0n });
  });

  test('has a bound that databases can add up', () => {
    const absurd = attempt({ maxCost: String(2n ** 200n), usdPrice: '999999999999' });
    expect(costOf(send({ attempts: [absurd] }))).toEqual({ native: 10n ** 15n, usdMicros: 10n ** 15n });
  });
});
