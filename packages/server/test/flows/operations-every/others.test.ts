import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { activities, operations, queries, votes } from '../../../src/registry.ts';
import { readUser } from '../../fixtures/users.ts';
import { currentType, send } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { allows, type Shape } from '../../hostile/schema.ts';
import { casesOf, queryCase } from '../../operations/all-cases.ts';
import type { World } from '../../operations/every-case.ts';
import { expectError, fingerprintOf, openEvery } from './support.ts';

describe.each(DATABASES)('every operation on %s', (database) => {
  const suite = openEvery(database, import.meta.url);
  const { newWorld, testIf, isChosen, path } = suite;

  describe.each(queries.map(({ name }) => name).filter((name) => !casesOf(name).isOfOperator))('%s', (name) => {
    const spec = queryCase(name);
    const operation = queries.find((candidate) => candidate.name === name)!;
    let world: World;
    let parameters: Record<string, unknown>;

    beforeAll(async () => {
      world = await newWorld(spec.place);
      parameters = (await spec.parameters?.(world)) ?? {};
    });

    test('answers the whole organization to each of its users and to its parent', async () => {
      for (const client of [world.root, world.plain]) {
        const { status, body } = await client.query(name, parameters);
        expect(status, JSON.stringify(body)).toBe(200);
        if (name === 'whoami' && client === world.plain) expect(body.userId).toBe(world.plain.userId);
        else expect(body).toEqual(spec.answer(world));
      }
      const above = await suite.parent.query(name, { ...parameters, organizationId: world.root.organizationId });
      expect(above.status).toBe(200);
      if (name === 'whoami') expect(above.body.organizationId).toBe(suite.parent.organizationId);
      else expect(above.body).toEqual(spec.answer(world));
    });

    testIf(isChosen)('is not for strangers', async () => {
      const other = await newWorld();
      const stranger = await other.root.query(name, { ...parameters, organizationId: world.root.organizationId });
      expectError(stranger, 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      const child = await other.root.query(name, { ...parameters, organizationId: suite.parent.organizationId });
      if (name === 'whoami') expect(child.body.organizationId).toBe(other.root.organizationId);
      else expectError(child, 401, 'PUBLIC_KEY_NOT_FOUND', 16);
      expectError(
        await world.root.query(name, { ...parameters, organizationId: randomUUID() }),
        404,
        'ORGANIZATION_NOT_FOUND',
        5,
      );
      if (spec.isOfChain) {
        expect((await other.root.query(name, parameters)).body).toEqual(spec.answer(world));
        return;
      }
      // Ids of another organization look like unknown ones.
      const [idName] = Object.keys(parameters);
      if (idName === undefined) return;
      const unknownId = Array.isArray(parameters[idName]) ? [randomUUID()] : randomUUID();
      const unknown = await other.root.query(name, { ...parameters, [idName]: unknownId });
      const foreign = await other.root.query(name, parameters);
      const { foreignAnswer, foreignStatus = foreignAnswer === undefined ? 404 : 200 } = spec;
      expect(foreign.status).toBe(foreignStatus);
      if (foreignAnswer !== undefined) expect(foreign.body).toEqual(foreignAnswer);
      if (foreignStatus === 200 && foreignAnswer === undefined) expectError(unknown, 404, 'RESOURCE_NOT_FOUND', 5);
      else expect(foreign.body).toEqual(unknown.body);
    });

    testIf(isChosen)('refuses malformed requests', async () => {
      const { required = [], properties = {} } = operation.schema as Shape;
      for (const field of required) {
        expectError(await world.root.query(name, { ...parameters, [field]: undefined }), 400, 'REQUEST_INVALID', 3);
        expectError(await world.root.query(name, { ...parameters, [field]: null }), 400, 'REQUEST_INVALID', 3);
        expectError(await world.root.query(name, { ...parameters, [field]: 5 }), 400, 'REQUEST_INVALID', 3);
        if (field !== 'organizationId' && !allows(properties[field] ?? {}, 'x')) {
          expectError(await world.root.query(name, { ...parameters, [field]: 'x' }), 400, 'REQUEST_INVALID', 3);
        }
      }
      expectError(await world.root.query(name, { ...parameters, type: 'anything' }), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.query(name, { ...parameters, type: null }), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.query(name, { organizationId: 'x' }), 400, 'INVALID_ORGANIZATION_ID', 3);
      expectError(await world.root.sendStamped(`/public/v1/query/${name}`, '[]'), 400, 'REQUEST_INVALID', 3);
      expectError(await world.root.sendStamped(`/public/v1/query/${name}`, ''), 400, 'REQUEST_INVALID', 3);
    });
  });

  // What is wrong inside the parameters is tried for every field of every operation in hostile/bad-input.test.ts.
  testIf(isChosen)('what is around the parameters is judged alike for all', async () => {
    const { root } = await newWorld();
    const parameters = { userId: root.userId, userName: 'Renamed' };
    const submit = (overrides: Record<string, unknown>) => root.submit('update_user_name', parameters, overrides);
    for (const overrides of [
      { type: 'ACTIVITY_TYPE_NOTHING' },
      { type: null },
      { type: 7 },
      { timestampMs: undefined },
      { timestampMs: 'now' },
      { timestampMs: '-1' },
      { timestampMs: String(Date.now() - 2 * 60 * 60 * 1000) },
      { parameters: undefined },
      { parameters: [] },
      { organizationId: 12 },
      { organizationId: undefined },
      { generateAppProofs: 'yes' },
    ]) {
      expectError(await submit(overrides), 400, 'REQUEST_INVALID', 3);
    }
    expectError(await submit({ organizationId: 'mine' }), 400, 'INVALID_ORGANIZATION_ID', 3);
    expect((await readUser(root, root.userId)).userName).not.toBe('Renamed');
    expect((await submit({})).status).toBe(200);
  });

  test.each(votes.map(({ name }) => name))('%s needs a fingerprint of this organization', async (name) => {
    const { root } = await newWorld();
    const done = await root.submit('update_user_name', { userId: root.userId, userName: 'n' });
    const { fingerprint } = done.body.activity;
    const type = currentType(name);
    for (const parameters of [
      {},
      { fingerprint: null },
      { fingerprint: 5 },
      { fingerprint: 'sha256:' },
      { fingerprint: fingerprint.toUpperCase() },
    ]) {
      expectError(await root.submit(name, parameters), 400, 'REQUEST_INVALID', 3);
    }
    expectError(
      await root.submit(name, { fingerprint }, { type: 'ACTIVITY_TYPE_DELETE_USERS' }),
      400,
      'REQUEST_INVALID',
    );
    const unknown = await root.submit(name, { fingerprint: fingerprintOf('nothing') });
    expectError(unknown, 404, 'ACTIVITY_NOT_FOUND', 5);
    expect(unknown.body.message).toBe(
      'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
    );
    const other = await newWorld();
    expect((await other.root.submit(name, { fingerprint })).body).toEqual(unknown.body);
    expectError(await suite.parent.submit(name, { fingerprint }), 404, 'ACTIVITY_NOT_FOUND', 5);
    expectError(
      await suite.parent.submit(name, { fingerprint }, { organizationId: root.organizationId }),
      400,
      'ORGANIZATION_MISMATCH',
      3,
    );
    expectError(
      await other.root.submit(name, { fingerprint }, { organizationId: root.organizationId }),
      401,
      'PUBLIC_KEY_NOT_FOUND',
    );
    expect(type).toBe(`ACTIVITY_TYPE_${name.toUpperCase()}`);
  });

  test('get_organization shows policies and contract interfaces too', async () => {
    const { root } = await newWorld();
    const policy = { policyName: 'p', effect: 'EFFECT_ALLOW', condition: '', consensus: 'false', notes: '' };
    await root.run('create_policy', policy);
    const smartContractAddress = `0x${'aB'.repeat(20)}`;
    const { smartContractInterfaceId } = await root.run('create_smart_contract_interface', {
      smartContractAddress,
      smartContractInterface: '[]',
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'l',
    });
    const { organizationData } = (await root.query('get_organization')).body;
    expect(organizationData.policies).toEqual((await root.query('list_policies')).body.policies);
    expect(organizationData.policies).toHaveLength(1);
    expect(organizationData.smartContractInterfaceReferences).toEqual([
      expect.objectContaining({ smartContractInterfaceId, smartContractAddress }),
    ]);
  });

  testIf(isChosen)('types that share the path but are not served are 501', async () => {
    const { root } = await newWorld();
    const unserved = activities.flatMap(({ name, unserved: types }) => types.map((type) => [name, type] as const));
    expect(unserved.map(([, type]) => type)).toEqual(
      expect.arrayContaining(['ACTIVITY_TYPE_CREATE_POLICY', 'ACTIVITY_TYPE_CREATE_POLICY_V2']),
    );
    for (const [name, type] of unserved) expectError(await root.submit(name, {}, { type }), 501, 'UNIMPLEMENTED', 12);
  });

  testIf(isChosen)('a body for one operation is refused on the path of another', async () => {
    const { root } = await newWorld();
    const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'n' });
    for (const { name, kind } of operations) {
      if (kind === 'query' || name === 'update_user_name') continue;
      expectError(await root.sendStamped(path(name), body), 400, 'REQUEST_INVALID', 3);
    }
  });

  testIf(isChosen)('a stamp must be there', async () => {
    const { root } = await newWorld();
    for (const operation of operations) {
      const isQuery = operation.kind === 'query';
      const body = isQuery
        ? JSON.stringify({ organizationId: root.organizationId })
        : root.submitBody(operation.name, {});
      const answer = await send(root.baseUrl, `/public/v1/${isQuery ? 'query' : 'submit'}/${operation.name}`, body);
      expectError(answer, 401, 'SIGNATURE_MISSING', 16);
      expect(answer.body.message).toBe('no valid authentication signature found for request');
    }
  });
});
