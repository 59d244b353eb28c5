import { describe, expect, it } from 'vitest';
import { toCsv } from './csv.ts';

describe('toCsv', () => {
  it('quotes what needs it and defuses formulas', () => {
    expect(
      toCsv(
        ['name', 'amount'],
        [
          ['a "b", c', -5],
          ['=HYPERLINK("x")', undefined],
          ['@sum', '+1 2'],
        ],
      ),
    ).toBe('name,amount\r\n"a ""b"", c",-5\r\n"\'=HYPERLINK(""x"")",\r\n\'@sum,\'+1 2\r\n');
  });
});
