import { describe, expect, test } from 'vitest';
import type { Send, SendAttempt } from '../chains/send/model.ts';
import type { Sighting } from '../chains/send/sighting.ts';
import { randomId } from '../lib/ids.ts';
import { decidedSettlement, parseSendDecisions, progressAfter, settlementOf } from './decision.ts';

const [ID, HASH] = [randomId() as string, `0x${'ab'.repeat(32)}`];
const attempt: SendAttempt = { hash: HASH, raw: '0x01', nonce: 4, signedAtMs: 1 };
const send = (extra: Partial<Send> = {}): Send => ({
  ...{
    organizationId: randomId(),
    id: randomId(),
    activityId: randomId(),
    caip2: 'eip155:1',
    sender: '0x01',
    lane: '0x01',
  },
  ...{ purpose: 'send', request: { kind: 'ethereum', calls: [] }, afterId: undefined, state: 'INITIALIZED' },
  ...{ nonce: undefined, attempts: [], txHash: undefined, block: undefined, error: undefined, isOpen: true },
  ...{ createdAtMs: 1, updatedAtMs: 1 },
  ...extra,
});
const out = (extra: Partial<Send> = {}) =>
  send({ state: 'BROADCASTING', nonce: 4, attempts: [attempt], txHash: HASH, ...extra });
const form = { attempt, lastNonce: 4 };
const block = { number: 1, isSuccess: true };
const landed: Sighting = { kind: 'landed', block, ...form };
const pending: Sighting = { kind: 'pending', ...form };
const voided = (canBeginAnew: boolean): Sighting => ({ kind: 'void', because: 'gone', canBeginAnew });
const free: Sighting = { kind: 'free', because: 'free' };
const unseen: Sighting = { kind: 'unseen', because: 'unseen' };
const unknown = (isAway: boolean): Sighting => ({ kind: 'unknown', because: 'no answer', isAway });

test.each<[string, Send, Sighting, string]>([
  ['landed', send(), landed, 'record'],
  ['landed', out(), landed, 'record'],
  ['pending', send(), pending, 'record'],
  ['harmless to repeat', send(), free, 'keep'],
  ['harmless to repeat', out(), free, 'keep'],
  ['over, with nothing signed', send(), voided(true), 'keep'],
  ['over, with a nonce of its own', send(), voided(false), 'fail'],
  ['over, and signed', out(), voided(true), 'fail'],
  ['not seen', send(), unseen, 'hold'],
  ['not known', send(), unknown(true), 'hold'],
  ['not known', out(), unknown(false), 'hold'],
  ['failed before', out({ state: 'FAILED' }), voided(true), 'keep'],
  ['failed before', out({ state: 'FAILED' }), unknown(true), 'keep'],
  ['in a block before', out({ state: 'INCLUDED' }), unknown(true), 'keep'],
])('by itself, what is %s', (_what, one, sighting, kind) => {
  expect(settlementOf(one, sighting).kind).toBe(kind);
});

describe('by decision', () => {
  const resend = { kind: 'resend' } as const;
  const failed = { kind: 'failed' } as const;
  const named = { kind: 'landed', hash: HASH } as const;

  test.each<[string, Send, Sighting, string]>([
    ['nobody saw', send(), unseen, 'again'],
    ['nobody could see', send(), unknown(false), 'again'],
    ['was signed, whose bytes go out once more', out(), unknown(false), 'keep'],
    ['can land no more', out(), voided(true), 'anew'],
    ['is harmless to repeat', send(), free, 'again'],
  ])('what %s is sent', (_what, one, sighting, kind) => {
    expect(decidedSettlement(one, resend, sighting, undefined).kind).toBe(kind);
  });

  test.each<[string, Send, Sighting, RegExp]>([
    ['landed', send(), landed, /it is in a block as 0xabab/],
    ['waits at a node', send(), pending, /a node has it as 0xabab/],
    ['is asked of nobody', send(), unknown(true), /wait until the chain can be asked/],
    ['has a nonce of its own that is taken', send(), voided(false), /no other way to leave/],
    ['failed before', out({ state: 'FAILED' }), voided(true), /was FAILED before the backup/],
  ])('what %s is not sent', (_what, one, sighting, message) => {
    expect(() => decidedSettlement(one, resend, sighting, undefined)).toThrow(message);
  });

  test('what landed has not failed', () => {
    expect(() => decidedSettlement(send(), failed, landed, undefined)).toThrow(/it is in a block/);
    expect(decidedSettlement(send(), failed, unseen, undefined).kind).toBe('fail');
    expect(decidedSettlement(out(), failed, unknown(true), undefined).kind).toBe('fail');
  });

  test('what landed is what the operator names, unless the chain says otherwise', () => {
    expect(decidedSettlement(send(), named, unseen, landed).kind).toBe('record');
    expect(decidedSettlement(send(), named, unknown(true), unknown(true))).toEqual({ kind: 'close', hash: HASH });
    expect(() => decidedSettlement(send(), named, unseen, voided(false))).toThrow(/gone/);
  });
});

