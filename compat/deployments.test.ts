// Deployments by the unmodified public packages, and the walk of docs/guides/deployments.md as it is printed there.
import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/http';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, newKeyPair } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, errorCodeOf, fresh, refusal, UNKNOWN_ID } from './sdk.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const GUIDE = readFileSync(new URL('../docs/guides/deployments.md', import.meta.url), 'utf8');

const { OPENSSL_PATH = 'openssl', PATH = '' } = process.env;
const isOpensslMissing = spawnSync(OPENSSL_PATH, ['version']).error !== undefined;

let service: TestServer;
let root: TurnkeyApiClient;
let http: TurnkeyClient;

beforeAll(async () => {
  service = await TestServer.start();
  const { apiPublicKey, apiPrivateKey } = service.credentials;
  root = connect(service.baseUrl, service.credentials);
  http = new TurnkeyClient({ baseUrl: service.baseUrl }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

interface Operator {
  readonly name: string;
  readonly key: KeyPair;
}

const newOperator = (): Operator => ({ name: fresh('operator'), key: newKeyPair() });

const setOf = (operators: readonly Operator[], threshold: number) => ({
  name: fresh('set'),
  newOperators: operators.map(({ name, key }) => ({ name, publicKey: key.publicKey })),
  threshold,
});

const appOf = (operators: readonly Operator[]) => ({
  name: fresh('app'),
  quorumPublicKey: newKeyPair().publicKey,
  manifestSetParams: setOf(operators, 2),
  shareSetParams: setOf(operators, 2),
  enableEgress: false,
});

const deploymentOf = (appId: string) => ({
  appId,
  qosVersion: '0.15.0',
  pivotContainerImageUrl: 'registry.example/app@sha256:00',
  pivotPath: '/app',
  pivotArgs: ['--verbose'],
  expectedPivotDigest: '00'.repeat(32),
  healthCheckType: 'TVC_HEALTH_CHECK_TYPE_GRPC' as const,
  healthCheckPort: 3000,
  publicIngressPort: 3001,
});

/** RFC 5915. */
const sec1 = ({ privateKey }: KeyPair): Buffer =>
  Buffer.from(`30310201010420${privateKey}a00a06082a8648ce3d030107`, 'hex');

async function approvalsOf(deploymentId: string, operatorIds: readonly string[], operators: readonly Operator[]) {
  const { tvcDeployment } = await root.getTvcDeployment({ deploymentId });
  const manifest = Buffer.from(tvcDeployment.manifest.manifest, 'base64');
  const approvals = operators.map(({ key }, place) => ({
    operatorId: operatorIds[place] as string,
    signature: sign('sha256', manifest, createPrivateKey({ key: sec1(key), format: 'der', type: 'sec1' })).toString(
      'hex',
    ),
  }));
  return { manifestId: tvcDeployment.manifest.id, approvals };
}

describe('the server SDK', () => {
  test('takes an app from its creation to its end', async () => {
    const operators = [newOperator(), newOperator(), newOperator()];
    const params = appOf(operators);
    const app = await root.createTvcApp(params);
    expect(app.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(app).toMatchObject({ manifestSetThreshold: 2, shareSetThreshold: 2 });
    expect(app.manifestSetOperatorIds).toHaveLength(3);
    const { appId } = app;
    const { organizationId } = service.credentials;
    const shown = async () => (await root.getTvcApp({ tvcAppId: appId })).tvcApp;
    expect(await shown()).toMatchObject({
      id: appId,
      organizationId,
      name: params.name,
      publicDomain: `app-${appId}.apps.localhost`,
      manifestSet: { id: app.manifestSetId, threshold: 2 },
      shareSet: { id: app.shareSetId, threshold: 2 },
    });
    expect((await root.getTvcApps({})).tvcApps.map(({ id }) => id)).toContain(appId);

    const first = await root.createTvcDeployment(deploymentOf(appId));
    expect([first.deploymentId, first.manifestId]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect((await shown()).liveDeploymentId).toBeUndefined();
    const { manifestId, approvals } = await approvalsOf(first.deploymentId, app.manifestSetOperatorIds, operators);
    expect(manifestId).toBe(first.manifestId);
    const one = await root.createTvcManifestApprovals({ manifestId, approvals: approvals.slice(0, 1) });
    const again = await root.createTvcManifestApprovals({ manifestId, approvals: approvals.slice(0, 1) });
    expect(again.approvalIds).toEqual(one.approvalIds);
    expect((await shown()).liveDeploymentId).toBeUndefined();
    await root.createTvcManifestApprovals({ manifestId, approvals: approvals.slice(1, 2) });
    expect((await shown()).liveDeploymentId).toBe(first.deploymentId);
    const { tvcDeployment } = await root.getTvcDeployment({ deploymentId: first.deploymentId });
    expect(tvcDeployment).toMatchObject({
      appId,
      delete: false,
      debugMode: false,
      qosVersion: '0.15.0',
      pivotContainer: { args: ['--verbose'], hasPullSecret: false, healthCheckType: 'TVC_HEALTH_CHECK_TYPE_GRPC' },
      manifestApprovals: [{ manifestId, operator: { name: operators[0]?.name } }, { manifestId }],
    });

    const second = await root.createTvcDeployment({ ...deploymentOf(appId), replicas: 2 });
    await root.createTvcManifestApprovals(
      await approvalsOf(second.deploymentId, app.manifestSetOperatorIds, operators.slice(0, 2)),
    );
    const { appStatus } = await root.getAppStatus({ appId });
    expect(appStatus).toMatchObject({
      appId,
      targetedDeploymentId: first.deploymentId,
      deployments: [
        { deploymentId: first.deploymentId, readyReplicas: 0, desiredReplicas: 3 },
        { deploymentId: second.deploymentId, readyReplicas: 0, desiredReplicas: 2 },
      ],
    });
    const live = await root.updateTvcAppLiveDeployment({ deploymentId: second.deploymentId });
    expect(live.activity.type).toBe('ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT');
    expect((await shown()).liveDeploymentId).toBe(second.deploymentId);

    const { deploymentId } = first;
    expect((await root.deleteTvcDeployment({ deploymentId })).deploymentId).toBe(deploymentId);
    const marks = async () =>
      (await root.getTvcAppDeployments({ appId })).tvcDeployments.map((one) => [one.id, one.delete]);
    expect(await marks()).toEqual([
      [first.deploymentId, true],
      [second.deploymentId, false],
    ]);
    expect((await root.restoreTvcDeployment({ deploymentId })).deploymentId).toBe(deploymentId);
    expect((await shown()).liveDeploymentId).toBe(second.deploymentId);
    const refused = await refusal(root.restoreTvcDeployment({ deploymentId }));
    expect([refused.code, errorCodeOf(refused)]).toEqual([9, 'FAILED_PRECONDITION']);

    expect((await root.deleteTvcAppAndDeployments({ appId })).appId).toBe(appId);
    expect(await marks()).toEqual([
      [first.deploymentId, true],
      [second.deploymentId, true],
    ]);
    expect(errorCodeOf(await refusal(root.getTvcApp({ tvcAppId: appId })))).toBe('RESOURCE_NOT_FOUND');
  });

  test('gets the refusals by their codes', async () => {
    const operators = [newOperator(), newOperator()];
    const params = appOf(operators);
    const { appId, manifestSetOperatorIds } = await root.createTvcApp(params);
    const { deploymentId } = await root.createTvcDeployment(deploymentOf(appId));
    const good = await approvalsOf(deploymentId, manifestSetOperatorIds, operators);
    const [one, two] = good.approvals as [(typeof good.approvals)[0], (typeof good.approvals)[0]];
    const swapped = [{ operatorId: one.operatorId, signature: two.signature }];
    const stranger = [{ operatorId: UNKNOWN_ID, signature: one.signature }];
    for (const approvals of [swapped, stranger]) {
      const { manifestId } = good;
      const error = await refusal(root.createTvcManifestApprovals({ manifestId, approvals }));
      expect([error.code, errorCodeOf(error)]).toEqual([3, 'REQUEST_INVALID']);
    }
    const early = await refusal(root.updateTvcAppLiveDeployment({ deploymentId }));
    expect(errorCodeOf(early)).toBe('FAILED_PRECONDITION');
    const debug = await refusal(root.createTvcDeployment({ ...deploymentOf(appId), debugMode: true }));
    expect(errorCodeOf(debug)).toBe('REQUEST_INVALID');
    const missing = await refusal(root.createTvcDeployment(deploymentOf(UNKNOWN_ID)));
    expect(errorCodeOf(missing)).toBe('RESOURCE_NOT_FOUND');
    await root.createTvcManifestApprovals(good);
  });

  test('is told what needs an enclave', async () => {
    for (const [call, name] of [
      [() => root.getTvcQosVersions({}), 'get_tvc_qos_versions'],
      [() => root.getTvcDeploymentDebugLogs({ deploymentId: UNKNOWN_ID }), 'get_tvc_deployment_debug_logs'],
      [() => root.validateTvcImage({ pivotContainerImageUrl: 'registry.example/app' }), 'validate_tvc_image'],
    ] as const) {
      const error = await refusal(call());
      expect(error.code).toBe(12);
      expect(error.message).toMatch(new RegExp(`${name} is not available in this version: this service`));
    }
  });
});

test('the low-level client makes operators of wallets, and lists them', async () => {
  const { organizationId } = service.credentials;
  const { activity } = await http.createTvcOperator({
    type: 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR',
    timestampMs: String(Date.now()),
    organizationId,
    parameters: { walletName: fresh('wallet'), path: "m/5527107'/0'/0'", operatorName: 'Hosted' },
  });
  const { operatorId, encryptPublicKey, signPublicKey, walletId } = activity.result.createTvcOperatorResult!;
  const { tvcOperators } = await http.getTvcOperators({ organizationId });
  expect(tvcOperators.find(({ id }) => id === operatorId)).toMatchObject({
    name: 'Hosted',
    publicKey: `${encryptPublicKey}${signPublicKey}`,
    keySource: 'ORG_WALLET_ACCOUNT',
  });
  expect((await http.getTvcQuorumKeys({ organizationId })).tvcQuorumKeys).toEqual([]);
  const { accounts } = await root.getWalletAccounts({ walletId });
  expect(accounts.map(({ address }) => address)).toEqual([encryptPublicKey, signPublicKey]);

  // As the hosted operators of the public command line do: what is signed with is the public key.
  const { appId, manifestSetOperatorIds } = await root.createTvcApp({
    ...appOf([newOperator(), newOperator()]),
    manifestSetParams: { name: fresh('set'), existingOperatorIds: [operatorId], threshold: 1 },
  });
  expect(manifestSetOperatorIds).toEqual([operatorId]);
  const { deploymentId, manifestId } = await root.createTvcDeployment(deploymentOf(appId));
  const { tvcDeployment } = await root.getTvcDeployment({ deploymentId });
  const { r, s } = await root.signRawPayload({
    signWith: signPublicKey,
    payload: Buffer.from(tvcDeployment.manifest.manifest, 'base64').toString('hex'),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_SHA256',
  });
  await root.createTvcManifestApprovals({ manifestId, approvals: [{ operatorId, signature: `${r}${s}` }] });
  expect((await root.getTvcApp({ tvcAppId: appId })).tvcApp.liveDeploymentId).toBe(deploymentId);
});

describe('the guide', () => {
  const blocks = (language: string): string[] =>
    [...GUIDE.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)\`\`\``, 'gms'))].map(([, code]) => code as string);

  test.skipIf(isOpensslMissing)('walks from keys to a live deployment, by openssl and by Node', async () => {
    const [deploy, signing, approve, ...others] = blocks('js');
    const [keys, opensslSigning, ...more] = blocks('sh');
    expect([others, more]).toEqual([[], []]);
    const folder = mkdtempSync(join(tmpdir(), 'custos-guide-'));
    try {
      // The public SDK has the same calls as ours, so that it can stand in for it.
      const sdk = pathToFileURL(createRequire(import.meta.url).resolve('@turnkey/sdk-server'));
      writeFileSync(
        join(folder, 'client.mjs'),
        `import { createRequire } from 'node:module';
         const { Turnkey } = createRequire(import.meta.url)(${JSON.stringify(fileURLToPath(sdk))});
         const { organizationId: defaultOrganizationId, apiPublicKey, apiPrivateKey } = ${JSON.stringify(service.credentials)};
         export const client = new Turnkey({
           apiBaseUrl: ${JSON.stringify(service.baseUrl)}, defaultOrganizationId, apiPublicKey, apiPrivateKey,
         }).apiClient();`,
      );
      const files = { 'deploy.mjs': deploy, 'sign.mjs': signing, 'approve.mjs': approve };
      for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code as string);
      const env = { PATH: `${dirname(OPENSSL_PATH)}${delimiter}${PATH}` };
      const run = (program: string, ...args: string[]): string =>
        execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
      const shell = (code: string): string => run('sh', '-ec', code);

      // One operator after the other makes a key in the folder; what they keep is put aside.
      const publicKeys = ['first', 'second'].map((name) => {
        const publicKey = shell(keys as string);
        expect(publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
        const pem = readFileSync(join(folder, 'operator.pem'), 'utf8');
        const { x } = createPublicKey(pem).export({ format: 'jwk' });
        expect(publicKey.slice(2)).toBe(Buffer.from(x as string, 'base64url').toString('hex'));
        shell(`mv operator.pem ${name}.pem`);
        return publicKey;
      });
      const made = JSON.parse(run(process.execPath, 'deploy.mjs', newKeyPair().publicKey, ...publicKeys));
      const { appId, deploymentId, manifestId, manifestSetOperatorIds } = made;
      expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({ deploymentId });

      shell('cp first.pem operator.pem');
      const byOpenssl = shell(opensslSigning as string);
      expect(byOpenssl).toMatch(/^30[0-9a-f]+$/);
      shell('cp second.pem operator.pem');
      const byNode = run(process.execPath, 'sign.mjs');
      expect(byNode).toMatch(/^[0-9a-f]{128}$/);
      const [one, two] = manifestSetOperatorIds;
      const approvalIds = run(process.execPath, 'approve.mjs', manifestId, `${one}=${byOpenssl}`, `${two}=${byNode}`);
      expect(approvalIds.split('\n')).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
      expect((await root.getTvcApp({ tvcAppId: appId })).tvcApp.liveDeploymentId).toBe(deploymentId);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
