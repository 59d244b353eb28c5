import { describe, expect, test } from 'vitest';
import type { Activity, Vote } from '../../src/core/model.ts';
import { ActivityStore } from '../../src/core/store/activities.ts';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { SealedResultReader, SealedResultStore } from '../../src/core/store/sealed-results.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { type OrganizationId, randomId, type UserId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { RemovalReason } from '../../src/storage/tombstones.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, Place, withOrganization } from './place.ts';

// Votes and the credentials that gave them, on both databases.

const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

const activityOf = (organizationId: OrganizationId, extra: Partial<Activity> = {}): Activity => ({
  id: randomId(),
  organizationId,
  fingerprint: `sha256:${randomId()}`,
  operation: 'create_user_tag',
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  status: PENDING,
  proposerId: randomId<'user'>(),
  authorityId: undefined,
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
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...extra,
});

const voteOf = (activity: Activity, extra: Partial<Vote> = {}): Vote => ({
  id: randomId(),
  activityId: activity.id,
  userId: activity.proposerId as UserId,
  selection: 'VOTE_SELECTION_APPROVED',
  messageDigest: activity.fingerprint,
  message: '{}',
  sealedMessage: undefined,
  publicKey: '02ab',
  signature: '30',
  scheme: 'SIGNATURE_SCHEME_TK_API_P256',
  credentialId: randomId(),
  webauthn: undefined,
  userSnapshot: {},
  counts: true,
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  homeId: activity.organizationId,
  credentialKind: 'api-key',
  sourceAddress: undefined,
  credentialType: 'CREDENTIAL_TYPE_LOGIN',
  sessionProfileId: 'a-profile',
  revoked: false,
  ...extra,
});

async function stored(storage: Storage, activity: Activity, ...votes: Vote[]): Promise<() => Promise<readonly Vote[]>> {
  await storage.write((store) => store(ActivityStore).insert(activity, votes));
  return async () => (await storage.read(ActivityReader).find(activity.organizationId, activity.id))?.votes ?? [];
}

