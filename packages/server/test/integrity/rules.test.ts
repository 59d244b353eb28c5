import { randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessRulesCache } from '../../src/engine/access-rules.ts';
import { type Caller, COMPLETED, from, outcome, policyFor, propose, Rows } from '../flows/fixtures/access.ts';
import { newWallet } from '../flows/fixtures/wallets.ts';
import { control, countOf, send, TO } from '../flows/velocity/support.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// Somebody who can write to the database, and has no key of the service, changes the rules of an organization: alone, and as a
// set of which something is missing or older than the rest.

const DONE = [200, COMPLETED];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];
const HOME = '203.0.113.5';

type Row = Record<string, unknown>;
type Cell = string | number | null;

describe.each(DATABASES)('rules that somebody else wrote, on %s', (database) => {
  let app: TestApp;
  let rows: Rows;
  let other: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database, { CUSTOS_TRUSTED_PROXIES: '127.0.0.1/32', CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    rows = await Rows.open(app.app.config);
    other = await createSubOrganization(app.root, 'Other');
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await app?.[Symbol.asyncDispose]();
  });

  /** As a process that has just begun. */
  const forget = () => Object.assign(app.app, { accessRules: new AccessRulesCache(app.app.storage.read) });
  const completed = async () =>
    (await rows.forge("SELECT count(*) AS n FROM activity WHERE status = 'ACTIVITY_STATUS_COMPLETED'"))[0]?.['n'];

  async function expectRefused(
    request: () => ReturnType<TestClient['submit']>,
    attack: () => Promise<unknown>,
    before: unknown = DONE,
  ): Promise<void> {
    forget();
    expect(outcome(await request())).toEqual(before);
    await attack();
    const done = await completed();
    forget();
    expect(outcome(await request())).toEqual(REFUSED);
    expect(outcome(await request())).toEqual(REFUSED);
    expect(await completed()).toEqual(done);
  }

  const find = async (table: string, organizationId: string, id: string, key = 'id'): Promise<Row> => {
    const [row] = await rows.forge(`SELECT * FROM ${table} WHERE organization_id = ? AND ${key} = ?`, [
      organizationId,
      id,
    ]);
    if (row === undefined) throw new Error(`no such row of ${table}`);
    expect(row[`${table}_mac`]).toEqual(expect.any(String));
    return row;
  };
  const insert = async (table: string, row: Row): Promise<void> => {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?');
    await rows.forge(`INSERT INTO ${table} (${columns}) VALUES (${marks})`, Object.values(row) as Cell[]);
  };
  const remove = (table: string, organizationId: string, id: string, key = 'id') =>
    rows.forge(`DELETE FROM ${table} WHERE organization_id = ? AND ${key} = ?`, [organizationId, id]);

  /** An organization with a user that policies let do everything but change tags. */
  async function newOrg() {
    const root = await createSubOrganization(app.root, `Org ${randomUUID()}`);
    const user = await createUser(root, `user ${randomUUID()}`);
    const allows = await policyFor(root, user);
    const denies = await policyFor(root, user, {
      condition: "activity.resource == 'TAG' && activity.action == 'UPDATE'",
      effect: 'EFFECT_DENY',
      consensus: 'true',
    });
    return { root, user, allows, denies, id: root.organizationId };
  }

  describe('policies', () => {
    test.each([
      ['effect', "'EFFECT_ALLOW'"],
      ['condition', "'false'"],
      ['consensus', "'false'"],
      ['time', "'true'"],
      ['name', "'Another'"],
      ['notes', "'Another'"],
      ['updated_at_ms', 'updated_at_ms + 1'],
      ['policy_mac', 'NULL'],
      ['policy_mac', "'1.AAAAAAAAAAAAAAAAAAAAAA'"],
      ['policy_mac', "'9.AAAAAAAAAAAAAAAAAAAAAA'"],
    ])('%s becomes %s', async (column, value) => {
      const { user, denies } = await newOrg();
      await expectRefused(
        () => propose(user),
        () => rows.forge(`UPDATE policy SET ${column} = ${value} WHERE id = ?`, [denies]),
      );
    });

    test('one is made, in the likeness of another one', async () => {
      const { user, allows, id } = await newOrg();
      await expectRefused(
        () => propose(user),
        async () => insert('policy', { ...(await find('policy', id, allows)), id: randomUUID(), name: 'Another' }),
      );
    });

    test('one is made without a mark', async () => {
      const { root, user, allows, id } = await newOrg();
      const stranger = await createUser(root, 'stranger');
      expect(outcome(await propose(stranger))).toEqual(DENIED);
      const row = { ...(await find('policy', id, allows)), id: randomUUID(), name: 'Another', policy_mac: null };
      await insert('policy', { ...row, consensus: 'true' });
      forget();
      for (const client of [user, stranger]) expect(outcome(await propose(client))).toEqual(REFUSED);
    });

    test('one of another organization', async () => {
      const { user, id } = await newOrg();
      const theirs = await policyFor(other, other, { consensus: 'true' });
      await expectRefused(
        () => propose(user),
        async () => insert('policy', { ...(await find('policy', other.organizationId, theirs)), organization_id: id }),
      );
    });

    test('a denial is deleted', async () => {
      const { user, denies, id } = await newOrg();
      await expectRefused(
        () => propose(user),
        () => remove('policy', id, denies),
      );
    });

    test('all are deleted', async () => {
      const { user, id } = await newOrg();
      await expectRefused(
        () => propose(user),
        () => rows.forge('DELETE FROM policy WHERE organization_id = ?', [id]),
      );
    });

    test('a denial is as it was before', async () => {
      const { root, user, denies, id } = await newOrg();
      const older = await find('policy', id, denies);
      await root.run('update_policy', { policyId: denies, policyCondition: 'true' });
      await expectRefused(
        () => propose(user),
        async () => {
          await remove('policy', id, denies);
          await insert('policy', older);
        },
        DENIED,
      );
    });

    test('one that was deleted is back', async () => {
      const { root, user, id } = await newOrg();
      const stranger = await createUser(root, 'stranger');
      const policyId = await policyFor(root, stranger);
      const older = await find('policy', id, policyId);
      expect(outcome(await propose(stranger))).toEqual(DONE);
      await root.run('delete_policy', { policyId });
      await expectRefused(
        () => propose(stranger),
        () => insert('policy', older),
        DENIED,
      );
      expect(outcome(await propose(user))).toEqual(REFUSED);
    });

    test('a change of the rules hides nothing of it', async () => {
      const { root, user, denies, allows, id } = await newOrg();
      const change = () => policyFor(root, user);
      await change();
      const digest = async () =>
        (await rows.forge('SELECT rules_digest, organization_mac FROM organization WHERE id = ?', [id]))[0];
      const row = await find('policy', id, denies);
      await remove('policy', id, denies);
      const before = await digest();
      for (const request of [
        () =>
          root.submit('create_policy', {
            policyName: randomUUID(),
            effect: 'EFFECT_ALLOW',
            condition: 'true',
            consensus: 'true',
            notes: '',
          }),
        () => root.submit('delete_policy', { policyId: allows }),
        () => root.submit('update_policy', { policyId: allows, policyCondition: 'false' }),
        () => root.submit('create_velocity_control', countOf()),
        () => root.submit('set_ip_allowlist', { enabled: false, rules: [] }),
      ])
        expect(outcome(await request())).toEqual(REFUSED);
      expect(await digest()).toEqual(before);
      await insert('policy', row);
      await change();
      expect(await digest()).not.toEqual(before);
    });

    test('the digest is another one', async () => {
      const { user, denies, id } = await newOrg();
      await expectRefused(
        () => propose(user),
        async () => {
          await remove('policy', id, denies);
          await rows.forge('UPDATE organization SET rules_digest = NULL WHERE id = ?', [id]);
        },
      );
    });

    test('what counts as done by the service is followed', async () => {
      const { user, allows, id } = await newOrg();
      forget();
      expect(outcome(await propose(user))).toEqual(DONE);
      await rows.forge("UPDATE policy SET consensus = 'false' WHERE id = ?", [allows]);
      await remark(app.app.config, 'policy', `organization_id = '${id}'`);
      forget();
      expect(outcome(await propose(user))).toEqual(DENIED);
    });

    test('an organization whose rules come and go is answered all the time', async () => {
      const { root, user } = await newOrg();
      forget();
      for (let round = 0; round < 5; round += 1) {
        const changes = (async () => {
          const policyId = await policyFor(root, user);
          await root.run('update_policy', { policyId, policyNotes: 'x' });
          await root.run('delete_policy', { policyId });
        })();
        const requests = Array.from({ length: 20 }, () => propose(user));
        for (const answer of await Promise.all(requests)) expect(outcome(answer)).toEqual(DONE);
        await changes;
      }
      expect(
        app.app.storage.integrity.violations.filter(({ organizationId }) => organizationId === root.organizationId),
      ).toEqual([]);
    });
  });

  describe('velocity controls', () => {
    async function limited(threshold = '100') {
      const org = await newOrg();
      return { ...org, controlId: await control(org.root, countOf({ threshold })) };
    }

    test.each([
      ['aggregation', `REPLACE(aggregation, '"100"', '"900"')`],
      ['data_source', `'{"activityExecution":{}}'`],
      ['refuse_uncounted', '1 - refuse_uncounted'],
      ['velocity_control_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { user, controlId } = await limited();
      await expectRefused(
        () => propose(user),
        () => rows.forge(`UPDATE velocity_control SET ${column} = ${value} WHERE id = ?`, [controlId]),
      );
    });

    test('one is deleted', async () => {
      const { user, id, controlId } = await limited();
      await expectRefused(
        () => propose(user),
        () => remove('velocity_control', id, controlId),
      );
    });

    test('one that was deleted is back, or is copied to another organization', async () => {
      const { root, user, id, controlId } = await limited();
      const older = await find('velocity_control', id, controlId);
      await root.run('delete_velocity_control', { velocityControlId: controlId });
      await expectRefused(
        () => propose(user),
        () => insert('velocity_control', older),
      );
      const second = await limited();
      await expectRefused(
        () => propose(second.user),
        () => insert('velocity_control', { ...older, organization_id: second.id }),
      );
    });

    test.each([
      ['amount', "'0'"],
      ['total', "'0'"],
      ['created_at_ms', 'created_at_ms - 1'],
      ['group_key', "group_key || 'x'"],
      ['velocity_entry_mac', 'NULL'],
    ])('what counts against it: %s becomes %s', async (column, value) => {
      const { user, id } = await limited();
      // Nothing is left of the group where its entries become another one's.
      const isMoved = column === 'group_key';
      const attack = () => rows.forge(`UPDATE velocity_entry SET ${column} = ${value} WHERE organization_id = ?`, [id]);
      if (!isMoved) return await expectRefused(() => propose(user), attack);
      expect(outcome(await propose(user))).toEqual(DONE);
      const [entry] = await rows.forge('SELECT * FROM velocity_entry WHERE organization_id = ?', [id]);
      await attack();
      await insert('velocity_entry', {
        ...entry,
        id: randomUUID(),
        created_at_ms: Number(entry?.['created_at_ms']) + 1,
      });
      expect(outcome(await propose(user))).toEqual(REFUSED);
    });

    test('what counts against another one', async () => {
      const [one, two] = [await limited(), await limited('1')];
      expect(outcome(await propose(one.user))).toEqual(DONE);
      const [entry] = await rows.forge('SELECT * FROM velocity_entry WHERE organization_id = ?', [one.id]);
      await expectRefused(
        () => propose(two.user),
        async () => {
          await rows.forge('DELETE FROM velocity_entry WHERE organization_id = ?', [two.id]);
          await insert('velocity_entry', { ...entry, organization_id: two.id, control_id: two.controlId });
        },
      );
    });
  });

  describe('IP allowlists', () => {
    async function walled() {
      const org = await newOrg();
      const root = from(org.root, HOME);
      const set = (blocks: readonly string[], enabled = true) =>
        root.run('set_ip_allowlist', { enabled, rules: blocks.map((cidr) => ({ cidr })) });
      await set(['203.0.113.0/24']);
      const [home, away] = [from(org.user, HOME), from(org.user, '198.51.100.7')];
      expect(outcome(await propose(away))).toEqual([403, 'IP_NOT_ALLOWED']);
      return { ...org, home, away, set };
    }
    async function expectWalled(user: Caller, attack: () => Promise<unknown>, before: unknown = DONE): Promise<void> {
      await expectRefused(() => propose(user), attack, before);
      expect(outcome(await user.query('whoami'))).toEqual([500, 'INTEGRITY_VIOLATION']);
    }

    test.each([
      ['enabled', '0'],
      ['rules', "'[]'"],
      ['public_key', "'02ab'"],
      ['on_evaluation_error', "'ALLOW'"],
      ['ip_allowlist_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { home, away, id } = await walled();
      await expectWalled(home, () =>
        rows.forge(`UPDATE ip_allowlist SET ${column} = ${value} WHERE organization_id = ?`, [id]),
      );
      expect(outcome(await propose(away))).toEqual(REFUSED);
    });

    test('one is deleted', async () => {
      const { home, away, id } = await walled();
      await expectWalled(home, () => rows.forge('DELETE FROM ip_allowlist WHERE organization_id = ?', [id]));
      expect(outcome(await propose(away))).toEqual(REFUSED);
    });

    test('one is as it was before', async () => {
      const { home, away, id, set } = await walled();
      const older = await find('ip_allowlist', id, '', 'public_key');
      await set([`${HOME}/32`]);
      await expectWalled(home, async () => {
        await remove('ip_allowlist', id, '', 'public_key');
        await insert('ip_allowlist', older);
      });
      expect(outcome(await propose(away))).toEqual(REFUSED);
    });

    test('one of another organization, and one that was removed', async () => {
      const [one, two] = [await walled(), await walled()];
      const older = await find('ip_allowlist', one.id, '', 'public_key');
      await expectWalled(two.home, async () => {
        await remove('ip_allowlist', two.id, '', 'public_key');
        await insert('ip_allowlist', { ...older, organization_id: two.id });
      });
      await from(one.root, HOME).run('remove_ip_allowlist', {});
      await expectWalled(one.away, () => insert('ip_allowlist', older));
    });
  });

  describe('interfaces of contracts', () => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, 1n] });

    async function uploaded() {
      const root = await createSubOrganization(app.root, `Org ${randomUUID()}`);
      const user = await createUser(root, 'user');
      const { addresses } = await newWallet(root);
      const { smartContractInterfaceId: contractId } = await root.run('create_smart_contract_interface', {
        smartContractAddress: TO,
        smartContractInterface: JSON.stringify(erc20Abi),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'Token',
      });
      await policyFor(root, user, { condition: "eth.tx.function_name == 'transfer'" });
      const sign = () => send(user, addresses[0] as string, { data });
      return { root, id: root.organizationId, contractId, sign };
    }

    test.each([
      ['definition', `REPLACE(definition, '"approve"', '"transfer"')`],
      ['label', "'Another'"],
      ['contract_interface_mac', 'NULL'],
    ])('%s becomes %s', async (column, value) => {
      const { contractId, sign } = await uploaded();
      await expectRefused(sign, () =>
        rows.forge(`UPDATE contract_interface SET ${column} = ${value} WHERE id = ?`, [contractId]),
      );
    });

    test('one is made, or comes from another organization', async () => {
      const [one, two] = [await uploaded(), await uploaded()];
      const row = await find('contract_interface', one.id, one.contractId);
      await expectRefused(one.sign, async () => {
        await remove('contract_interface', one.id, one.contractId);
        await insert('contract_interface', { ...row, id: randomUUID() });
      });
      await expectRefused(two.sign, async () => {
        await remove('contract_interface', two.id, two.contractId);
        await insert('contract_interface', { ...row, organization_id: two.id });
      });
    });
  });
});
