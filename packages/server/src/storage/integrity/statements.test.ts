import { describe, expect, test } from 'vitest';
import type { MarkedTable } from './marked-table.ts';
import { checksOf, factsOf } from './statements.ts';

const table = (name: string): MarkedTable => ({
  name,
  mark: `${name}_mac`,
  columns: ['id', 'name', 'organization_id'],
  all: ['id', 'name', 'organization_id', `${name}_mac`],
  key: ['organization_id', 'id'],
  organization: 'organization_id',
});
/** The mark of one ends like that of the other. */
const TABLES = new Map(['user_tag', 'wallet', 'tag'].map((name) => [name, table(name)]));

const columnsOf = (name: string, prefix = '') =>
  ['id', 'name', 'organization_id', `${name}_mac`].map((column) => prefix + column);

/** What of an answer with these columns is verified. */
function verified(text: string, columns: readonly string[]): string[] {
  const row = Object.fromEntries(columns.map((column) => [column, 'x']));
  const facts = factsOf(text, TABLES);
  const checks = facts.checks ?? checksOf(row, text, facts, [...TABLES.values()]);
  return checks.map(({ table: { name }, mark }) => `${name} by ${mark}`);
}

describe('a statement that writes a marked table', () => {
  test.each([
    'insert into "wallet" ("id", "name") values ($1, $2)',
    'INSERT INTO wallet (id) SELECT id FROM other',
    'update "wallet" set "name" = $1 where "id" = $2',
    'UPDATE wallet SET name = ?',
    'with moved as (update wallet set name = ? returning id) select id from moved',
    'insert into other (id) values (?); update wallet set name = ?',
    'insert or fail into "wallet" ("id", "name") values (?, ?)',
    'INSERT OR REPLACE INTO wallet (id) VALUES (?)',
    'UPDATE OR FAIL "wallet" SET "name" = ?',
    // Others' marks, and words that say something else.
    'update wallet set name = ?, tag_mac = ?',
    '/* wallet_mac */ update wallet set name = ?',
    '/* partial: is only read */ update wallet set name = ?',
    '/* one by one: each by itself */ update wallet set name = ?',
    '/* unmarked */ update wallet set name = ?',
  ])('fails without the mark: %s', (text) => {
    expect(() => factsOf(text, TABLES)).toThrow(/^rows of wallet are written without their mark: /);
  });

  test.each([
    'insert into "wallet" ("id", "wallet_mac") values ($1, $2) on conflict ("id") do update set "name" = $3',
    'update wallet set name = ?, wallet_mac = ?',
    'insert or fail into "wallet" ("id", "wallet_mac") values (?, ?)',
    'UPDATE OR FAIL "wallet" SET "name" = ?, "wallet_mac" = ?',
    'UPDATE /* unmarked: a lease */ wallet SET name = ?',
    'delete from wallet where id = ?',
    'update other set name = ?',
    'select * from wallet where id = ? for update',
    'select * from wallet where id = ? for no key update',
  ])('and these do not: %s', (text) => {
    expect(() => factsOf(text, TABLES)).not.toThrow();
  });
});

describe('a statement that reads a marked table', () => {
  test.each<[text: string, columns: readonly string[], tables: string]>([
    ['SELECT id, name FROM wallet', ['id', 'name'], 'wallet'],
    ['select count(*) as n from "wallet"', ['n'], 'wallet'],
    ['SELECT max(w.name) AS most FROM other JOIN wallet w ON w.id = other.id', ['most'], 'wallet'],
    ['select (select name from wallet limit 1) as name', ['name'], 'wallet'],
    ['with w as (select id from wallet) select * from w', ['id'], 'wallet'],
    ['SELECT wallet.* FROM wallet, tag', columnsOf('wallet'), 'tag'],
    // The mark of another table whose name ends so.
    ['SELECT user_tag.* FROM user_tag, tag', columnsOf('user_tag'), 'tag'],
    ['/* partial wallet: a number */ SELECT tag.id FROM wallet JOIN tag ON true', ['id'], 'tag'],
    ['/* wallet_mac */ SELECT id FROM wallet', ['id'], 'wallet'],
  ])('fails without the marks: %s', (text, columns, tables) => {
    expect(() => verified(text, columns)).toThrow(new RegExp(`^${tables} read without their marks: `));
  });

  test.each([
    '/* partial */ SELECT id FROM wallet',
    '/* partial */ SELECT id FROM wallet /* because */',
    '/* unmarked: a number */ SELECT id FROM wallet',
    '/* one by one */ SELECT id FROM wallet',
  ])('fails in part without a reason: %s', (text) => {
    expect(() => verified(text, ['id'])).toThrow(/^wallet read without their marks: /);
  });

  test.each<[columns: readonly string[], missing: string]>([
    [['id', 'organization_id', 'wallet_mac'], 'name are missing beside wallet_mac'],
    [
      ['id', 'name', 'organization_id', 'w_wallet_mac'],
      'w_id, w_name, w_organization_id are missing beside w_wallet_mac',
    ],
    // Also where a part would do.
    [['wallet_mac'], 'id, name, organization_id are missing beside wallet_mac'],
  ])('fails with a mark and without what it covers: %s', (columns, missing) => {
    for (const text of ['SELECT * FROM wallet', '/* partial: a part */ SELECT * FROM wallet'])
      expect(() => verified(text, columns)).toThrow(missing);
  });

  test.each<[text: string, columns: readonly string[], checks: readonly string[]]>([
    ['SELECT * FROM wallet', columnsOf('wallet'), ['wallet by wallet_mac']],
    [
      'SELECT * FROM wallet JOIN tag ON true',
      [...columnsOf('wallet'), ...columnsOf('tag', 't_')],
      ['wallet by wallet_mac', 'tag by t_tag_mac'],
    ],
    ['SELECT * FROM user_tag', columnsOf('user_tag'), ['user_tag by user_tag_mac']],
    ['/* partial: a number */ SELECT count(*) AS n FROM wallet JOIN tag ON true', ['n'], []],
    ['SELECT /* partial tag: a name */ * FROM wallet JOIN tag ON true', columnsOf('wallet'), ['wallet by wallet_mac']],
    ['/* one by one: each is verified by itself */ SELECT * FROM wallet', columnsOf('wallet'), []],
    ['SELECT id FROM other', ['id'], []],
  ])('is verified, or says why not: %s', (text, columns, checks) => {
    expect(verified(text, columns)).toEqual(checks);
  });
});