describe.each(DATABASES)('votes on %s', (kind) => {
  test('keep what stamped them', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id } = await withOrganization(storage);
    const activity = activityOf(id);
    const vote = voteOf(activity);
    expect(await (await stored(storage, activity, vote))()).toEqual([vote]);
  });

  test.each<[RemovalReason, boolean]>([
    ['revoked', true],
    ['replaced', false],
    ['signed-out', false],
  ])('of a key that was %s: revoked is %s', async (reason, revoked) => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const parent = (await withOrganization(storage)).id;
    const child = (await withOrganization(storage, { parentId: parent })).id;
    // A vote of the parent's user in the sub-organization stands on a key of the parent.
    const activity = activityOf(child, { authorityId: parent });
    const vote = voteOf(activity, { homeId: parent });
    const votes = await stored(storage, activity, vote);
    expect((await votes()).map((found) => found.revoked)).toEqual([false]);
    await storage.write((store) =>
      store(CredentialStore).deleteCredentials('api_key', child, vote.userId, [vote.credentialId], () => 'revoked'),
    );
    expect((await votes()).map((found) => found.revoked)).toEqual([false]);
    await storage.write((store) =>
      store(CredentialStore).deleteCredentials('api_key', parent, vote.userId, [vote.credentialId], () => reason),
    );
    expect((await votes()).map((found) => found.revoked)).toEqual([revoked]);
    const page = await storage.read(ActivityReader).page(child, { statuses: [], types: [] }, { kind: 'all', max: 10 });
    expect(page.items.flatMap((item) => item.votes.map((found) => found.revoked))).toEqual([revoked]);
  });

  test('of a deleted user are revoked, and its open proposals are found, in sub-organizations too', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const parent = (await withOrganization(storage)).id;
    const child = (await withOrganization(storage, { parentId: parent })).id;
    const stranger = (await withOrganization(storage)).id;
    const proposerId = randomId<'user'>();
    const [own, below, done, foreign] = [
      activityOf(parent, { proposerId }),
      activityOf(child, { proposerId, authorityId: parent }),
      activityOf(parent, { proposerId, status: 'ACTIVITY_STATUS_COMPLETED' }),
      activityOf(stranger, { proposerId }),
    ];
    const votes = await stored(storage, own, voteOf(own));
    for (const activity of [below, done, foreign]) await stored(storage, activity, voteOf(activity));
    const open = await storage.read(ActivityReader).openOf(parent, [proposerId]);
    expect(open.map((one) => one.id).sort()).toEqual([own.id, below.id].sort());
    await storage.write((store) => store(UserStore).delete(parent, [proposerId]));
    expect((await votes()).map((found) => found.revoked)).toEqual([true]);
  });

  test('of an older version get their credential from the record of the user, or stay without one', async () => {
    await using old = await Place.create(kind);
    const before = await old.open();
    const { id: here } = await withOrganization(before);
    const activity = activityOf(here);
    const [known, unknown] = [randomId(), randomId()];
    const credential = { type: 'CREDENTIAL_TYPE_LOGIN', sessionProfileId: 'kept' };
    const userSnapshot = { apiKeys: [{ apiKeyId: known, credential }], authenticators: [] };
    await stored(
      before,
      activity,
      voteOf(activity, { credentialId: known, userSnapshot }),
      voteOf(activity, { credentialId: unknown, userSnapshot, messageDigest: 'sha256:other' }),
    );
    const token = activityOf(here, {
      type: 'ACTIVITY_TYPE_VERIFY_OTP_V2',
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { verificationToken: 'sha256:00' },
    });
    await stored(before, token, voteOf(token));
    await old.close(before);
    await old.run(`DROP TABLE sealed_result; DROP INDEX ix_activity_open_proposer;
      ALTER TABLE tombstone DROP COLUMN reason; ALTER TABLE vote DROP COLUMN home_id;
      ALTER TABLE vote DROP COLUMN credential_kind; ALTER TABLE vote DROP COLUMN credential_type;
      ALTER TABLE vote DROP COLUMN session_profile_id;
      DELETE FROM schema_migration WHERE name = '0014-votes-and-their-keys'`);
    const after = await old.open();
    const votes = (await after.read(ActivityReader).find(here, activity.id))?.votes ?? [];
    const seen = Object.fromEntries(
      votes.map((vote) => [vote.credentialId, [vote.credentialKind, vote.credentialType, vote.sessionProfileId]]),
    );
    expect(seen).toEqual({
      [known]: ['api-key', 'CREDENTIAL_TYPE_LOGIN', 'kept'],
      [unknown]: [undefined, '', undefined],
    });
    expect((await after.read(ActivityReader).find(here, token.id))?.activity.result).toEqual({});
  });
});

describe.each(DATABASES)('sealed results on %s', (kind) => {
  test('are shown until they expire, and ten minutes at most after the first time', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id: here } = await withOrganization(storage);
    const { id: elsewhere } = await withOrganization(storage);
    const activityId = randomId<'activity'>();
    const sealed = Uint8Array.of(1, 2, 255);
    const find = async (nowMs: number) => await storage.read(SealedResultReader).find(here, activityId, nowMs);
    await storage.write((store) =>
      store(SealedResultStore).insert(here, activityId, { sealed, expiresAtMs: NOW + 1000, shownAtMs: undefined }, NOW),
    );
    expect(await find(NOW)).toMatchObject({ expiresAtMs: NOW + 1000, shownAtMs: undefined });
    expect([...((await find(NOW))?.sealed ?? [])]).toEqual([1, 2, 255]);
    expect(await storage.read(SealedResultReader).find(elsewhere, activityId, NOW)).toBeUndefined();
    await storage.write((store) => store(SealedResultStore).markShown(here, activityId, NOW + 1, NOW + 500));
    await storage.write((store) => store(SealedResultStore).markShown(here, activityId, NOW + 400, NOW + 900));
    expect(await find(NOW + 499)).toMatchObject({ expiresAtMs: NOW + 500, shownAtMs: NOW + 1 });
    expect(await find(NOW + 500)).toBeUndefined();
    const next = { sealed, expiresAtMs: NOW + 9000, shownAtMs: NOW };
    await storage.write((store) => store(SealedResultStore).insert(here, randomId<'activity'>(), next, NOW + 600));
    // Swept with the next one.
    expect(await find(NOW)).toBeUndefined();
  });
});
