import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/engine/define.ts';
import type { ErrorCode } from '../../src/lib/errors.ts';
import { LIMITS } from '../../src/lib/limits.ts';
import { operations, pathOf } from '../../src/registry.ts';
import { newSecretTargets } from '../harness/bundles.ts';
import { type Answer, createSubOrganization, newKeyPair, stampFor, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { contractParams, controlParams, mfaParams, policyParams } from './access.ts';
import { expectRefusal, flawOfAnswer, flawOfRefusal } from './answers.ts';
import type { Case } from './case.ts';
import { caseFor } from './cases.ts';
import { ETHEREUM, keyParams, newKeyTag, newWallet, PAYLOAD, secretParams } from './keys.ts';
import { MEBIBYTE, type Mutation, mutationsOf, toJson, withStrangers } from './mutations.ts';
import { attestedStamp, newVerification } from './outside.ts';
import { newPasskey } from './passkey.ts';
import {
  allows,
  type Field,
  fieldsOf,
  prune,
  read,
  type Shape,
  type Version,
  versionsOf,
  withValue,
} from './schema.ts';
import { makeRoom } from './webhooks.ts';
import { abandon, exchange, exchangeAndEnd, exchangeSeveral, inParallel, type RawAnswer } from './wire.ts';
import { newApiKey, World } from './world.ts';

const WHOAMI = '/public/v1/query/whoami';
const RENAME = '/public/v1/submit/update_user_name';

let clock = Date.now();
/** Never the same twice, so that equal requests become different activities. */
function timestampMs(): string {
  clock = Math.max(Date.now(), clock + 1);
  return String(clock);
}

/** A request as the table gives it: the body to send and who stamps it. */
function bodyOf(version: Version, { client }: Case, parameters: Record<string, unknown>): Record<string, unknown> {
  const { organizationId } = client;
  if (version.type === undefined) return { organizationId, ...parameters };
  return { type: version.type, timestampMs: timestampMs(), organizationId, parameters };
}

const send = (operation: Operation, client: TestClient, body: unknown): Promise<Answer> =>
  client.sendStamped(pathOf(operation), toJson(body));

const pruned = (version: Version, { parameters }: Case): Record<string, unknown> =>
  prune(version.shape, parameters) as Record<string, unknown>;

/** The members around the parameters of a submit. */
const envelopeShape = (operation: Operation): Shape => ({
  type: 'object',
  properties: {
    type: { enum: versionsOf(operation).map(({ type }) => type) },
    timestampMs: { type: 'string', pattern: '^[0-9]{1,15}$', 'x-decimal': true },
    organizationId: { type: 'string', pattern: '^[0-9a-f-]{36}$', 'x-lower': true },
    parameters: { type: 'object' },
    generateAppProofs: { type: 'boolean' },
  },
  required: ['type', 'timestampMs', 'organizationId', 'parameters'],
});

/** The parameters of a query are its body, with the organization among them. */
function validParameters(version: Version, own: Case): Record<string, unknown> {
  const parameters = pruned(version, own);
  return version.type === undefined ? { organizationId: own.client.organizationId, ...parameters } : parameters;
}

const isCurrent = (operation: Operation, { type }: Version): boolean => type === versionsOf(operation)[0]?.type;

/** The fields of a version; of an older one only those that the current one does not have in the same way. */
function fieldsIn(operation: Operation, version: Version): Field[] {
  const fields = fieldsOf(version.shape);
  if (isCurrent(operation, version)) return fields;
  const inCommon = new Set(
    versionsOf(operation)
      .slice(0, 1)
      .flatMap(({ shape }) => fieldsOf(shape).map(toText)),
  );
  return fields.filter((field) => !inCommon.has(toText(field)));
}

const toText = ({ path, shape, required }: Field): string => JSON.stringify([path, shape, required]);

const shapeOf = ({ path, shape, required }: Field): string => JSON.stringify([shape, required, path.at(-1) === '0']);

/** Where each shape is met first, a few places each, since not every place can be reached in every case. */
const firstPlaces = new Map<string, string[]>();
const PLACES = 3;
const LARGE = 'a'.repeat(MEBIBYTE);
const placeOf = ({ name }: Operation, { type }: Version, { path }: Field): string => [name, type, ...path].join(' ');
for (const operation of operations) {
  for (const version of versionsOf(operation)) {
    for (const field of fieldsOf(version.shape)) {
      const places = firstPlaces.get(shapeOf(field)) ?? [];
      firstPlaces.set(shapeOf(field), [...places, placeOf(operation, version, field)].slice(0, PLACES));
    }
  }
}
const isFirstPlace = (operation: Operation, version: Version, field: Field): boolean =>
  firstPlaces.get(shapeOf(field))?.includes(placeOf(operation, version, field)) ?? false;
const firstSubmit = operations.find(({ kind }) => kind !== 'query');

/** Says what is wrong with the refusal of one wrong field; `where` is its place in the body. */
function flawOfFieldRefusal({ status, body }: Answer, { shape }: Field, where: string): string | undefined {
  const flaw = flawOfRefusal({ status, body });
  if (flaw !== undefined) return flaw;
  const codes: (ErrorCode | undefined)[] = ['REQUEST_INVALID', shape['x-code'], shape.items?.['x-code']];
  if (where === 'organizationId') codes.push('INVALID_ORGANIZATION_ID');
  if (status !== 400 || !codes.includes(body.errorCode)) return `${status} ${body.errorCode}: ${body.message}`;
  const violations: { field: string }[] = body.details.flatMap(
    (detail: Record<string, unknown>) => detail.fieldViolations ?? [],
  );
  return violations.some((violation) => violation.field.startsWith(where))
    ? undefined
    : `names ${JSON.stringify(violations)}`;
}

/** The same of a body that its operation does not read: a value of a mebibyte, or a list of long items. */
const flawOfSize = ({ status, body }: Answer): string | undefined =>
  flawOfRefusal({ status, body }) ??
  (body.errorCode === 'BODY_TOO_LARGE' ? undefined : `${status} ${body.errorCode}: ${body.message}`);

/** All activities, by pages that are as long as their bytes allow. */
async function history(client: TestClient): Promise<{ readonly fingerprint: string; readonly type: string }[]> {
  const found: { fingerprint: string; type: string }[] = [];
  for (let [after, limit] = ['', '100']; ; ) {
    const { status, body } = await client.query('list_activities', { paginationOptions: { limit, after } });
    if (body.errorCode === 'RESULT_TOO_LARGE') {
      limit = /a limit of ([0-9]+) fits/.exec(body.message)?.[1] ?? '';
      continue;
    }
    expect(status, JSON.stringify(body)).toBe(200);
    for (const { fingerprint, type } of body.activities) found.push({ fingerprint, type });
    if (!body.pageInfo.hasNextPage) return found;
    [after, limit] = [body.pageInfo.endCursor, '100'];
  }
}

/** None of them needs a name to be looked up; PORT is one that answers on 127.0.0.1, which the operator allows. */
const FORBIDDEN_URLS = [
  '',
  ' ',
  'text',
  '/hooks',
  '//127.0.0.1:PORT/',
  '127.0.0.1:PORT',
  'localhost:PORT/hooks',
  'http://',
  'http://:PORT/',
  'http://127.0.0.1:65536/',
  'http://127.0.0.1:-1/',
  'http://[::1/',
  'http://256.0.0.1/',
  'ftp://127.0.0.1:PORT/',
  'ws://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'data:application/json,{}',
  'javascript:alert(1)',
  'blob:http://127.0.0.1:PORT/',
  // What is called would not be what is shown.
  ' http://127.0.0.1:PORT/',
  'http://127.0.0.1:PORT/ ',
  'http://127.0.0.1:PORT/a b',
  'http://127.0.0.1:PORT/a\nb',
  'ht\ttp://127.0.0.1:PORT/',
  'http:\\\\127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@10.0.0.1/',
  'http://127.0.0.1:PORT/#part',
  'http://user:password@127.0.0.1:PORT/',
  'http://user@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT@10.0.0.1/',
  // Plain http elsewhere.
  'http://1.2.3.4/',
  'http://[2600::1]/',
  // Addresses that are not public, in many spellings.
  ...[
    '0.0.0.0',
    '10.0.0.1',
    '10.1',
    '167772161',
    '0x0a000001',
    '012.0.0.1',
    '0xa.0.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '2852039166',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '\uff11\uff10.0.0.1',
    '10\u30020\u30020\u30021',
    '[::]',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[::10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:a00:1::]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[ff02::1]',
    '[2001:db8::1]',
  ].flatMap((host) => [`http://${host}/`, `https://${host}/`, `https://${host}:8443/`]),
  // Ports of other services.
  ...[0, 22, 25, 53, 80, 445, 1023].map((port) => `https://1.2.3.4:${port}/`),
];

const EVERY_FILTER = {
  activityTypes: ['ACTIVITY_TYPE_CREATE_USERS_V4'],
  statuses: ['ACTIVITY_STATUS_COMPLETED'],
  organizationIds: ['00000000-0000-4000-8000-000000000001'],
};

const WRONG_FILTERS = [
  ' ',
  '{',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '[{}]',
  '{"statuses":null}',
  '{"statuses":"ACTIVITY_STATUS_COMPLETED"}',
  '{"statuses":[]}',
  '{"statuses":[null]}',
  '{"statuses":[["ACTIVITY_STATUS_COMPLETED"]]}',
  '{"statuses":["ACTIVITY_STATUS_COMPLETED",1]}',
  '{"statuses":["completed"]}',
  '{"statuses":{"0":"ACTIVITY_STATUS_COMPLETED","length":1}}',
  '{"activityTypes":["ACTIVITY_TYPE_NOTHING"]}',
  '{"activityTypes":["constructor"]}',
  '{"activityTypes":["__proto__"]}',
  '{"organizationIds":["mine"]}',
  '{"organizationIds":["00000000-0000-4000-8000-000000000001\\u0000"]}',
  '{"addresses":["0x00"]}',
  '{"caip2":["eip155:1"]}',
  '{"unknown":["x"]}',
  '{"__proto__":["x"]}',
  '{"constructor":["x"]}',
  '{"toString":["x"]}',
  '{"":["x"]}',
  `{"${'a'.repeat(16_000)}":["x"]}`,
  '['.repeat(16_384),
  '{"a":'.repeat(3276),
  `{"statuses":${'['.repeat(8000)}${']'.repeat(8000)}}`,
];

const complaintsRead = new WeakMap<World, number>();

/** The process must be the one that was started, serve, and have had nothing to complain about since the last look. */
async function expectUnharmed(world: World, pid: number): Promise<void> {
  expect(world.server.pid).toBe(pid);
  const { status, body } = await world.parent.root.query('whoami');
  expect({ status, userId: body.userId }).toEqual({ status: 200, userId: world.parent.root.userId });
  const { stderr } = world.server.output;
  const complaints = stderr.slice(complaintsRead.get(world));
  complaintsRead.set(world, stderr.length);
  expect(complaints).toBe('');
}

describe.each(DATABASES)('wrong fields on %s', (database) => {
  let world: World;
  let pid: number;

  // Shapes are judged before a database is asked, so the other one need not see every spelling of every version.
  const isThorough = database === 'sqlite';
  const versionsHere = (operation: Operation) => versionsOf(operation).slice(0, isThorough ? undefined : 1);

  beforeAll(async () => {
    world = await World.open(database);
    pid = world.server.pid;
  });
  afterEach(() => expectUnharmed(world, pid));
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function expectNoChange(work: () => Promise<void>): Promise<void> {
    const watch = await world.watch();
    await work();
    expect(await watch.changes()).toEqual([]);
  }

  interface Wrong {
    readonly mutation: Mutation;
    readonly body: unknown;
    readonly field: string;
  }

  /**
   * One reader judges the shapes of all operations, so that what a shape refuses is tried in every way where that shape
   * is met first, and in a few telling ways elsewhere; what it lets through meets the operation, and is tried everywhere.
   */
  function wrongRequests(operation: Operation, version: Version, own: Case): Wrong[] {
    const parameters = validParameters(version, own);
    const isSubmit = version.type !== undefined;
    const isFull = isThorough && isCurrent(operation, version);
    const inside = fieldsIn(operation, version).flatMap((field) => {
      const isFirst = isFirstPlace(operation, version, field);
      const isLarge = isFull && (isFirst || allows(field.shape, LARGE));
      return [...mutationsOf(field, parameters, isLarge)]
        .filter(({ refused, isTelling }) => !refused || isTelling || isFirst)
        .map((mutation): Wrong => {
          const body = isSubmit ? bodyOf(version, own, mutation.parameters) : mutation.parameters;
          return { mutation, body, field: [...(isSubmit ? ['parameters'] : []), ...mutation.field.path].join('.') };
        });
    });
    if (!isSubmit || !isFull) return inside;
    const whole = { ...bodyOf(version, own, parameters), generateAppProofs: false };
    const envelope = fieldsOf(envelopeShape(operation)).flatMap((field) =>
      [...mutationsOf(field, whole, false)]
        .filter(({ refused, isTelling }) => !refused || isTelling || operation === firstSubmit)
        .map((mutation): Wrong => ({ mutation, body: mutation.parameters, field: mutation.field.path.join('.') })),
    );
    return [...inside, ...envelope];
  }

  // The shape of a request is judged before the database is asked, so that one database is enough for it.
  const shaped = database === 'sqlite' ? operations : operations.slice(0, 1);
  describe.each(shaped.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
    test('what the schema allows is answered, taken or not', async () => {
      for (const version of versionsHere(operation)) {
        const own = await caseFor(operation.name, world.parent, version.type);
        const odd = wrongRequests(operation, version, own).filter(({ mutation }) => !mutation.refused);
        const flaws: string[] = [];
        await inParallel(odd, async ({ mutation, body }) => {
          const flaw = flawOfAnswer(await send(operation, own.client, body));
          if (flaw !== undefined) flaws.push(`${version.type ?? ''} ${mutation.label} -> ${flaw}`);
        });
        expect(flaws).toEqual([]);
      }
    });

    // Operations with many versions and fields make thousands of requests here.
    test('what the schema does not allow is refused by name and changes nothing', { timeout: 240_000 }, async () => {
      for (const version of versionsHere(operation)) {
        const own = await caseFor(operation.name, world.parent, version.type);
        const wrong = wrongRequests(operation, version, own).filter(({ mutation }) => mutation.refused);
        if (isCurrent(operation, version)) expect(wrong.length).toBeGreaterThan(5);
        if (wrong.length === 0) continue;
        const flaws: string[] = [];
        await expectNoChange(() =>
          inParallel(wrong, async ({ mutation, body, field }) => {
            const answer = await send(operation, own.client, body);
            const isRead = Buffer.byteLength(toJson(body)) <= operation.bodyLimit;
            const flaw = isRead ? flawOfFieldRefusal(answer, mutation.field, field) : flawOfSize(answer);
            if (flaw !== undefined) flaws.push(`${version.type ?? ''} ${mutation.label} -> ${flaw}`);
          }),
        );
        expect(flaws).toEqual([]);
      }
    });

    test('null in an optional field is the same as its absence', async () => {
      for (const version of versionsHere(operation)) {
        for (const field of fieldsIn(operation, version).filter(({ required }) => !required)) {
          const answers = [];
          for (const value of [null, undefined]) {
            const own = await caseFor(operation.name, world.parent, version.type);
            const parameters = validParameters(version, own);
            if (read(parameters, field.path.slice(0, -1)) === undefined) continue;
            const body = bodyOf(version, own, withValue(parameters, field.path, value));
            const { status, body: answer } = await send(operation, own.client, body);
            answers.push({ field: field.path.join('.'), status, errorCode: answer.errorCode, message: answer.message });
          }
          expect(answers[0]).toEqual(answers[1]);
        }
      }
    });

    test('members that nobody knows are accepted everywhere', async () => {
      for (const version of versionsHere(operation)) {
        const own = await caseFor(operation.name, world.parent, version.type);
        const body = withStrangers(bodyOf(version, own, pruned(version, own)));
        const answer = await send(operation, own.client, body);
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        expect(({} as Record<string, unknown>).isRoot).toBeUndefined();
      }
    });
  });

  test('a query body with a type is refused, whatever the type is', async () => {
    for (const operation of operations.filter(({ kind }) => kind === 'query')) {
      const [version] = versionsOf(operation) as [Version];
      const own = await caseFor(operation.name, world.parent);
      const body = bodyOf(version, own, pruned(version, own));
      const answer = await send(operation, own.client, body);
      expect(answer.status, JSON.stringify([operation.name, answer.body])).toBe(200);
      for (const type of ['ACTIVITY_TYPE_CREATE_USERS_V4', '', null, 1, {}, []]) {
        expectRefusal(await send(operation, own.client, { ...body, type }), 'REQUEST_INVALID');
      }
    }
  });

  test('a vote on any activity of the history is answered', async () => {
    const { root } = world.parent;
    const activities = await history(root);
    const fingerprints = activities.map(({ fingerprint }) => fingerprint);
    expect(fingerprints.length).toBeGreaterThan(10);
    const flaws: string[] = [];
    // The oldest is the one that no operation made.
    for (const fingerprint of [...fingerprints.slice(0, 20), ...fingerprints.slice(-20)]) {
      for (const vote of ['approve_activity', 'reject_activity']) {
        const flaw = flawOfAnswer(await root.submit(vote, { fingerprint }));
        const activity = activities.find((item) => item.fingerprint === fingerprint);
        if (flaw !== undefined) flaws.push(`${vote} of ${activity?.type}: ${flaw}`);
      }
    }
    expect(flaws).toEqual([]);
  });

  test('text that a database cannot hold is refused', async () => {
    const { root } = world.parent;
    for (const value of ['fine', 'a\u0000b']) {
      const stored = await root.submit('set_organization_feature', { name: 'FEATURE_NAME_AUTH_PROXY', value });
      expect(flawOfAnswer(stored)).toBeUndefined();
      for (const filterType of ['NAME', 'USERNAME', 'EMAIL', 'PHONE_NUMBER', 'CREDENTIAL_ID', 'PUBLIC_KEY']) {
        const found = await root.query('list_suborgs', { filterType, filterValue: value });
        expect(flawOfAnswer(found), `${filterType} ${JSON.stringify(value)}`).toBeUndefined();
      }
    }
  });

  test('lists that are long in two directions are answered', async () => {
    const { root, marker } = world.parent;
    const users = (count: number, userTags: readonly string[] | ((index: number) => readonly string[])) =>
      Array.from({ length: count }, (_user, index) => ({
        userName: `many ${index}`,
        userEmail: `${randomBytes(6).toString('hex')}@${marker}.example`,
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
        userTags: typeof userTags === 'function' ? userTags(index) : userTags,
      }));
    const tagIds: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      tagIds.push((await root.run('create_user_tag', { userTagName: `many ${index}`, userIds: [] })).userTagId);
    }
    expect((await root.submit('create_users', { users: users(3, tagIds) })).status).toBe(200);
    const unknown = (index: number) =>
      Array.from(
        { length: 1000 },
        (_id, item) => `00000000-0000-4000-8000-${String(index * 1000 + item).padStart(12, '0')}`,
      );
    const apiKeys = Array.from({ length: 1000 }, (_key, index) => newApiKey(`many ${index}`));
    const { userId } = world.parent.member;
    const flaws: string[] = [];
    for (const [label, operation, parameters] of [
      ['500 users with 60 tags each', 'create_users', { users: users(500, tagIds) }],
      ['500 users with their tags without passkeys', 'create_api_only_users', { apiOnlyUsers: users(500, tagIds) }],
      ['52,000 tags that nobody has', 'create_users', { users: users(52, unknown) }],
      ['1,000 keys', 'create_api_keys', { userId, apiKeys }],
      ['1,000 users that nobody has', 'delete_users', { userIds: unknown(1) }],
    ] as const) {
      const flaw = flawOfAnswer(await root.submit(operation, parameters));
      if (flaw !== undefined) flaws.push(`${label}: ${flaw}`);
    }
    expect(flaws).toEqual([]);
  });

  test('long lists of accounts, private keys, payloads and secrets are answered', async () => {
    const { root, ids, marker } = world.parent;
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const accounts = (level: number) => times(1000, (index) => ({ ...ETHEREUM, path: `m/${level}'/${index}` }));
    const tagIds: string[] = [];
    for (let index = 0; index < 60; index += 1) tagIds.push(await newKeyTag(root, `many ${index}`));
    const keys = (count: number, privateKeyTags: readonly string[]) =>
      times(count, (index) => keyParams(`${marker} ${count} ${index}`, privateKeyTags));
    const unknown = times(1000, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const { payload, ...raw } = PAYLOAD;
    const properties = times(1000, (index) => ({ key: `key ${index}`, value: 'value' }));
    const targets = await newSecretTargets(root, 32);
    const secrets = targets.map((target, index) => ({
      ...secretParams(`many ${index}`, target),
      staticProperties: properties,
    }));
    const wallet = await newWallet(root, 'with many accounts');
    const remove = { deleteWithoutExport: true };
    for (const [label, status, operation, parameters] of [
      ['1,000 accounts', 200, 'create_wallet', { walletName: 'many', accounts: accounts(1) }],
      ['1,000 more', 200, 'create_wallet_accounts', { walletId: wallet.walletId, accounts: accounts(2) }],
      ['one of them twice', 409, 'create_wallet_accounts', { walletId: wallet.walletId, accounts: accounts(2) }],
      ['2 of one path', 409, 'create_wallet', { walletName: 'twice', accounts: [ETHEREUM, ETHEREUM] }],
      ['all of them', 200, 'delete_wallets', { walletIds: [wallet.walletId], ...remove }],
      ['1,000 wallets that nobody has', 404, 'delete_wallets', { walletIds: unknown, ...remove }],
      ['1,000 accounts that nobody has', 404, 'delete_wallet_accounts', { walletAccountIds: unknown, ...remove }],
      ['1,000 private keys', 200, 'create_private_keys', { privateKeys: keys(1000, []) }],
      ['100 private keys with 60 tags each', 200, 'create_private_keys', { privateKeys: keys(100, tagIds) }],
      ['1,000 tags that nobody has', 404, 'create_private_keys', { privateKeys: keys(1, unknown) }],
      ['1,000 private keys that nobody has', 404, 'delete_private_keys', { privateKeyIds: unknown, ...remove }],
      ['60 tags of 100 private keys', 200, 'delete_private_key_tags', { privateKeyTagIds: tagIds }],
      [
        '100 payloads of 10,000 characters',
        200,
        'sign_raw_payloads',
        { ...raw, signWith: ids.address, payloads: times(100, () => payload.repeat(1660)) },
      ],
      [
        '100 payloads that are too long together',
        400,
        'sign_raw_payloads',
        { ...raw, signWith: ids.address, payloads: times(100, () => payload.repeat(1760)) },
      ],
      ['32 secrets with 1,000 properties each', 200, 'import_secrets', { secrets }],
      ['1,000 secrets that nobody has', 404, 'delete_secrets', { secretIds: unknown }],
    ] as const) {
      const answer = await root.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
  });

  // URLs are judged before a database is asked.
  const testOnce = isThorough ? test : undefined;
  testOnce?.('webhooks go to no URL that is forbidden, however it is set', async () => {
    const { root, marker, outside } = world.parent;
    const { port } = new URL(outside.issuer);
    const name = `${marker} forbidden`;
    const { endpointId } = await root.run('create_webhook_endpoint', { url: outside.hook(name), name });
    let made: string | undefined;
    const ways: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
      create: async (url) => {
        const answer = await root.submit('create_webhook_endpoint', { url, name: `${name} too` });
        made = answer.body.activity?.result.createWebhookEndpointResult.endpointId;
        return answer;
      },
      update: (url) => root.submit('update_webhook_endpoint', { endpointId, url }),
      feature: (value) => root.submit('set_organization_feature', { name: 'FEATURE_NAME_WEBHOOK', value }),
    };
    // What is written otherwise is the same address; all of it is what the operator allows here.
    for (const url of [
      outside.hook(name),
      `HTTP://127.0.0.1:${port}`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://127.0.0.1:${port}/${'a'.repeat(2000)}`,
      `http://127.0.0.1:${port}/?to=http://10.0.0.1/`,
    ]) {
      for (const [way, set] of Object.entries(ways)) expect((await set(url)).status, `${way} ${url}`).toBe(200);
      await root.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBHOOK' });
      await root.run('delete_webhook_endpoint', { endpointId: made });
    }
    const flaws: string[] = [];
    await expectNoChange(() =>
      inParallel(
        FORBIDDEN_URLS.map((url) => url.replace('PORT', port)).flatMap((url) =>
          Object.entries(ways)
            // Every feature may be set without a value; then it tells nobody.
            .filter(([way]) => url !== '' || way !== 'feature')
            .map(([way, set]) => ({ way, url, set })),
        ),
        async ({ way, url, set }) => {
          const answer = await set(url);
          const flaw = flawOfRefusal(answer) ?? (answer.body.errorCode === 'INVALID_WEBHOOK_URL' ? undefined : 'code');
          if (flaw !== undefined) flaws.push(`${way} ${url.slice(0, 80)}: ${flaw} ${JSON.stringify(answer.body)}`);
        },
      ),
    );
    expect(flaws).toEqual([]);
    await root.run('delete_webhook_endpoint', { endpointId });
  });

  test('webhook subscriptions and replays that make no sense are refused', async () => {
    const { root, marker, outside, ids } = world.parent;
    const child = await createSubOrganization(root, `${marker} subscriber`);
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const endpoint = (...subscriptions: unknown[]) => ({
      url: outside.hook(marker),
      name: `${marker} ${timestampMs()}`,
      subscriptions,
    });
    const filtered = (filters: unknown, eventType = 'ACTIVITY_UPDATES') =>
      endpoint({ eventType, filtersJson: typeof filters === 'string' ? filters : JSON.stringify(filters) });
    const balances = { eventType: 'BALANCE_CONFIRMED_UPDATES' };
    const someIds = (count: number) =>
      times(count, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const replayed = { endpointId: ids.webhookEndpoint, deliveryId: ids.webhookDelivery };
    for (const [label, client, status, operation, parameters] of [
      ['none', root, 200, 'create_webhook_endpoint', endpoint()],
      [
        'one without filters',
        root,
        200,
        'create_webhook_endpoint',
        endpoint({ eventType: 'BALANCE_FINALIZED_UPDATES' }),
      ],
      ['one of every filter', root, 200, 'create_webhook_endpoint', filtered(EVERY_FILTER)],
      ['100 organizations', root, 200, 'create_webhook_endpoint', filtered({ organizationIds: someIds(100) })],
      ['101 organizations', root, 400, 'create_webhook_endpoint', filtered({ organizationIds: someIds(101) })],
      ['the same 1,000 times', root, 200, 'create_webhook_endpoint', endpoint(...times(1000, () => balances))],
      ['the same 1,001 times', root, 400, 'create_webhook_endpoint', endpoint(...times(1001, () => balances))],
      ['two of a type', root, 400, 'create_webhook_endpoint', endpoint(balances, { ...balances, isActive: false })],
      ['a type that is none', root, 400, 'create_webhook_endpoint', endpoint({ eventType: 'WEBHOOK_TEST' })],
      ['a type of objects', root, 400, 'create_webhook_endpoint', endpoint({ eventType: 'constructor' })],
      ...WRONG_FILTERS.map((filters) => [
        filters.slice(0, 80),
        root,
        400,
        'create_webhook_endpoint',
        filtered(filters),
      ]),
      [
        'a status of activities for balances',
        root,
        400,
        'create_webhook_endpoint',
        filtered(EVERY_FILTER, balances.eventType),
      ],
      ['balances of a parent', root, 200, 'create_webhook_endpoint', endpoint(balances)],
      ['balances of a child', child, 403, 'create_webhook_endpoint', endpoint(balances)],
      ['no change', root, 400, 'update_webhook_endpoint', { endpointId: ids.webhookEndpoint }],
      ['one delivery', root, 200, 'replay_webhook_delivery', replayed],
      ['nothing to replay', root, 400, 'replay_webhook_delivery', { endpointId: ids.webhookEndpoint }],
      ['both to replay', root, 400, 'replay_webhook_delivery', { ...replayed, sinceMs: '0' }],
      ['since ever', root, 200, 'replay_webhook_delivery', { endpointId: ids.webhookEndpoint, sinceMs: '0' }],
      [
        'since the end',
        root,
        200,
        'replay_webhook_delivery',
        { endpointId: ids.webhookEndpoint, sinceMs: '9'.repeat(15) },
      ],
      [
        'since later',
        root,
        400,
        'replay_webhook_delivery',
        { endpointId: ids.webhookEndpoint, sinceMs: '9'.repeat(16) },
      ],
    ] as (readonly [string, TestClient, number, string, Record<string, unknown>])[]) {
      const answer = await client.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
    await makeRoom(root, 0);
  });

  test('the webhook endpoint of a feature is changed by the feature alone', async () => {
    const client = await createSubOrganization(world.parent.root, 'with a feature');
    const name = 'FEATURE_NAME_WEBHOOK';
    await client.run('set_organization_feature', { name, value: world.outside.hook('feature') });
    const listed = async () => (await client.query('list_webhook_endpoints')).body.webhookEndpoints;
    const [{ endpointId }] = await listed();
    for (const [operation, parameters] of [
      ['update_webhook_endpoint', { endpointId, isActive: false }],
      ['update_webhook_endpoint', { endpointId, url: world.outside.hook('other') }],
      ['delete_webhook_endpoint', { endpointId }],
    ] as const) {
      expectRefusal(await client.submit(operation, parameters), 'FAILED_PRECONDITION');
    }
    expect(await listed()).toMatchObject([{ endpointId, isActive: true, url: world.outside.hook('feature') }]);
    await client.run('remove_organization_feature', { name });
    expect(await listed()).toEqual([]);
  });

  test('many policies, rules, steps and assets at once, and expressions that would take long, are answered', async () => {
    const { root, member, ids } = world.parent;
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const unknown = times(1000, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const policies = (count: number, extra: Record<string, unknown> = {}) =>
      times(count, (index) => ({ ...policyParams(`many ${count} ${index}`), ...extra }));
    const methods = times(10, (index) => ({ type: 'AUTHENTICATION_TYPE_API_KEY', id: unknown[index] }));
    const steps = (count: number) => times(count, () => ({ any: methods }));
    const mfa = { ...mfaParams('many'), userId: member.userId };
    const { publicKey } = ids;
    const rules = (count: number) => times(count, (index) => ({ cidr: `10.${index}.0.0/16`, label: `many ${index}` }));
    const control = controlParams('many');
    const { definition } = control.dataSource.chainAssetTransfer;
    const assets = (count: number) => ({
      ...control,
      dataSource: { chainAssetTransfer: { definition: times(count, () => definition[0]) } },
    });
    const abi = (count: number) =>
      JSON.stringify(
        times(count, (index) => ({ type: 'function', name: `f${index}`, inputs: [{ name: 'a', type: 'uint256[]' }] })),
      );
    const nested = (depth: number) => `${'('.repeat(depth)}true${')'.repeat(depth)}`;
    const policy = policyParams('one more');
    const long = `activity.type == '${'a'.repeat(15_000)}'`;
    for (const [label, status, operation, parameters] of [
      ['1,000 policies', 200, 'create_policies', { policies: policies(1000, { condition: 'false', consensus: '' }) }],
      ['1,001 policies', 400, 'create_policies', { policies: policies(1001) }],
      [
        'two of one name',
        400,
        'create_policies',
        { policies: [...policies(1, { notes: '2' }), ...policies(1, { notes: '3' })] },
      ],
      [
        'one that is wrong among many',
        400,
        'create_policies',
        { policies: [...policies(99), { ...policy, condition: '(' }] },
      ],
      ['much text together', 400, 'create_policies', { policies: policies(18, { condition: long }) }],
      ['1,000 policies that nobody has', 404, 'delete_policies', { policyIds: unknown }],
      ['a long expression', 200, 'create_policy', { ...policyParams('long'), condition: long }],
      ['an expression of 16,384 characters', 400, 'create_policy', { ...policy, condition: nested(8190) }],
      ['a longer one', 400, 'create_policy', { ...policy, condition: 'true || '.repeat(2049) }],
      ['one that is only quotes', 400, 'create_policy', { ...policy, condition: "'".repeat(16_383) }],
      ['a list in a list in a list', 400, 'create_policy', { ...policy, condition: `${'['.repeat(16_000)}` }],
      ['10 steps of 10 methods', 200, 'create_mfa_policy', { ...mfa, requiredAuthenticationMethods: steps(10) }],
      ['11 steps', 400, 'create_mfa_policy', { ...mfa, requiredAuthenticationMethods: steps(11) }],
      ['100 rules', 200, 'set_ip_allowlist', { publicKey, rules: rules(100), allowLockout: true }],
      ['101 rules', 400, 'set_ip_allowlist', { publicKey, rules: rules(101), allowLockout: true }],
      ['100 assets', 200, 'create_velocity_control', assets(100)],
      ['101 assets', 400, 'create_velocity_control', assets(101)],
      [
        'an interface of many functions',
        200,
        'create_smart_contract_interface',
        { ...contractParams('many'), smartContractInterface: abi(2000) },
      ],
      [
        'an interface of too many',
        400,
        'create_smart_contract_interface',
        { ...contractParams('more'), smartContractInterface: abi(2001) },
      ],
      [
        'an interface of brackets',
        400,
        'create_smart_contract_interface',
        { ...contractParams('brackets'), smartContractInterface: '['.repeat(400_000) },
      ],
    ] as const) {
      const answer = await root.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
    const simulation = (await caseFor('simulate_activity', world.parent)).parameters;
    for (const [label, status, extra] of [
      ['100 drafts', 200, { draftPolicies: times(100, () => ({ effect: 'EFFECT_ALLOW', consensus: 'false' })) }],
      ['drafts with much text', 400, { draftPolicies: times(18, () => ({ effect: 'EFFECT_ALLOW', condition: long })) }],
      ['101 drafts', 400, { draftPolicies: times(101, () => ({ effect: 'EFFECT_ALLOW' })) }],
      ['a draft that is wrong', 400, { draftPolicies: [{ effect: 'EFFECT_ALLOW', condition: 'time.now' }] }],
      ['10 approvers that nobody knows', 400, { approverUserIds: unknown.slice(0, 10) }],
      ['one approver ten times', 200, { approverUserIds: times(10, () => root.userId) }],
      ['11 approvers', 400, { approverUserIds: times(11, () => root.userId) }],
      ['the first moment', 200, { atMs: '0' }],
      ['the last moment', 200, { atMs: '9'.repeat(14) }],
      ['a moment that has no date', 400, { atMs: '9'.repeat(15) }],
      [
        'parameters that the operation refuses',
        400,
        { request: { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME', parameters: {} } },
      ],
      ['a type that is none', 400, { request: { type: 'ACTIVITY_TYPE_NOTHING', parameters: {} } }],
      [
        'a vote',
        400,
        { request: { type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY', parameters: { fingerprint: ids.fingerprint } } },
      ],
    ] as const) {
      const answer = await root.query('simulate_activity', { ...simulation, ...extra });
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
  });
});

describe('wrong bytes', () => {
  let world: World;
  let pid: number;
  let root: TestClient;

  beforeAll(async () => {
    world = await World.open('sqlite');
    pid = world.server.pid;
    root = world.parent.root;
  });
  afterEach(() => expectUnharmed(world, pid));
  afterAll(() => world?.[Symbol.asyncDispose]());

  const whoamiBody = () => JSON.stringify({ organizationId: root.organizationId });
  const renameBody = (extra = '') =>
    `{"type":"ACTIVITY_TYPE_UPDATE_USER_NAME","timestampMs":"${timestampMs()}","organizationId":"${root.organizationId}","parameters":{"userId":"${root.userId}","userName":"renamed"}${extra}}`;

  /** The head of a request, with a stamp for the body unless other headers are given. */
  function head(body: string | Uint8Array, headers: readonly string[] = [], line = `POST ${WHOAMI} HTTP/1.1`): string {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const own = headers.map((header) => header.slice(0, header.indexOf(':')).toLowerCase());
    const standard = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${bytes.length}`,
      `X-Stamp: ${stampFor(bytes, root.key)}`,
    ].filter((header) => !own.includes(header.slice(0, header.indexOf(':')).toLowerCase()));
    return `${[line, ...standard, ...headers.filter((header) => !header.endsWith(': -'))].join('\r\n')}\r\n\r\n`;
  }

  const ask = (body: string | Uint8Array, headers: readonly string[] = [], line?: string): Promise<RawAnswer[]> =>
    exchange(world.server.baseUrl, head(body, headers, line), body);

  async function expectRawRefusal(answers: Promise<RawAnswer[]>, errorCode?: ErrorCode): Promise<void> {
    const [answer, ...more] = await answers;
    expect(more).toEqual([]);
    expect(answer, 'no answer at all').toBeDefined();
    expectRefusal(answer as RawAnswer, errorCode);
    expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
  }

  async function expectNoChange(work: () => Promise<unknown>): Promise<void> {
    const watch = await world.watch();
    await work();
    expect(await watch.changes()).toEqual([]);
  }

  const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}${close.repeat(depth)}`;
  const utf8 = (text: string) => Buffer.from(text, 'utf8');
  const without = (text: string, start: number, length: number, ...bytes: number[]) =>
    Buffer.concat([utf8(text).subarray(0, start), Buffer.from(bytes), utf8(text).subarray(start + length)]);

  test('the body that the others are made of is accepted', async () => {
    expect((await ask(whoamiBody()))[0]?.status).toBe(200);
    expect((await ask(renameBody(), [], `POST ${RENAME} HTTP/1.1`))[0]?.status).toBe(200);
    expect((await ask(renameBody(`,"more":${nested(31, '[', ']')}`), [], `POST ${RENAME} HTTP/1.1`))[0]?.status).toBe(
      200,
    );
  });

  test.each<[string, (body: string) => string | Uint8Array]>([
    ['an empty body', () => ''],
    ['white space', () => ' \n\t'],
    ['a list', (body) => `[${body}]`],
    ['a string', (body) => JSON.stringify(body)],
    ['a number', () => '1'],
    ['null', () => 'null'],
    ['two values', (body) => `${body}${body}`],
    ['a trailing comma', (body) => body.replace(/\}$/, ',}')],
    ['a comment', (body) => `${body}// comment`],
    ['single quotes', (body) => body.replaceAll('"', "'")],
    ['a duplicate key', (body) => body.replace('{', '{"organizationId":"x",')],
    ['a duplicate key spelled otherwise', (body) => body.replace('{', '{"\\u006frganizationId":"x",')],
    ['a nested duplicate key', (body) => body.replace(/\}$/, ',"more":{"a":1,"b":[{"c":1,"c":2}]}}')],
    ['a duplicate __proto__', (body) => body.replace(/\}$/, ',"__proto__":1,"__proto__":2}')],
    ['an escaped lone surrogate', (body) => body.replace(/\}$/, ',"more":"\\ud800"}')],
    ['an escaped lone low surrogate', (body) => body.replace(/\}$/, ',"more":"\\udc00\\ud800"}')],
    ['a lone surrogate in a key', (body) => body.replace(/\}$/, ',"\\ud83d":1}')],
    [
      'a lone surrogate as bytes',
      (body) => without(body.replace(/\}$/, ',"more":"x"}'), body.length + 8, 1, 0xed, 0xa0, 0x80),
    ],
    ['a byte-order mark', (body) => `\ufeff${body}`],
    ['UTF-16', (body) => Buffer.from(body, 'utf16le')],
    ['a byte that is no UTF-8', (body) => without(body, 2, 1, 0xff)],
    ['an overlong slash', (body) => without(body, 2, 1, 0xc0, 0xaf)],
    ['a character cut short', (body) => Buffer.concat([utf8(body), Buffer.of(0xe2, 0x82)])],
    ['a raw control character', (body) => body.replace(/\}$/, ',"more":"a\u0001"}')],
    ['a raw zero', (body) => `${body}\u0000`],
    ['depth 33 in lists', (body) => body.replace(/\}$/, `,"more":${nested(32, '[', ']')}}`)],
    ['depth 33 in objects', (body) => body.replace(/\}$/, `,"more":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`)],
    ['30,000 brackets', (body) => body.replace(/\}$/, `,"more":${nested(30_000, '[', ']')}}`)],
    ['60,000 opening brackets', () => '['.repeat(60_000)],
    ['10,000 opening braces', () => '{"a":'.repeat(10_000)],
    ['a number out of range', (body) => body.replace(/\}$/, ',"more":1e400}')],
    ['a number with a leading zero', (body) => body.replace(/\}$/, ',"more":01}')],
    ['NaN', (body) => body.replace(/\}$/, ',"more":NaN}')],
    ['half a body', (body) => body.slice(0, body.length / 2)],
    ['noise', () => randomBytes(1000)],
  ])('%s is refused', async (_name, spoil) => {
    await expectNoChange(async () => {
      await expectRawRefusal(ask(spoil(whoamiBody())), 'REQUEST_INVALID');
      await expectRawRefusal(ask(spoil(renameBody()), [], `POST ${RENAME} HTTP/1.1`), 'REQUEST_INVALID');
    });
  });

  test('a body up to the limit is read, a longer one is not', async () => {
    const padded = (length: number) => {
      const body = whoamiBody().replace(/\}$/, ',"more":""}');
      return body.replace('"more":"', `"more":"${'x'.repeat(length - body.length)}`);
    };
    expect((await ask(padded(LIMITS.defaultBodyBytes)))[0]?.status).toBe(200);
    await expectRawRefusal(ask(padded(LIMITS.defaultBodyBytes + 1)), 'BODY_TOO_LARGE');
    // The answer must arrive although the client is still sending.
    for (let round = 0; round < 5; round += 1) await expectRawRefusal(ask(padded(10_000_000)), 'BODY_TOO_LARGE');
    const chunk = Buffer.from('x'.repeat(65_536));
    const chunks = Array.from({ length: 160 }, () => Buffer.concat([utf8('10000\r\n'), chunk, utf8('\r\n')]));
    const chunked = head('', ['Transfer-Encoding: chunked', 'Content-Length: -']);
    await expectRawRefusal(exchange(world.server.baseUrl, chunked, ...chunks, '0\r\n\r\n'), 'BODY_TOO_LARGE');
  });

  test.each<[string, string, ErrorCode]>([
    ['plain text', 'text/plain', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', 'application/x-www-form-urlencoded', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a multipart form', 'multipart/form-data; boundary=x', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a longer word', 'application/jsonp', 'UNSUPPORTED_MEDIA_TYPE'],
    ['two types', 'application/json, text/plain', 'UNSUPPORTED_MEDIA_TYPE'],
    ['half a type', 'application', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a semicolon', ';', 'UNSUPPORTED_MEDIA_TYPE'],
  ])('the content type %s is refused', async (_name, type, errorCode) => {
    await expectRawRefusal(ask(whoamiBody(), [`Content-Type: ${type}`]), errorCode);
  });

  test.each(['gzip', 'deflate', 'br', 'gzip, identity', 'x'])(
    'the content encoding %s is refused',
    async (encoding) => {
      const body = encoding === 'gzip' ? gzipSync(whoamiBody()) : whoamiBody();
      await expectRawRefusal(ask(body, [`Content-Encoding: ${encoding}`]), 'UNSUPPORTED_MEDIA_TYPE');
    },
  );

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset=x',
    'application/json ;a=b',
  ])('the content type %s is accepted', async (type) => {
    expect((await ask(whoamiBody(), [`Content-Type: ${type}`]))[0]?.status).toBe(200);
  });

  test('headers have bounds', async () => {
    const valid = () => stampFor(utf8(whoamiBody()), root.key);
    expect((await ask(whoamiBody(), [`X-Client-Version: ${'x'.repeat(8000)}`]))[0]?.status).toBe(200);
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${valid()}${'A'.repeat(8192)}`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`X-Session: ${'A'.repeat(8193)}`, 'X-Stamp: -']), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`X-Other: ${'x'.repeat(16 * 1024)}`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`${'x'.repeat(16 * 1024)}: 1`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(
      ask(
        whoamiBody(),
        Array.from({ length: 4000 }, (_x, index) => `a${index}: 1`),
      ),
      'HEADER_TOO_LARGE',
    );
    expect(
      (
        await ask(
          whoamiBody(),
          Array.from({ length: 1000 }, (_x, index) => `a${index}: 1`),
        )
      )[0]?.status,
    ).toBe(200);
  });

  test('authentication headers are given once', async () => {
    const stamp = stampFor(utf8(whoamiBody()), root.key);
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${stamp}`, `x-stamp: ${stamp}`]), 'REQUEST_INVALID');
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${stamp}`, 'X-Session: token']), 'REQUEST_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp: -']), 'SIGNATURE_MISSING');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp:']), 'SIGNATURE_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp-Attested: x', 'X-Stamp: -']), 'SIGNATURE_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp-Attested: x']), 'REQUEST_INVALID');
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'M-SEARCH', 'QUERY'])(
    '%s is not POST',
    async (method) => {
      await expectNoChange(() =>
        expectRawRefusal(ask(whoamiBody(), [], `${method} ${WHOAMI} HTTP/1.1`), 'METHOD_NOT_ALLOWED'),
      );
    },
  );

  test('HEAD is answered without a body', async () => {
    const answer = await fetch(`${world.server.baseUrl}${WHOAMI}`, { method: 'HEAD' });
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 405, text: '' });
  });

  test.each([
    '/',
    '//public/v1/query/whoami',
    '/public/v1/query/whoami/',
    '/public/v1/query/',
    '/public/v1/query/nothing',
    '/public/v1/query/constructor',
    '/public/v1/query/__proto__',
    '/public/v1/query/whoami%00',
    '/public/v1/query/whoami%2f',
    '/public/v1/query/who\u00e9mi',
    '/public/v1/query/%',
    '/public/v1/query/%zz',
    '/public/v1/query/%c0%af',
    '/public/v1/query/../query/nothing',
    '/public/v1/query/..%2f..%2f..%2fetc%2fpasswd',
    '/public/v1/submit/whoami',
    '/PUBLIC/V1/QUERY/WHOAMI',
    '*',
    `/${'x'.repeat(8000)}`,
    '/public/v1/query/whoami;a=b',
    '/public/v1/query/whoami\\',
    'http://[::bad/public/v1/query/whoami',
  ])('nothing is at %s', async (path) => {
    await expectRawRefusal(ask(whoamiBody(), [], `POST ${path} HTTP/1.1`));
  });

  test.each(['/public/v1/query/who%61mi', '/public/v1/query/whoami?x=1#y', `http://elsewhere${WHOAMI}`])(
    '%s is the same path in other words or no path',
    async (path) => {
      const [answer] = await ask(whoamiBody(), [], `POST ${path} HTTP/1.1`);
      expect(flawOfAnswer(answer as RawAnswer)).toBeUndefined();
    },
  );

  test('HTTP/1.0 and older is answered', async () => {
    const [answer] = await ask(whoamiBody(), [], `POST ${WHOAMI}`);
    expect(flawOfAnswer(answer as RawAnswer)).toBeUndefined();
    expect((await ask(whoamiBody(), ['Host: -'], `POST ${WHOAMI} HTTP/1.0`))[0]?.status).toBe(200);
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp: -'], `POST ${WHOAMI} HTTP/1.0`), 'SIGNATURE_MISSING');
  });

  test.each<[string, (body: string) => readonly (string | Uint8Array)[]]>([
    ['no host', (body) => [head(body, ['Host: -']), body]],
    ['two lengths', (body) => [head(body, [`Content-Length: ${body.length}`, 'Content-Length: 1']), body]],
    [
      'a length and chunks',
      (body) => [head(body, [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked']), body],
    ],
    ['a negative length', (body) => [head(body, ['Content-Length: -1']), body]],
    ['a length in words', (body) => [head(body, ['Content-Length: ten']), body]],
    ['a length beyond all numbers', (body) => [head(body, [`Content-Length: ${'9'.repeat(30)}`]), body]],
    ['a body shorter than its length', (body) => [head(body, [`Content-Length: ${body.length + 10}`]), body]],
    [
      'chunks that are none',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: chunked']), 'zz\r\n', body],
    ],
    [
      'chunks without an end',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: chunked']), '5\r\nabcde\r\n'],
    ],
    [
      'an unknown transfer coding',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: gzip, chunked']), '0\r\n\r\n'],
    ],
    ['an unknown version', (body) => [head(body, [], `POST ${WHOAMI} HTTP/9.9`), body]],
    ['a method in small letters', (body) => [head(body, [], `post ${WHOAMI} HTTP/1.1`), body]],
    ['a space before the colon', (body) => [head(body, ['X-Odd : 1']), body]],
    ['a header without a name', (body) => [head(body, [': 1']), body]],
    ['a folded header', (body) => [head(body, ['X-Odd: 1\r\n folded']), body]],
    ['a zero in a header', (body) => [head(body, ['X-Odd: a\u0000b']), body]],
    ['bare line feeds', (body) => [head(body).replaceAll('\r\n', '\n'), body]],
    ['half a head', (body) => [head(body).slice(0, 60)]],
    ['the preface of HTTP/2', () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['a TLS hello', () => [Buffer.from('16030100a5010000a10303', 'hex'), randomBytes(160)]],
    ['noise', () => [Buffer.concat([Buffer.of(0xff), randomBytes(500)])]],
  ])('%s gets the documented refusal', async (name, pieces) => {
    expect((await ask(whoamiBody()))[0]?.status).toBe(200);
    await expectNoChange(async () => {
      const isUnfinished = / shorter |without an end|half a /.test(name);
      const [answer, ...more] = await (isUnfinished ? exchangeAndEnd : exchange)(
        world.server.baseUrl,
        ...pieces(whoamiBody()),
      );
      expect(more).toEqual([]);
      expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
    });
  });

  test('an expectation that nobody knows is answered', async () => {
    const [answer] = await ask(whoamiBody(), ['Expect: the unexpected']);
    expect(flawOfAnswer(answer ?? { status: 0, body: undefined })).toBeUndefined();
  });

  test('CONNECT and upgrades lead nowhere', async () => {
    for (const request of [
      'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n',
      head('', ['Connection: Upgrade', 'Upgrade: websocket'], `GET ${WHOAMI} HTTP/1.1`),
      head('', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
    ]) {
      for (const answer of await exchange(world.server.baseUrl, request)) {
        expect(flawOfRefusal(answer)).toBeUndefined();
      }
    }
  });

  test('requests in one piece are answered in order, garbage after them ends the connection', async () => {
    const body = whoamiBody();
    const one = `${head(body)}${body}`;
    const answers = await exchangeSeveral(world.server.baseUrl, 3, one, one, one);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const garbage of ['\u0001\u0002garbage\r\n\r\n', 'GET\r\n\r\n', `${head('{', ['Content-Length: -1'])}`]) {
      const mixed = await exchange(world.server.baseUrl, one, garbage);
      for (const answer of mixed) expect(flawOfAnswer(answer)).toBeUndefined();
      // Garbage does not take the answer of the request before it.
      expect(mixed[0]?.status).toBe(200);
    }
  });

  test('connections that are dropped half way harm nobody', async () => {
    const body = renameBody();
    const whole = `${head(body, [], `POST ${RENAME} HTTP/1.1`)}${body}`;
    await expectNoChange(async () => {
      for (const length of [
        1,
        20,
        100,
        whole.length - body.length,
        whole.length - body.length + 10,
        whole.length - 1,
      ]) {
        await abandon(world.server.baseUrl, whole.slice(0, length));
      }
    });
    expect((await exchange(world.server.baseUrl, whole))[0]?.status).toBe(200);
  });

  test('stamps of any shape are refused', async () => {
    const stamp = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString('base64url');
    const { publicKey } = root.key;
    const schemes = ['P256', 'SECP256K1', 'SECP256K1_EIP191', 'ED25519'].map(
      (name) => `SIGNATURE_SCHEME_TK_API_${name}`,
    );
    const keys = [
      '',
      '00',
      '00'.repeat(32),
      'ff'.repeat(32),
      '00'.repeat(33),
      `02${'ff'.repeat(32)}`,
      `04${'11'.repeat(64)}`,
      publicKey,
      'zz',
      'a'.repeat(5000),
    ];
    const signatures = [
      '',
      '00',
      '00'.repeat(64),
      'ff'.repeat(64),
      '3006020101020101',
      '3006020100020100',
      '30',
      `30${'ff'.repeat(70)}`,
    ];
    const values = [
      ...schemes.flatMap((scheme) =>
        keys.flatMap((key) => signatures.map((signature) => stamp({ publicKey: key, scheme, signature }))),
      ),
      stamp(null),
      stamp([]),
      stamp('x'),
      stamp({}),
      stamp({ publicKey: {}, scheme: [], signature: 1 }),
      stamp({ publicKey, scheme: '__proto__', signature: '00' }),
      stamp({ publicKey, scheme: 'constructor', signature: '00' }),
      '{',
      '====',
      '\u00ff',
      Buffer.from('['.repeat(3000)).toString('base64url'),
    ];
    const flaws: string[] = [];
    await expectNoChange(() =>
      inParallel(values, async (value) => {
        const [answer] = await ask(whoamiBody(), [`X-Stamp: ${value}`]);
        const flaw = flawOfRefusal(answer ?? { status: 0, body: undefined });
        if (flaw !== undefined) flaws.push(`${value.slice(0, 200)}: ${flaw}`);
      }),
    );
    expect(flaws).toEqual([]);
  });

  describe('random', () => {
    interface Valid {
      readonly operation: Operation;
      readonly client: TestClient;
      readonly body: Record<string, unknown>;
    }
    const valid: Valid[] = [];

    beforeAll(async () => {
      for (const operation of operations) {
        for (const version of versionsOf(operation)) {
          const own = await caseFor(operation.name, world.parent, version.type);
          valid.push({ operation, client: own.client, body: bodyOf(version, own, pruned(version, own)) });
        }
      }
    });

    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const anyKey = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'type', 'organizationId', 'userId', 'length'),
      text,
    );
    const anyValue = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      text,
      fc.constantFrom(null, [], {}, '', 0, -1, 2 ** 53, true),
    );
    const edit = fc.record({
      where: fc.nat(),
      how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat', 'swap'),
      key: anyKey,
      value: anyValue,
    });
    const splice = fc.record({ at: fc.nat(), remove: fc.nat({ max: 3 }), bytes: fc.uint8Array({ maxLength: 4 }) });
    const attempt = fc.record({
      which: fc.nat(),
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
      splice: fc.option(splice, { freq: 4 }),
    });
    type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

    /** Every place of a value, as the object or list that holds it and the key there. */
    function places(value: unknown): { holder: Record<string, unknown>; key: string }[] {
      if (typeof value !== 'object' || value === null) return [];
      return Object.keys(value).flatMap((key) => [
        { holder: value as Record<string, unknown>, key },
        ...places((value as Record<string, unknown>)[key]),
      ]);
    }

    function apply(body: Record<string, unknown>, { where, how, key, value }: Edit): void {
      const all = places(body);
      const place = all[where % all.length];
      if (place === undefined) return;
      const { holder } = place;
      const define = (name: string, content: unknown) =>
        Object.defineProperty(holder, name, { value: content, enumerable: true, writable: true, configurable: true });
      switch (how) {
        case 'replace':
          return void define(place.key, value);
        case 'remove':
          return void (Array.isArray(holder) ? holder.splice(Number(place.key), 1) : delete holder[place.key]);
        case 'add':
          return void (Array.isArray(holder) ? holder.push(value) : define(key, value));
        case 'repeat':
          return void (Array.isArray(holder) ? holder.push(holder[Number(place.key)]) : define(key, holder[place.key]));
        case 'swap':
          return void define(place.key, structuredClone(all[(where * 7 + 3) % all.length]?.holder));
      }
    }

    test('bodies that were valid once are always answered', async () => {
      let sent = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(attempt, { minLength: 24, maxLength: 24 }), async (attempts) => {
          await inParallel(attempts, async ({ which, edits, splice: cut }) => {
            const { operation, client, body } = valid[which % valid.length] as Valid;
            const copy: Record<string, unknown> = structuredClone(body);
            if (operation.kind !== 'query') copy.timestampMs = timestampMs();
            for (const one of edits) apply(copy, one);
            const printed = JSON.stringify(copy);
            const at = cut === null ? 0 : cut.at % printed.length;
            const bytes = cut === null ? utf8(printed) : without(printed, at, cut.remove, ...cut.bytes);
            sent += 1;
            const flaw = flawOfAnswer(await client.sendStamped(pathOf(operation), bytes));
            if (flaw !== undefined)
              throw new Error(`${operation.name} ${bytes.toString('latin1').slice(0, 1000)}: ${flaw}`);
          });
        }),
        { numRuns: 110 },
      );
      expect(sent).toBeGreaterThan(2000);
    });

    test('registrations of passkeys with random bytes are always answered', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(splice, { minLength: 1, maxLength: 3 }),
          fc.constantFrom('attestationObject', 'clientDataJson'),
          async (cuts, member) => {
            const { registration } = newPasskey(`random ${timestampMs()}`);
            const attestation = registration.attestation as Record<string, string>;
            let bytes = Buffer.from(attestation[member] as string, 'base64url');
            for (const { at, remove, bytes: added } of cuts) {
              const start = at % bytes.length;
              bytes = Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start + remove)]);
            }
            const changed = { ...registration, attestation: { ...attestation, [member]: bytes.toString('base64url') } };
            const answer = await root.submit('create_authenticators', {
              userId: root.userId,
              authenticators: [changed],
            });
            expect(flawOfAnswer(answer)).toBeUndefined();
          },
        ),
        { numRuns: 250 },
      );
    });

    test('headers of random bytes are always answered', async () => {
      const name = fc.constantFrom(
        'X-Stamp',
        'X-Stamp-WebAuthn',
        'X-Stamp-Attested',
        'X-Session',
        'Content-Type',
        'Content-Encoding',
        'Host',
        'Connection',
        'X-Odd',
      );
      const header = fc.tuple(name, fc.uint8Array({ maxLength: 120 }));
      await fc.assert(
        fc.asyncProperty(fc.array(header, { minLength: 1, maxLength: 4 }), async (headers) => {
          const body = whoamiBody();
          const lines = headers.flatMap(([key, value]) => [utf8(`${key}: `), value, utf8('\r\n')]);
          const start = `POST ${WHOAMI} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n`;
          const answers = await exchange(
            world.server.baseUrl,
            Buffer.concat([utf8(start), ...lines, utf8('\r\n')]),
            body,
          );
          expect(answers.length).toBeGreaterThan(0);
          for (const answer of answers) expect(flawOfRefusal(answer)).toBeUndefined();
        }),
        { numRuns: 400 },
      );
    });

    test('attested stamps of random fields are always refused', async () => {
      const key = newKeyPair();
      const token = await newVerification(root, key, world.parent.ids.email);
      const line = 'POST /public/v1/submit/stamp_login HTTP/1.1';
      const login = () => root.submitBody('stamp_login', { publicKey: newKeyPair().publicKey });
      const first = login();
      const good = attestedStamp(utf8(first), key, token);
      expect((await ask(first, [`X-Stamp-Attested: ${good}`, 'X-Stamp: -'], line))[0]?.status).toBe(200);
      const { publicKey, scheme, signature } = JSON.parse(Buffer.from(good, 'base64url').toString());
      const part = fc.oneof(
        fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
        fc.json({ maxDepth: 1 }),
      );
      const stamp = fc.record({
        publicKeyAttestation: fc.oneof(fc.constant(token), part),
        scheme: fc.oneof(fc.constant(scheme), part),
        publicKey: fc.oneof(fc.constant(publicKey), part),
        signature: fc.oneof(fc.constant(signature), part),
      });
      await expectNoChange(() =>
        fc.assert(
          fc.asyncProperty(stamp, async (fields) => {
            const value = Buffer.from(JSON.stringify(fields)).toString('base64url');
            const [answer] = await ask(login(), [`X-Stamp-Attested: ${value}`, 'X-Stamp: -'], line);
            expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
            expect(answer?.status).toBe(401);
          }),
          { numRuns: 200 },
        ),
      );
    });

    test('passkey stamps of random fields are always refused', async () => {
      const { credentialId } = world.parent.passkey;
      const part = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
      const stamp = fc.record({
        credentialId: fc.oneof(fc.constant(credentialId), part),
        authenticatorData: part,
        clientDataJson: fc.oneof(
          part,
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        signature: part,
      });
      await expectNoChange(() =>
        fc.assert(
          fc.asyncProperty(stamp, async (value) => {
            const [answer] = await ask(whoamiBody(), [`X-Stamp-WebAuthn: ${JSON.stringify(value)}`, 'X-Stamp: -']);
            expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
            expect(answer?.status).toBe(401);
          }),
          { numRuns: 300 },
        ),
      );
    });
  });
});
