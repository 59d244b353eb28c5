import { describe, expect, test } from 'vitest';
import { readingOf } from '../../api/reading.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { whyNotApprove, withRequestCheck } from './reading.ts';

const base = {
  type: 'T',
  kind: 'Sign',
  sentence: [{ text: 'Send 1 ETH' }],
  text: 'Send 1 ETH',
  risk: 'ROUTINE',
  marks: [],
  steps: [],
  fields: [],
  recipients: [{ address: '0x1', paidCount: 1 }],
} as const satisfies Description;
const findings = (state: VoteFindings['request']['state'], body?: string): VoteFindings => ({
  votes: [],
  request: { state, body },
});

describe('a reading', () => {
  const before = readingOf('sha256:aa', base);

  test.each([
    ['fingerprint', 'sha256:bb', base],
    ['sentence', 'sha256:aa', { ...base, text: 'Send 2 ETH' }],
    ['risk', 'sha256:aa', { ...base, risk: 'DANGER' as const }],
    ['recipient', 'sha256:aa', { ...base, recipients: [{ address: '0x2', paidCount: 1 }] }],
    ['first payment', 'sha256:aa', { ...base, recipients: [{ address: '0x1', paidCount: 0 }] }],
    ['field', 'sha256:aa', { ...base, fields: [{ label: 'Fee', kind: 'TEXT' as const, value: [{ text: '1' }] }] }],
    ['digest', 'sha256:aa', { ...base, bytes: { algorithm: 'none', digest: '0x1', unsigned: '' } }],
  ])('changes with its %s', (_, fingerprint, description) => {
    expect(readingOf(fingerprint, description)).not.toBe(before);
  });

  test('stays while only the number of payments grows', () => {
    expect(readingOf('sha256:aa', { ...base, recipients: [{ address: '0x1', paidCount: 9 }] })).toBe(before);
  });
});

describe('what was found about the request', () => {
  test('leaves it as it is while its bytes are known here', () => {
    expect(withRequestCheck(base, findings('known', '{}'))).toBe(base);
    expect(whyNotApprove(findings('known', '{}'))).toBeUndefined();
  });

  test('makes what cannot be checked worth a closer look, and says why', () => {
    const checked = withRequestCheck(base, findings('not-checkable'));
    expect(checked.risk).toBe('LOOK_CLOSELY');
    expect(checked.marks.at(-1)?.text).toContain('not checkable here');
    expect(checked.consequence).toContain('could not check');
    expect(withRequestCheck({ ...base, risk: 'UNREADABLE' }, findings('not-checkable')).risk).toBe('UNREADABLE');
    expect(whyNotApprove(findings('not-checkable'))).toBeUndefined();
  });

  test('turns approval off where bytes and fingerprint differ, or a signature does not fit', () => {
    expect(whyNotApprove(findings('contradicted', '{}'))).toContain('another one');
    const vote = { check: 'not-verified' } as VoteFindings['votes'][number];
    expect(whyNotApprove({ ...findings('known', '{}'), votes: [vote] })).toContain('signature');
    expect(whyNotApprove(undefined)).toContain('being checked');
  });
});
