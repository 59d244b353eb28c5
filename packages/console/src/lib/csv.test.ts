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

  it.each([
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－cmd', "'－cmd"],
    ['＠sum', "'＠sum"],
    ['\t=1', `"'\t=1"`],
    [' \u200b=1', "' \u200b=1"],
    ['\n=1', `"'\n'=1"`],
    ['Ada\r\n=1+1', `"Ada\r\n'=1+1"`],
    ['a-b = c', 'a-b = c'],
    ['-12.5', '-12.5'],
  ])('leaves no formula in %j', (text, expected) => {
    expect(toCsv(['name'], [[text]])).toBe(`name\r\n${expected}\r\n`);
  });
});
