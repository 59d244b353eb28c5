import { describe, expect, test } from 'vitest';
import type { Activity, ActivityStatus, Vote } from '../../core/model.ts';
import { type ActivityId, randomId, type UserId } from '../../lib/ids.ts';
import { approvers, liveVotes, roundIsOpen } from './rounds.ts';

const DAY = 24 * 60 * 60 * 1000;
const START = 1_700_000_000_000;
const activityId: ActivityId = randomId();
const [a, b] = ['a', 'b'] as UserId[] as [UserId, UserId];

const activity = (status: ActivityStatus, roundStartedAtMs = START): Activity => ({
  id: activityId,
  organizationId: randomId(),
  fingerprint: 'sha256:',
  authorityId: undefined,
  operation: 'o',
  type: 't',
  status,
  proposerId: a,
  parameters: {},
  body: undefined,
  sealedBody: undefined,
  sealedParameters: undefined,
  result: undefined,
  failure: undefined,
  denial: undefined,
  wantsProofs: false,
  openTo: undefined,
  hasMfa: false,
  roundStartedAtMs,
  createdAtMs: START,
  updatedAtMs: START,
});
const vote = (userId: UserId, extra: Partial<Vote> = {}): Vote => ({
  id: randomId(),
  activityId,
  userId,
  selection: 'VOTE_SELECTION_APPROVED',
  messageDigest: '',
  message: '',
  sealedMessage: undefined,
  publicKey: '',
  signature: '',
  scheme: '',
  credentialId: '',
  webauthn: undefined,
  userSnapshot: {},
  homeId: undefined,
  credentialKind: 'api-key',
  credentialType: 'CREDENTIAL_TYPE_API_KEY_P256',
  sessionProfileId: undefined,
  sourceAddress: undefined,
  revoked: false,
  counts: true,
  roundStartedAtMs: START,
  createdAtMs: START,
  ...extra,
});
const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

test('a round is open for 24 hours, the last millisecond not included', () => {
  const pending = activity(PENDING);
  expect(roundIsOpen(pending, START)).toBe(true);
  expect(roundIsOpen(pending, START + DAY - 1)).toBe(true);
  expect(roundIsOpen(pending, START + DAY)).toBe(false);
});

describe('votes that count now', () => {
  const votes = [vote(a), vote(b)];

  test('all of an open round, none of one that has lapsed', () => {
    expect(liveVotes(activity(PENDING), votes, START + DAY - 1)).toEqual(votes);
    expect(liveVotes(activity(PENDING), votes, START + DAY)).toEqual([]);
  });

  test('only those of the current round', () => {
    const late = vote(b, { roundStartedAtMs: START + DAY });
    expect(liveVotes(activity(PENDING, START + DAY), [...votes, late], START + DAY + 1)).toEqual([late]);
  });

  test.each(['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_FAILED'] as const)(
    '%s keeps the votes that decided it for ever',
    (status) => {
      const old = vote(a, { roundStartedAtMs: START - DAY });
      expect(liveVotes(activity(status), [old, ...votes], START + 100 * DAY)).toEqual(votes);
    },
  );
});

test('approvers are the users whose approval counts, each once', () => {
  const rejection = vote(b, { selection: 'VOTE_SELECTION_REJECTED' });
  const secondCredential = vote(a, { counts: false });
  expect(approvers([vote(a), secondCredential, rejection])).toEqual([a]);
  expect(approvers([])).toEqual([]);
});
