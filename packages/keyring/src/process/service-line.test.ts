import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import { codeOf, deploy, encryptTo, ORGANIZATION, Receiver } from '../../test/fixtures/client.ts';
import { METHODS, transportOf } from '../calls/table.ts';
import {
  createKeyring,
  INSTALLATION_ID,
  type Keyring,
  type KeyringError,
  type KeyringOptions,
  type RingState,
} from '../index.ts';
import type { ProcessKeyring } from './client.ts';
import { Line } from './line.ts';
import { pipesOf, startKeyringProcess } from './start.ts';

// What whoever controls a service cannot make its keyring process do.

let folder: string;
let rootKey: string;
const receiver = new Receiver();

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-service-line-'));
  rootKey = `file:${join(folder, 'root.key')}`;
});
afterAll(() => rm(folder, { recursive: true }));

async function start(options: Partial<KeyringOptions>): Promise<Keyring> {
  const keyring = await createKeyring({ rootKey, create: true, mode: 'process', threads: 2, ...options });
  onTestFinished(() => keyring.close());
  return keyring;
}

/** Each with what would change the ring where it was not refused. */
const CHANGES: Readonly<Record<string, (earlier: string) => readonly unknown[]>> = {
  addRootKey: () => [],
  removeRootKey: (earlier) => [earlier],
  retireRootKey: (earlier) => [earlier],
  restoreRootKey: (earlier) => [earlier],
  removeExpiredRootKeys: (earlier) => [[earlier]],
};

test('every call that changes the keys of the ring is refused, and the ring stays', async () => {
  const command = await start({});
  const earlier = command.rootKeyId;
  await command.addRootKey();
  const service = (await start({ refusesAdministration: true })) as ProcessKeyring;
  const before = await readFile(join(folder, 'root.key'));
  const writing = METHODS.filter((method) => transportOf(method).route.to === 'ring');
  const changing = writing.filter((method) => transportOf(method).route.isForServices !== true);
  // A new one needs arguments here, by which it would do something.
  expect(changing).toEqual(Object.keys(CHANGES));
  // It only adds to what is required.
  expect(writing.filter((method) => !changing.includes(method))).toEqual(['requireIntegrity']);
  for (const method of changing) {
    const args = CHANGES[method]?.(earlier) ?? [];
    expect([method, await codeOf(service.perform(method, args))]).toEqual([method, 'NOT_ALLOWED']);
    expect(await readFile(join(folder, 'root.key')), method).toEqual(before);
  }
  // A command beside the service does it, and the service finds out.
  await command.retireRootKey(earlier);
  expect((await service.refreshRing()).retired?.map(({ id }) => id)).toEqual([earlier]);
});

test('a key that was retired beside it is gone from every thread, whatever the service asks for', async () => {
  const command = await start({});
  const earlier = command.rootKeyId;
  const organizationKey = await command.createOrganizationKey(ORGANIZATION);
  await command.addRootKey();
  const child = startKeyringProcess({ rootKey, threads: 2, refusesAdministration: true });
  const ended = once(child, 'exit');
  child.send({ create: false, methods: METHODS });
  await once(child, 'message');
  child.send({ type: 'wake' });
  await once(child, 'message');
  // Nobody who hears what they say about the ring tells the other to read it.
  const heard: RingState[] = [];
  const lines = pipesOf(child).map((pipe) => new Line(pipe, (ring) => heard.push(ring)));
  const binding = { organizationId: ORGANIZATION, ownerId: 'x', kind: 'dev-message' };
  const seal = (line: Line) => line.call('seal', [organizationKey, binding, Uint8Array.of(1)]);
  for (const line of lines) await seal(line);
  await command.retireRootKey(earlier);
  for (const line of lines) {
    await vi.waitFor(async () => expect(await codeOf(seal(line))).toBe('UNKNOWN_ROOT_KEY'), { timeout: 20_000 });
  }
  expect(heard.map(({ retired = [] }) => retired.some(({ id }) => id === earlier))).toEqual([true, true]);
  // It comes back in the same way.
  await command.restoreRootKey(earlier);
  for (const line of lines) await vi.waitFor(() => seal(line), { timeout: 20_000 });
  child.disconnect();
  await ended;
});

test('exports have a ceiling, of an organization and in all', async () => {
  const keyring = await start({ exportLimits: { perOrganization: 2, inAll: 3 } });
  const { holder } = await deploy(keyring);
  const owner = holder('wallet-1');
  const { sealedSeed } = await keyring.createWallet(owner, 12, []);
  const attempt = () => keyring.exportWallet(owner, sealedSeed, undefined, receiver.publicKey);
  await attempt();
  await attempt();
  const refusal = (await attempt().catch((error: unknown) => error)) as KeyringError;
  expect(refusal).toMatchObject({ code: 'TOO_MANY_EXPORTS', retryAfterSeconds: expect.any(Number) });
  expect(refusal.retryAfterSeconds).toBeLessThanOrEqual(60);
  const exportedBy = async (organizationId: string) => {
    const other = {
      organizationKey: await keyring.createOrganizationKey(organizationId),
      organizationId,
      ownerId: 'k',
    };
    const { sealedKey } = await keyring.createPrivateKey(other, 'CURVE_ED25519', []);
    return keyring.exportPrivateKey(other, sealedKey, receiver.publicKey);
  };
  await exportedBy('organization-2');
  expect(await codeOf(exportedBy('organization-3'))).toBe('TOO_MANY_EXPORTS');
  // Everything else goes on.
  expect(await keyring.deriveAccounts(owner, sealedSeed, [])).toEqual([]);
});

