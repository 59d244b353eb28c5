import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ActivityFailedError, ActivityPendingError, ActivityRejectedError, NetworkError } from './errors.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Activity, ActivityStatus } from './generated/operations.ts';
import { SessionStamper } from './session-stamper.ts';

const activityIn = (status: ActivityStatus, extra: Partial<Activity> = {}): Activity => ({
  id: 'activity',
  organizationId: 'owner',
  status,
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  intent: {},
  result: status === 'ACTIVITY_STATUS_COMPLETED' ? { createUserTagResult: { userTagId: 'tag', userIds: [] } } : {},
  votes: [],
  fingerprint: 'sha256:00',
  canApprove: false,
  canReject: false,
  createdAt: '',
  updatedAt: '',
  ...extra,
});

function clientOf(...answers: readonly unknown[]) {
  const sent: { path: string; body: Record<string, unknown>; text: string }[] = [];
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    const text = Buffer.from(init?.body as Uint8Array).toString('utf8');
    sent.push({ path: new URL(String(url)).pathname, body: JSON.parse(text), text });
    return Response.json(answers[Math.min(sent.length, answers.length) - 1]);
  };
  const client = createClient({
    baseUrl: 'http://service.test',
    organizationId: 'mine',
    stamper: new SessionStamper('t'),
    fetch: fetch as typeof globalThis.fetch,
    pollIntervalMs: 1,
    pollAttempts: 3,
  });
  return { client, sent };
}

const TAG = { userTagName: 'Approvers', userIds: [] };

test('a query puts its parameters beside the organization', async () => {
  const { client, sent } = clientOf({ users: [] });
  await client.listUsers();
  await client.listUsers({ paginationOptions: { limit: '1' } }, { organizationId: 'other' });
  expect(sent.map(({ path, body }) => ({ path, body }))).toEqual([
    { path: '/public/v1/query/list_users', body: { organizationId: 'mine' } },
    { path: '/public/v1/query/list_users', body: { organizationId: 'other', paginationOptions: { limit: '1' } } },
  ]);
});

test('a completed activity answers its result and itself', async () => {
  const activity = activityIn('ACTIVITY_STATUS_COMPLETED');
  const { client, sent } = clientOf({ activity });
  expect(await client.createUserTag(TAG, { timestampMs: 1_700_000_000_000 })).toEqual({
    userTagId: 'tag',
    userIds: [],
    activity,
  });
  expect(sent).toMatchObject([
    {
      path: '/public/v1/submit/create_user_tag',
      body: {
        type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
        timestampMs: '1700000000000',
        organizationId: 'mine',
        parameters: TAG,
      },
    },
  ]);
});

test('equal calls of one moment are different requests, and a given time makes them the same', async () => {
  const { client, sent } = clientOf({ activity: activityIn('ACTIVITY_STATUS_COMPLETED') });
  await Promise.all([client.createUserTag(TAG), client.createUserTag(TAG)]);
  await client.createUserTag(TAG, { timestampMs: '5' });
  await client.createUserTag(TAG, { timestampMs: 5 });
  const fingerprints = await Promise.all(sent.map(({ text }) => fingerprintOf(text)));
  expect(new Set(fingerprints).size).toBe(3);
  expect(fingerprints[2]).toBe(fingerprints[3]);
});

test('app proofs are asked for beside the parameters, and only when they are', async () => {
  const { client, sent } = clientOf({ activity: activityIn('ACTIVITY_STATUS_COMPLETED') });
  await client.createUserTag(TAG, { timestampMs: 5, generateAppProofs: true });
  await client.createUserTag(TAG, { timestampMs: 5, generateAppProofs: false });
  await client.createUserTag(TAG, { timestampMs: 5 });
  const plain = {
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    timestampMs: '5',
    organizationId: 'mine',
    parameters: TAG,
  };
  expect(sent.map(({ body }) => body)).toEqual([
    { ...plain, generateAppProofs: true },
    { ...plain, generateAppProofs: false },
    plain,
  ]);
});

test('a running activity is looked at until it settles', async () => {
  const { client, sent } = clientOf(
    { activity: activityIn('ACTIVITY_STATUS_CREATED') },
    { activity: activityIn('ACTIVITY_STATUS_PENDING') },
    { activity: activityIn('ACTIVITY_STATUS_COMPLETED') },
  );
  expect(await client.createUserTag(TAG)).toMatchObject({ userTagId: 'tag' });
  expect(sent.slice(1)).toMatchObject([
    { path: '/public/v1/query/get_activity', body: { organizationId: 'owner', activityId: 'activity' } },
    { path: '/public/v1/query/get_activity' },
  ]);
});

test('it is not looked at for ever', async () => {
  const { client, sent } = clientOf({ activity: activityIn('ACTIVITY_STATUS_PENDING') });
  await expect(client.createUserTag(TAG)).rejects.toBeInstanceOf(ActivityPendingError);
  expect(sent).toHaveLength(4);
});

test.each(['ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'] as const)(
  '%s waits for people, so that nobody polls',
  async (status) => {
    const { client, sent } = clientOf({ activity: activityIn(status) });
    const error = await client.createUserTag(TAG).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ActivityPendingError);
    expect(error).toMatchObject({
      code: 'ACTIVITY_PENDING',
      activityId: 'activity',
      fingerprint: 'sha256:00',
      status,
      httpStatus: 200,
    });
    expect(sent).toHaveLength(1);
  },
);

