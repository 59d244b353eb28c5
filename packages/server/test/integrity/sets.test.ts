import { randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRulesCache } from '../../src/engine/access-rules.ts';
import { describeViolation } from '../../src/integrity/open.ts';
import { verifyRows } from '../../src/integrity/passes.ts';
import { keyParams, newKeyTag, newPrivateKey, PAYLOAD } from '../fixtures/keys.ts';
import { addPasskey, COMPLETED, outcome, policyFor, Rows } from '../flows/fixtures/access.ts';
import { ProxyWorld } from '../flows/fixtures/proxy.ts';
import { newWallet } from '../flows/fixtures/wallets.ts';
import { API_KEY, KEY_THEN_PASSKEY, mfaParameters, step } from '../flows/mfa/support.ts';
import { send, TO } from '../flows/velocity/support.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// Rows that decide together, beside credentials and rules: somebody who can write to the database, and has no key of the
// service, deletes one of them or puts an older one back. Each is genuine by its mark.

const DONE = [200, COMPLETED];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];

type Row = Record<string, unknown>;
type Cell = string | number | null;

/** An app, and somebody who writes to its database. */
class Attacked {
  readonly service: TestApp;
  readonly rows: Rows;

  private constructor(service: TestApp, rows: Rows) {
    this.service = service;
    this.rows = rows;
  }

  static async over(service: TestApp): Promise<Attacked> {
    return new Attacked(service, await Rows.open(service.app.config));
  }

  /** As a process that has just begun. */
  forget = () => {
    const { app } = this.service;
    Object.assign(app, { accessRules: new AccessRulesCache(app.storage.read) });
  };

  async all(table: string, organizationId: string): Promise<readonly Row[]> {
    return await this.rows.forge(`SELECT * FROM ${table} WHERE organization_id = ?`, [organizationId]);
  }

  async remove(table: string, organizationId: string): Promise<void> {
    await this.rows.forge(`DELETE FROM ${table} WHERE organization_id = ?`, [organizationId]);
  }

  /** Every row of a table is as it was. */
  async putBack(table: string, organizationId: string, older: readonly Row[]): Promise<void> {
    await this.remove(table, organizationId);
    for (const row of older) {
      const columns = Object.keys(row);
      await this.rows.forge(
        `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`,
        Object.values(row) as Cell[],
      );
    }
  }

  /** The sets that do not verify, and rows. */
  async bad(organizationId: string): Promise<string[]> {
    const found: string[] = [];
    await verifyRows(this.service.app.storage, (violation) => {
      if (violation.organizationId === organizationId) found.push(describeViolation(violation));
    });
    return found;
  }

  /** What a service that is asked refused. */
  violations = (organizationId: string) =>
    this.service.app.storage.integrity.violations
      .filter((violation) => violation.organizationId === organizationId)
      .map(({ because, set }) => `${because} ${set}`);
}

