import { expect, test } from 'vitest';
import { type AskedFacts, askedOf, type Operand } from './asked.ts';

const shown = (operand: Operand): string => {
  switch (operand.kind) {
    case 'parameter':
      return `#${operand.index}`;
    case 'text':
      return `'${operand.value}'`;
    case 'column':
      return `${operand.ref.source}.${operand.ref.column}`;
  }
};

const said = ({ asked }: AskedFacts): string[] =>
  asked.map(
    ({ source, column, operands, within }) =>
      `${source}.${column} = ${operands.map(shown).join('|')}${within === undefined ? '' : ` in ${within}`}`,
  );

test.each<[text: string, expected: string[]]>([
  // What is read.
  ['SELECT * FROM wallet WHERE organization_id = ? AND id = ?', ['wallet.organization_id = #0', 'wallet.id = #1']],
  ['SELECT * FROM "wallet" WHERE "id" = $2 AND "kind" = $1 FOR NO KEY UPDATE', ['wallet.id = #1', 'wallet.kind = #0']],
  ['select "w".* from "wallet" as "w" where "w"."id" = $1 limit $2', ['w.id = #0']],
  ['select * from wallet w where ? = w.id', ['w.id = #0']],
  ["select * from wallet where kind = 'it''s' and n = 7", ["wallet.kind = 'it's'", "wallet.n = '7'"]],
  ['select * from wallet where (id = ? and (n = ?))', ['wallet.id = #0', 'wallet.n = #1']],
  ['select (select max(x) from other where y = ?) as m from wallet where id = ?', ['wallet.id = #1']],
  ['select * from wallet where n > ? and id = ? order by n', ['wallet.id = #1']],
  ['select * from wallet where id in (?, ?)', ['wallet.id = #0|#1']],
  ['select * from wallet where exists (select 1 from a where b = ? or c = ?) and id = ?', ['wallet.id = #2']],
  [
    'select * from a left join b on b.id = a.b and b.kind = ? where a.id = ?',
    ['b.id = a.b in b', 'b.kind = #0 in b', 'a.id = #1'],
  ],
  [
    'select * from a inner join b as c on c.id in (a.b, a.d) join e on true where a.id = $1',
    ['c.id = a.b|a.d', 'a.id = #0'],
  ],
  ['select * from a, b where a.id = ? and b.id = a.id', ['a.id = #0', 'b.id = a.id']],
  // What is not.
  ['select * from wallet where id = ? or id = ?', []],
  ['select * from wallet where (id = ? or n = ?) and kind = ?', ['wallet.kind = #2']],
  ['select * from wallet where not id = ?', []],
  ['select * from wallet where id <> ? and n >= ?', []],
  ['select * from wallet where lower(id) = ?', []],
  ['select * from wallet where id = lower(?)', []],
  ['select * from wallet where id = ? || n', []],
  ['select * from wallet where id = ?::text', []],
  ['select * from wallet where n between ? and id = ?', []],
  ['select * from wallet where case when id = ? then true end and id = ?', []],
  ['select * from wallet where (id, n) = (?, ?)', []],
  ['select * from wallet where id not in (?, ?)', []],
  ['select * from wallet where id in (select id from a where b = ?)', []],
  [`select * from wallet where id in (${Array(9).fill('?')})`, []],
  ['select * from wallet where id = ? union select * from wallet where id = ?', []],
  ['with a as (select 1) select * from wallet where id = ?', []],
  ['select * from a right join b on b.id = ? where a.id = ?', []],
  ['select * from a full join b on b.id = ?', []],
  ['select * from a join a on a.id = ?', []],
  ['select * from other.wallet where id = ?', []],
  ['select * from json_each(?) where id = ?', []],
  ['select * from a, b where id = ?', []],
  ['update wallet set n = ? where id = ?', []],
  ['select 1', []],
  ['select * from (a', []],
  ['', []],
])('%s', (text, expected) => {
  expect(said(askedOf(text))).toEqual(expected);
});

test('names lead to tables, and subqueries to none', () => {
  const { sources } = askedOf('select * from wallet w join (select * from wallet where id = ?) x on x.id = w.id');
  expect([...sources]).toEqual([
    ['w', 'wallet'],
    ['x', ''],
  ]);
});