test('rejected and failed activities say so', async () => {
  const rejected = clientOf({ activity: activityIn('ACTIVITY_STATUS_REJECTED') });
  await expect(rejected.client.createUserTag(TAG)).rejects.toBeInstanceOf(ActivityRejectedError);
  const failure = { code: 5, message: 'no such user', details: [{ errorCode: 'RESOURCE_NOT_FOUND' }] };
  const failed = clientOf({ activity: activityIn('ACTIVITY_STATUS_FAILED', { failure }) });
  const error = await failed.client.createUserTag(TAG).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ActivityFailedError);
  expect(error).toMatchObject({ code: 'RESOURCE_NOT_FOUND', grpcCode: 5, message: 'no such user', failure });
});

test('a vote answers the activity in whatever state it is', async () => {
  const activity = activityIn('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  const { client, sent } = clientOf({ activity });
  expect(await client.approveActivity({ fingerprint: 'sha256:00' })).toEqual({ activity });
  expect(sent[0]?.body).toMatchObject({
    type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
    parameters: { fingerprint: 'sha256:00' },
  });
});

test('raw calls send the very bytes', async () => {
  const activity = activityIn('ACTIVITY_STATUS_REJECTED');
  const { client, sent } = clientOf({ activity });
  const body = '{ "type" : "X",\n"n":1 }';
  expect(await client.submitRaw('some_new_operation', body)).toEqual({ activity });
  expect(await client.queryRaw('some_query', Buffer.from(body))).toEqual({ activity });
  expect(sent.map(({ path, text }) => [path, text])).toEqual([
    ['/public/v1/submit/some_new_operation', body],
    ['/public/v1/query/some_query', body],
  ]);
});

test('an answer without an activity is refused', async () => {
  const { client } = clientOf({});
  await expect(client.createUserTag(TAG)).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
});

/** A client whose requests meet these answers; what is no answer is a lost one. */
function clientLosing(...answers: readonly (object | 'lost')[]) {
  const sent: { path: string; body: string; stamp: string }[] = [];
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    const body = Buffer.from(init?.body as Uint8Array).toString('utf8');
    const stamp = new Headers(init?.headers).get('X-Session') ?? '';
    sent.push({ path: new URL(String(url)).pathname, body, stamp });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (answer === 'lost') throw new TypeError('fetch failed');
    return Response.json(answer);
  };
  let stamps = 0;
  const stamper = {
    stamp: async () => {
      stamps += 1;
      return { headerName: 'X-Session', headerValue: `stamp ${stamps}` };
    },
  };
  const client = createClient({
    baseUrl: 'http://service.test',
    organizationId: 'mine',
    stamper,
    fetch: fetch as typeof globalThis.fetch,
    pollIntervalMs: 1,
    retryAttempts: 0,
  });
  return { client, sent };
}

test('a lost submit is repeated as it was stamped, also from a copy, and answers as its method does', async () => {
  const activity = activityIn('ACTIVITY_STATUS_COMPLETED');
  const { client, sent } = clientLosing('lost', { activity: activityIn('ACTIVITY_STATUS_PENDING') }, { activity });
  const error = await client.createUserTag(TAG).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetworkError);
  const kept = JSON.stringify((error as NetworkError).request);
  expect(await client.repeat(JSON.parse(kept))).toEqual({ userTagId: 'tag', userIds: [], activity });
  expect(sent[1]).toEqual(sent[0]);
  expect(sent[2]?.path).toBe('/public/v1/query/get_activity');
});

test('a lost query and a lost raw call are repeated too', async () => {
  const { client, sent } = clientLosing('lost', { users: [] }, 'lost', { activity: { status: 'X' } });
  const lost = async (call: Promise<unknown>) =>
    ((await call.catch((thrown: unknown) => thrown)) as NetworkError).request;
  expect(await client.repeat(await lost(client.listUsers()))).toEqual({ users: [] });
  const request = await lost(client.submitRaw('some_new_operation', '{ "n":1 }'));
  expect(await client.repeat(request)).toEqual({ activity: { status: 'X' } });
  expect([sent[1], sent[3]]).toEqual([sent[0], sent[2]]);
});

test('errors about an activity carry the submit, whatever was asked last', async () => {
  const pending = clientLosing({ activity: activityIn('ACTIVITY_STATUS_CONSENSUS_NEEDED') });
  const waiting = await pending.client.createUserTag(TAG).catch((thrown: unknown) => thrown);
  expect((waiting as ActivityPendingError).request?.body).toBe(pending.sent[0]?.body);
  const polled = clientLosing({ activity: activityIn('ACTIVITY_STATUS_PENDING') }, 'lost');
  const lost = await polled.client.createUserTag(TAG).catch((thrown: unknown) => thrown);
  expect((lost as NetworkError).request).toMatchObject({ path: '/public/v1/submit/create_user_tag' });
});

test.each([
  undefined,
  {},
  { path: '/x' },
  { path: 'https://other.test/', body: '', headerName: 'a', headerValue: 'b' },
])('%j is no signed request', async (request) => {
  const { client, sent } = clientLosing({});
  await expect(client.repeat(request as never)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  expect(sent).toEqual([]);
});

test('a signal ends the wait for a running activity', async () => {
  const { client, sent } = clientOf({ activity: activityIn('ACTIVITY_STATUS_PENDING') });
  const controller = new AbortController();
  const reason = new Error('enough');
  setImmediate(() => controller.abort(reason));
  await expect(client.createUserTag(TAG, { signal: controller.signal })).rejects.toBe(reason);
  expect(sent.length).toBeLessThan(4);
});
