import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSubOrganization, createUser, TestClient } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));

/** Runs the built program, as its user does. */
function custos(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
}

describe('custos api', () => {
  let server: TestServer;
  let folder: string;
  let root: TestClient;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await TestServer.start();
    folder = mkdtempSync(join(tmpdir(), 'custos-api-'));
    root = TestClient.root(server.credentials, server.baseUrl);
    env = { CUSTOS_DATA_DIR: server.dataDir };
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('calls queries and activities by either name, with parameters from three places', () => {
    const asked = custos(['api', 'whoami'], env);
    expect(asked).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(asked.stdout)).toMatchObject({ organizationId: root.organizationId });
    const wallet = (walletName: string) => JSON.stringify({ walletName, accounts: [] });
    const file = join(folder, 'wallet.json');
    writeFileSync(file, wallet('second'));
    const made = [
      custos(['api', 'create_wallet', '--parameters', wallet('first')], env),
      custos(['api', 'createWallet', '--parameters', `@${file}`], env),
      custos(['api', 'create-wallet', '--parameters', '-'], env, wallet('third')),
    ];
    for (const { status, stdout, stderr } of made) {
      expect([status, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({
        walletId: expect.any(String),
        activity: { status: 'ACTIVITY_STATUS_COMPLETED' },
      });
    }
    const { wallets } = JSON.parse(custos(['api', 'list_wallets'], env).stdout);
    expect(wallets.map(({ walletName }: { walletName: string }) => walletName)).toEqual(['first', 'second', 'third']);
  });

  test('acts on another organization', async () => {
    const child = await createSubOrganization(root, 'Child');
    for (const args of [
      ['--organization', child.organizationId],
      ['--parameters', JSON.stringify({ organizationId: child.organizationId })],
    ]) {
      const { stdout } = custos(['api', 'get_organization', ...args], env);
      expect(JSON.parse(stdout).organizationData.organizationId).toBe(child.organizationId);
    }
  });

  test('says what is wrong in one line', () => {
    const says = (args: readonly string[], text: RegExp, of = env) => {
      const { status, stderr } = custos(['api', ...args], of);
      expect([status, stderr.trimEnd().split('\n').length], stderr).toEqual([1, 1]);
      expect(stderr).toMatch(text);
    };
    says(['create_walet'], /no operation create_walet: did you mean create_wallet\? /);
    says(['xyzzyxyzzyxyzzy'], /no operation xyzzyxyzzyxyzzy: `custos api --list` lists them all/);
    says([], /which operation\?/);
    says(['get_wallet', '--parameters', '{'], /--parameters is no JSON/);
    says(['get_wallet', '--parameters', '[]'], /--parameters must be a JSON object/);
    says(['get_wallet', '--parameters', '@/nowhere.json'], /cannot read \/nowhere\.json: there is no such file/);
    says(['get_wallet', '--parameters', '{}'], /walletId: is required/);
    says(['whoami', '--url', 'http://127.0.0.1:9'], /no answer from .*is the service running\?/);
    says(['whoami'], /no credentials in/, { CUSTOS_DATA_DIR: folder });
  });

  test('lists operations, and shows what one takes', () => {
    const { stdout: list } = custos(['api', '--list']);
    expect(list).toMatch(/^query +get_operations +getOperations$/m);
    expect(list).toMatch(/^vote +approve_activity +approveActivity$/m);
    expect(custos(['api', '--help']).stdout).toContain('Usage: custos api');
    const { status, stdout } = custos(['api', 'create_wallet', '--help'], env);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^create_wallet \(activity\)\nCreate an HD wallet/);
    expect(stdout).toMatch(/^ {2}walletName: string$/m);
    expect(stdout).toMatch(/^ {2}mnemonicLength\?: 12 \| 15/m);
    expect(stdout).toMatch(/^ {4}curve: "CURVE_SECP256K1" \| /m);
    expect(stdout).toMatch(/^custos api create_wallet --parameters '\{/m);
    const query = custos(['api', 'get_wallet', '-h'], env).stdout;
    expect(query).toContain('  walletId: string');
    expect(query).not.toContain('organizationId');
  });

  test('an activity that waits is printed with the way to approve it, and exits with 3', async () => {
    const grace = await createUser(root, 'Grace');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, grace.userId] });
    const { status, stdout, stderr } = custos(
      ['api', 'create_wallet', '--parameters', '{"walletName":"both","accounts":[]}'],
      env,
    );
    expect(status).toBe(3);
    const { activity } = JSON.parse(stdout);
    expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    expect(stderr).toContain(`--parameters '{"fingerprint":"${activity.fingerprint}"}'`);
    const file = join(folder, 'grace.json');
    const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = grace.key;
    writeFileSync(file, JSON.stringify({ ...server.credentials, apiPublicKey, apiPrivateKey }));
    const approval = JSON.stringify({ fingerprint: activity.fingerprint });
    const approved = custos(['api', 'approve_activity', '--credentials', file, '--parameters', approval]);
    expect(approved.status, approved.stderr).toBe(0);
    expect(JSON.parse(approved.stdout).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
  });
});
