import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { type KeyPair, newKeyPair, type TestClient } from './client.ts';

// Apps, deployments and operators who sign: what the tests of deployments share.

export interface Operator {
  readonly name: string;
  readonly key: KeyPair;
}

export const newOperator = (): Operator => ({ name: `Operator ${randomUUID()}`, key: newKeyPair() });

export const operatorParams = ({ name, key }: Operator) => ({ name, publicKey: key.publicKey });

export const setParams = (operators: readonly Operator[], threshold: number, name = `Set ${randomUUID()}`) => ({
  name,
  newOperators: operators.map(operatorParams),
  threshold,
});

/** What create_tvc_app takes, with two operators of whom both hold shares, and so many have to approve. */
export function appParams(operators: readonly Operator[] = [newOperator(), newOperator()], threshold = 1) {
  return {
    name: `App ${randomUUID()}`,
    quorumPublicKey: newKeyPair().publicKey,
    manifestSetParams: setParams(operators, threshold),
    shareSetParams: setParams(operators, 2),
  };
}

export const deploymentParams = (appId: string) => ({
  appId,
  qosVersion: '0.15.0',
  pivotContainerImageUrl: `registry.example/app@sha256:${'ab'.repeat(32)}`,
  pivotPath: '/app/pivot',
  pivotArgs: ['--port', '3000'],
  expectedPivotDigest: 'cd'.repeat(32),
  healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP',
  healthCheckPort: 3000,
  publicIngressPort: 3001,
});

export interface App {
  readonly appId: string;
  readonly manifestSetId: string;
  readonly manifestSetOperatorIds: readonly string[];
  readonly shareSetId: string;
  readonly shareSetOperatorIds: readonly string[];
  readonly operators: readonly Operator[];
}

export async function newApp(
  root: TestClient,
  operators: readonly Operator[] = [newOperator(), newOperator()],
  threshold = 1,
  extra: Record<string, unknown> = {},
): Promise<App> {
  return { ...(await root.run('create_tvc_app', { ...appParams(operators, threshold), ...extra })), operators };
}

export const newDeployment = async (
  root: TestClient,
  { appId }: Pick<App, 'appId'>,
  extra: Record<string, unknown> = {},
): Promise<{ deploymentId: string; manifestId: string }> =>
  await root.run('create_tvc_deployment', { ...deploymentParams(appId), ...extra });

export const manifestOf = async (root: TestClient, deploymentId: string): Promise<Buffer> =>
  Buffer.from(
    (await root.query('get_tvc_deployment', { deploymentId })).body.tvcDeployment.manifest.manifest,
    'base64',
  );

/** RFC 5915: the private key and its curve. */
const privateKeyOf = ({ privateKey }: KeyPair) =>
  createPrivateKey({
    format: 'der',
    type: 'sec1',
    key: Buffer.from(`30310201010420${privateKey}a00a06082a8648ce3d030107`, 'hex'),
  });

/** ECDSA over SHA-256 of the bytes, hex. */
export const signBytes = (key: KeyPair, bytes: Uint8Array, form: 'der' | 'raw' = 'raw'): string =>
  sign('sha256', bytes, {
    key: privateKeyOf(key),
    dsaEncoding: form === 'raw' ? 'ieee-p1363' : 'der',
  }).toString('hex');

/** The approvals of the operators at these places, by their signatures of the manifest. */
export async function approvalsOf(
  root: TestClient,
  app: Pick<App, 'manifestSetOperatorIds' | 'operators'>,
  deploymentId: string,
  ...places: readonly number[]
): Promise<{ operatorId: string; signature: string }[]> {
  const manifest = await manifestOf(root, deploymentId);
  return places.map((place) => ({
    operatorId: app.manifestSetOperatorIds[place] as string,
    signature: signBytes((app.operators[place] as Operator).key, manifest),
  }));
}

/** A deployment that these operators have approved. */
export async function newApproved(
  root: TestClient,
  app: App,
  ...places: readonly number[]
): Promise<{ deploymentId: string; manifestId: string }> {
  const made = await newDeployment(root, app);
  const approvals = await approvalsOf(root, app, made.deploymentId, ...(places.length === 0 ? [0] : places));
  await root.run('create_tvc_manifest_approvals', { manifestId: made.manifestId, approvals });
  return made;
}
