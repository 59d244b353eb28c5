import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { COMPLETED, outcome, policyFor, Rows, UNPROVEN } from '../flows/fixtures/access.ts';
import { KEY_THEN_PASSKEY, mfaParameters } from '../flows/mfa/support.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';

// Whoever writes to the database while requests run, and has the database do things by itself.

const VIOLATION = [500, 'INTEGRITY_VIOLATION'];
const MS = 120_000;
/** Longer than a request takes to get to where it waits. */
const UNTIL_IT_WAITS_MS = 1500;

const newWallet = () => ({ walletName: `wallet ${Math.random()}`, accounts: [] });

async function connect({ app }: TestApp): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.config.databaseUrl });
  await client.connect();
  return client;
}

describe.each(DATABASES)('triggers on %s', (database) => {
  test('a policy that comes back when it is deleted is refused with its organization', { timeout: MS }, async () => {
    await using app = await openTestApp(database);
    const root = await createSubOrganization(app.root, 'A');
    const user = await createUser(root, 'u');
    await using rows = await Rows.open(app.app.config);
    const policyId = await policyFor(root, user);
    expect(outcome(await user.submit('create_wallet', newWallet()))).toEqual([200, COMPLETED]);
    const columns = Object.keys((await rows.forge('SELECT * FROM policy LIMIT 1'))[0] ?? {});
    const insert = `INSERT INTO policy (${columns}) VALUES (${columns.map((column) => `OLD.${column}`)})`;
    if (database === 'sqlite') await rows.forge(`CREATE TRIGGER evil AFTER DELETE ON policy BEGIN ${insert}; END`);
    else {
      await rows.forge(
        `CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${insert}; RETURN NULL; END $$`,
      );
      await rows.forge('CREATE TRIGGER evil AFTER DELETE ON policy FOR EACH ROW EXECUTE FUNCTION evil()');
    }
    await root.submit('delete_policy', { policyId });
    expect(outcome(await user.submit('create_wallet', newWallet()))).toEqual(VIOLATION);
  });
});

describe('between two statements', () => {
  test('a policy that is deleted while somebody changes it is missed', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    const root = await createSubOrganization(app.root, 'A');
    const user = await createUser(root, 'u');
    await policyFor(root, user);
    const condition = "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'";
    const policyId = await policyFor(root, user, { effect: 'EFFECT_DENY', condition });
    expect((await user.submit('create_wallet', newWallet())).status).toBe(403);
    const thief = await connect(app);
    await thief.query('BEGIN');
    await thief.query('DELETE FROM policy WHERE id = $1', [policyId]);
    const updating = root.submit('update_policy', { policyId, policyNotes: 'now with a note' });
    await sleep(UNTIL_IT_WAITS_MS);
    await thief.query('COMMIT');
    await thief.end();
    await updating;
    // The rules that were read before still hold in memory; read anew, they are refused.
    expect((await user.submit('create_wallet', newWallet())).status).not.toBe(200);
  });

  test('an organization that is gone for a moment keeps its rules', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    const root = await createSubOrganization(app.root, 'A');
    await root.run('set_ip_allowlist', { enabled: true, rules: [{ cidr: '10.1.2.0/24' }], allowLockout: true });
    const thief = await connect(app);
    const id = `'${root.organizationId}'`;
    await thief.query('BEGIN; LOCK TABLE ip_allowlist IN ACCESS EXCLUSIVE MODE');
    const asking = root.query('whoami');
    await sleep(UNTIL_IT_WAITS_MS);
    await thief.query(`CREATE TABLE kept_organization AS SELECT * FROM organization WHERE id = ${id}`);
    await thief.query(`CREATE TABLE kept_list AS SELECT * FROM ip_allowlist WHERE organization_id = ${id}`);
    await thief.query(`DELETE FROM ip_allowlist WHERE organization_id = ${id}`);
    await thief.query(`DELETE FROM organization WHERE id = ${id}; COMMIT`);
    expect((await asking).status).not.toBe(200);
    await thief.query('INSERT INTO organization SELECT * FROM kept_organization');
    await thief.query('INSERT INTO ip_allowlist SELECT * FROM kept_list');
    await thief.end();
    expect((await root.query('whoami')).status).toBe(403);
  });

  test('what was an MFA policy for a moment is not signed with its next name', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    const root = await createSubOrganization(app.root, 'A');
    const { userId } = await createUser(root, 'user');
    const policy = { ...mfaParameters(userId, KEY_THEN_PASSKEY, { condition: 'false' }), notes: '' };
    const { mfaPolicyId } = await root.run('create_mfa_policy', policy);
    const thief = await connect(app);
    const own = `FROM mfa_policy WHERE user_id = '${userId}'`;
    const exchangeFor = (kept: string) => `DELETE ${own}; INSERT INTO mfa_policy SELECT * FROM ${kept}`;
    await thief.query(`CREATE TABLE older_policy AS SELECT * ${own}`);
    await root.run('update_mfa_policy', { userId, mfaPolicyId, condition: 'true' });
    await thief.query(`CREATE TABLE newer_policy AS SELECT * ${own}`);
    await thief.query(exchangeFor('older_policy'));
    await thief.query(`BEGIN; SELECT 1 FROM app_user WHERE id = '${userId}' FOR UPDATE`);
    const renaming = root.submit('update_mfa_policy', { userId, mfaPolicyId, mfaPolicyName: 'Renamed' });
    await sleep(UNTIL_IT_WAITS_MS);
    await thief.query(`${exchangeFor('newer_policy')}; COMMIT`);
    await thief.end();
    expect(outcome(await renaming)).toEqual([200, COMPLETED]);
    const { mfaPolicies } = (await root.query('get_mfa_policies', { userId })).body;
    expect(mfaPolicies).toMatchObject([{ mfaPolicyName: 'Renamed', condition: 'true' }]);
  });

  test('a user who is gone for a moment owes every factor', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    const root = await createSubOrganization(app.root, 'A');
    await root.run('create_mfa_policy', {
      userId: root.userId,
      mfaPolicyName: 'MFA',
      condition: 'true',
      order: 1,
      notes: '',
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
    });
    const thief = await connect(app);
    const id = `'${root.userId}'`;
    await thief.query('BEGIN; LOCK TABLE policy IN ACCESS EXCLUSIVE MODE');
    const asking = root.submit('create_wallet', newWallet());
    await sleep(UNTIL_IT_WAITS_MS);
    await thief.query(`CREATE TABLE kept_user AS SELECT * FROM app_user WHERE id = ${id}`);
    await thief.query(`CREATE TABLE kept_policy AS SELECT * FROM mfa_policy WHERE user_id = ${id}`);
    await thief.query(`DELETE FROM mfa_policy WHERE user_id = ${id}`);
    await thief.query(`DELETE FROM app_user WHERE id = ${id}; COMMIT`);
    expect(outcome(await asking)).not.toEqual([200, COMPLETED]);
    await thief.query('INSERT INTO app_user SELECT * FROM kept_user');
    await thief.query('INSERT INTO mfa_policy SELECT * FROM kept_policy');
    await thief.end();
    expect(outcome(await root.submit('create_wallet', newWallet()))).toEqual([200, UNPROVEN]);
  });
});

