import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { OrganizationId } from '../../lib/ids.ts';
import { buildManifest } from './manifest.ts';
import type { DeployedApp, Operator, OperatorSet } from './model.ts';

const GUIDE = new URL('../../../../../docs/guides/deployments.md', import.meta.url);

const id = <Id>(end: string): Id => `0195d1f0-7b3a-7c4e-9d2b-3f5a6c7d8e${end}` as Id;
const MULTIPLES = [
  '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  '037cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978',
  '025ecbe4d1a6330a44c8f7ef951d4bf165e6c6b721efada985fb41661bc6e7fd6c',
  '02e2534a3532d08fbba02dde659ee62bd0031fe2db785596ef509302446b030852',
] as const;
const state = { createdAtMs: 1, keySource: 'EXTERNAL_KEY' } as const;
const operators: Operator[] = [
  { id: id('95'), name: 'Operator 1', signPublicKey: MULTIPLES[0], encryptPublicKey: undefined, ...state },
  { id: id('96'), name: 'Operator 2', signPublicKey: MULTIPLES[2], encryptPublicKey: MULTIPLES[1], ...state },
];
const set = (end: string, name: string): OperatorSet => ({
  id: id(end),
  name,
  threshold: 2,
  operators,
  createdAtMs: 1,
});
const manifestSet = set('93', 'Approvers');
const shareSet = set('94', 'Share holders');
const app: DeployedApp = {
  id: id('90'),
  name: 'Price feed',
  quorumPublicKey: MULTIPLES[3],
  manifestSetId: manifestSet.id,
  shareSetId: shareSet.id,
  enableEgress: false,
  enableDebugMode: false,
  liveDeploymentId: undefined,
  createdAtMs: 1,
  updatedAtMs: 1,
  deletedAtMs: undefined,
};
const subject = {
  organizationId: id<OrganizationId>('9f'),
  app,
  manifestSet,
  shareSet,
  deploymentId: id<never>('91'),
  manifestId: id<never>('92'),
  nowMs: 1_767_225_600_999,
};
const parameters = {
  appId: app.id,
  qosVersion: '0.15.0',
  pivotContainerImageUrl: 'registry.example/price-feed@sha256:5f2b…',
  pivotPath: '/price-feed',
  pivotArgs: ['--port', '3000'],
  expectedPivotDigest: '9c41…',
  healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP' as const,
  healthCheckPort: 3000,
  publicIngressPort: 3000,
};

test('the guide shows a manifest as it is built, byte for byte', () => {
  const shown = /```json\n(.+)\n```/.exec(readFileSync(GUIDE, 'utf8'))?.[1];
  expect(buildManifest(subject, parameters)).toBe(shown);
});

test('what is submitted stands in it, and a pull secret does not', () => {
  const full = {
    ...parameters,
    nonce: 0,
    replicas: 7,
    debugMode: true,
    instanceSizeCpus: 2,
    instanceSizeRam: 4,
    pivotContainerEncryptedPullSecret: 'ciphertext',
  };
  const built = buildManifest({ ...subject, app: { ...app, enableEgress: true } }, full);
  expect(built).not.toContain('ciphertext');
  expect(JSON.parse(built)).toMatchObject({
    nonce: 0,
    replicas: 7,
    debugMode: true,
    instanceSizeCpus: 2,
    instanceSizeRam: 4,
    hasPullSecret: true,
    enableEgress: true,
  });
  expect(JSON.parse(buildManifest(subject, { ...parameters, debugMode: true }))).toMatchObject({ replicas: 1 });
  expect(buildManifest(subject, { ...parameters, pivotContainerEncryptedPullSecret: '' })).toBe(
    buildManifest(subject, parameters),
  );
});
