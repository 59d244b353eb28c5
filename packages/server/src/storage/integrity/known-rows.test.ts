import { expect, test } from 'vitest';
import { KnownRows } from './known-rows.ts';
import { Marks } from './mark.ts';
import type { MarkedTable } from './marked-table.ts';
import type { Row } from './row.ts';

const table = (name: string): MarkedTable => ({
  name,
  mark: `${name}_mac`,
  columns: ['organization_id', 'id', 'amount', 'sealed', 'note'],
  all: ['organization_id', 'id', 'amount', 'sealed', 'note', `${name}_mac`],
  key: ['organization_id', 'id'],
  organization: 'organization_id',
});
const PAYMENT = table('payment');
const ROW = { organization_id: 'o', id: 'i', amount: 5, sealed: Buffer.from([1, 2, 3]), note: null };
const { columns } = PAYMENT;

test('a row is known by its mark as long as every value is the same', () => {
  const known = new KnownRows();
  known.keep(PAYMENT, ROW, columns, 'mark');
  expect(known.has(PAYMENT, { ...ROW, sealed: Buffer.from([1, 2, 3]), note: undefined }, columns, 'mark')).toBe(true);
  const others: Row[] = [
    { ...ROW, organization_id: 'p' },
    { ...ROW, id: 'j' },
    { ...ROW, amount: 6 },
    { ...ROW, amount: '5' },
    { ...ROW, amount: 5n },
    { ...ROW, sealed: Buffer.from([1, 2, 4]) },
    { ...ROW, sealed: null },
    { ...ROW, note: '' },
  ];
  for (const other of others) expect(known.has(PAYMENT, other, columns, 'mark')).toBe(false);
  expect(known.has(PAYMENT, ROW, columns, 'another mark')).toBe(false);
});

test('a mark that was copied to a table with the same columns is not known there', () => {
  const known = new KnownRows();
  known.keep(PAYMENT, ROW, columns, 'mark');
  expect(known.has(table('refund'), ROW, columns, 'mark')).toBe(false);
});

test('bytes that are wiped after they were read are known as they were', () => {
  const known = new KnownRows();
  const sealed = Buffer.from([1, 2, 3]);
  known.keep(PAYMENT, { ...ROW, sealed }, columns, 'mark');
  sealed.fill(0);
  expect(known.has(PAYMENT, { ...ROW, sealed }, columns, 'mark')).toBe(false);
  expect(known.has(PAYMENT, ROW, columns, 'mark')).toBe(true);
});

test('columns may have other names in an answer', () => {
  const known = new KnownRows();
  known.keep(PAYMENT, ROW, columns, 'mark');
  const names = columns.map((column) => `payment_${column}`);
  const row = Object.fromEntries(Object.entries(ROW).map(([column, value]) => [`payment_${column}`, value]));
  expect(known.has(PAYMENT, row, names, 'mark')).toBe(true);
  expect(known.has(PAYMENT, { ...row, payment_amount: 6 }, names, 'mark')).toBe(false);
});

test('what is long is not kept, and older rows make room', () => {
  const known = new KnownRows();
  known.keep(PAYMENT, { ...ROW, note: 'x'.repeat(2000) }, columns, 'long');
  expect(known.has(PAYMENT, { ...ROW, note: 'x'.repeat(2000) }, columns, 'long')).toBe(false);
  for (let index = 0; index <= 8192; index += 1) known.keep(PAYMENT, ROW, columns, `mark ${index}`);
  expect(known.has(PAYMENT, ROW, columns, 'mark 0')).toBe(false);
  for (const index of [1, 8192]) expect(known.has(PAYMENT, ROW, columns, `mark ${index}`)).toBe(true);
});

test('a row that is replaced is forgotten', () => {
  const known = new KnownRows();
  known.keep(PAYMENT, ROW, columns, 'mark');
  expect(known.drop('mark')).toBe(true);
  expect(known.has(PAYMENT, ROW, columns, 'mark')).toBe(false);
  for (const mark of ['mark', null, undefined]) expect(known.drop(mark)).toBe(false);
});

test('marks say the same of known rows as of new ones', () => {
  const marks = new Marks([{ generation: 1, bytes: Buffer.alloc(32, 7) }]);
  const next = { ...ROW, amount: 7 };
  for (const [row, other] of [
    [ROW, next],
    [next, ROW],
  ] as const) {
    // Once as a new row, and once in the place of one that is known.
    const mark = marks.of(PAYMENT, row, marks.of(PAYMENT, other));
    for (let times = 0; times < 2; times += 1) {
      expect(marks.isGenuine(PAYMENT, row, columns, mark)).toBe(true);
      expect(marks.isGenuine(PAYMENT, other, columns, mark)).toBe(false);
      expect(marks.isGenuine(table('refund'), row, columns, mark)).toBe(false);
      expect(marks.isGenuine(PAYMENT, row, columns, `2${mark.slice(1)}`)).toBe(false);
    }
  }
});
