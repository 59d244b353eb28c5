// Every operator on every pair of some values of each type, most of them ill typed: corners that random texts meet
// rarely.
import type { JsonObject } from '../reference/values.ts';

export const PAIR_CONTEXT: JsonObject = {
  eth: {
    tx: { to: '0xab', value: 5, data: '0x05' },
    eip_7702_authorization: { address: '0xab', chain_id: 1, nonce: 5 },
    eip_712: {
      message: {
        number: { $uint: '5' },
        negative: { $int: '-1' },
        large: { $int: String(2n ** 127n) },
        text: '5',
        hex: { $hex: '5' },
        bool: true,
        list: [{ $uint: '5' }, '5'],
        tuple: { $tuple: [{ $uint: '5' }] },
        map: { a: '5' },
      },
    },
  },
  wallet: { id: 'w1' },
  wallets: [{ id: 'w1' }],
  secret: { static_properties: { a: '5', b: '😀a😀' } },
};

const DECODED = ['number', 'negative', 'large', 'text', 'hex', 'bool', 'list', 'tuple', 'map', 'absent'].map(
  (key) => `eth.eip_712.message['${key}']`,
);

const VALUES = [
  ...DECODED,
  'eth.eip_712.message',
  'eth.eip_7702_authorization.nonce',
  'eth.tx.to',
  'eth.tx.value',
  'wallet',
  'wallet.id',
  'wallets',
  'secret.static_properties',
  'private_key.id',
  'true',
  '5',
  '-1',
  String(2n ** 200n),
  "'5'",
  "'05'",
  "'-0'",
  '[]',
  '[][0]',
  '[[]]',
  '[5]',
  "['5']",
  '[[5]]',
  `[${DECODED[0]}]`,
];

/** With characters of one, two and three bytes, and one that takes two units of UTF-16. */
const TEXTS = ["'a😀é金'", "secret.static_properties['b']", 'eth.tx.data'];
const POSITIONS = [-1, 0, 1, 2, 3, 4, 5];

export const pairTexts = (): readonly string[] => [
  ...VALUES.flatMap((value) => [...alone(value), ...VALUES.flatMap(beside(value))]),
  ...TEXTS.flatMap(cuts),
];

const alone = (x: string): readonly string[] => [
  x,
  `!${x}`,
  `${x}.count == 1`,
  `${x}.count() == 1`,
  `${x}.hex_to_uint() == 5`,
  `${x}.id == 'w1'`,
  `${x}.any(v, v == 5)`,
  `${x}.all(v, true)`,
  `${x}.filter(v, v == '5').count() == 1`,
  `${x}[0..1] == '5'`,
  `${x}[0..1].count() == 1`,
];

const beside =
  (x: string) =>
  (y: string): readonly string[] => [
    `${x} == ${y}`,
    `${x} < ${y}`,
    `${x} in ${y}`,
    `${y}.contains(${x})`,
    `${x}[${y}] == 5`,
    `'abc'[${x}..${y}] == 'a'`,
    `[${x}, ${y}].any(v, v == 5)`,
    `[${x}, ${y}].contains(5)`,
    `'5' in [${x}, ${y}]`,
    `[${x}, 5, ${y}].count() == 3`,
  ];

/** Every position and every slice, against what it might be. */
const cuts = (text: string): readonly string[] =>
  POSITIONS.flatMap((from) => [
    `${text}[${from}] in ['😀', 'a', 'x']`,
    ...POSITIONS.map((to) => `${text}[${from}..${to}] in ['😀', 'a', 'a😀', '😀a', 'é金', '', 'X0']`),
  ]);
