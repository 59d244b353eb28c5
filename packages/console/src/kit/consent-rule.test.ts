import { describe, expect, test } from 'vitest';
import type { Description } from '../api/types.ts';
import {
  type Agreement,
  hasChanged,
  maySend,
  type Proposal,
  piecesOf,
  readingOfProposal,
  whyNotYet,
} from './consent-rule.ts';

const base: Description = {
  type: 'T',
  kind: 'Delete',
  sentence: [{ text: 'Delete the wallet Treasury' }],
  text: 'Delete the wallet Treasury',
  risk: 'DANGER',
  marks: [],
  steps: [],
  fields: [],
  recipients: [],
};
const proposal = (change: Partial<Description> = {}, parameters: object = { walletIds: ['1'] }): Proposal => ({
  type: 'ACTIVITY_TYPE_T',
  text: JSON.stringify(parameters),
  description: { ...base, ...change },
});
const agreedTo = (one: Proposal): Required<Agreement> => {
  const reading = readingOfProposal(one);
  return { text: one.text, ticked: reading, seen: reading };
};

describe('consent to an own act', () => {
  test('is for what was read, and lasts as long as it reads the same', () => {
    expect(maySend(proposal(), {})).toBe(false);
    expect(whyNotYet(proposal(), {})).toBe('Tick the sentence first.');
    expect(maySend(proposal(), agreedTo(proposal()))).toBe(true);
  });

  test.each<[string, Proposal]>([
    ['parameters', proposal({}, { walletIds: ['2'] })],
    ['words', proposal({ text: 'Delete the wallet Treasury II' })],
    ['risk', proposal({ risk: 'UNREADABLE' })],
    ['marks', proposal({ marks: [{ risk: 'DANGER', text: 'never exported' }] })],
    ['consequence', proposal({ consequence: 'Nobody can undo this.' })],
    ['bytes', proposal({ bytes: { algorithm: 'keccak-256', digest: '0x01', unsigned: '0x02' } })],
  ])('is void for other %s', (_, now) => {
    expect(maySend(now, agreedTo(proposal()))).toBe(false);
  });

  test('says that the same request reads differently, also when it became routine', () => {
    const now = proposal({ text: 'Delete nothing', risk: 'ROUTINE' });
    expect(hasChanged(now, agreedTo(proposal()))).toBe(true);
    expect(maySend(now, agreedTo(proposal()))).toBe(false);
    expect(maySend(now, agreedTo(now))).toBe(true);
    expect(hasChanged(proposal({}, { walletIds: ['2'] }), agreedTo(proposal()))).toBe(false);
  });

  test('is not needed for what is routine', () => {
    expect(maySend(proposal({ risk: 'ROUTINE' }), {})).toBe(true);
  });
});

describe('what nobody can read', () => {
  const bytes = (unsigned: string) => ({ algorithm: 'none', digest: '0x', unsigned });
  const unreadable = (parameters: object, unsigned?: string) =>
    proposal({ risk: 'UNREADABLE', ...(unsigned !== undefined && { bytes: bytes(unsigned) }) }, parameters);

  test('takes opened bytes and a tick, in either order', () => {
    const one = unreadable({ payload: 'ff00' });
    const { text, ticked, seen } = agreedTo(one);
    expect(whyNotYet(one, { text, ticked })).toBe('Open the bytes first.');
    expect(whyNotYet(one, { seen })).toBe('Tick the sentence first.');
    expect(whyNotYet(one, { text, ticked, seen })).toBeUndefined();
  });

  test.each([
    ['payload', { payload: 'ff'.repeat(5000) }, '0xffff…', 'ff'.repeat(5000)],
    ['transaction', { unsignedTransaction: '0xabcd' }, undefined, '0xabcd'],
    [
      'whole request where its bytes are cut',
      { data: '0x0102' },
      '0x01…',
      '{"type":"ACTIVITY_TYPE_T","parameters":{"data":"0x0102"}}',
    ],
    [
      'whole request where its bytes are empty',
      { payload: '' },
      '',
      '{"type":"ACTIVITY_TYPE_T","parameters":{"payload":""}}',
    ],
  ])('shows the exact %s', (_, parameters, unsigned, text) => {
    expect(piecesOf(unreadable(parameters, unsigned)).map((piece) => piece.text)).toEqual([text]);
  });
});