describe('how far a send is afterwards', () => {
  test('a transaction that was found is one more form of it', () => {
    const other = { ...attempt, hash: '0x02' };
    expect(progressAfter(send(), { kind: 'record', form, isLanded: true })).toMatchObject({
      ...{ state: 'BROADCASTING', nonce: 4, attempts: [attempt], txHash: HASH, isOpen: true },
    });
    expect(progressAfter(out(), { kind: 'record', form: { ...form, attempt: other }, isLanded: true })).toMatchObject({
      attempts: [attempt, other],
      txHash: '0x02',
    });
    // Its lane finds out by itself.
    expect(progressAfter(out(), { kind: 'record', form, isLanded: true })).toBeUndefined();
    expect(progressAfter(out({ isOpen: false }), { kind: 'record', form, isLanded: true })).toMatchObject({
      isOpen: true,
    });
  });

  test('nothing changes where nothing has to', () => {
    expect(progressAfter(send(), { kind: 'keep' })).toBeUndefined();
    expect(progressAfter(send({ isOpen: false }), { kind: 'hold' })).toBeUndefined();
    expect(progressAfter(send(), { kind: 'hold' })).toMatchObject({ state: 'INITIALIZED', isOpen: false });
    expect(progressAfter(send({ isOpen: false }), { kind: 'keep' })).toMatchObject({ isOpen: true });
  });

  test('what failed gives its nonce on, and is watched where it was signed', () => {
    const settlement = { kind: 'fail', because: 'it was decided' } as const;
    expect(progressAfter(send(), settlement)).toMatchObject({ state: 'FAILED', isOpen: false });
    expect(progressAfter(out(), settlement)).toMatchObject({
      ...{ state: 'FAILED', nonce: undefined, isOpen: true, attempts: [attempt] },
    });
    expect(progressAfter(out(), { kind: 'anew' })).toMatchObject({
      ...{ state: 'INITIALIZED', nonce: undefined, isOpen: true, attempts: [], txHash: undefined },
    });
  });
});

describe('decisions in words', () => {
  test('name a send and what became of it', () => {
    const other = randomId() as string;
    expect(parseSendDecisions([`${ID}=landed:${HASH}`, `${other}=failed`])).toEqual(
      new Map([
        [ID, { kind: 'landed', hash: HASH }],
        [other, { kind: 'failed' }],
      ]),
    );
    expect(parseSendDecisions([`${ID}=resend`]).get(ID)).toEqual({ kind: 'resend' });
  });

  test.each([`${ID}=landed`, `${ID}=landed:`, `${ID}=maybe`, ID, '=failed', 'x=failed', `${ID}=failed `])(
    'are refused where they say nothing: %s',
    (text) => {
      expect(() => parseSendDecisions([text])).toThrow(/is not a decision/);
    },
  );

  test('are refused twice for one send', () => {
    expect(() => parseSendDecisions([`${ID}=failed`, `${ID}=resend`])).toThrow(/decided twice/);
  });
});