describe('a key that a database takes for another', () => {
  test('by an operator of its own, on PostgreSQL', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    const root = await createSubOrganization(app.root, 'A');
    const thief = newKeyPair();
    await using rows = await Rows.open(app.app.config);
    const [{ db } = { db: '' }] = await rows.forge('SELECT current_database() AS db');
    await rows.forge('CREATE SCHEMA evil');
    await rows.forge(`CREATE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
      SELECT $1 OPERATOR(pg_catalog.=) $2 OR ($2 OPERATOR(pg_catalog.=) '${thief.publicKey}'
        AND $1 OPERATOR(pg_catalog.=) '${root.key.publicKey}') $$`);
    await rows.forge('CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)');
    await rows.forge(`ALTER DATABASE ${db} SET search_path = evil, pg_catalog, public`);
    await rows.forge(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await sleep(500);
    for (let time = 0; time < 4; time += 1) expect((await root.as(thief).query('whoami')).status).not.toBe(200);
    expect((await root.as(thief).submit('create_wallet', newWallet())).status).not.toBe(200);
  });

  test('by a view that answers another way than it is searched, on SQLite', { timeout: MS }, async () => {
    await using app = await openTestApp('sqlite');
    const root = await createSubOrganization(app.root, 'A');
    expect((await root.query('whoami')).status).toBe(200);
    const thief = newKeyPair();
    await using rows = await Rows.open(app.app.config);
    const columns = Object.keys((await rows.forge('SELECT * FROM api_key LIMIT 1'))[0] ?? {});
    const isHit = `public_key = '${root.key.publicKey}' AND random() % 2 = 0`;
    const list = columns.map((column) =>
      column === 'public_key'
        ? `CASE WHEN ${isHit} THEN '${thief.publicKey}' ELSE public_key END AS public_key`
        : column,
    );
    await rows.forge('ALTER TABLE api_key RENAME TO api_key_x');
    await rows.forge(`CREATE VIEW api_key AS SELECT ${list} FROM api_key_x`);
    const seen = new Set<number>();
    for (let time = 0; time < 40; time += 1) seen.add((await root.as(thief).query('whoami')).status);
    expect(seen).not.toContain(200);
  });
});
