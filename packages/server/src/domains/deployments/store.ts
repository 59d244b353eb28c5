import { type RawBuilder, type Selectable, sql } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import { sha256Hex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import type {
  DeployedAppId,
  DeploymentId,
  ManifestApprovalId,
  ManifestId,
  OperatorId,
  OperatorSetId,
  OrganizationId,
} from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { bytesOf } from '../../storage/bytes-of.ts';
import { amend, amendOne } from '../../storage/integrity/amend.ts';
import { partial } from '../../storage/integrity/partial.ts';
import { fetchPage } from '../../storage/keyset.ts';
import { findRow, pageOfRows } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type {
  DeployedApp,
  Deployment,
  DeploymentState,
  ManifestApproval,
  Operator,
  OperatorKeySource,
  OperatorSet,
} from './model.ts';
import type {
  TvcApprovalTable,
  TvcAppTable,
  TvcDeploymentTable,
  TvcOperatorSetTable,
  TvcOperatorTable,
} from './tables.ts';

const toOperator = (row: Selectable<TvcOperatorTable>): Operator => ({
  id: row.id as OperatorId,
  name: row.name,
  signPublicKey: row.sign_public_key,
  encryptPublicKey: row.encrypt_public_key ?? undefined,
  keySource: row.key_source as OperatorKeySource,
  createdAtMs: row.created_at_ms,
});

const toApp = (row: Selectable<TvcAppTable>): DeployedApp => ({
  id: row.id as DeployedAppId,
  name: row.name,
  quorumPublicKey: row.quorum_public_key,
  manifestSetId: row.manifest_set_id as OperatorSetId,
  shareSetId: row.share_set_id as OperatorSetId,
  enableEgress: row.enable_egress === 1,
  enableDebugMode: row.enable_debug_mode === 1,
  liveDeploymentId: (row.live_deployment_id as DeploymentId | null) ?? undefined,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
  deletedAtMs: row.deleted_at_ms ?? undefined,
});

const toDeployment = (row: Selectable<TvcDeploymentTable>): Deployment => ({
  id: row.id as DeploymentId,
  appId: row.app_id as DeployedAppId,
  manifestId: row.manifest_id as ManifestId,
  manifest: row.manifest,
  encryptedPullSecret: row.encrypted_pull_secret ?? undefined,
  replicas: row.replicas,
  approvedAtMs: row.approved_at_ms ?? undefined,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
  deletedAtMs: row.deleted_at_ms ?? undefined,
});

const toApproval = (row: Selectable<TvcApprovalTable>): ManifestApproval => ({
  id: row.id as ManifestApprovalId,
  deploymentId: row.deployment_id as DeploymentId,
  operatorId: row.operator_id as OperatorId,
  signature: row.signature,
  createdAtMs: row.created_at_ms,
});

const notFound = (what: string): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', `${what} not found in this organization`);

const operatorIdsOf = (row: Selectable<TvcOperatorSetTable>): string[] => JSON.parse(row.operator_ids) as string[];

/** The same for the same members, in whatever order they were named. */
const digestOf = (operatorIds: readonly string[]): string => sha256Hex([...operatorIds].sort().join());

const insertOperators = insertion('tvc-operator-insert', 'tvc_operator', [
  'organization_id',
  'id',
  'name',
  'sign_public_key',
  'encrypt_public_key',
  'key_source',
  'created_at_ms',
]);
const insertOperatorSets = insertion('tvc-operator-set-insert', 'tvc_operator_set', [
  'organization_id',
  'id',
  'name',
  'threshold',
  'operator_ids',
  'members_digest',
  'created_at_ms',
]);
const insertApps = insertion('tvc-app-insert', 'tvc_app', [
  'organization_id',
  'id',
  'name',
  'quorum_public_key',
  'manifest_set_id',
  'share_set_id',
  'enable_egress',
  'enable_debug_mode',
  'live_deployment_id',
  'created_at_ms',
  'updated_at_ms',
  'deleted_at_ms',
]);
const insertDeployments = insertion('tvc-deployment-insert', 'tvc_deployment', [
  'organization_id',
  'id',
  'app_id',
  'manifest_id',
  'manifest',
  'encrypted_pull_secret',
  'replicas',
  'approved_at_ms',
  'created_at_ms',
  'updated_at_ms',
  'deleted_at_ms',
]);

/** Deployments that are read at once to be changed: each has a manifest. */
const CHANGED_AT_ONCE = 20;

/** Apps that run in enclaves elsewhere: who approves what of them, and what is live. */
/** What is shown of an operator has about so many times the bytes of its id in a set. */
const OPERATOR_FACTOR = sql.lit(24);

const setBytes = (table: string, column: string): RawBuilder<number> =>
  sql`(SELECT ${OPERATOR_FACTOR} * octet_length(members.operator_ids) FROM tvc_operator_set AS members
    WHERE members.organization_id = ${sql.ref(`${table}.organization_id`)} AND members.id = ${sql.ref(`${table}.${column}`)})`;

/** A deployment is shown with the sets of its app, and with an approval of each operator who signs manifests. */
const DEPLOYMENT_BYTES: RawBuilder<number> = sql`(${bytesOf('tvc_deployment', ['manifest', 'encrypted_pull_secret'])} +
  (SELECT 2 * ${setBytes('app', 'manifest_set_id')} + ${setBytes('app', 'share_set_id')} FROM tvc_app AS app
    WHERE app.organization_id = tvc_deployment.organization_id AND app.id = tvc_deployment.app_id))`;

export class TvcReader extends Reader {
  /** All of them, in the order of the ids, or an error. */
  async getOperators(organizationId: OrganizationId, operatorIds: readonly string[]): Promise<Operator[]> {
    const found = new Map<string, Operator>();
    for (const ids of chunks([...new Set(operatorIds)])) {
      const rows = await this.db
        .selectFrom('tvc_operator')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('id', 'in', ids)
        .execute();
      for (const row of rows) found.set(row.id, toOperator(row));
    }
    return operatorIds.map((id) => {
      const operator = found.get(id);
      if (operator === undefined) throw notFound('operator');
      return operator;
    });
  }

  async findOperator(organizationId: OrganizationId, signPublicKey: string): Promise<Operator | undefined> {
    const row = await this.db
      .selectFrom('tvc_operator')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('sign_public_key', '=', signPublicKey)
      .executeTakeFirst();
    return row && toOperator(row);
  }

  async operators(organizationId: OrganizationId, request: PageRequest): Promise<Page<Operator>> {
    return await pageOfRows(this.db, 'tvc_operator', organizationId, request, (rows) => rows.map(toOperator));
  }

  async getOperatorSet(organizationId: OrganizationId, setId: string): Promise<OperatorSet> {
    const set = (await this.operatorSets(organizationId, [setId])).get(setId);
    if (set === undefined) throw notFound('operator set');
    return set;
  }

  /** Those of the given ones that are there, with their members. */
  async operatorSets(
    organizationId: OrganizationId,
    setIds: readonly string[],
  ): Promise<ReadonlyMap<string, OperatorSet>> {
    const rows: Selectable<TvcOperatorSetTable>[] = [];
    for (const ids of chunks([...new Set(setIds)])) {
      rows.push(
        ...(await this.db
          .selectFrom('tvc_operator_set')
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('id', 'in', ids)
          .execute()),
      );
    }
    const memberIds = [...new Set(rows.flatMap(operatorIdsOf))];
    const members = new Map<string, Operator>(
      (await this.getOperators(organizationId, memberIds)).map((operator) => [operator.id, operator]),
    );
    return new Map(
      rows.map((row) => [
        row.id,
        {
          id: row.id as OperatorSetId,
          name: row.name,
          threshold: row.threshold,
          operators: operatorIdsOf(row).map((id) => members.get(id) as Operator),
          createdAtMs: row.created_at_ms,
        },
      ]),
    );
  }

  /** The set of this name and threshold with exactly these members. */
  async findOperatorSet(
    organizationId: OrganizationId,
    name: string,
    threshold: number,
    operatorIds: readonly string[],
  ): Promise<OperatorSet | undefined> {
    const row = await this.db
      .selectFrom('tvc_operator_set')
      .modifyFront(partial('its id, by which it is read whole'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .where('threshold', '=', threshold)
      .where('members_digest', '=', digestOf(operatorIds))
      .executeTakeFirst();
    return row && (await this.getOperatorSet(organizationId, row.id));
  }

  /** Also one that was deleted. */
  async findApp(organizationId: OrganizationId, appId: string): Promise<DeployedApp | undefined> {
    const row = await findRow(this.db, 'tvc_app', organizationId, appId);
    return row && toApp(row);
  }

  async getApp(organizationId: OrganizationId, appId: string): Promise<DeployedApp> {
    const app = await this.findApp(organizationId, appId);
    if (app === undefined || app.deletedAtMs !== undefined) throw notFound('app');
    return app;
  }

  /** The app of a deployment, which may have been deleted. */
  async appOf(organizationId: OrganizationId, { appId }: Pick<Deployment, 'appId'>): Promise<DeployedApp> {
    const app = await this.findApp(organizationId, appId);
    if (app === undefined) throw notFound('app');
    return app;
  }

  async apps(organizationId: OrganizationId, request: PageRequest): Promise<Page<DeployedApp>> {
    return await pageOfRows(this.db, 'tvc_app', organizationId, request, (rows) => rows.map(toApp), {
      filter: sql`AND deleted_at_ms IS NULL`,
      bytes: sql`(1024 + ${setBytes('tvc_app', 'manifest_set_id')} + ${setBytes('tvc_app', 'share_set_id')})`,
    });
  }

  /** Also one that is marked as deleted. */
  async getDeployment(organizationId: OrganizationId, deploymentId: string): Promise<Deployment> {
    const row = await findRow(this.db, 'tvc_deployment', organizationId, deploymentId);
    if (row === undefined) throw notFound('deployment');
    return toDeployment(row);
  }

  async getDeploymentOfManifest(organizationId: OrganizationId, manifestId: string): Promise<Deployment> {
    const row = await this.db
      .selectFrom('tvc_deployment')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('manifest_id', '=', manifestId)
      .executeTakeFirst();
    if (row === undefined) throw notFound('manifest');
    return toDeployment(row);
  }

  /** Deleted ones too. */
  async deployments(organizationId: OrganizationId, appId: string, request: PageRequest): Promise<Page<Deployment>> {
    return await pageOfRows(this.db, 'tvc_deployment', organizationId, request, (rows) => rows.map(toDeployment), {
      filter: sql`AND app_id = ${appId}`,
      bytes: DEPLOYMENT_BYTES,
    });
  }

  /** Of those that are not deleted, oldest first; no manifest is read for it. */
  async deploymentStates(organizationId: OrganizationId, appId: string, max: number): Promise<DeploymentState[]> {
    const rows = await this.db
      .selectFrom('tvc_deployment')
      .modifyFront(partial('states to be shown, without the manifests'))
      .select(['id', 'replicas', 'approved_at_ms', 'updated_at_ms'])
      .where('organization_id', '=', organizationId)
      .where('app_id', '=', appId)
      .where('deleted_at_ms', 'is', null)
      .orderBy('id')
      .limit(max + 1)
      .execute();
    if (rows.length > max) throw new ApiError('RESULT_TOO_LARGE', `the app has more than ${max} deployments`);
    return rows.map((row) => ({
      id: row.id as DeploymentId,
      replicas: row.replicas,
      approvedAtMs: row.approved_at_ms ?? undefined,
      updatedAtMs: row.updated_at_ms,
    }));
  }

  /** Those that are not deleted. */
  async countDeployments(organizationId: OrganizationId, appId: string): Promise<number> {
    const { count } = await this.db
      .selectFrom('tvc_deployment')
      .modifyFront(partial('a count'))
      .select(({ fn }) => fn.countAll().as('count'))
      .where('organization_id', '=', organizationId)
      .where('app_id', '=', appId)
      .where('deleted_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Whether the app has a deployment besides this one that is not deleted. */
  async hasOtherDeployment(organizationId: OrganizationId, { appId, id }: Deployment): Promise<boolean> {
    const row = await this.db
      .selectFrom('tvc_deployment')
      .modifyFront(partial('whether another one is there, which can only refuse'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('app_id', '=', appId)
      .where('id', '<>', id)
      .where('deleted_at_ms', 'is', null)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Of these deployments, oldest first. */
  async approvals(organizationId: OrganizationId, deploymentIds: readonly string[]): Promise<ManifestApproval[]> {
    const approvals: ManifestApproval[] = [];
    for (const ids of chunks(deploymentIds)) {
      const rows = await this.db
        .selectFrom('tvc_approval')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('deployment_id', 'in', ids)
        .orderBy('id')
        .execute();
      approvals.push(...rows.map(toApproval));
    }
    return approvals;
  }

  /** There are none: a quorum key is made and split inside an enclave. */
  async quorumKeys(request: PageRequest): Promise<Page<never>> {
    return await fetchPage(request, { order: 'asc', owns: async () => false, fetch: async () => [] });
  }
}

export class TvcStore extends TvcReader {
  static readonly writes = true;

  async insertOperator(organizationId: OrganizationId, operator: Operator): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: operator.id,
      name: operator.name,
      sign_public_key: operator.signPublicKey,
      encrypt_public_key: operator.encryptPublicKey ?? null,
      key_source: operator.keySource,
      created_at_ms: operator.createdAtMs,
    };
    await insertOperators(this.db, [row]);
  }

  async insertOperatorSet(organizationId: OrganizationId, set: OperatorSet): Promise<void> {
    const operatorIds = set.operators.map(({ id }) => id);
    const row = {
      organization_id: organizationId,
      id: set.id,
      name: set.name,
      threshold: set.threshold,
      operator_ids: JSON.stringify(operatorIds),
      members_digest: digestOf(operatorIds),
      created_at_ms: set.createdAtMs,
    };
    await insertOperatorSets(this.db, [row]);
  }

  async insertApp(organizationId: OrganizationId, app: DeployedApp): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: app.id,
      name: app.name,
      quorum_public_key: app.quorumPublicKey,
      manifest_set_id: app.manifestSetId,
      share_set_id: app.shareSetId,
      enable_egress: app.enableEgress ? 1 : 0,
      enable_debug_mode: app.enableDebugMode ? 1 : 0,
      live_deployment_id: app.liveDeploymentId ?? null,
      created_at_ms: app.createdAtMs,
      updated_at_ms: app.updatedAtMs,
      deleted_at_ms: app.deletedAtMs ?? null,
    };
    await insertApps(this.db, [row]);
  }

  async insertDeployment(organizationId: OrganizationId, deployment: Deployment): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: deployment.id,
      app_id: deployment.appId,
      manifest_id: deployment.manifestId,
      manifest: deployment.manifest,
      encrypted_pull_secret: deployment.encryptedPullSecret ?? null,
      replicas: deployment.replicas,
      approved_at_ms: deployment.approvedAtMs ?? null,
      created_at_ms: deployment.createdAtMs,
      updated_at_ms: deployment.updatedAtMs,
      deleted_at_ms: deployment.deletedAtMs ?? null,
    };
    await insertDeployments(this.db, [row]);
  }

  /** Keeps the first approval of an operator and answers its id, whichever one it was. */
  async keepApproval(organizationId: OrganizationId, approval: ManifestApproval): Promise<ManifestApprovalId> {
    await this.db
      .insertInto('tvc_approval')
      .values({
        organization_id: organizationId,
        id: approval.id,
        deployment_id: approval.deploymentId,
        operator_id: approval.operatorId,
        signature: approval.signature,
        created_at_ms: approval.createdAtMs,
      })
      .onConflict((conflict) => conflict.columns(['organization_id', 'deployment_id', 'operator_id']).doNothing())
      .execute();
    const kept = await this.db
      .selectFrom('tvc_approval')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('deployment_id', '=', approval.deploymentId)
      .where('operator_id', '=', approval.operatorId)
      .executeTakeFirstOrThrow();
    return kept.id as ManifestApprovalId;
  }

  /** Answers false if it was approved before. */
  async markApproved(organizationId: OrganizationId, deploymentId: string, nowMs: number): Promise<boolean> {
    const condition = sql`organization_id = ${organizationId} AND id = ${deploymentId} AND approved_at_ms IS NULL`;
    const change = () => ({ approved_at_ms: nowMs, updated_at_ms: nowMs });
    return (await amend(this.db, 'tvc_deployment', condition, change)).length > 0;
  }

  /** Answers false if the app has a live deployment already. */
  async setFirstLive(
    organizationId: OrganizationId,
    { id, appId }: Pick<Deployment, 'id' | 'appId'>,
    nowMs: number,
  ): Promise<boolean> {
    const condition = sql`organization_id = ${organizationId} AND id = ${appId}
      AND live_deployment_id IS NULL AND deleted_at_ms IS NULL`;
    const change = () => ({ live_deployment_id: id, updated_at_ms: nowMs });
    return (await amend(this.db, 'tvc_app', condition, change)).length > 0;
  }

  async setLive(
    organizationId: OrganizationId,
    appId: DeployedAppId,
    deploymentId: DeploymentId | undefined,
    nowMs: number,
  ): Promise<void> {
    const key = { organization_id: organizationId, id: appId };
    await amendOne(this.db, 'tvc_app', key, () => ({
      live_deployment_id: deploymentId ?? null,
      updated_at_ms: nowMs,
    }));
  }

  /** Marks a deployment as deleted, or takes the mark away. */
  async markDeployment(
    organizationId: OrganizationId,
    deploymentId: string,
    deletedAtMs: number | undefined,
    nowMs: number,
  ): Promise<void> {
    const key = { organization_id: organizationId, id: deploymentId };
    await amendOne(this.db, 'tvc_deployment', key, () => ({
      deleted_at_ms: deletedAtMs ?? null,
      updated_at_ms: nowMs,
    }));
  }

  /** Marks an app and all its deployments as deleted; none of them is live any more. */
  async deleteApp(organizationId: OrganizationId, appId: DeployedAppId, nowMs: number): Promise<void> {
    const deleted = { deleted_at_ms: nowMs, updated_at_ms: nowMs };
    const key = { organization_id: organizationId, id: appId };
    await amendOne(this.db, 'tvc_app', key, () => ({ ...deleted, live_deployment_id: null }));
    const left = sql`organization_id = ${organizationId} AND app_id = ${appId} AND deleted_at_ms IS NULL`;
    const some = sql`organization_id = ${organizationId}
      AND id IN (SELECT id FROM tvc_deployment WHERE ${left} LIMIT ${CHANGED_AT_ONCE})`;
    while ((await amend(this.db, 'tvc_deployment', some, () => deleted)).length > 0);
  }
}
