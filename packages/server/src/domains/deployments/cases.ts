import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { newKeyPair, type TestClient } from '../../../test/harness/client.ts';
import {
  appParams,
  approvalsOf,
  deploymentParams,
  newApp,
  newApproved,
  newDeployment,
  newOperator,
  operatorParams,
} from '../../../test/harness/deployments.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, notFound, PAGE_INFO, TIMES, TIMESTAMP } from '../../../test/operations/every-case.ts';
import { another, type Build, byRoot, fresh } from '../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../test/operations/tenant.ts';

// Only parents have deployments, and all cases here share the one parent.

const P256 = expect.stringMatching(/^0[23][0-9a-f]{64}$/);

const anOperator = {
  id: anId,
  name: expect.any(String),
  publicKey: expect.any(String),
  ...TIMES,
  encryptPublicKey: expect.any(String),
  signPublicKey: P256,
  keySource: expect.stringMatching(/^(EXTERNAL_KEY|ORG_WALLET_ACCOUNT)$/),
};

const aSet = ({ organizationId }: TestClient, threshold: number) => ({
  id: anId,
  name: expect.any(String),
  organizationId,
  operators: [anOperator, anOperator],
  threshold,
  ...TIMES,
});

const anApp = (root: TestClient, extra: Record<string, unknown> = {}) => ({
  id: anId,
  organizationId: root.organizationId,
  name: expect.any(String),
  quorumPublicKey: P256,
  manifestSet: aSet(root, 1),
  shareSet: aSet(root, 2),
  enableEgress: false,
  ...TIMES,
  publicDomain: expect.stringMatching(/^app-[0-9a-f-]{36}\.apps\.localhost$/),
  enableDebugModeDeployments: false,
  ...extra,
});

const aDeployment = (root: TestClient, approvals: number) => ({
  id: anId,
  organizationId: root.organizationId,
  appId: anId,
  manifestSet: aSet(root, 1),
  shareSet: aSet(root, 2),
  manifest: { id: anId, manifest: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/), ...TIMES },
  manifestApprovals: Array(approvals).fill({
    id: anId,
    manifestId: anId,
    operator: anOperator,
    approval: expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/),
    ...TIMES,
  }),
  qosVersion: '0.15.0',
  pivotContainer: {
    containerUrl: expect.any(String),
    path: '/app/pivot',
    args: ['--port', '3000'],
    hasPullSecret: false,
    healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP',
    healthCheckPort: 3000,
    publicIngressPort: 3001,
  },
  ...TIMES,
  delete: false,
  debugMode: false,
});

const deploymentOf = async (reader: TestClient, deploymentId: string) =>
  (await reader.query('get_tvc_deployment', { deploymentId })).body.tvcDeployment;

const liveOf = async (reader: TestClient, appId: string) =>
  (await reader.query('get_tvc_app', { tvcAppId: appId })).body.tvcApp.liveDeploymentId;

const named = async (reader: TestClient, list: string, field: string, name: string) =>
  (await reader.query(list)).body[field].filter((one: { name: string }) => one.name === name);

/** What nobody has; another parent's things are for the suite of tenants. */
const unknownDeployment = async () => notFound({ deploymentId: randomUUID() });

const marked =
  (isDeleted: boolean) =>
  async (reader: TestClient, deploymentId: string): Promise<void> =>
    expect((await deploymentOf(reader, deploymentId)).delete).toBe(isDeleted);

const isParent = ({ scope }: Tenant): boolean => scope === 'parent';

/** A deployment of an app of its own. */
const ownDeployment = async (tenant: Tenant): Promise<string> =>
  isParent(tenant)
    ? (await newDeployment(tenant.root, await newApp(tenant.root))).deploymentId
    : tenant.ids.tvcDeployment;

