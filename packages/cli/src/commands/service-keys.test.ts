import { describe, expect, test } from 'vitest';
import { writeDatabase } from '../../../server/test/faults/sealed-world.ts';
import { expectRefusal, openTables, runCli, waitUntil } from '../../../server/test/faults/support.ts';
import { TestClient } from '../../../server/test/harness/client.ts';
import { databasesOf } from '../../../server/test/harness/databases.ts';
import { remark } from '../../../server/test/harness/remark.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const HERE = databasesOf(import.meta.url);
const DAY_MS = 24 * 60 * 60 * 1000;
const PUBLISHED = /^published ([a-z-]+) key ([0-9a-f]{32}); it is used from (\S+?)(?:; destroyed (.*))?\n$/;
const rotate = (server: TestServer, ...args: string[]) =>
  runCli(server.environment, 'keyring', 'rotate-service-key', ...args);

interface Published {
  readonly role: string;
  readonly keyId: string;
  readonly publicKey: string;
}

async function published(server: TestServer, role: string): Promise<Published[]> {
  const answer = await fetch(`${server.baseUrl}/public/v1/discovery/keys`);
  const { keys } = (await answer.json()) as { keys: Published[] };
  return keys.filter((key) => key.role === role);
}
const idsOf = async (server: TestServer, role: string) => (await published(server, role)).map(({ keyId }) => keyId);

async function issuerKeys(server: TestServer): Promise<string[]> {
  const { keys } = (await (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json()) as {
    keys: { kid: string }[];
  };
  return keys.map(({ kid }) => kid);
}

/** Which key signs the targets of imports. */
async function bundleSignerOf(client: TestClient): Promise<string> {
  const { userId } = (await client.query('whoami', {})).body as { userId: string };
  const { body } = await client.submit('init_import_wallet', { userId });
  const { importBundle } = body.activity.result.initImportWalletResult as { importBundle: string };
  return (JSON.parse(importBundle) as { enclaveQuorumPublic: string }).enclaveQuorumPublic;
}

describe.each(HERE)('custos keyring rotate-service-key on %s', { timeout: 240_000 }, (database) => {
  test('publishes the next key beside the old one, uses it when its time has come, and lets the old one go', async () => {
    await using server = await TestServer.start({ database });
    const client = TestClient.root(server.credentials, server.baseUrl);
    const setUse = async (keyId: string, atMs: number): Promise<void> => {
      await writeDatabase(server, 'UPDATE service_key SET signs_from_ms = ? WHERE key_id = ?', [atMs, keyId]);
      await remark(server, 'service_key');
    };
    const [old] = await published(server, 'bundle-signer');
    expect(await bundleSignerOf(client)).toBe(old?.publicKey);

    expectRefusal(await rotate(server, 'bundle'), /is not the role of a service key; the roles are bundle-signer, /);
    const startedAtMs = Date.now();
    const done = await rotate(server, 'bundle-signer');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const [, role, next = '', from = ''] = PUBLISHED.exec(done.stdout) ?? [];
    expect(role).toBe('bundle-signer');
    expect(Date.parse(from)).toBeGreaterThanOrEqual(startedAtMs + 7 * DAY_MS);
    await waitUntil('the key is published', async () => (await idsOf(server, 'bundle-signer')).length === 2);
    expect(await idsOf(server, 'bundle-signer')).toEqual([old?.keyId, next]);
    expect(await bundleSignerOf(client)).toBe(old?.publicKey);
    expectRefusal(await rotate(server, 'bundle-signer'), new RegExp(`key ${next} is published and begins to sign at`));

    await setUse(next, Date.now());
    await waitUntil('the key is used', async () => (await idsOf(server, 'bundle-signer'))[0] === next);
    const [used] = await published(server, 'bundle-signer');
    await waitUntil('the key signs', async () => (await bundleSignerOf(client)) === used?.publicKey);
    expect(await idsOf(server, 'bundle-signer')).toEqual([next, old?.keyId]);

    await setUse(old?.keyId ?? '', Date.now() - 60 * DAY_MS);
    await setUse(next, Date.now() - 31 * DAY_MS);
    await waitUntil('the old key is gone', async () => (await idsOf(server, 'bundle-signer')).length === 1);
    await using tables = await openTables(server.dataDir, server.databaseUrl);
    const stored = async () =>
      (await tables.read("SELECT key_id FROM service_key WHERE role = 'bundle-signer'"))[0]?.map((row) => row.key_id);
    // It is deleted once a process has seen that for a day (packages/server/test/storage/expired-service-keys.test.ts).
    await setUse(next, Date.now() - 60 * DAY_MS);
    await waitUntil('it was looked at again', async () => (await idsOf(server, 'bundle-signer')).join() === next);
    expect((await stored())?.sort()).toEqual([old?.keyId, next].sort());

    // Others are fetched by everybody, and change sooner; how long is for the operator to say.
    const [issuer] = await issuerKeys(server);
    const hour = await rotate(server, 'oidc-issuer', '--publish', '1');
    expect(Date.parse(PUBLISHED.exec(hour.stdout)?.[3] ?? '') - Date.now()).toBeLessThan(DAY_MS);
    await waitUntil('the key set has both', async () => (await issuerKeys(server)).length === 2);
    expect((await issuerKeys(server))[0]).toBe(issuer);

    // Of a compromised key nothing is left.
    const [lost] = await idsOf(server, 'otp');
    expectRefusal(await rotate(server, 'otp', '--compromised'), /no terminal to ask on; run it again with --yes/);
    expect(await rotate(server, 'otp', '--compromised', '--dry-run')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^This publishes a new otp key, which is used after 5 seconds, and destroys ${lost}: everything`),
      ),
    });
    expect(await idsOf(server, 'otp')).toEqual([lost]);
    const replaced = await rotate(server, 'otp', '--compromised', '--yes');
    const [, , only, , destroyed] = PUBLISHED.exec(replaced.stdout) ?? [];
    expect(destroyed).toBe(lost);
    await waitUntil('the old key is gone', async () => (await idsOf(server, 'otp')).join() === only);
    expect(await runCli(server.environment, 'keyring', 'verify')).toMatchObject({ code: 0 });
  });
});

test('mistakes in the arguments', async () => {
  for (const hours of ['0', 'x', '8761', '1.5']) {
    expect(await runCli({}, 'keyring', 'rotate-service-key', 'otp', '--publish', hours)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/It must be a whole number of hours from 1 to 8760/),
    });
  }
});
