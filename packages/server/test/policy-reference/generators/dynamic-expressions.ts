// Bool expressions over a map of dynamic values: proper uses of every shape, and misuses that must end in R_TYPE.
import fc from 'fast-check';
import { ABSENT_KEYS, DYNAMIC_KEYS, type DynamicShape } from './dynamic-values.ts';
import { DECIMAL_TEXTS, HEX_LITERALS, oneOf, quote, SMALL_NUMBERS, TEXTS } from './pools.ts';
import type { Piece } from './terms.ts';

/** Where a template names a shape, such as `number`, a member of that shape is put; a capital word is a literal. */
const TEMPLATES = [
  'number == NUMBER',
  'number != NUMBER',
  'number < NUMBER',
  'NUMBER >= number',
  'number == DECIMAL',
  'DECIMAL != number',
  'number == number',
  'number <= number',
  'number in [NUMBER, NUMBER]',
  'number in []',
  '[NUMBER, NUMBER].contains(number)',
  'text == TEXT',
  'text != TEXT',
  'text == NUMBER',
  'text in [TEXT, TEXT]',
  'text[0] == TEXT',
  'text[0..1] == TEXT',
  'text == text',
  'hex == HEX',
  'hex != HEX',
  'hex in [HEX, HEX]',
  '[HEX].contains(hex)',
  'hex[0..10] == HEX',
  'hex[2..10].hex_to_uint() > NUMBER',
  'bool == true',
  'false != bool',
  'numbers.count == NUMBER',
  'numbers.count() <= NUMBER',
  'numbers[0] == NUMBER',
  'numbers[0..1].count() == NUMBER',
  'NUMBER in numbers',
  'number in numbers',
  'numbers.contains(NUMBER)',
  'numbers.any(x, x == NUMBER)',
  'numbers.all(x, x < NUMBER && NUMBER != x)',
  'numbers.filter(x, x > NUMBER).count() >= NUMBER',
  'numbers.filter(x, x > NUMBER).any(y, y == NUMBER)',
  'hexes.all(a, a in [HEX, HEX])',
  'hexes.any(a, a == HEX || a[0..2] == HEX)',
  'HEX in hexes',
  "maps.any(p, p['amount'] < NUMBER)",
  "maps[0]['token'] == HEX",
  "maps.all(p, p['contents'] == TEXT)",
  "maps.filter(p, p['missing'] == NUMBER).count() == NUMBER",
  'tuples.all(c, c[0] == HEX && c[1] == NUMBER)',
  "tuples.any(c, c['target'] == TEXT)",
  'tuples[0][1] < NUMBER',
  'tuple[0] == HEX',
  'tuple[1] >= NUMBER',
  'tuple[3] == NUMBER',
  "tuple['amount'] == NUMBER",
  "map['amount'] == NUMBER",
  "map['token'] == HEX",
  "map['constructor'] == TEXT",
  'absent == NUMBER',
  'absent.count() == NUMBER',
];

const MISUSES = [
  'number.count() == NUMBER',
  'number.count == NUMBER',
  'number[0] == NUMBER',
  'number.hex_to_uint() == NUMBER',
  'number == true',
  'number.any(x, true)',
  'text < NUMBER',
  'text.all(x, x == TEXT)',
  'text.contains(TEXT)',
  "text['key'] == TEXT",
  'text.hex_to_uint() == NUMBER',
  'text == true',
  'hex == NUMBER',
  'hex >= NUMBER',
  'hex[99] == HEX',
  'bool == NUMBER',
  'bool == TEXT',
  'bool < NUMBER',
  'bool[0] == TEXT',
  'numbers == NUMBER',
  'numbers == numbers',
  'numbers < NUMBER',
  "numbers['key'] == NUMBER",
  'numbers[0..99].count() == NUMBER',
  'TEXT in number',
  'map == TEXT',
  'map[0] == NUMBER',
  'map.count() == NUMBER',
  'map.any(x, true)',
  'map[0..1] == TEXT',
];

const SHAPES: readonly string[] = Object.keys(DYNAMIC_KEYS);

/** A bool expression over the members of the map at the path. */
export function dynamicBools(mapPath: string): fc.Arbitrary<Piece> {
  return fc
    .oneof({ weight: 4, arbitrary: oneOf(TEMPLATES) }, { weight: 1, arbitrary: oneOf(MISUSES) })
    .chain((template) => fill(mapPath, template))
    .map((text) => ({ text, level: 2 }));
}

function fill(mapPath: string, template: string): fc.Arbitrary<string> {
  // Words inside quotes and after dots are not placeholders.
  const parts = template.split(/('[^']*'|\.?[A-Za-z_]+)/);
  return fc.tuple(...parts.map((part) => fillPart(mapPath, part))).map((texts) => texts.join(''));
}

function fillPart(mapPath: string, part: string): fc.Arbitrary<string> {
  if (SHAPES.includes(part)) return member(mapPath, DYNAMIC_KEYS[part as DynamicShape]);
  switch (part) {
    case 'absent':
      return member(mapPath, ABSENT_KEYS);
    case 'NUMBER':
      return oneOf(SMALL_NUMBERS).map(String);
    case 'DECIMAL':
      return oneOf(DECIMAL_TEXTS).map(quote);
    case 'TEXT':
      return oneOf(TEXTS).map(quote);
    case 'HEX':
      return oneOf(HEX_LITERALS).map(quote);
    default:
      return fc.constant(part);
  }
}

const member = (mapPath: string, keys: readonly string[]): fc.Arbitrary<string> =>
  oneOf(keys).map((key) => `${mapPath}[${quote(key)}]`);
