import { describe, expect, test } from 'vitest';
import type { Approval } from '../../api/approvals.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { stillTogether, sumAmounts, whyChanged, whyNotTogether } from './batch.ts';

const approval = (type: string, progress: object = { waitsForMe: true }): Approval =>
  ({ activity: { id: type, type }, progress }) as unknown as Approval;
const description = (risk: string, walletId = 'w1'): Description =>
  ({ risk, sender: { walletId, address: '0x1' }, sentence: [], fields: [] }) as unknown as Description;

describe('what is decided together', () => {
  const first = { approval: approval('SIGN'), description: description('ROUTINE') };

  test('routine requests of one type and wallet', () => {
    expect(
      whyNotTogether({ approval: approval('SIGN'), description: description('ROUTINE') }, [first]),
    ).toBeUndefined();
  });

  test.each([
    ['another type', approval('SEND'), description('ROUTINE')],
    ['another wallet', approval('SIGN'), description('ROUTINE', 'w2')],
    ['a danger', approval('SIGN'), description('DANGER')],
    ['a further proof', approval('SIGN', { waitsForMe: true, authentication: {} }), description('ROUTINE')],
    ['what waits for others', approval('SIGN', { waitsForMe: false }), description('ROUTINE')],
  ])('not with %s', (_, other, itsDescription) => {
    expect(whyNotTogether({ approval: other, description: itsDescription }, [first])).toEqual(expect.any(String));
  });
});

test('what was chosen and no longer qualifies is left out', () => {
  const routine = { approval: approval('SIGN'), description: description('ROUTINE') };
  const worse = { approval: approval('SIGN'), description: description('DANGER') };
  const elsewhere = { approval: approval('SIGN'), description: description('ROUTINE', 'w2') };
  expect(stillTogether([worse, routine, elsewhere, routine])).toEqual([routine, routine]);
});

describe('what changed since it was chosen', () => {
  const item = (activity: object = {}, progress: object = {}, described: object = {}) => ({
    approval: {
      activity: { id: '1', type: 'SIGN', status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', fingerprint: 'f', ...activity },
      progress: { waitsForMe: true, ...progress },
    } as unknown as Approval,
    description: { ...description('ROUTINE'), text: 'Send', marks: [], steps: [], recipients: [], ...described },
  });
  const known: VoteFindings = { votes: [], request: { state: 'known', body: '{}' } };

  test('nothing', () => {
    expect(whyChanged(item(), item(), known)).toBeUndefined();
    // Lists come without the bytes.
    expect(
      whyChanged(item(), item({}, {}, { bytes: { algorithm: '', digest: '0x1', unsigned: '' } }), known),
    ).toBeUndefined();
    // Rejecting needs no signatures.
    expect(whyChanged(item(), item(), undefined)).toBeUndefined();
  });

  test('nothing, and yet it was chosen as what no batch takes', () => {
    const danger = item({}, {}, { risk: 'DANGER' });
    expect(whyChanged(danger, danger, undefined)).toMatch(/only routine/);
  });

  test.each([
    ['a decision', item({ status: 'ACTIVITY_STATUS_REJECTED' }), known, /decided meanwhile/],
    ['a vote of mine', item({}, { waitsForMe: false }), known, /no longer waits/],
    ['a further proof', item({}, { authentication: {} }), known, /further proof/],
    ['a lapse', item({}, { isLapsed: true }), known, /lapsed/],
    ['another sentence', item({}, {}, { text: 'Send more' }), known, /reads differently/],
    ['another risk', item({}, {}, { risk: 'DANGER' }), known, /reads differently/],
    ['another request', item({ fingerprint: 'g' }), known, /reads differently/],
    [
      'bytes that do not come',
      item(),
      { votes: [], request: { state: 'not-checkable', body: undefined } },
      /not checkable/,
    ],
    ['other bytes', item(), { votes: [], request: { state: 'contradicted', body: '{}' } }, /another one/],
  ] as const)('%s', (_, now, findings, words) => {
    expect(whyChanged(item(), now, findings)).toMatch(words);
  });
});

describe('sums', () => {
  test('are exact, by unit', () => {
    expect(sumAmounts(['12,500 USDC', '0.000001 USDC', '1\u00a0ETH']).sums).toEqual([
      '12,500.000001\u00a0USDC',
      '1\u00a0ETH',
    ]);
  });

  test('say what they lack', () => {
    expect(sumAmounts(['unlimited USDC', '1 ETH'])).toEqual({ sums: ['1\u00a0ETH'], isPartial: true });
  });
});
