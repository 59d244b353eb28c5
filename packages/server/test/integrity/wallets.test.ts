import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BalanceWatchReader } from '../../src/domains/balances/store.ts';
import {
  keyImport,
  newKeyTag,
  newPrivateKey,
  newSecret,
  newWallet,
  PAYLOAD,
  RECEIVER,
  SUITE,
  walletImport,
} from '../fixtures/keys.ts';
import { COMPLETED, FAILED, outcome, PENDING, policyFor, Rows } from '../flows/fixtures/access.ts';
import { ETH, isSigned, MOONPAY, MOONPAY_KEYS, OnRampProviders, sealTo } from '../flows/fixtures/on-ramp.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { newImportTarget } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { approvalsOf, manifestOf, newApp, newApproved, newDeployment, signBytes } from '../harness/deployments.ts';

// Somebody who can write to the database, and has no key of the service, changes rows of wallets, keys, imports, secrets,
// on-ramp credentials and deployments. Whatever would act on such a row is refused and leaves nothing behind.

const DONE = [200, COMPLETED];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];
const GONE = [404, 'RESOURCE_NOT_FOUND'];

describe.each(DATABASES)('rows that somebody else wrote, on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let other: TestClient;
  let rows: Rows;
  let providers: OnRampProviders;

  beforeAll(async () => {
    providers = await OnRampProviders.start();
    app = await openTestApp(database, providers.env);
    root = await createSubOrganization(app.root, 'Attacked');
    other = await createSubOrganization(app.root, 'Other');
    rows = await Rows.open(app.app.config);
  });
  afterAll(async () => {
    await rows[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
  });

  const sign = (signWith: string, client = root) => client.submit('sign_raw_payload', { signWith, ...PAYLOAD });

  /** A row again, with other values in some columns; the mark is copied too. */
  async function copy(table: string, key: Record<string, string>, changes: Record<string, string>): Promise<void> {
    const where = Object.keys(key).map((column) => `${column} = ?`);
    const [row] = await rows.forge(`SELECT * FROM ${table} WHERE ${where.join(' AND ')}`, Object.values(key));
    const columns = Object.keys(row ?? {});
    expect(columns).toContain(`${table}_mac`);
    const values = columns.map((column) => (column in changes ? `'${changes[column]}'` : column));
    await rows.forge(
      `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE ${where.join(' AND ')}`,
      Object.values(key),
    );
  }
  const remove = (table: string, column: string, organizationId: string, id: string) =>
    rows.forge(`DELETE FROM ${table} WHERE organization_id = ? AND ${column} = ?`, [organizationId, id]);
  const completed = async () =>
    (await rows.forge("SELECT count(*) AS n FROM activity WHERE status = 'ACTIVITY_STATUS_COMPLETED'"))[0]?.['n'];

  /** The request does what it should before the attack, and nothing after it. */
  async function expectRefused(
    request: () => ReturnType<TestClient['submit']>,
    attack: () => Promise<unknown>,
  ): Promise<void> {
    expect(outcome(await request())).toEqual(DONE);
    await attack();
    const before = await completed();
    expect(outcome(await request())).toEqual(REFUSED);
    expect(await completed()).toEqual(before);
  }

  describe('wallets and accounts', () => {
    test.each([
      ['wallet', 'name', "'Cold'"],
      ['wallet', 'imported', '1'],
      ['wallet', 'exported', '1'],
      ['wallet', 'created_at_ms', 'created_at_ms + 1'],
      ['wallet', 'wallet_mac', 'NULL'],
      ['wallet', 'wallet_mac', "'1.AAAAAAAAAAAAAAAAAAAAAA'"],
      ['wallet_account', 'path', "'m/0'"],
      ['wallet_account', 'path_key', "'m/0'"],
      ['wallet_account', 'name', "'Cold'"],
      ['wallet_account', 'public_key', "'02'"],
      ['wallet_account', 'address_format', "'ADDRESS_FORMAT_TRON'"],
      ['wallet_account', 'wallet_account_mac', 'NULL'],
    ])('%s: %s becomes %s', async (table, column, value) => {
      const { walletId, walletAccountId, address } = await newWallet(root);
      const id = table === 'wallet' ? walletId : walletAccountId;
      await expectRefused(
        () => sign(address),
        () => rows.forge(`UPDATE ${table} SET ${column} = ${value} WHERE id = ?`, [id]),
      );
      expect(outcome(await sign(walletAccountId))).toEqual(REFUSED);
      await rows.forge(`DELETE FROM ${table} WHERE id = ?`, [id]);
      expect(outcome(await sign(address))).toEqual(GONE);
    });

    test('an account has the key of another one', async () => {
      const [one, two] = [await newWallet(root), await newWallet(root)];
      await expectRefused(
        () => sign(one.address),
        () =>
          rows.forge("UPDATE wallet_account SET wallet_id = ?, path_key = 'm/9' WHERE id = ?", [
            two.walletId,
            one.walletAccountId,
          ]),
      );
      await rows.forge('DELETE FROM wallet_account WHERE id = ?', [one.walletAccountId]);
    });

    test('an account is made for an address that nobody derived', async () => {
      const { walletAccountId, address } = await newWallet(root);
      const forged = `0x${randomBytes(20).toString('hex')}`;
      const changes = { id: randomUUID(), name: randomUUID(), path_key: 'm/7', address: forged, address_key: forged };
      expect(outcome(await sign(address))).toEqual(DONE);
      await copy('wallet_account', { id: walletAccountId }, changes);
      const before = await completed();
      for (const name of [forged, changes.id]) expect(outcome(await sign(name))).toEqual(REFUSED);
      expect(await completed()).toEqual(before);
      await rows.forge('DELETE FROM wallet_account WHERE id = ?', [changes.id]);
      expect(outcome(await sign(address))).toEqual(DONE);
    });

    test('a wallet of another organization, with its account', async () => {
      const { walletId, walletAccountId, address } = await newWallet(other);
      expect(outcome(await sign(address, other))).toEqual(DONE);
      expect(outcome(await sign(address))).toEqual(GONE);
      await copy('wallet', { id: walletId }, { organization_id: root.organizationId });
      await copy('wallet_account', { id: walletAccountId }, { organization_id: root.organizationId });
      const before = await completed();
      for (const name of [address, walletAccountId]) expect(outcome(await sign(name))).toEqual(REFUSED);
      const target = { targetPublicKey: RECEIVER.publicKey };
      expect(outcome(await root.submit('export_wallet', { walletId, ...target }))).toEqual(REFUSED);
      expect(outcome(await root.submit('export_wallet_account', { address, ...target }))).toEqual(REFUSED);
      expect(await completed()).toEqual(before);
      await remove('wallet', 'id', root.organizationId, walletId);
      await remove('wallet_account', 'id', root.organizationId, walletAccountId);
      expect(outcome(await sign(address, other))).toEqual(DONE);
    });

    test('what was exported is not so any more, by a request that would write the row', async () => {
      const { walletId } = await newWallet(root);
      await root.run('export_wallet', { walletId, targetPublicKey: RECEIVER.publicKey });
      await expectRefused(
        () => root.submit('update_wallet', { walletId, walletName: randomUUID() }),
        () => rows.forge('UPDATE wallet SET exported = 0 WHERE id = ?', [walletId]),
      );
      const [row] = await rows.forge('SELECT exported FROM wallet WHERE id = ?', [walletId]);
      expect(Number(row?.['exported'])).toBe(0);
      await rows.forge('DELETE FROM wallet WHERE id = ?', [walletId]);
    });

    test('nobody is told of a balance by an account that somebody else wrote', async () => {
      const { walletAccountId, address } = await newWallet(root);
      const keys = [address.toLowerCase()];
      const holders = () => app.app.storage.read(BalanceWatchReader).holders(keys, 'ADDRESS_FORMAT_ETHEREUM');
      expect(await holders()).toMatchObject([{ address, organizationId: root.organizationId }]);
      const changes = { organization_id: other.organizationId, id: randomUUID() };
      await copy('wallet_account', { id: walletAccountId }, changes);
      await expect(holders()).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
      await rows.forge('DELETE FROM wallet_account WHERE id = ?', [changes.id]);
      expect(await holders()).toHaveLength(1);
    });

    test('an approver is not told of a wallet by a name that somebody else gave it', async () => {
      const member = await createUser(root, randomUUID());
      const { walletId, address } = await newWallet(root);
      await policyFor(root, member, {
        condition: `wallet.id == '${walletId}'`,
        consensus: `approvers.any(user, user.id == '${member.userId}') && approvers.count() >= 2`,
      });
      const proposal = await sign(address, member);
      expect(outcome(proposal)).toEqual([200, PENDING]);
      const describeIt = () => root.query('describe_activity', { activityId: proposal.body.activity.id });
      expect((await describeIt()).status).toBe(200);
      await rows.forge('UPDATE wallet SET name = ? WHERE id = ?', [randomUUID(), walletId]);
      expect(outcome(await describeIt())).toEqual(REFUSED);
      const approval = { fingerprint: proposal.body.activity.fingerprint };
      const { activity } = (await root.submit('approve_activity', approval)).body;
      expect(activity).toMatchObject({ status: FAILED, failure: expect.anything() });
      await rows.forge('DELETE FROM wallet WHERE id = ?', [walletId]);
    });
  });

  describe('private keys', () => {
    const ofEthereum = (table: string): string =>
      table === 'private_key_address' ? "AND address_format = 'ADDRESS_FORMAT_ETHEREUM'" : '';

    test.each([
      ['private_key', 'id', "name = 'Cold'"],
      ['private_key', 'id', 'exported = 1'],
      ['private_key', 'id', "public_key = '02'"],
      ['private_key', 'id', 'private_key_mac = NULL'],
      ['private_key_address', 'private_key_id', "address_format = 'ADDRESS_FORMAT_TRON'"],
      ['private_key_address', 'private_key_id', 'private_key_address_mac = NULL'],
    ])('%s: by %s, %s', async (table, column, change) => {
      const { privateKeyId, address } = await newPrivateKey(root);
      await expectRefused(
        () => sign(address),
        () => rows.forge(`UPDATE ${table} SET ${change} WHERE ${column} = ? ${ofEthereum(table)}`, [privateKeyId]),
      );
      expect(outcome(await sign(privateKeyId))).toEqual(REFUSED);
      await rows.forge(`DELETE FROM ${table} WHERE ${column} = ?`, [privateKeyId]);
    });

    test('an address leads to another key', async () => {
      const [one, two] = [await newPrivateKey(root), await newPrivateKey(root)];
      await expectRefused(
        () => sign(one.address),
        async () => {
          await rows.forge('DELETE FROM private_key_address WHERE private_key_id = ?', [two.privateKeyId]);
          const ids = [two.privateKeyId, one.privateKeyId];
          await rows.forge('UPDATE private_key_address SET private_key_id = ? WHERE private_key_id = ?', ids);
        },
      );
    });

    test('an address is made for a key', async () => {
      const { privateKeyId, address } = await newPrivateKey(root);
      const forged = `0x${randomBytes(20).toString('hex')}`;
      const key = { private_key_id: privateKeyId, address_format: 'ADDRESS_FORMAT_ETHEREUM' };
      expect(outcome(await sign(address))).toEqual(DONE);
      await copy('private_key_address', key, {
        address_format: 'ADDRESS_FORMAT_TRON',
        address: forged,
        address_key: forged,
      });
      for (const name of [forged, address]) expect(outcome(await sign(name))).toEqual(REFUSED);
    });

    test('a key of another organization', async () => {
      const { privateKeyId, address } = await newPrivateKey(other);
      expect(outcome(await sign(address, other))).toEqual(DONE);
      const here = { organization_id: root.organizationId };
      await copy('private_key', { id: privateKeyId }, here);
      await copy(
        'private_key_address',
        { private_key_id: privateKeyId, address_format: 'ADDRESS_FORMAT_ETHEREUM' },
        here,
      );
      for (const name of [address, privateKeyId]) expect(outcome(await sign(name))).toEqual(REFUSED);
      const target = { privateKeyId, targetPublicKey: RECEIVER.publicKey };
      expect(outcome(await root.submit('export_private_key', target))).toEqual(REFUSED);
      await remove('private_key', 'id', root.organizationId, privateKeyId);
      await remove('private_key_address', 'private_key_id', root.organizationId, privateKeyId);
    });

    test('a key gets a tag that a policy goes by', async () => {
      const member = await createUser(root, randomUUID());
      const hot = await newKeyTag(root);
      await policyFor(root, member, { condition: `private_key.tags.contains('${hot}')` });
      const [tagged, bare] = [await newPrivateKey(root, undefined, [hot]), await newPrivateKey(root)];
      expect(outcome(await sign(tagged.privateKeyId, member))).toEqual(DONE);
      expect((await sign(bare.privateKeyId, member)).status).toBe(403);
      await copy('private_key_tag', { private_key_id: tagged.privateKeyId }, { private_key_id: bare.privateKeyId });
      expect(outcome(await sign(bare.privateKeyId, member))).toEqual(REFUSED);
      await remove('private_key_tag', 'private_key_id', root.organizationId, bare.privateKeyId);
      expect((await sign(bare.privateKeyId, member)).status).toBe(403);
    });
  });

  describe('imports', () => {
    test('a target becomes that of another user', async () => {
      const member = await createUser(root, randomUUID());
      await policyFor(root, member, { condition: "activity.action == 'IMPORT'" });
      const imported = async (client: TestClient, target: string) =>
        await client.submit('import_wallet', walletImport(client, randomUUID(), target));
      expect(outcome(await imported(root, await newImportTarget(root, 'wallet')))).toEqual(DONE);
      const target = await newImportTarget(root, 'wallet');
      await rows.forge('UPDATE import_target SET user_id = ? WHERE target_public_key = ?', [member.userId, target]);
      const before = await completed();
      expect(outcome(await imported(member, target))).toEqual(REFUSED);
      expect(await completed()).toEqual(before);
      await rows.forge('DELETE FROM import_target WHERE target_public_key = ?', [target]);
    });

    test('a target lives longer, or is one of another organization', async () => {
      const imported = async (client: TestClient, target: string) =>
        await client.submit('import_private_key', keyImport(client, randomUUID(), target));
      expect(outcome(await imported(root, await newImportTarget(root, 'private_key')))).toEqual(DONE);
      const late = await newImportTarget(root, 'private_key');
      await rows.forge('UPDATE import_target SET expires_at_ms = expires_at_ms + 1 WHERE target_public_key = ?', [
        late,
      ]);
      expect(outcome(await imported(root, late))).toEqual(REFUSED);
      await rows.forge('DELETE FROM import_target WHERE target_public_key = ?', [late]);
      const foreign = await newImportTarget(other, 'private_key');
      const here = { organization_id: root.organizationId, user_id: root.userId, id: randomUUID() };
      await copy('import_target', { target_public_key: foreign }, here);
      expect(outcome(await imported(root, foreign))).toEqual(REFUSED);
      await rows.forge('DELETE FROM import_target WHERE id = ?', [here.id]);
    });
  });

  describe('secrets', () => {
    const exportIt = (secretId: string, client = root) =>
      client.submit('export_secrets', {
        secrets: [{ secretId, targetPublicKey: RECEIVER.publicKey, encryptionSuite: SUITE }],
      });

    test('a secret gets properties that a policy goes by', async () => {
      const member = await createUser(root, randomUUID());
      const name = `open ${randomUUID()}`;
      await policyFor(root, member, { condition: `secret.static_properties['name'] == '${name}'` });
      const [open, closed] = [await newSecret(root, name), await newSecret(root, `closed ${randomUUID()}`)];
      expect(outcome(await exportIt(open, member))).toEqual(DONE);
      expect((await exportIt(closed, member)).status).toBe(403);
      const properties = JSON.stringify([{ key: 'name', value: name }]);
      await rows.forge('UPDATE secret SET static_properties = ? WHERE id = ?', [properties, closed]);
      expect(outcome(await exportIt(closed, member))).toEqual(REFUSED);
      await rows.forge('DELETE FROM secret WHERE id = ?', [closed]);
    });

    test('a secret of another organization, and one under another name', async () => {
      const foreign = await newSecret(other, randomUUID());
      expect(outcome(await exportIt(foreign, other))).toEqual(DONE);
      await copy('secret', { id: foreign }, { organization_id: root.organizationId });
      expect(outcome(await exportIt(foreign))).toEqual(REFUSED);
      await remove('secret', 'id', root.organizationId, foreign);
      const own = await newSecret(root, randomUUID());
      await expectRefused(
        () => exportIt(own),
        () => rows.forge("UPDATE secret SET name = 'other' WHERE id = ?", [own]),
      );
      await rows.forge('DELETE FROM secret WHERE id = ?', [own]);
    });
  });

  describe('on-ramp credentials', () => {
    const begin = () => app.root.submit('init_fiat_on_ramp', { onrampProvider: MOONPAY, sandboxMode: true, ...ETH });
    const moonpay = () => ({
      onrampProvider: MOONPAY,
      publishableApiKey: MOONPAY_KEYS.publishable,
      encryptedSecretApiKey: sealTo(
        app.app.serviceKeys.find(({ role }) => role === 'on-ramp-secret')?.publicKey ?? '',
        MOONPAY_KEYS.secret,
      ),
      sandboxMode: true,
    });

    test('purchases are begun in the name of somebody else, or for real money', async () => {
      const { fiatOnRampCredentialId: id } = await app.root.run('create_fiat_on_ramp_credential', moonpay());
      const { body } = await begin();
      const [{ onRampUrl }] = Object.values(body.activity.result) as [{ onRampUrl: string }];
      expect(isSigned(onRampUrl)).toBe(true);
      await expectRefused(begin, () =>
        rows.forge("UPDATE on_ramp_credential SET publishable_api_key = 'pk_test_mine' WHERE id = ?", [id]),
      );
      await rows.forge('DELETE FROM on_ramp_credential WHERE id = ?', [id]);
      const { fiatOnRampCredentialId: real } = await app.root.run('create_fiat_on_ramp_credential', {
        ...moonpay(),
        sandboxMode: false,
      });
      expect((await begin()).status).not.toBe(200);
      await rows.forge('UPDATE on_ramp_credential SET is_sandbox = 1 WHERE id = ?', [real]);
      expect(outcome(await begin())).toEqual(REFUSED);
      const update = { fiatOnrampCredentialId: real, ...moonpay() };
      expect(outcome(await app.root.submit('update_fiat_on_ramp_credential', update))).toEqual(REFUSED);
      await rows.forge('DELETE FROM on_ramp_credential WHERE id = ?', [real]);
    });

    test('a credential is inserted', async () => {
      const { fiatOnRampCredentialId: id } = await app.root.run('create_fiat_on_ramp_credential', moonpay());
      await expectRefused(begin, () =>
        copy(
          'on_ramp_credential',
          { id },
          { id: 'ffffffff-ffff-7fff-bfff-ffffffffffff', publishable_api_key: 'pk_mine' },
        ),
      );
      await rows.forge('DELETE FROM on_ramp_credential');
    });
  });

  describe('deployments', () => {
    const liveOf = async (tvcAppId: string) =>
      (await app.root.query('get_tvc_app', { tvcAppId })).body.tvcApp.liveDeploymentId;
    const approve = (manifestId: string, approvals: readonly object[]) =>
      app.root.submit('create_tvc_manifest_approvals', { manifestId, approvals });

    test.each([
      ['tvc_operator', 'manifestSetOperatorIds', "name = 'Somebody else'"],
      ['tvc_operator_set', 'manifestSetId', 'threshold = 1'],
      ['tvc_operator_set', 'manifestSetId', "name = 'Another set'"],
      ['tvc_app', 'appId', 'manifest_set_id = share_set_id'],
      ['tvc_app', 'appId', 'enable_egress = 1'],
      ['tvc_deployment', 'deploymentId', "manifest = '{}'"],
      ['tvc_deployment', 'deploymentId', 'replicas = replicas + 1'],
    ] as const)('%s: %s %s', async (table, field, change) => {
      const made = await newApp(app.root, undefined, 2);
      const first = await newDeployment(app.root, made);
      const approvals = await approvalsOf(app.root, made, first.deploymentId, 0, 1);
      expect(outcome(await approve(first.manifestId, approvals.slice(0, 1)))).toEqual(DONE);
      const id = { ...made, ...first }[field];
      await rows.forge(`UPDATE ${table} SET ${change} WHERE id = ?`, [typeof id === 'string' ? id : (id[0] as string)]);
      const before = await completed();
      expect(outcome(await approve(first.manifestId, approvals.slice(1)))).toEqual(REFUSED);
      expect(await completed()).toEqual(before);
    });

    test('an operator has the key of somebody else', async () => {
      const made = await newApp(app.root);
      await newApproved(app.root, made);
      const { deploymentId, manifestId } = await newDeployment(app.root, made);
      const [operatorId] = made.manifestSetOperatorIds as readonly [string];
      const mine = newKeyPair();
      const signature = signBytes(mine, await manifestOf(app.root, deploymentId));
      await rows.forge('UPDATE tvc_operator SET sign_public_key = ? WHERE id = ?', [mine.publicKey, operatorId]);
      expect(outcome(await approve(manifestId, [{ operatorId, signature }]))).toEqual(REFUSED);
    });

    test('a deployment counts as approved, and is live', async () => {
      const made = await newApp(app.root);
      const approved = await newApproved(app.root, made);
      expect(await liveOf(made.appId)).toBe(approved.deploymentId);
      const setLive = (deploymentId: string) =>
        app.root.submit('set_tvc_app_live_deployment', { appId: made.appId, deploymentId });
      expect(outcome(await setLive(approved.deploymentId))).toEqual(DONE);
      const { deploymentId } = await newDeployment(app.root, made);
      expect((await setLive(deploymentId)).status).toBe(400);
      await rows.forge('UPDATE tvc_deployment SET approved_at_ms = 1 WHERE id = ?', [deploymentId]);
      expect(outcome(await setLive(deploymentId))).toEqual(REFUSED);
      await rows.forge('UPDATE tvc_app SET live_deployment_id = ? WHERE id = ?', [deploymentId, made.appId]);
      expect(outcome(await app.root.query('get_tvc_app', { tvcAppId: made.appId }))).toEqual(REFUSED);
    });

    test('an approval that nobody signed counts nothing', async () => {
      const made = await newApp(app.root, undefined, 2);
      const { deploymentId, manifestId } = await newDeployment(app.root, made);
      const approvals = await approvalsOf(app.root, made, deploymentId, 0, 1);
      const [, second] = made.manifestSetOperatorIds as readonly [string, string];
      const zero = database === 'sqlite' ? 'zeroblob(64)' : `decode('${'00'.repeat(64)}', 'hex')`;
      for (const operatorId of [second, randomUUID()]) {
        await rows.forge(
          `INSERT INTO tvc_approval (organization_id, id, deployment_id, operator_id, signature, created_at_ms)
           VALUES (?, ?, ?, ?, ${zero}, 1)`,
          [app.root.organizationId, randomUUID(), deploymentId, operatorId],
        );
      }
      expect(outcome(await approve(manifestId, approvals.slice(0, 1)))).toEqual(DONE);
      expect(await liveOf(made.appId)).toBeUndefined();
      await rows.forge('DELETE FROM tvc_approval WHERE deployment_id = ? AND operator_id = ?', [deploymentId, second]);
      expect(outcome(await approve(manifestId, approvals.slice(1)))).toEqual(DONE);
      expect(await liveOf(made.appId)).toBe(deploymentId);
    });
  });
});
