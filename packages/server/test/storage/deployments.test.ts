import { describe, expect, test } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import type {
  DeployedApp,
  Deployment,
  ManifestApproval,
  Operator,
  OperatorSet,
} from '../../src/domains/deployments/model.ts';
import { TvcReader, TvcStore } from '../../src/domains/deployments/store.ts';
import { type DeployedAppId, type OrganizationId, randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { codeOf, NOW, Place, times, withOrganization } from './place.ts';

// Operators, apps, deployments and approvals, on both databases.

const ALL = { kind: 'all', max: 100 } as const;
const TEXT = 'é"😀\u2028\\';
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);

const operator = (extra: Partial<Operator> = {}): Operator => ({
  id: randomId(),
  name: TEXT,
  signPublicKey: randomId(),
  encryptPublicKey: randomId(),
  keySource: 'ORG_WALLET_ACCOUNT',
  createdAtMs: NOW,
  ...extra,
});
const operatorSet = (operators: readonly Operator[], extra: Partial<OperatorSet> = {}): OperatorSet => ({
  id: randomId(),
  name: TEXT,
  threshold: 2,
  operators,
  createdAtMs: NOW,
  ...extra,
});
const app = (set: OperatorSet, extra: Partial<DeployedApp> = {}): DeployedApp => ({
  id: randomId(),
  name: TEXT,
  quorumPublicKey: '02ab',
  manifestSetId: set.id,
  shareSetId: set.id,
  enableEgress: true,
  enableDebugMode: false,
  liveDeploymentId: undefined,
  createdAtMs: NOW,
  updatedAtMs: NOW + 1,
  deletedAtMs: undefined,
  ...extra,
});
const deployment = (appId: DeployedAppId, extra: Partial<Deployment> = {}): Deployment => ({
  id: randomId(),
  appId,
  manifestId: randomId(),
  manifest: `{"a":${JSON.stringify(TEXT)}}`,
  encryptedPullSecret: undefined,
  replicas: 3,
  approvedAtMs: undefined,
  createdAtMs: NOW,
  updatedAtMs: NOW + 1,
  deletedAtMs: undefined,
  ...extra,
});
const approval = (of: Deployment, by: Operator, extra: Partial<ManifestApproval> = {}): ManifestApproval => ({
  id: randomId(),
  deploymentId: of.id,
  operatorId: by.id,
  signature: Uint8Array.from({ length: 64 }, (_, index) => 255 - index),
  createdAtMs: NOW,
  ...extra,
});

/** An organization with two operators in a set, and an app of it. */
async function furnish(storage: Storage): Promise<{
  organizationId: OrganizationId;
  operators: [Operator, Operator];
  set: OperatorSet;
  made: DeployedApp;
}> {
  const { id: organizationId } = await withOrganization(storage);
  const operators: [Operator, Operator] = [operator(), operator({ encryptPublicKey: undefined })];
  const set = operatorSet(operators);
  const made = app(set);
  await storage.write(async (store) => {
    const tvc = store(TvcStore);
    for (const one of operators) await tvc.insertOperator(organizationId, one);
    await tvc.insertOperatorSet(organizationId, set);
    await tvc.insertApp(organizationId, made);
  });
  return { organizationId, operators, set, made };
}

