import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyringError } from '../errors.ts';
import { formatPath, HARDENED, parsePath } from './path.ts';

test('the levels of a path', () => {
  expect(parsePath("m/44'/60'/0'/0/7")).toEqual([HARDENED + 44, HARDENED + 60, HARDENED, 0, 7]);
  expect(parsePath('m/0')).toEqual([0]);
  expect(parsePath("m/2147483647'/2147483647")).toEqual([0xffff_ffff, 0x7fff_ffff]);
  expect(parsePath('m/0/1/2/3/4/5/6/7/8/9')).toHaveLength(10);
});

test('three signs for hardened, one when written', () => {
  expect(parsePath("m/44h/60H/0'")).toEqual(parsePath("m/44'/60'/0'"));
  expect(formatPath(parsePath('m/44h/60H/0/1'))).toBe("m/44'/60'/0/1");
});

test.each([
  '',
  'm',
  'm/',
  'M/0',
  '/0',
  '0',
  "44'/60'",
  'm//0',
  'm/0/',
  'm/00',
  'm/01',
  "m/0''",
  "m/0'h",
  'm/-1',
  'm/+1',
  'm/1e3',
  'm/0x1',
  'm/1.0',
  'm/ 1',
  'm/1 ',
  'm/1\n',
  'm/h',
  'm/٣',
  'm/0’',
  'm/2147483648',
  "m/2147483648'",
  'm/4294967296',
  'm/99999999999',
  'm/0/1/2/3/4/5/6/7/8/9/10',
  `m${'/0'.repeat(100_000)}`,
])('%j is not a path', (text) => {
  expect(() => parsePath(text)).toThrow(KeyringError);
});

test.each([[undefined], [null], [7], [['m/0']], [{}]])('%j is not a path', (value) => {
  expect(() => parsePath(value as unknown as string)).toThrow(KeyringError);
});

test.each([[[]], [Array(11).fill(0)], [[-1]], [[1.5]], [[2 ** 32]], [[Number.NaN]]])(
  '%j are not the levels of a path',
  (indices) => {
    expect(() => formatPath(indices)).toThrow(KeyringError);
  },
);

test('parsing and formatting are inverse', () => {
  const indices = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1, maxLength: 10 });
  fc.assert(fc.property(indices, (levels) => void expect(parsePath(formatPath(levels))).toEqual(levels)));
});
