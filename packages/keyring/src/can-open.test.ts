import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, type Deployment, deploy, flipped } from '../test/fixtures/client.ts';
import { fromHex, fromText } from '../test/fixtures/labels.ts';
import { sealText } from './bundle/credential-bundle.ts';
import { sealBox } from './bundle/sealed-box.ts';
import { createKeyring, INSTALLATION_ID, type Keyring, type StoredSecret } from './index.ts';

let folder: string;
let keyring: Keyring;
let deployment: Deployment;
let secrets: StoredSecret[];

const canOpen = (list: readonly StoredSecret[]): Promise<boolean[]> => {
  const { organizationKey, organizationId } = deployment.holder('any');
  return keyring.canOpen(organizationKey, organizationId, list);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-can-open-'));
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  deployment = await deploy(keyring);
  const holder = (ownerId: string) => deployment.holder(ownerId);
  const [target] = await keyring.createSecretTargets(holder('batch'), 1);
  const { organizationKey, organizationId } = holder('any');
  const seal = (ownerId: string, kind: string) =>
    keyring.seal(organizationKey, { organizationId, ownerId, kind }, new Uint8Array(2_000_000));
  secrets = [
    {
      ownerId: 'wallet',
      kind: 'wallet-seed',
      sealed: (await keyring.createWallet(holder('wallet'), 24, [])).sealedSeed,
    },
    {
      ownerId: 'key',
      kind: 'private-key',
      sealed: (await keyring.createPrivateKey(holder('key'), 'CURVE_P256', [])).sealedKey,
    },
    {
      ownerId: 'target',
      kind: 'import-target',
      sealed: (await keyring.createImportTarget(holder('target'), 'user')).sealedTarget,
    },
    { ownerId: 'otp', kind: 'otp', sealed: (await keyring.createOtp(holder('otp'), 'ABC123')).sealedOtp },
    {
      ownerId: 'credential',
      kind: 'oauth-secret',
      sealed: await keyring.importOauthSecret(
        holder('credential'),
        sealBox(fromHex(deployment.publicKeys['oauth-secret']), fromText('client secret')),
      ),
    },
    {
      ownerId: 'on-ramp',
      kind: 'on-ramp-secret',
      sealed: await keyring.importOnRampSecret(
        holder('on-ramp'),
        sealText(fromHex(deployment.publicKeys['on-ramp-secret']), fromText('sk_test')),
      ),
    },
    { ownerId: 'batch', kind: 'secret-target', sealed: target?.sealedTarget as Uint8Array },
    { ownerId: 'activity', kind: 'activity-parameters', sealed: await seal('activity', 'activity-parameters') },
    { ownerId: 'vote', kind: 'vote-message', sealed: await seal('vote', 'vote-message') },
    { ownerId: 'message', kind: 'dev-message', sealed: await seal('message', 'dev-message') },
  ];
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

test('tells what opens, in order and for its owner and kind only', async () => {
  expect(await canOpen(secrets)).toEqual(secrets.map(() => true));
  expect(await canOpen([])).toEqual([]);
  for (const [index, secret] of secrets.entries()) {
    const others = [
      { ...secret, ownerId: 'another' },
      { ...secret, kind: secret.kind === 'secret' ? 'wallet-seed' : 'secret' },
      { ...secret, kind: 'unknown' },
      { ...secret, sealed: flipped(secret.sealed, 8 * (secret.sealed.length - 1)) },
      { ...secret, sealed: secret.sealed.subarray(1) },
      { ...secret, sealed: new Uint8Array(0) },
    ];
    for (const other of others) {
      const list = secrets.with(index, other);
      expect(await canOpen(list)).toEqual(list.map((_, place) => place !== index));
    }
  }
});

test('service keys open under the key of the deployment', async () => {
  const stored = deployment.keys.map(({ keyId, sealed }) => ({ ownerId: keyId, kind: 'service-key', sealed }));
  expect(stored.length).toBeGreaterThan(0);
  const open = (organizationId: string) => keyring.canOpen(deployment.installationKey, organizationId, stored);
  expect(await open(INSTALLATION_ID)).toEqual(stored.map(() => true));
  expect(await codeOf(open('another'))).toBe('NOT_OPENED');
});

test('what was sealed as something else than it says does not count as open', async () => {
  const { organizationKey, organizationId } = deployment.holder('any');
  // Callers cannot seal a kind of the keyring's own, so the layouts are tried on one another instead.
  for (const { kind } of secrets.slice(0, 7)) {
    expect(await canOpen(secrets.map((secret) => ({ ...secret, kind })))).toEqual(
      secrets.map((secret) => secret.kind === kind),
    );
  }
  expect(await codeOf(keyring.canOpen(organizationKey.subarray(1), organizationId, []))).toBe('NOT_OPENED');
  expect(await codeOf(keyring.canOpen(flipped(organizationKey, 8 * 60), organizationId, []))).toBe('NOT_OPENED');
  expect(await codeOf(keyring.canOpen(flipped(organizationKey, 8 * 2), organizationId, []))).toBe('UNKNOWN_ROOT_KEY');
});

test('anything else than a list of secrets is refused', async () => {
  const [secret] = secrets;
  const wrong = [undefined, 'text', [null], [{ ...secret, ownerId: '' }], [{ ...secret, sealed: 'text' }]];
  for (const list of wrong) expect(await codeOf(canOpen(list as StoredSecret[]))).toBe('INVALID_INPUT');
  expect(await codeOf(canOpen(Array.from({ length: 1001 }, () => secret as StoredSecret)))).toBe('INVALID_INPUT');
});

test('closing is told', async () => {
  const other = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}` });
  expect(other.closing.aborted).toBe(false);
  await other.close();
  expect(other.closing.aborted).toBe(true);
});
