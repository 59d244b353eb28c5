import { describe, expect, it } from 'vitest';
import { feeText, gasPriceText, plainSentence, type Send, stateOf } from './send-model.ts';

const SEND: Send = {
  sendTransactionStatusId: '1',
  activityId: '2',
  caip2: 'eip155:1',
  from: '0x51f0B700000000000000000000000000c1D9A700',
  to: '0x9Be4d07A55c1F3826e0aB9D4c7713f60E2d85b3C',
  value: '500000000000000000',
  callCount: 1,
  purpose: 'SEND',
  state: 'INCLUDED',
  attempts: [],
  sponsored: false,
  createdAt: '2026-11-17T10:00:00Z',
  updatedAt: '2026-11-17T10:00:00Z',
};

describe('what became of a send', () => {
  it('names the block', () => {
    expect(stateOf({ ...SEND, blockNumber: '21204118' }, [])).toEqual({ tone: 'allow', text: 'in block 21,204,118' });
  });

  it('says that a revert costs its fee, and that what never left cost nothing', () => {
    const reverted: Send = { ...SEND, state: 'FAILED', blockNumber: '5', feePaid: '840000000000000' };
    expect(stateOf(reverted, []).text).toBe('reverted, fee 0.00084\u00a0ETH paid');
    expect(stateOf({ ...SEND, state: 'FAILED' }, []).text).toBe('failed, no fee paid');
  });

  it('counts replacements', () => {
    const attempts = [1, 2, 3].map((at) => ({ txHash: `0x${at}`, at: '2026-11-17T10:00:00Z' }));
    expect(stateOf({ ...SEND, state: 'BROADCASTING', attempts }, []).text).toBe('on its way, 2 times replaced');
  });
});

describe('what a send does', () => {
  it('is an amount, a call, or several', () => {
    expect(plainSentence(SEND, [])).toBe('0.5 ETH to 0x9Be4d0…d85b3C');
    expect(plainSentence({ ...SEND, value: '0' }, [])).toBe('Call of 0x9Be4d0…d85b3C');
    const { to: _, ...several } = SEND;
    expect(plainSentence({ ...several, value: '0', callCount: 2 }, [])).toBe('2 calls together');
    expect(plainSentence({ ...SEND, purpose: 'EARN_DEPOSIT' }, [])).toBe('Deposit into a vault');
  });
});

it('reads prices of gas in gwei', () => {
  expect(gasPriceText('1500000000')).toBe('1.5\u00a0gwei');
  expect(feeText(SEND, [])).toBeUndefined();
});