describe.each(DATABASES)('stores of deployments on %s', (kind) => {
  test('answer what was put in', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, operators, set, made } = await furnish(storage);
    const tvc = storage.read(TvcReader);
    expect(await tvc.getOperators(organizationId, [operators[1].id, operators[0].id])).toEqual(
      [...operators].reverse(),
    );
    expect(await tvc.findOperator(organizationId, operators[1].signPublicKey)).toEqual(operators[1]);
    expect(await tvc.findOperator(organizationId, randomId())).toBeUndefined();
    expect((await tvc.operators(organizationId, ALL)).items).toEqual(operators);
    expect(await tvc.getOperatorSet(organizationId, set.id)).toEqual(set);
    expect(await tvc.operatorSets(organizationId, [set.id, set.id, randomId()])).toEqual(new Map([[set.id, set]]));
    expect(await tvc.operatorSets(organizationId, [])).toEqual(new Map());
    expect(await tvc.getApp(organizationId, made.id)).toEqual(made);
    const filled = deployment(made.id, {
      encryptedPullSecret: TEXT,
      replicas: 7,
      approvedAtMs: NOW + 2,
      deletedAtMs: NOW + 3,
    });
    await storage.write((store) => store(TvcStore).insertDeployment(organizationId, filled));
    expect(await tvc.getDeployment(organizationId, filled.id)).toEqual(filled);
    expect(await tvc.getDeploymentOfManifest(organizationId, filled.manifestId)).toEqual(filled);
    const live = app(set, { liveDeploymentId: filled.id, enableDebugMode: true, enableEgress: false });
    await storage.write((store) => store(TvcStore).insertApp(organizationId, live));
    expect(await tvc.findApp(organizationId, live.id)).toEqual(live);
    const missing = [
      tvc.getOperators(organizationId, [operators[0].id, randomId()]),
      tvc.getOperatorSet(organizationId, randomId()),
      tvc.getApp(organizationId, randomId()),
      tvc.appOf(organizationId, { appId: randomId() }),
      tvc.getDeployment(organizationId, randomId()),
      tvc.getDeploymentOfManifest(organizationId, filled.id),
    ].map(codeOf);
    expect(new Set(await Promise.all(missing))).toEqual(new Set(['RESOURCE_NOT_FOUND']));
  });

  test('keep organizations apart', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, operators, set, made } = await furnish(storage);
    const { organizationId: other } = await furnish(storage);
    const row = deployment(made.id);
    await storage.write(async (store) => {
      await store(TvcStore).insertDeployment(organizationId, row);
      await store(TvcStore).keepApproval(organizationId, approval(row, operators[0]));
      // Nobody's hands reach across.
      expect(await store(TvcStore).markApproved(other, row.id, NOW)).toBe(false);
      expect(await store(TvcStore).setFirstLive(other, row, NOW)).toBe(false);
      await store(TvcStore).setLive(other, made.id, row.id, NOW);
      await store(TvcStore).markDeployment(other, row.id, NOW, NOW);
      await store(TvcStore).deleteApp(other, made.id, NOW);
    });
    const tvc = storage.read(TvcReader);
    expect(await tvc.getApp(organizationId, made.id)).toEqual(made);
    expect(await tvc.getDeployment(organizationId, row.id)).toEqual(row);
    const foreign = [
      tvc.getOperators(other, [operators[0].id]),
      tvc.getOperatorSet(other, set.id),
      tvc.getApp(other, made.id),
      tvc.getDeployment(other, row.id),
      tvc.getDeploymentOfManifest(other, row.manifestId),
    ].map(codeOf);
    expect(new Set(await Promise.all(foreign))).toEqual(new Set(['RESOURCE_NOT_FOUND']));
    expect(await tvc.findOperator(other, operators[0].signPublicKey)).toBeUndefined();
    expect(await tvc.findOperatorSet(other, TEXT, 2, idsOf(operators))).toBeUndefined();
    expect(await tvc.approvals(other, [row.id])).toEqual([]);
    expect((await tvc.deployments(other, made.id, ALL)).items).toEqual([]);
    expect(await tvc.deploymentStates(other, made.id, 9)).toEqual([]);
    expect(await tvc.countDeployments(other, made.id)).toBe(0);
    expect(idsOf((await tvc.apps(other, ALL)).items)).not.toContain(made.id);
    expect(idsOf((await tvc.operators(other, ALL)).items)).toHaveLength(2);
  });

  test('find a set by its members in any order, and by nothing less', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, operators, set } = await furnish(storage);
    const ids = idsOf(operators);
    const find = (name: string, threshold: number, members: readonly string[]) =>
      storage.read(TvcReader).findOperatorSet(organizationId, name, threshold, members);
    expect(await find(TEXT, 2, ids)).toEqual(set);
    expect(await find(TEXT, 2, [...ids].reverse())).toEqual(set);
    expect(await find(`${TEXT} `, 2, ids)).toBeUndefined();
    expect(await find(TEXT, 1, ids)).toBeUndefined();
    expect(await find(TEXT, 2, ids.slice(0, 1))).toBeUndefined();
    expect(await find(TEXT, 2, [...ids, randomId()])).toBeUndefined();
    const twin = operatorSet([...operators].reverse());
    expect(await codeOf(storage.write((store) => store(TvcStore).insertOperatorSet(organizationId, twin)))).toBe(
      'ALREADY_EXISTS',
    );
  });

  test('keep the first approval of an operator', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, operators, made } = await furnish(storage);
    const [row, other] = [deployment(made.id), deployment(made.id)];
    const first = approval(row, operators[0]);
    const kept = await storage.write(async (store) => {
      const tvc = store(TvcStore);
      for (const one of [row, other]) await tvc.insertDeployment(organizationId, one);
      const ids: string[] = [];
      for (const one of [
        first,
        approval(row, operators[0], { signature: Uint8Array.of(1), createdAtMs: NOW + 1 }),
        approval(row, operators[1]),
        approval(other, operators[0]),
      ]) {
        ids.push(await tvc.keepApproval(organizationId, one));
      }
      return ids;
    });
    expect(kept[0]).toBe(first.id);
    expect(kept[1]).toBe(first.id);
    expect(new Set(kept).size).toBe(3);
    const found = await storage.read(TvcReader).approvals(organizationId, [row.id]);
    expect(idsOf(found)).toEqual([kept[0], kept[2]].sort());
    expect({ ...found[0], signature: Buffer.from(found[0]?.signature ?? []).toString('hex') }).toEqual({
      ...first,
      signature: Buffer.from(first.signature).toString('hex'),
    });
    expect(await storage.read(TvcReader).approvals(organizationId, [row.id, other.id])).toHaveLength(3);
    expect(await storage.read(TvcReader).approvals(organizationId, [])).toEqual([]);
  });

  test('mark once, and make one live, whoever is first', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, made } = await furnish(storage);
    const rows = times(5, () => deployment(made.id));
    await storage.write(async (store) => {
      const tvc = store(TvcStore);
      for (const row of rows) await tvc.insertDeployment(organizationId, row);
    });
    // Without the lock of the organization, which an activity holds besides.
    const marked = await Promise.all(
      times(5, () => storage.write((store) => store(TvcStore).markApproved(organizationId, rows[0]!.id, NOW + 5))),
    );
    expect(marked.filter(Boolean)).toHaveLength(1);
    const live = await Promise.all(
      rows.map((row) => storage.write((store) => store(TvcStore).setFirstLive(organizationId, row, NOW + 6))),
    );
    expect(live.filter(Boolean)).toHaveLength(1);
    const tvc = storage.read(TvcReader);
    expect(await tvc.getDeployment(organizationId, rows[0]!.id)).toMatchObject({
      approvedAtMs: NOW + 5,
      updatedAtMs: NOW + 5,
    });
    expect(await tvc.getApp(organizationId, made.id)).toMatchObject({
      liveDeploymentId: rows[live.indexOf(true)]?.id,
      updatedAtMs: NOW + 6,
    });
    await storage.write((store) => store(TvcStore).setLive(organizationId, made.id, undefined, NOW + 7));
    expect((await tvc.getApp(organizationId, made.id)).liveDeploymentId).toBeUndefined();
    await storage.write((store) => store(TvcStore).deleteApp(organizationId, made.id, NOW + 8));
    expect(await storage.write((store) => store(TvcStore).setFirstLive(organizationId, rows[0]!, NOW))).toBe(false);
  });

  test('list what is there, and leave what is marked', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, set, made } = await furnish(storage);
    const second = app(set);
    const rows = times(4, () => deployment(made.id));
    const elsewhere = deployment(second.id);
    await storage.write(async (store) => {
      await store(TvcStore).insertApp(organizationId, second);
      for (const row of [...rows, elsewhere]) await store(TvcStore).insertDeployment(organizationId, row);
      await store(TvcStore).markDeployment(organizationId, rows[1]!.id, NOW + 9, NOW + 10);
    });
    const tvc = storage.read(TvcReader);
    const list = async (request: Parameters<typeof tvc.deployments>[2] = ALL) =>
      idsOf((await tvc.deployments(organizationId, made.id, request)).items);
    const states = (max = 3) => tvc.deploymentStates(organizationId, made.id, max);
    expect(await list()).toEqual(idsOf(rows));
    expect(await states()).toEqual(
      [rows[0]!, rows[2]!, rows[3]!].map(({ id, replicas, approvedAtMs, updatedAtMs }) => ({
        id,
        replicas,
        approvedAtMs,
        updatedAtMs,
      })),
    );
    expect(await codeOf(states(2))).toBe('RESULT_TOO_LARGE');
    expect(await tvc.countDeployments(organizationId, made.id)).toBe(3);
    const page = { kind: 'page', limit: 2, after: rows[1]!.id } as const;
    expect(await list(page)).toEqual(idsOf(rows.slice(2)));
    expect(await codeOf(list({ kind: 'all', max: 3 }))).toBe('RESULT_TOO_LARGE');
    expect(await tvc.getDeployment(organizationId, rows[1]!.id)).toMatchObject({
      deletedAtMs: NOW + 9,
      updatedAtMs: NOW + 10,
    });
    expect(await tvc.hasOtherDeployment(organizationId, elsewhere)).toBe(false);
    expect(await tvc.hasOtherDeployment(organizationId, rows[1]!)).toBe(true);
    await storage.write(async (store) => {
      await store(TvcStore).markDeployment(organizationId, rows[1]!.id, undefined, NOW);
      for (const row of rows.slice(1)) await store(TvcStore).markDeployment(organizationId, row.id, NOW, NOW);
    });
    expect(await tvc.hasOtherDeployment(organizationId, rows[0]!)).toBe(false);
    // An app that is deleted takes the rest along, and no other app's.
    await storage.write((store) => store(TvcStore).deleteApp(organizationId, made.id, NOW + 11));
    expect(await codeOf(tvc.getApp(organizationId, made.id))).toBe('RESOURCE_NOT_FOUND');
    expect(await tvc.appOf(organizationId, { appId: made.id })).toMatchObject({ deletedAtMs: NOW + 11 });
    expect(await states()).toEqual([]);
    // What was marked before keeps its time.
    const marks = (await tvc.deployments(organizationId, made.id, ALL)).items.map((row) => row.deletedAtMs);
    expect(marks).toEqual([NOW + 11, NOW, NOW, NOW]);
    expect((await tvc.getDeployment(organizationId, elsewhere.id)).deletedAtMs).toBeUndefined();
    expect(idsOf((await tvc.apps(organizationId, ALL)).items)).toEqual([second.id]);
    expect((await tvc.apps(organizationId, { kind: 'page', limit: 1, after: made.id })).items).toHaveLength(1);
    expect((await tvc.quorumKeys(ALL)).items).toEqual([]);
    expect(await codeOf(tvc.quorumKeys({ kind: 'page', limit: 1, after: made.id }))).toBe('REQUEST_INVALID');
  });

  test('replicas of before they had a column are those of the manifests', async () => {
    await using place = await Place.create(kind);
    const before = await place.open();
    const { organizationId, made } = await furnish(before);
    const rows = times(103, (index) => deployment(made.id, { manifest: `{"replicas":${index + 1}}` }));
    await before.write(async (store) => {
      const tvc = store(TvcStore);
      for (const row of rows) await tvc.insertDeployment(organizationId, row);
    });
    await place.close(before);
    await place.run(`ALTER TABLE tvc_deployment DROP COLUMN replicas;
      DELETE FROM schema_migration WHERE name = '0012-deployment-replicas'`);
    const after = await place.open();
    const states = await after.read(TvcReader).deploymentStates(organizationId, made.id, 200);
    expect(states.map(({ id, replicas }) => [id, replicas])).toEqual(rows.map(({ id }, index) => [id, index + 1]));
  });

  test('nothing of an organization that is erased stays', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { organizationId, operators, set, made } = await furnish(storage);
    const { organizationId: other } = await furnish(storage);
    const row = deployment(made.id);
    await storage.write(async (store) => {
      await store(TvcStore).insertDeployment(organizationId, row);
      await store(TvcStore).keepApproval(organizationId, approval(row, operators[0]));
      await store(OrganizationStore).erase(organizationId, NOW);
    });
    const tvc = storage.read(TvcReader);
    expect(await tvc.findApp(organizationId, made.id)).toBeUndefined();
    expect(await codeOf(tvc.getDeployment(organizationId, row.id))).toBe('RESOURCE_NOT_FOUND');
    expect(await tvc.operatorSets(organizationId, [set.id])).toEqual(new Map());
    expect(await tvc.approvals(organizationId, [row.id])).toEqual([]);
    expect((await tvc.operators(organizationId, ALL)).items).toEqual([]);
    expect((await tvc.operators(other, ALL)).items).toHaveLength(2);
  });
});
