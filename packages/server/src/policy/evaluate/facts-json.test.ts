import { describe, expect, test } from 'vitest';
import { FactsError, factsFromJson } from './facts-json.ts';
import { hexText, intValue, tupleOf, uintValue } from './values.ts';

test('JSON becomes facts by the types that the language declares', () => {
  const facts = factsFromJson('condition', {
    activity: {
      type: 'T',
      params: {
        user_ids: ['u'],
        assets: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      },
    },
    eth: {
      tx: {
        value: '-5',
        gasPrice: 7,
        to: '0xAB',
        contract_call_args: {
          n: { $uint: '1' },
          i: { $int: -1 },
          h: { $hex: '0x' },
          t: { $tuple: [true, 'x', ['y']] },
          m: { k: 'v' },
        },
      },
      eip_712: { message: { __proto__: 'own', constructor: 'own' } },
    },
    wallet_account: { path_indexes: [44, '60'], path_hardened: [true] },
    secret: { static_properties: { kind: 'card' } },
  });
  expect(facts.activity?.params).toEqual({ user_ids: ['u'], assets: 2n ** 256n - 1n });
  expect(facts.eth?.tx).toMatchObject({ value: -5n, gas_price: 7n, to: '0xAB' });
  expect(facts.eth?.tx?.contract_call_args).toEqual(
    new Map<string, unknown>([
      ['n', uintValue(1n)],
      ['i', intValue(-1n)],
      ['h', hexText('0x')],
      ['t', tupleOf([true, 'x', ['y']])],
      ['m', new Map([['k', 'v']])],
    ]),
  );
  expect(facts.wallet_account).toEqual({ path_indexes: [44n, 60n], path_hardened: [true] });
  expect(facts.secret?.static_properties).toEqual(new Map([['kind', 'card']]));
  const parsed = factsFromJson('condition', JSON.parse('{"eth":{"eip_712":{"message":{"__proto__":"own"}}}}'));
  expect(parsed.eth?.eip_712?.message.get('__proto__')).toBe('own');
});

test('times are RFC 3339 or milliseconds', () => {
  expect(factsFromJson('time', { time: { now: '2026-03-01T00:00:00.5Z' } }).time?.now).toBe(1_772_323_200_500_000_000n);
  expect(factsFromJson('time', { time: { now: 1 } }).time?.now).toBe(1_000_000n);
});

describe('what is no such fact is refused with its place', () => {
  test.each<[unknown, string]>([
    [{ wallets: {} }, 'condition.wallets: expected a list'],
    [{ wallet: { nmae: 'x' } }, 'condition.wallet.nmae: Wallet has no such field'],
    [{ wallet: [] }, 'condition.wallet: expected an object'],
    [null, 'condition: expected an object'],
    [{ foo: 1 }, 'condition.foo: condition has no such field'],
    [{ eth: { tx: { value: 1.5 } } }, 'condition.eth.tx.value: expected an integer, as a number or a decimal string'],
    [
      { eth: { tx: { value: '0x10' } } },
      'condition.eth.tx.value: expected an integer, as a number or a decimal string',
    ],
    [
      { eth: { tx: { value: 2 ** 60 } } },
      'condition.eth.tx.value: expected an integer, as a number or a decimal string',
    ],
    [{ eth: { tx: { to: 5 } } }, 'condition.eth.tx.to: expected a string'],
    [{ wallet: { imported: 'yes' } }, 'condition.wallet.imported: expected true or false'],
    [
      { eth: { eip_712: { message: { a: 5 } } } },
      'condition.eth.eip_712.message.a: expected a bool, a string, a list, a map or a tagged value',
    ],
    [
      { eth: { eip_712: { message: { a: { $uint: '1', b: 2 } } } } },
      'condition.eth.eip_712.message.a: a tagged value has one member',
    ],
    [
      { eth: { eip_712: { message: { a: [{ $u: '1' }] } } } },
      'condition.eth.eip_712.message.a.0: unknown tag $u; expected $uint, $int, $hex or $tuple',
    ],
    [{ eth: { eip_712: { message: { a: { $hex: 1 } } } } }, 'condition.eth.eip_712.message.a: expected a string'],
  ])('%j', (json, message) => {
    expect(() => factsFromJson('condition', json)).toThrow(
      new FactsError(message.split(': ')[0] as string, message.split(': ').slice(1).join(': ')),
    );
  });

  test('a time that is none', () => {
    expect(() => factsFromJson('time', { time: { now: 'now' } })).toThrow(
      'time.time.now: expected an RFC 3339 time in UTC',
    );
  });
});
