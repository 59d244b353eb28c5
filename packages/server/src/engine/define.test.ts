import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { ApiError, notServed } from '../lib/errors.ts';
import { defineActivity, defineQuery, defineVote, legacy, wireKeys } from './define.ts';

describe('intent and result keys', () => {
  test.each([
    ['ACTIVITY_TYPE_CREATE_USERS', 'createUsersIntent', 'createUsersResult'],
    ['ACTIVITY_TYPE_CREATE_USERS_V4', 'createUsersIntentV4', 'createUsersResult'],
    ['ACTIVITY_TYPE_OAUTH', 'oauthIntent', 'oauthResult'],
    ['ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', 'oauth2AuthenticateIntent', 'oauth2AuthenticateResult'],
    ['ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', 'createOauth2CredentialIntent', 'createOauth2CredentialResult'],
    [
      'ACTIVITY_TYPE_ETH_SIGN_7702_AUTHORIZATION_V12',
      'ethSign7702AuthorizationIntentV12',
      'ethSign7702AuthorizationResult',
    ],
  ])('%s', (type, intentKey, resultKey) => expect(wireKeys(type)).toEqual({ intentKey, resultKey }));

  test('a result key that the wire protocol names otherwise', () => {
    expect(wireKeys('ACTIVITY_TYPE_INIT_OTP_V3', 'initOtpResultV2')).toEqual({
      intentKey: 'initOtpIntentV3',
      resultKey: 'initOtpResultV2',
    });
  });
});

describe('an activity', () => {
  const operation = defineActivity({
    name: 'do_thing',
    type: 'ACTIVITY_TYPE_DO_THING_V2',
    resultKey: 'doThingResultV2',
    summary: 'Does a thing.',
    policy: { governedBy: 'policy', resource: 'USER', action: 'CREATE' },
    credentials: 'none',
    sentence: () => [],
    parameters: Type.Object({ things: Type.Array(Type.String()), secret: Type.Optional(Type.String()) }),
    secrets: ['secret'],
    older: [
      legacy('ACTIVITY_TYPE_DO_THING', Type.Object({ thing: Type.String() }), ({ thing }) => ({ things: [thing] })),
    ],
    unserved: ['ACTIVITY_TYPE_DO_THING_V0'],
    result: Type.Object({ count: Type.Integer() }),
    check({ things }) {
      if (things.length === 0) throw notServed('no thing');
    },
    execute: async (_context, { things }) => ({ count: things.length }),
  });

  test('has what is not said by default', () => {
    expect(operation).toMatchObject({
      kind: 'activity',
      lock: 'exclusive',
      scope: 'any',
      ours: false,
      findsSubOrganization: false,
      accepts: { attested: false, recovery: false },
      sendsMessages: false,
    });
    expect(operation.versions.map(({ secretResults }) => secretResults)).toEqual([[], []]);
    expect([operation.subject, operation.attempt]).toEqual([undefined, undefined]);
    expect(operation.unserved).toEqual(['ACTIVITY_TYPE_DO_THING_V0']);
    expect(operation.prepare).toBeUndefined();
    expect(operation.managesCredentialsOf).toBeUndefined();
  });

  test('has each version with its own keys and secrets', () => {
    const shown = operation.versions.map(({ type, intentKey, resultKey, secrets }) => [
      type,
      intentKey,
      resultKey,
      secrets,
    ]);
    expect(shown).toEqual([
      ['ACTIVITY_TYPE_DO_THING_V2', 'doThingIntentV2', 'doThingResultV2', ['secret']],
      ['ACTIVITY_TYPE_DO_THING', 'doThingIntent', 'doThingResult', []],
    ]);
  });

  test('upgrades what an older version sends', async () => {
    const [current, old] = operation.versions;
    const decoded = old?.decode({ thing: 'a', unknown: 1 });
    expect(decoded).toEqual({ things: ['a'] });
    expect(current?.decode({ things: ['a', 'b'], secret: null })).toEqual({ things: ['a', 'b'] });
    expect(await operation.execute({} as never, decoded, undefined)).toEqual({ count: 1 });
  });

  test('a version does not take the parameters of another', () => {
    const [current, old] = operation.versions;
    expect(() => current?.decode({ thing: 'a' })).toThrow('parameters.things: is required');
    expect(() => old?.decode({ things: ['a'] })).toThrow('parameters.thing: is required');
  });

  test('an older version may answer less, and what is secret in an answer is so in all of them', () => {
    const told = defineActivity({
      name: 'tell',
      type: 'ACTIVITY_TYPE_TELL_V2',
      summary: 'Tells.',
      policy: { governedBy: 'policy', resource: 'OTP', action: 'CREATE' },
      credentials: 'none',
      sentence: () => [],
      accepts: { attested: true },
      sendsMessages: true,
      parameters: Type.Object({}),
      older: [
        legacy('ACTIVITY_TYPE_TELL', Type.Object({}), () => ({}), {
          toResult: ({ id }: { id: string; more: string }) => ({ id }),
        }),
      ],
      result: Type.Object({ id: Type.String(), more: Type.String() }),
      secretResults: ['id'],
      execute: async () => ({ id: 'a', more: 'b' }),
    });
    const result = { id: 'a', more: 'b' };
    expect(told.versions.map(({ toResult }) => toResult(result))).toEqual([result, { id: 'a' }]);
    expect(told.versions.map(({ secretResults }) => secretResults)).toEqual([['id'], ['id']]);
    expect(told).toMatchObject({ accepts: { attested: true, recovery: false }, sendsMessages: true });
  });

  test('its own rules hold for every version', () => {
    expect(() => operation.versions[0]?.decode({ things: [] })).toThrow(ApiError);
    const strict = defineActivity({
      name: 'strict',
      type: 'ACTIVITY_TYPE_STRICT_V2',
      summary: 'Refuses.',
      policy: { governedBy: 'root-quorum' },
      credentials: 'none',
      sentence: () => [],
      parameters: Type.Object({}),
      older: [legacy('ACTIVITY_TYPE_STRICT', Type.Object({}), () => ({}))],
      result: Type.Object({}),
      check() {
        throw notServed('anything');
      },
      execute: async () => ({}),
    });
    for (const version of strict.versions) expect(() => version.decode({})).toThrow('anything is not available');
  });
});

test('a vote decodes a fingerprint', () => {
  const vote = defineVote({
    name: 'nod',
    type: 'ACTIVITY_TYPE_NOD',
    summary: 'Nods.',
    selection: 'VOTE_SELECTION_APPROVED',
    schema: Type.Object({ fingerprint: Type.String() }),
  });
  expect(vote).toMatchObject({ kind: 'vote', ours: false });
  expect(vote.decode({ fingerprint: 'f', x: 1 })).toEqual({ fingerprint: 'f' });
  expect(() => vote.decode({})).toThrow('parameters.fingerprint: is required');
});

test('a query decodes its body and reads', async () => {
  const query = defineQuery({
    name: 'look',
    summary: 'Looks.',
    parameters: Type.Object({ organizationId: Type.String(), at: Type.Optional(Type.String()) }),
    response: Type.Object({ seen: Type.String() }),
    run: async (_context, { at }) => ({ seen: at ?? 'nothing' }),
  });
  expect(query).toMatchObject({ kind: 'query', ours: false, findsSubOrganization: false });
  const decoded = query.decode({ organizationId: 'o', at: null, x: 1 });
  expect(decoded).toEqual({ organizationId: 'o' });
  expect(await query.run({} as never, decoded)).toEqual({ seen: 'nothing' });
  expect(() => query.decode({})).toThrow('organizationId: is required');
});
