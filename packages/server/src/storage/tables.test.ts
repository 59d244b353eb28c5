import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealedColumns } from '../core/store/sealed.ts';
import { dataModel } from '../domains.ts';
import { openSqlite } from './sqlite.ts';
import { SqliteFile } from './sqlite-driver.ts';

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** The place in the primary key, from 1; 0 for a column outside it. */
  readonly position: number;
}

const { tables } = dataModel;
const folder = mkdtempSync(join(tmpdir(), 'custos-tables-'));
const file = join(folder, 'custos.db');
let db: SqliteFile;
let columns: Column[];

beforeAll(async () => {
  const storage = await openSqlite({ dataModel, file, lockFile: join(folder, 'lock'), nowMs: 0 });
  await storage.close();
  db = new SqliteFile(file, { isReadOnly: true });
  columns = db
    .prepare(
      `SELECT m.name AS "table", c.name AS "column", c.type AS type, c.pk AS position
       FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`,
    )
    .all() as unknown as Column[];
});
afterAll(() => {
  db?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the tables of the database', () => {
  test('are each defined once, by the kernel or by a domain', () => {
    const known = tables.map(({ name }) => name as string);
    const found = new Set(columns.map(({ table }) => table));
    // Migrations keep their own record.
    found.delete('schema_migration');
    expect(known.sort()).toEqual([...found].sort());
  });

  test('have the unique indexes that the definitions name, and no other', () => {
    const indexes = db
      .prepare(
        `SELECT i.name AS name, m.name AS "table", group_concat(c.name, ', ') AS columns
         FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
         WHERE m.type = 'table' AND i."unique" = 1 AND i.origin = 'c' GROUP BY i.name, m.name`,
      )
      .all() as unknown as { name: string; table: string; columns: string }[];
    const found = indexes.filter(({ name }) => name.startsWith('ux_')).map((index) => ({ ...index }));
    const defined = tables.flatMap(({ name: table, unique = {} }) =>
      Object.entries(unique).map(([name, rule]) => ({ name, table, columns: rule.columns.join(', ') })),
    );
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    expect(defined.sort(byName)).toEqual(found.sort(byName));
  });

  test('hold no bytes that are neither sealed nor known as plain', () => {
    const bytes = columns.filter(({ type }) => type.toLowerCase() === 'blob');
    const known = tables.flatMap(({ name, sealed = [], plainBytes = [] }) =>
      [...sealed.map(({ column }) => column), ...plainBytes].map((column) => `${name}.${column}`),
    );
    expect(bytes.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(known.sort());
  });

  test('keep sealed bytes under a primary key that has their owner', () => {
    for (const { table, key, owner } of sealedColumns(tables)) {
      const primary = columns.filter((column) => column.table === table && column.position > 0);
      const inOrder = primary.sort((one, other) => one.position - other.position);
      expect([table, inOrder.map(({ column }) => column)]).toEqual([table, [...key]]);
      expect(key).toEqual(expect.arrayContaining([...owner]));
    }
  });

  test('say what a forged row could do, and why', () => {
    for (const { name, integrity } of tables)
      expect([name, integrity.because]).toEqual([name, expect.stringMatching(/^[a-z].{15,}[^.]$/)]);
    const harmless = tables.filter(({ integrity }) => integrity.kind !== 'authority').map(({ name }) => name as string);
    // Whoever adds one here says that nothing is decided by its rows.
    expect(harmless.sort()).toEqual([
      'accepted_bundle',
      'app_proof',
      'deployment',
      'dev_message',
      'email_event',
      'integrity_key',
      'last_use',
      'on_ramp_transaction',
      'payment',
      'policy_evaluation',
      'rate_window',
      'sealed_result',
      'sponsored_cost',
      'tombstone',
      'tvc_approval',
      'webhook_lane',
    ]);
  });

  test('say in which set their rows are, or each row of authority stands for itself', () => {
    const alone = tables.filter(({ integrity, set }) => integrity.kind === 'authority' && set === undefined);
    // The threat model says of each what an older or a deleted row does.
    expect(alone.map(({ name }) => name as string).sort()).toEqual([
      'activity',
      'app_user',
      'balance_block',
      'balance_cursor',
      'chain_lane',
      'chain_operator_key',
      'chain_send',
      'earn_request',
      'earn_wrapper',
      'import_target',
      'invitation',
      'mfa_requirement',
      'oauth2_credential',
      'on_ramp_credential',
      'organization',
      'otp',
      'outbox_message',
      'private_key',
      'read_session',
      'recovery_kit',
      'recovery_kit_piece',
      'restoration',
      'secret',
      'service_key',
      'session_profile',
      'tag',
      'tree_entry',
      'tvc_app',
      'tvc_deployment',
      'tvc_operator',
      'tvc_operator_set',
      'used_token',
      'velocity_entry',
      'vote',
      'wallet',
      'wallet_account',
      'webhook_delivery',
      'webhook_endpoint',
      'webhook_event',
    ]);
  });

  test('name columns that are there for their sets and digests', () => {
    const has = (table: string, column: string) => columns.some((one) => one.table === table && one.column === column);
    for (const { name, set, owns, integrity } of tables) {
      if (set === undefined && owns === undefined) continue;
      expect([name, integrity.kind]).toEqual([name, 'authority']);
      const owner = tables.find((table) => table.name === set?.under)?.owns;
      if (set !== undefined) expect([name, owner]).toEqual([name, expect.anything()]);
      for (const column of [...(set?.by ?? []), ...(owner?.key ?? [])])
        expect([name, has(name, column)]).toEqual([name, true]);
      if (owns !== undefined) expect([name, has(name, owns.digests)]).toEqual([name, true]);
    }
  });

  test('say of every row of an organization whether it goes with it', () => {
    const kept = tables.filter(({ erased }) => erased === 'never').map(({ name }) => name as string);
    const ofOrganizations = columns.filter(({ column }) => column === 'organization_id').map(({ table }) => table);
    // A parent may still read what happened.
    expect(kept.filter((name) => ofOrganizations.includes(name)).sort()).toEqual([
      'accepted_bundle',
      'activity',
      'app_proof',
      'mfa_requirement',
      'policy_evaluation',
      'vote',
    ]);
  });
});
