import type { Activity } from '@custos/sdk';
import { describe, expect, it } from 'vitest';
import { askedIn, parseParameters } from './past.ts';

const activity = (message: string | undefined, intent: Record<string, unknown> = {}): Activity =>
  ({
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    intent,
    votes: message === undefined ? [] : [{ userId: 'mei', message }],
  }) as unknown as Activity;

describe('a past activity, tried again', () => {
  it('is the body that its submitter signed', () => {
    const body = { type: 'ACTIVITY_TYPE_CREATE_WALLET', timestampMs: '1', parameters: { walletName: 'A' } };
    expect(askedIn(activity(JSON.stringify(body)))).toEqual({
      wish: { type: body.type, parameters: body.parameters },
      submitterUserId: 'mei',
    });
  });

  it('is its intent where the body is not at hand', () => {
    const intent = { createWalletIntent: { walletName: 'B' } };
    const wish = { type: 'ACTIVITY_TYPE_CREATE_WALLET', parameters: { walletName: 'B' } };
    expect(askedIn(activity('not JSON', intent))?.wish).toEqual(wish);
    expect(askedIn(activity(undefined, intent))).toEqual({ wish, submitterUserId: undefined });
    const approval = JSON.stringify({ type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY', parameters: { fingerprint: 'x' } });
    expect(askedIn(activity(approval, intent))?.wish).toEqual(wish);
  });

  it('is nothing where neither is known', () => {
    expect(askedIn(activity(undefined))).toBeUndefined();
  });
});

describe('typed parameters', () => {
  it('are an object, or say what is wrong', () => {
    expect(parseParameters(' ')).toEqual({ parameters: {} });
    expect(parseParameters('{"a":1}')).toEqual({ parameters: { a: 1 } });
    expect(parseParameters('[1]')).toHaveProperty('error');
    expect(parseParameters('{')).toHaveProperty('error');
  });
});