test('no thread but the first makes exports, so that none is counted elsewhere', async () => {
  const keyring = await start({});
  const { holder, installationKey, keys, signerPublicKey } = await deploy(keyring);
  const owner = holder('wallet-1');
  const { sealedSeed } = await keyring.createWallet(owner, 12, []);
  const child = startKeyringProcess({ rootKey, threads: 2 });
  const ended = once(child, 'exit');
  child.send({ create: false, methods: METHODS });
  await once(child, 'message');
  child.send({ type: 'wake' });
  await once(child, 'message');
  const [first, second] = pipesOf(child).map((pipe) => new Line(pipe, () => {})) as [Line, Line];
  const args = [owner, sealedSeed, undefined, receiver.publicKey];
  for (const line of [first, second]) await line.call('loadServiceKeys', [installationKey, keys]);
  expect(await codeOf(second.call('exportWallet', args))).toBe('NOT_ALLOWED');
  const bundle = (await first.call('exportWallet', args)) as string;
  expect(receiver.open(bundle, signerPublicKey).length).toBeGreaterThan(0);
  child.disconnect();
  await ended;
});

test('imports have none by default, and a ceiling where one is set, whichever thread takes them', async () => {
  const keyring = await start({});
  const { holder, installationKey, keys } = await deploy(keyring);
  const target = await keyring.createImportTarget(holder('target-1'), 'user-1');
  const targets = [{ id: 'target-1', sealed: target.sealedTarget }];
  const bundle = encryptTo(target.targetPublicKey, new Uint8Array(32).fill(1));
  const child = startKeyringProcess({ rootKey, threads: 2, importLimits: { perOrganization: 2, inAll: 0 } });
  const ended = once(child, 'exit');
  child.send({ create: false, methods: METHODS });
  await once(child, 'message');
  child.send({ type: 'wake' });
  await once(child, 'message');
  const lines = pipesOf(child).map((pipe) => new Line(pipe, () => {}));
  for (const line of lines) await line.call('loadServiceKeys', [installationKey, keys]);
  const imported = (line: Line | undefined, ownerId: string) =>
    (line as Line).call('importPrivateKey', [holder(ownerId), targets, bundle, 'CURVE_ED25519', []]);
  await imported(lines[1], 'key-1');
  await imported(lines[0], 'key-2');
  for (const line of lines) {
    const refusal = (await imported(line, 'key-3').catch((error: unknown) => error)) as KeyringError;
    expect([refusal.code, refusal.message]).toEqual([
      'TOO_MANY_IMPORTS',
      'the keyring takes 2 imports a minute of one organization',
    ]);
    expect(refusal.retryAfterSeconds).toBeGreaterThan(0);
  }
  // The operator's own keys are no tenant's.
  const own = (ownerId: string) => ({ organizationKey: installationKey, organizationId: INSTALLATION_ID, ownerId });
  const ownTarget = await keyring.createImportTarget(own('target-2'), 'operator');
  const ownBundle = encryptTo(ownTarget.targetPublicKey, new Uint8Array(32).fill(2));
  const ownTargets = [{ id: 'target-2', sealed: ownTarget.sealedTarget }];
  await lines[0]?.call('importPrivateKey', [own('key'), ownTargets, ownBundle, 'CURVE_ED25519', []]);
  child.disconnect();
  await ended;
  for (let call = 0; call < 3; call += 1) {
    await keyring.importPrivateKey(holder(`more-${call}`), targets, bundle, 'CURVE_ED25519', []);
  }
});

test('each export is logged by the process itself: what, whose and when, and no secret', async () => {
  const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
  const script = `
    const { createKeyring } = await import(${JSON.stringify(module)});
    const keyring = await createKeyring({ rootKey: ${JSON.stringify(rootKey)}, create: true, mode: 'process' });
    const installation = await keyring.createOrganizationKey('deployment');
    const { keyId, sealed } = await keyring.createServiceKey(installation, 'bundle-signer');
    await keyring.loadServiceKeys(installation, [{ role: 'bundle-signer', keyId, sealed }]);
    const owner = {
      organizationKey: await keyring.createOrganizationKey(${JSON.stringify(ORGANIZATION)}),
      organizationId: ${JSON.stringify(ORGANIZATION)},
      ownerId: 'wallet-7',
    };
    const { sealedSeed } = await keyring.createWallet(owner, 12, []);
    await keyring.exportWallet(owner, sealedSeed, undefined, Buffer.from(process.argv[1], 'hex'));
    await keyring.close();`;
  const target = Buffer.from(receiver.publicKey).toString('hex');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, target], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let logged = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    logged += text;
  });
  expect((await once(child, 'close'))[0]).toBe(0);
  const lines = logged
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    {
      level: 30,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      by: 'keyring',
      what: 'exportWallet',
      organizationId: ORGANIZATION,
      ownerId: 'wallet-7',
      msg: 'export',
    },
  ]);
});
