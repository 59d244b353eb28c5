import { randomId } from '../../src/lib/ids.ts';
import { newKeyPair, type TestClient } from '../harness/client.ts';
import {
  approvalsOf,
  deploymentParams,
  newApp,
  newApproved,
  newDeployment,
  newOperator,
  operatorParams,
} from '../harness/deployments.ts';
import { another, type Build, byRoot, fresh } from './case.ts';
import type { Tenant } from './world.ts';

// The requests of deployments, which only parents make.

/** What a tenant has of them; a sub-organization has ids that lead nowhere. */
export async function newDeploymentWorld(root: TestClient, isParent: boolean, marker: string) {
  if (!isParent) {
    return {
      tvcApp: randomId(),
      tvcDeployment: randomId(),
      tvcManifest: randomId(),
      tvcOperator: randomId(),
      tvcOperatorSet: randomId(),
    };
  }
  const operators = ['first', 'second'].map((name) => ({ name: `${marker} ${name}`, key: newKeyPair() }));
  const app = await newApp(root, operators, 1, { name: `${marker} app` });
  const { deploymentId, manifestId } = await newApproved(root, app);
  return {
    tvcApp: app.appId,
    tvcDeployment: deploymentId,
    tvcManifest: manifestId,
    tvcOperator: app.manifestSetOperatorIds[0] as string,
    tvcOperatorSet: app.shareSetId,
  };
}

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

export const DEPLOYMENT_CASES: Readonly<Record<string, Build>> = {
  // One set by its members, the other one by its id.
  create_tvc_app: byRoot((tenant) => ({
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
  create_tvc_deployment: byRoot((tenant) => ({
    ...deploymentParams(tenant.ids.tvcApp),
    pivotContainerImageUrl: `registry.example/${another()}`,
    nonce: another(),
    pivotContainerEncryptedPullSecret: 'ciphertext',
    debugMode: false,
    replicas: 2,
    instanceSizeCpus: 2,
    instanceSizeRam: 4,
  })),
  create_tvc_manifest_approvals: byRoot(async (tenant) => {
    if (!isParent(tenant)) {
      const { tvcManifest: manifestId, tvcOperator: operatorId } = tenant.ids;
      return { manifestId, approvals: [{ operatorId, signature: '00'.repeat(64) }] };
    }
    const app = await newApp(tenant.root);
    const { deploymentId, manifestId } = await newDeployment(tenant.root, app);
    return { manifestId, approvals: await approvalsOf(tenant.root, app, deploymentId, 0) };
  }),
  set_tvc_app_live_deployment: byRoot(async (tenant) => {
    if (!isParent(tenant)) return { deploymentId: tenant.ids.tvcDeployment };
    const app = await newApp(tenant.root);
    await newApproved(tenant.root, app);
    return { deploymentId: (await newApproved(tenant.root, app)).deploymentId };
  }),
  delete_tvc_deployment: ofDeployment(async () => {}),
  restore_tvc_deployment: ofDeployment((root, deploymentId) => root.run('delete_tvc_deployment', { deploymentId })),
  delete_tvc_app_and_deployments: byRoot(async (tenant) => ({
    appId: isParent(tenant) ? (await newApp(tenant.root)).appId : tenant.ids.tvcApp,
  })),
  create_tvc_operator: byRoot((tenant) => ({
    walletId: tenant.ids.wallet,
    path: `m/5527107'/0'/${another()}'`,
    operatorName: fresh(tenant),
  })),
  get_tvc_app: byRoot(({ ids }) => ({ tvcAppId: ids.tvcApp })),
  list_tvc_apps: byRoot(() => ({})),
  get_tvc_deployment: byRoot(({ ids }) => ({ deploymentId: ids.tvcDeployment })),
  list_tvc_app_deployments: byRoot(({ ids }) => ({ appId: ids.tvcApp })),
  list_tvc_operators: byRoot(() => ({})),
  list_tvc_quorum_keys: byRoot(() => ({})),
  get_app_status: byRoot(({ ids }) => ({ appId: ids.tvcApp })),
};
