import { describe, expect, it } from 'vitest';
import { stepsInWords, toggled } from './mfa-model.ts';

describe('the steps of an MFA policy', () => {
  it('are said in their order', () => {
    expect(
      stepsInWords([
        { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }, { type: 'AUTHENTICATION_TYPE_API_KEY', id: 'k' }] },
      ]),
    ).toBe('A passkey, then a code by mail or an API key (one of them)');
  });

  it('take and lose methods, one step at a time', () => {
    const steps = [{ any: [] }, { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' as const }] }];
    expect(toggled(steps, 0, 'AUTHENTICATION_TYPE_API_KEY', true)[0]?.any).toEqual([
      { type: 'AUTHENTICATION_TYPE_API_KEY' },
    ]);
    expect(toggled(steps, 1, 'AUTHENTICATION_TYPE_PASSKEY', false)[1]?.any).toEqual([]);
  });
});