const ofDeployment = (arrange: (root: TestClient, deploymentId: string) => Promise<unknown>): Build =>
  byRoot(async (tenant) => {
    const deploymentId = await ownDeployment(tenant);
    if (isParent(tenant)) await arrange(tenant.root, deploymentId);
    return { deploymentId };
  });

export const cases: DomainCases = {
  create_tvc_app: {
    activity: {
      place: 'parent',
      intentKey: 'createTvcAppIntent',
      resultKey: 'createTvcAppResult',
      arrange: async ({ root }) => {
        const parameters = appParams();
        return {
          parameters,
          result: {
            appId: anId,
            manifestSetId: anId,
            manifestSetOperatorIds: [anId, anId],
            manifestSetThreshold: 1,
            shareSetId: anId,
            shareSetOperatorIds: [anId, anId],
            shareSetThreshold: 2,
          },
          holds: async (reader) =>
            expect(await named(reader, 'list_tvc_apps', 'tvcApps', parameters.name)).toEqual([anApp(root)]),
          absent: async (reader) =>
            expect(await named(reader, 'list_tvc_apps', 'tvcApps', parameters.name)).toEqual([]),
        };
      },
      foreign: async () => {
        const { manifestSetParams: _set, ...parameters } = appParams();
        return notFound({ ...parameters, manifestSetId: randomUUID() });
      },
    },
    // One set by its members, the other one by its id.
    hostile: byRoot((tenant) => ({
      name: fresh(tenant),
      quorumPublicKey: newKeyPair().publicKey,
      manifestSetParams: {
        name: fresh(tenant),
        newOperators: [{ ...operatorParams(newOperator()), name: fresh(tenant) }],
        existingOperatorIds: [tenant.ids.tvcOperator],
        threshold: 1,
      },
      shareSetId: tenant.ids.tvcOperatorSet,
      enableEgress: true,
      enableDebugModeDeployments: true,
    })),
    // A set is named by its id or by its members, and the request has one of each.
    ids: { manifestSetId: [], 'shareSetParams.existingOperatorIds.0': [] },
  },
  create_tvc_deployment: {
    activity: {
      place: 'parent',
      intentKey: 'createTvcDeploymentIntent',
      resultKey: 'createTvcDeploymentResult',
      arrange: async ({ root }) => {
        const { appId } = await newApp(root);
        const listed = async (reader: TestClient) =>
          (await reader.query('list_tvc_app_deployments', { appId })).body.tvcDeployments;
        return {
          parameters: deploymentParams(appId),
          result: { deploymentId: anId, manifestId: anId },
          holds: async (reader) => expect(await listed(reader)).toEqual([aDeployment(root, 0)]),
          absent: async (reader) => expect(await listed(reader)).toEqual([]),
        };
      },
      foreign: async () => notFound(deploymentParams(randomUUID())),
    },
    hostile: byRoot((tenant) => ({
      ...deploymentParams(tenant.ids.tvcApp),
      pivotContainerImageUrl: `registry.example/${another()}`,
      nonce: another(),
      pivotContainerEncryptedPullSecret: 'ciphertext',
      debugMode: false,
      replicas: 2,
      instanceSizeCpus: 2,
      instanceSizeRam: 4,
    })),
  },
  create_tvc_manifest_approvals: {
    activity: {
      place: 'parent',
      intentKey: 'createTvcManifestApprovalsIntent',
      resultKey: 'createTvcManifestApprovalsResult',
      arrange: async ({ root }) => {
        const app = await newApp(root);
        const { deploymentId, manifestId } = await newDeployment(root, app);
        const shown = async (reader: TestClient) => [
          await deploymentOf(reader, deploymentId),
          await liveOf(reader, app.appId),
        ];
        return {
          parameters: { manifestId, approvals: await approvalsOf(root, app, deploymentId, 1) },
          result: { approvalIds: [anId] },
          holds: async (reader) => expect(await shown(reader)).toEqual([aDeployment(root, 1), deploymentId]),
          absent: async (reader) => expect(await shown(reader)).toEqual([aDeployment(root, 0), undefined]),
        };
      },
      foreign: async () =>
        notFound({ manifestId: randomUUID(), approvals: [{ operatorId: randomUUID(), signature: '00'.repeat(64) }] }),
    },
    hostile: byRoot(async (tenant) => {
      if (!isParent(tenant)) {
        const { tvcManifest: manifestId, tvcOperator: operatorId } = tenant.ids;
        return { manifestId, approvals: [{ operatorId, signature: '00'.repeat(64) }] };
      }
      const app = await newApp(tenant.root);
      const { deploymentId, manifestId } = await newDeployment(tenant.root, app);
      return { manifestId, approvals: await approvalsOf(tenant.root, app, deploymentId, 0) };
    }),
  },
  set_tvc_app_live_deployment: {
    activity: {
      place: 'parent',
      intentKey: 'updateTvcAppLiveDeploymentIntent',
      resultKey: 'updateTvcAppLiveDeploymentResult',
      arrange: async ({ root }) => {
        const app = await newApp(root);
        const [first, second] = [await newApproved(root, app), await newApproved(root, app)];
        return {
          parameters: { deploymentId: second.deploymentId },
          result: {},
          holds: async (reader) => expect(await liveOf(reader, app.appId)).toBe(second.deploymentId),
          absent: async (reader) => expect(await liveOf(reader, app.appId)).toBe(first.deploymentId),
        };
      },
      foreign: unknownDeployment,
    },
    hostile: byRoot(async (tenant) => {
      if (!isParent(tenant)) return { deploymentId: tenant.ids.tvcDeployment };
      const app = await newApp(tenant.root);
      await newApproved(tenant.root, app);
      return { deploymentId: (await newApproved(tenant.root, app)).deploymentId };
    }),
  },
  delete_tvc_deployment: {
    activity: {
      place: 'parent',
      intentKey: 'deleteTvcDeploymentIntent',
      resultKey: 'deleteTvcDeploymentResult',
      arrange: async ({ root }) => {
        const { deploymentId } = await newDeployment(root, await newApp(root));
        return {
          parameters: { deploymentId },
          result: { deploymentId },
          holds: (reader) => marked(true)(reader, deploymentId),
          absent: (reader) => marked(false)(reader, deploymentId),
        };
      },
      foreign: unknownDeployment,
    },
    hostile: ofDeployment(async () => {}),
  },
  restore_tvc_deployment: {
    activity: {
      place: 'parent',
      intentKey: 'restoreTvcDeploymentIntent',
      resultKey: 'restoreTvcDeploymentResult',
      arrange: async ({ root }) => {
        const { deploymentId } = await newDeployment(root, await newApp(root));
        await root.run('delete_tvc_deployment', { deploymentId });
        return {
          parameters: { deploymentId },
          result: { deploymentId },
          holds: (reader) => marked(false)(reader, deploymentId),
          absent: (reader) => marked(true)(reader, deploymentId),
        };
      },
      foreign: unknownDeployment,
    },
    hostile: ofDeployment((root, deploymentId) => root.run('delete_tvc_deployment', { deploymentId })),
  },
  delete_tvc_app_and_deployments: {
    activity: {
      place: 'parent',
      intentKey: 'deleteTvcAppAndDeploymentsIntent',
      resultKey: 'deleteTvcAppAndDeploymentsResult',
      arrange: async ({ root }) => {
        const app = await newApp(root);
        const { deploymentId } = await newApproved(root, app);
        const { appId } = app;
        const status = async (reader: TestClient) => (await reader.query('get_tvc_app', { tvcAppId: appId })).status;
        return {
          parameters: { appId },
          result: { appId },
          holds: async (reader) => {
            await marked(true)(reader, deploymentId);
            expect(await status(reader)).toBe(404);
          },
          absent: async (reader) => {
            await marked(false)(reader, deploymentId);
            expect(await status(reader)).toBe(200);
          },
        };
      },
      foreign: async () => notFound({ appId: randomUUID() }),
    },
    hostile: byRoot(async (tenant) => ({
      appId: isParent(tenant) ? (await newApp(tenant.root)).appId : tenant.ids.tvcApp,
    })),
  },
  create_tvc_operator: {
    activity: {
      place: 'parent',
      intentKey: 'createTvcOperatorIntent',
      resultKey: 'createTvcOperatorResult',
      arrange: async () => {
        const operatorName = `Operator ${randomUUID()}`;
        const listed = (reader: TestClient) => named(reader, 'list_tvc_operators', 'tvcOperators', operatorName);
        return {
          parameters: { walletName: `Operators ${randomUUID()}`, path: "m/5527107'/0'/0'", operatorName },
          result: { walletId: anId, operatorId: anId, encryptPublicKey: P256, signPublicKey: P256 },
          holds: async (reader) =>
            expect(await listed(reader)).toEqual([
              { ...anOperator, encryptPublicKey: P256, keySource: 'ORG_WALLET_ACCOUNT' },
            ]),
          absent: async (reader) => expect(await listed(reader)).toEqual([]),
        };
      },
      foreign: async () => notFound({ walletId: randomUUID(), path: 'm/1', operatorName: 'Operator' }),
    },
    hostile: byRoot((tenant) => ({
      walletId: tenant.ids.wallet,
      path: `m/5527107'/0'/${another()}'`,
      operatorName: fresh(tenant),
    })),
  },
  get_tvc_app: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => ({ tvcAppId: (await newApp(root)).appId }),
      answer: ({ root }) => ({ tvcApp: anApp(root) }),
    },
    hostile: byRoot(({ ids }) => ({ tvcAppId: ids.tvcApp })),
    isOfParents: true,
  },
  list_tvc_apps: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => {
        await newApproved(root, await newApp(root));
        return {};
      },
      answer: ({ root }) => ({
        tvcApps: expect.arrayContaining([anApp(root, { liveDeploymentId: anId })]),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  get_tvc_deployment: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => ({
        deploymentId: (await newApproved(root, await newApp(root), 0, 1)).deploymentId,
      }),
      answer: ({ root }) => ({ tvcDeployment: aDeployment(root, 2) }),
    },
    hostile: byRoot(({ ids }) => ({ deploymentId: ids.tvcDeployment })),
    isOfParents: true,
  },
  list_tvc_app_deployments: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => {
        const app = await newApp(root);
        await newDeployment(root, app);
        await newApproved(root, app);
        return { appId: app.appId };
      },
      answer: ({ root }) => ({ tvcDeployments: [aDeployment(root, 0), aDeployment(root, 1)], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot(({ ids }) => ({ appId: ids.tvcApp })),
    isOfParents: true,
  },
  list_tvc_operators: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => {
        await newApp(root, [{ name: 'Listed', key: newKeyPair() }, newOperator()]);
        return {};
      },
      answer: () => ({
        tvcOperators: expect.arrayContaining([{ ...anOperator, name: 'Listed', encryptPublicKey: '' }]),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  list_tvc_quorum_keys: {
    query: { answer: () => ({ tvcQuorumKeys: [], pageInfo: PAGE_INFO }) },
    hostile: byRoot(() => ({})),
  },
  get_app_status: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => {
        const app = await newApp(root);
        await newApproved(root, app);
        return { appId: app.appId };
      },
      answer: () => ({
        appStatus: {
          appId: anId,
          deployments: [{ deploymentId: anId, readyReplicas: 0, desiredReplicas: 3, lastUpdatedTime: TIMESTAMP }],
          targetedDeploymentId: anId,
        },
      }),
    },
    hostile: byRoot(({ ids }) => ({ appId: ids.tvcApp })),
    isOfParents: true,
  },
};