describe.each(DATABASES)('sets of rows, on %s', (database: DatabaseKind) => {
  let app: TestApp;
  let attacked: Attacked;

  beforeAll(async () => {
    app = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    attacked = await Attacked.over(app);
  });
  afterAll(async () => {
    await attacked?.rows[Symbol.asyncDispose]();
    await app?.[Symbol.asyncDispose]();
  });

  const newOrg = () => createSubOrganization(app.root, `Org ${randomUUID()}`);
  const completed = async (organizationId: string) =>
    (await attacked.all('activity', organizationId)).filter(({ status }) => status === COMPLETED).length;

  async function expectRefused(
    { organizationId }: TestClient,
    request: () => ReturnType<TestClient['submit']>,
    attack: () => Promise<unknown>,
    before: unknown = DONE,
  ): Promise<void> {
    expect(outcome(await request())).toEqual(before);
    await attack();
    attacked.forget();
    const done = await completed(organizationId);
    for (let time = 0; time < 2; time += 1) expect(outcome(await request())).toEqual(REFUSED);
    expect(await completed(organizationId)).toBe(done);
  }

  describe('interfaces of contracts', () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, 1n] });
    const contract = (address: string, label = 'Token') => ({
      smartContractAddress: address,
      smartContractInterface: JSON.stringify(erc20Abi),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label,
    });
    const address = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`;

    /** Users may do everything but transfers of tokens. */
    async function uploaded() {
      const root = await newOrg();
      const user = await createUser(root, 'user');
      const { addresses } = await newWallet(root);
      const { smartContractInterfaceId: contractId } = await root.run('create_smart_contract_interface', contract(TO));
      await policyFor(root, user);
      await policyFor(root, user, {
        effect: 'EFFECT_DENY',
        consensus: 'true',
        condition: "eth.tx.function_name == 'transfer'",
      });
      const sign = () => send(user, addresses[0] as string, { data });
      const other = () => send(user, addresses[0] as string, {});
      return { root, id: root.organizationId, contractId, sign, other };
    }

    test('one is deleted, and a denial of transfers would not read them', async () => {
      const { root, id, sign, other } = await uploaded();
      expect(outcome(await other())).toEqual(DONE);
      await expectRefused(root, sign, () => attacked.remove('contract_interface', id), DENIED);
      expect(await attacked.bad(id)).toEqual([`organization ${id} (set of contract_interface)`]);
      expect(attacked.violations(id)).toEqual(['set contract_interface']);
    });

    test('one is for another address, under the mark that it had', async () => {
      const { root, id, sign } = await uploaded();
      const move = () =>
        attacked.rows.forge(`UPDATE contract_interface SET address_key = '${address(9)}' WHERE organization_id = ?`, [
          id,
        ]);
      await expectRefused(root, sign, move, DENIED);
    });

    test('an older one is back', async () => {
      const { root, id, contractId, sign } = await uploaded();
      const older = await attacked.all('contract_interface', id);
      await root.run('delete_smart_contract_interface', { smartContractInterfaceId: contractId });
      expect(outcome(await sign())).toEqual(DONE);
      await root.run('create_smart_contract_interface', contract(TO, 'Another'));
      await expectRefused(root, sign, () => attacked.putBack('contract_interface', id, older), DENIED);
    });

    test('one that was deleted is back', async () => {
      const { root, id, contractId, sign } = await uploaded();
      const older = await attacked.all('contract_interface', id);
      await root.run('delete_smart_contract_interface', { smartContractInterfaceId: contractId });
      await expectRefused(root, sign, () => attacked.putBack('contract_interface', id, older));
    });

    test('they come and go, side by side, and none is missed', async () => {
      const { root, id, sign } = await uploaded();
      const ids = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const made = await root.run('create_smart_contract_interface', contract(address(index)));
          return made.smartContractInterfaceId as string;
        }),
      );
      const requests = Array.from({ length: 10 }, sign);
      await Promise.all(
        ids.slice(0, 10).map((one) => root.run('delete_smart_contract_interface', { smartContractInterfaceId: one })),
      );
      for (const answer of await Promise.all(requests)) expect(outcome(answer)).toEqual(DENIED);
      // A second one for an address is refused, and what its transaction wrote is undone.
      const twice = await root.submit('create_smart_contract_interface', contract(TO));
      expect(twice.status).toBe(400);
      expect(outcome(await sign())).toEqual(DENIED);
      expect(await attacked.bad(id)).toEqual([]);
      expect(attacked.violations(id)).toEqual([]);
    });
  });

  describe('tags of private keys', () => {
    const retag = (root: TestClient, privateKeyTagId: string, add: readonly string[], remove: readonly string[]) =>
      root.run('update_private_key_tag', { privateKeyTagId, addPrivateKeyIds: add, removePrivateKeyIds: remove });

    /** Users may sign with every key but cold ones. */
    async function tagged() {
      const root = await newOrg();
      const user = await createUser(root, 'user');
      const cold = await newKeyTag(root);
      const key = await newPrivateKey(root, `Key ${randomUUID()}`, [cold]);
      await policyFor(root, user);
      await policyFor(root, user, {
        effect: 'EFFECT_DENY',
        consensus: 'true',
        condition: `private_key.tags.contains('${cold}')`,
      });
      const sign = () => user.submit('sign_raw_payload', { signWith: key.address, ...PAYLOAD });
      return { root, id: root.organizationId, cold, key, sign };
    }

    test('one is deleted, and a denial would not see it', async () => {
      const { root, id, key, sign } = await tagged();
      await expectRefused(root, sign, () => attacked.remove('private_key_tag', id), DENIED);
      expect(await attacked.bad(id)).toEqual([`private_key ${key.privateKeyId} of organization ${id} (set)`]);
    });

    test('one that was taken away is back', async () => {
      const { root, id, cold, key, sign } = await tagged();
      const older = await attacked.all('private_key_tag', id);
      await retag(root, cold, [], [key.privateKeyId]);
      await expectRefused(root, sign, () => attacked.putBack('private_key_tag', id, older));
    });

    test('an address of a key is deleted', async () => {
      const { root, id, key } = await tagged();
      const signById = () => root.submit('sign_raw_payload', { signWith: key.privateKeyId, ...PAYLOAD });
      await expectRefused(root, signById, () => attacked.remove('private_key_address', id));
    });

    test('keys and tags come and go, side by side, and none is missed', async () => {
      const { root, id, cold, key, sign } = await tagged();
      const keys = await Promise.all(Array.from({ length: 5 }, () => newPrivateKey(root, undefined, [cold])));
      const tags = await Promise.all(
        Array.from({ length: 5 }, () =>
          newKeyTag(
            root,
            undefined,
            keys.map(({ privateKeyId }) => privateKeyId),
          ),
        ),
      );
      const [first = ''] = tags;
      const ids = keys.map(({ privateKeyId }) => privateKeyId);
      await Promise.all([
        retag(root, first, [], ids.slice(0, 2)),
        retag(root, first, [key.privateKeyId], []),
        root.run('delete_private_key_tags', { privateKeyTagIds: [tags[1]] }),
        root.run('delete_private_keys', { privateKeyIds: [ids[4]], deleteWithoutExport: true }),
      ]);
      // Adding a tag that it has already, or twice, changes nothing.
      await retag(root, first, [key.privateKeyId], []);
      for (const submit of [
        () => root.submit('create_private_keys', { privateKeys: [keyParams(randomUUID(), [first, first])] }),
        () =>
          root.submit('update_private_key_tag', {
            privateKeyTagId: first,
            addPrivateKeyIds: [ids[0], ids[0]],
            removePrivateKeyIds: [],
          }),
        () => root.submit('create_user_tag', { userTagName: randomUUID(), userIds: [root.userId, root.userId] }),
      ])
        expect((await submit()).status).not.toBe(500);
      expect(outcome(await sign())).toEqual(DENIED);
      await retag(root, cold, [], [key.privateKeyId]);
      expect(outcome(await sign())).toEqual(DONE);
      expect(await attacked.bad(id)).toEqual([]);
    });
  });

  describe('MFA policies of a user', () => {
    /** One that was made stricter since. */
    async function stricter() {
      const root = await newOrg();
      const { userId } = await createUser(root, 'user');
      const policy = { ...mfaParameters(userId, [step(API_KEY)], { condition: 'false' }), notes: '' };
      const { mfaPolicyId } = await root.run('create_mfa_policy', policy);
      const id = root.organizationId;
      const older = await attacked.all('mfa_policy', id);
      expect(older).toHaveLength(1);
      const change = (values: object) => root.submit('update_mfa_policy', { userId, mfaPolicyId, ...values });
      const harder = { condition: 'true', requiredAuthenticationMethods: KEY_THEN_PASSKEY };
      expect(outcome(await change(harder))).toEqual(DONE);
      const rename = () => change({ mfaPolicyName: randomUUID() });
      return { root, id, userId, mfaPolicyId, older, rename };
    }

    test('as one was before, it gets no mark by being renamed', async () => {
      const { id, userId, older, rename } = await stricter();
      const newer = await attacked.all('mfa_policy', id);
      await attacked.putBack('mfa_policy', id, older);
      for (let time = 0; time < 2; time += 1) expect(outcome(await rename())).toEqual(REFUSED);
      expect(await attacked.all('mfa_policy', id)).toEqual(older);
      expect(await attacked.bad(id)).toEqual([`app_user ${userId} of organization ${id} (set)`]);
      await attacked.putBack('mfa_policy', id, newer);
      expect(outcome(await rename())).toEqual(DONE);
      expect(await attacked.bad(id)).toEqual([]);
    });

    test('nor does one that was deleted', async () => {
      const { root, id, userId, mfaPolicyId, older, rename } = await stricter();
      await root.run('delete_mfa_policy', { userId, mfaPolicyId });
      await attacked.putBack('mfa_policy', id, older);
      expect(outcome(await rename())).toEqual(REFUSED);
      expect(await attacked.bad(id)).toEqual([`app_user ${userId} of organization ${id} (set)`]);
    });
  });

  describe('features', () => {
    const ORIGINS = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
    const set = (root: TestClient, value: string) => root.run('set_organization_feature', { name: ORIGINS, value });

    async function narrowed() {
      const root = await newOrg();
      await set(app.root, 'https://app.example');
      const passkey = await addPasskey(app.root);
      return { root, passkey, id: app.root.organizationId };
    }

    test('one that narrows passkeys to an origin is deleted, or as it was before', async () => {
      const { passkey, id } = await narrowed();
      const narrow = await attacked.all('organization_feature', id);
      const ask = async () => outcome(await passkey.query('whoami'));
      expect(await ask()).not.toEqual(REFUSED);
      await attacked.rows.forge('DELETE FROM organization_feature WHERE organization_id = ? AND name = ?', [
        id,
        ORIGINS,
      ]);
      expect(await ask()).toEqual(REFUSED);
      expect(await attacked.bad(id)).toEqual([`organization ${id} (set of organization_feature)`]);
      await attacked.putBack('organization_feature', id, narrow);
      expect(await ask()).not.toEqual(REFUSED);
      await set(app.root, '');
      await attacked.putBack('organization_feature', id, narrow);
      expect(await ask()).toEqual(REFUSED);
      expect(outcome(await app.root.query('get_organization_configs'))).toEqual(REFUSED);
      expect(outcome(await app.root.submit('set_organization_feature', { name: ORIGINS, value: '' }))).toEqual(REFUSED);
      // As the service would have it.
      await remark(app.app.config, 'organization');
      await app.root.run('remove_organization_feature', { name: ORIGINS });
      expect(await attacked.bad(id)).toEqual([]);
    });

    test('they are set and removed, side by side, and none is missed', async () => {
      const root = await newOrg();
      const names = ['FEATURE_NAME_EMAIL_AUTH', 'FEATURE_NAME_SMS_AUTH', 'FEATURE_NAME_OTP_EMAIL_AUTH'];
      for (let round = 0; round < 3; round += 1) {
        await Promise.all(names.map((name) => root.run('set_organization_feature', { name, value: '' })));
        await Promise.all([
          root.run('remove_organization_feature', { name: names[0] }),
          root.run('set_organization_feature', { name: names[1], value: 'true' }),
          root.query('get_organization_configs'),
        ]);
      }
      const { body } = await root.query('get_organization_configs');
      const features = body.configs.features.map(({ name }: { name: string }) => name);
      expect(features).toEqual(expect.arrayContaining(names.slice(1)));
      expect(features).not.toContain(names[0]);
      expect(await attacked.bad(root.organizationId)).toEqual([]);
      expect(attacked.violations(root.organizationId)).toEqual([]);
    });
  });

  describe('limits of what sponsors pay', () => {
    const limit = (usd: string) => ({ orgWindowLimitUsd: usd, subOrgWindowLimitUsd: usd, windowDurationMinutes: '60' });

    test('are deleted, or as they were before', async () => {
      const id = app.root.organizationId;
      const ask = async () => outcome(await app.root.query('get_gas_usage'));
      await Promise.all(['5', '6', '7'].map((usd) => app.root.run('upsert_gas_usage_config', limit(usd))));
      const older = await attacked.all('gas_usage_config', id);
      expect(older).toHaveLength(1);
      await app.root.run('upsert_gas_usage_config', limit('1'));
      const newer = await attacked.all('gas_usage_config', id);
      expect(await ask()).not.toEqual(REFUSED);
      await attacked.putBack('gas_usage_config', id, older);
      expect(await ask()).toEqual(REFUSED);
      expect(await attacked.bad(id)).toEqual([`organization ${id} (set of gas_usage_config)`]);
      await attacked.remove('gas_usage_config', id);
      expect(await ask()).toEqual(REFUSED);
      expect(outcome(await app.root.submit('upsert_gas_usage_config', limit('9')))).toEqual(REFUSED);
      await attacked.putBack('gas_usage_config', id, newer);
      await app.root.run('upsert_gas_usage_config', limit('2'));
      expect(await attacked.bad(id)).toEqual([]);
    });
  });

  test('an organization with something in every set can be deleted', async () => {
    const root = await newOrg();
    const user = await createUser(root, 'user');
    await policyFor(root, user);
    await newPrivateKey(root, undefined, [await newKeyTag(root)]);
    await root.run('set_organization_feature', { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' });
    await root.run('create_smart_contract_interface', {
      smartContractAddress: TO,
      smartContractInterface: JSON.stringify(erc20Abi),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'Token',
    });
    expect(await attacked.bad(root.organizationId)).toEqual([]);
    await root.run('delete_sub_organization', { deleteWithoutExport: true });
    expect(await attacked.all('contract_interface', root.organizationId)).toEqual([]);
    expect(await attacked.bad(root.organizationId)).toEqual([]);
  });
});

describe.each(DATABASES)('the configuration of the sign-up proxy, on %s', (database: DatabaseKind) => {
  test('as it was before is refused, and so is none', async () => {
    await using world = await ProxyWorld.open(database);
    const attacked = await Attacked.over(world.service);
    await using _rows = attacked.rows;
    const id = world.root.organizationId;
    const ask = async () => outcome(await world.proxy.account('EMAIL', 'nobody@mail.example'));
    expect(await ask()).not.toEqual(REFUSED);
    const older = await attacked.all('auth_proxy_config', id);
    await world.configure({ allowedOrigins: ['https://app.example'] });
    const newer = await attacked.all('auth_proxy_config', id);
    expect(newer).not.toEqual(older);
    await attacked.putBack('auth_proxy_config', id, older);
    expect(await ask()).toEqual(REFUSED);
    expect(await attacked.bad(id)).toEqual([`organization ${id} (set of auth_proxy_config)`]);
    await attacked.remove('auth_proxy_config', id);
    expect(outcome(await world.root.query('get_auth_proxy_config'))).toEqual(REFUSED);
    await attacked.putBack('auth_proxy_config', id, newer);
    expect(await ask()).not.toEqual(REFUSED);
    await world.configure({ otpLength: 8 });
    expect(await attacked.bad(id)).toEqual([]);
  });
});
