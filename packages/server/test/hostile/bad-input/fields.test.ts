import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/engine/define.ts';
import type { ErrorCode } from '../../../src/lib/errors.ts';
import { operations, pathOf } from '../../../src/registry.ts';
import type { Answer, TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { caseFor, casesOf } from '../../operations/all-cases.ts';
import type { Case } from '../../operations/hostile-case.ts';
import { expectRefusal, flawOfAnswer, flawOfRefusal } from '../answers.ts';
import { MEBIBYTE, type Mutation, mutationsOf, toJson, withStrangers } from '../mutations.ts';
import { allows, type Field, fieldsOf, read, type Shape, type Version, versionsOf, withValue } from '../schema.ts';
import { inParallel } from '../wire.ts';
import { bodyOf, firstPlaces, openFields, placeOf, pruned, shapeOf } from './support.ts';

const send = (operation: Operation, client: TestClient, body: unknown): Promise<Answer> =>
  client.sendStamped(pathOf(operation), toJson(body));

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

const LARGE = 'a'.repeat(MEBIBYTE);

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
describe.each(DATABASES)('wrong fields on %s', (database) => {
  const suite = openFields(database);
  const { isThorough, expectNoChange } = suite;

  const versionsHere = (operation: Operation) => versionsOf(operation).slice(0, isThorough ? undefined : 1);

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
        const own = await caseFor(operation.name, suite.world.parent, version.type);
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
        const own = await caseFor(operation.name, suite.world.parent, version.type);
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
            const own = await caseFor(operation.name, suite.world.parent, version.type);
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
        const own = await caseFor(operation.name, suite.world.parent, version.type);
        const body = withStrangers(bodyOf(version, own, pruned(version, own)));
        const answer = await send(operation, own.client, body);
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        expect(({} as Record<string, unknown>).isRoot).toBeUndefined();
      }
    });
  });

  test('a query body with a type is refused, whatever the type is', async () => {
    for (const operation of operations.filter(({ kind }) => kind === 'query')) {
      // On PostgreSQL nobody is the operator unless a setting says so.
      if (database !== 'sqlite' && casesOf(operation.name).isOfOperator) continue;
      const [version] = versionsOf(operation) as [Version];
      const own = await caseFor(operation.name, suite.world.parent);
      const body = bodyOf(version, own, pruned(version, own));
      const answer = await send(operation, own.client, body);
      expect(answer.status, JSON.stringify([operation.name, answer.body])).toBe(200);
      for (const type of ['ACTIVITY_TYPE_CREATE_USERS_V4', '', null, 1, {}, []]) {
        expectRefusal(await send(operation, own.client, { ...body, type }), 'REQUEST_INVALID');
      }
    }
  });

  test('a vote on any activity of the history is answered', async () => {
    const { root } = suite.world.parent;
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
    const { root } = suite.world.parent;
    for (const value of ['fine', 'a\u0000b']) {
      const stored = await root.submit('set_organization_feature', { name: 'FEATURE_NAME_AUTH_PROXY', value });
      expect(flawOfAnswer(stored)).toBeUndefined();
      for (const filterType of ['NAME', 'USERNAME', 'EMAIL', 'PHONE_NUMBER', 'CREDENTIAL_ID', 'PUBLIC_KEY']) {
        const found = await root.query('list_suborgs', { filterType, filterValue: value });
        expect(flawOfAnswer(found), `${filterType} ${JSON.stringify(value)}`).toBeUndefined();
      }
    }
  });
});
