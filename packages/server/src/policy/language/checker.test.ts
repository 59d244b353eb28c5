import { describe, expect, test } from 'vitest';
import { compileExpression, describeStaticError } from '../evaluate/expression.ts';
import type { ExpressionKind } from './checker.ts';

function check(kind: ExpressionKind, text: string): string {
  const compiled = compileExpression(kind, text);
  if (compiled.ok) return 'accepted';
  const { code, column, message } = compiled.error;
  return `${code} ${column} ${message}`;
}

describe('conditions', () => {
  test.each([
    // Types of operands.
    ['1', 'E_NOT_BOOL 1 expected a bool, found an int'],
    [
      "eth.eip_712.message['a']",
      'E_NOT_BOOL 1 expected a bool, found a value whose type is only known at run time: compare it with == true',
    ],
    ['true && 1', 'E_TYPE 9 expected a bool on each side of &&, found an int'],
    [
      "!eth.eip_712.message['a']",
      'E_TYPE 2 expected a bool after !, found a value whose type is only known at run time: compare it with == true',
    ],
    [
      "1 == 'a'",
      'E_TYPE 1 == compares two numbers, two strings, two bools or two timestamps, found an int and a string (numbers have no quotes)',
    ],
    ["'a' < 'b'", 'E_TYPE 1 < orders two numbers or two timestamps, found a string and a string'],
    [
      "eth.eip_712.message['a'] < 'b'",
      'E_TYPE 1 < orders two numbers or two timestamps, found a value whose type is only known at run time and a string',
    ],
    ['true < false', 'E_TYPE 1 < orders two numbers or two timestamps, found a bool and a bool'],
    [
      '[1] == [1]',
      'E_TYPE 1 == compares two numbers, two strings, two bools or two timestamps, found a list of ints and a list of ints',
    ],
    [
      'wallet == wallet',
      'E_TYPE 1 == compares two numbers, two strings, two bools or two timestamps, found the struct Wallet and the struct Wallet',
    ],
    [
      "eth.eip_712.message['a'] == [1]",
      'E_TYPE 1 == compares two numbers, two strings, two bools or two timestamps, found a value whose type is only known at run time and a list of ints',
    ],
    [
      'eth.eip_712.message == eth.eip_712.message',
      'E_TYPE 1 == compares two numbers, two strings, two bools or two timestamps, found a map and a map',
    ],
    // Lists.
    ["[1, 'a'].count() == 2", 'E_TYPE 5 a list has elements of one type: expected an int, found a string'],
    [
      "[eth.eip_712.message['a'], 'x', 1].count() == 3",
      'E_TYPE 33 a list has elements of one type: expected a string, found an int',
    ],
    ["1 in ['a']", 'E_TYPE 1 expected an element of the list (a string), found an int'],
    ["1 in 'abc'", "E_TYPE 6 expected a list after 'in', found a string"],
    ["'a' in wallet", "E_TYPE 8 expected a list after 'in', found the struct Wallet"],
    ['[1] in [[1]]', 'E_TYPE 1 expected an element of the list (a list of ints), found a list of ints'],
    ['[1] in []', 'E_TYPE 1 expected an element of the list (nothing), found a list of ints'],
    ["'abc'.contains('a')", 'E_TYPE 7 expected a list before .contains, found a string'],
    ["'abc'.any(x, true)", 'E_TYPE 1 expected a list before .any, found a string'],
    ['secret.static_properties.count() == 1', 'E_TYPE 26 expected a list before .count, found a map'],
    ['[1].any(x, x)', 'E_TYPE 12 expected a bool as condition of any, found an int'],
    [
      '[1].first() == 1',
      'E_UNKNOWN_FUNCTION 5 there is no method first; there are contains, count, hex_to_uint, any, all, filter',
    ],
    ['[1].count(1) == 1', 'E_ARITY 5 count takes 0 arguments, found 1'],
    ['[1].contains()', 'E_ARITY 5 contains takes 1 argument, found 0'],
    ['[1].contains(1, 2)', 'E_ARITY 5 contains takes 1 argument, found 2'],
    ['[1].size == 1', 'E_TYPE 5 a list has no field size; it has contains, count, hex_to_uint, any, all, filter'],
    ['1.hex_to_uint() == 1', 'E_TYPE 3 hex_to_uint is for strings, not for an int'],
    // Access.
    ["[1]['a'] == 1", 'E_TYPE 5 expected a number as position, found a string'],
    ['secret.static_properties[0] == 1', 'E_TYPE 26 expected a string as key of a map, found an int'],
    ['wallet[0] == 1', 'E_TYPE 1 expected a list or a string before an index, found the struct Wallet'],
    ['wallet[0..1] == 1', 'E_TYPE 1 expected a list or a string before a slice, found the struct Wallet'],
    ["'abc'['a'..2] == ''", 'E_TYPE 7 expected a number as position, found a string'],
    ['eth.eip_712.message[true] == 1', 'E_TYPE 21 expected a string as key of a map, found a bool'],
    ["eth.eip_712.message['a'][true] == 1", 'E_TYPE 26 expected a number or a string as index, found a bool'],
    [
      "eth.eip_712.message['a'].b == 1",
      "E_TYPE 26 expected a struct before .b, found a value whose type is only known at run time, write ['b']",
    ],
    ['eth.tx.contract_call_args.wad == 1', "E_TYPE 27 expected a struct before .wad, found a map, write ['wad']"],
    ['eth.tx.value.x == 1', 'E_TYPE 14 expected a struct before .x, found an int'],
    // Names.
    [
      'foo == 1',
      'E_UNKNOWN_KEYWORD 1 unknown keyword foo; expected one of activity, eth, solana, tron, bitcoin, tempo, wallet, wallet_account, private_key, wallets, secret',
    ],
    [
      '[1].any(x, true) && x == 1',
      'E_UNKNOWN_KEYWORD 21 unknown keyword x; expected one of activity, eth, solana, tron, bitcoin, tempo, wallet, wallet_account, private_key, wallets, secret',
    ],
    ['wallet.path == 1', 'E_UNKNOWN_FIELD 8 Wallet has no field path; expected one of id, imported, exported, label'],
    [
      'wallet.constructor == 1',
      'E_UNKNOWN_FIELD 8 Wallet has no field constructor; expected one of id, imported, exported, label',
    ],
    [
      'wallet.__proto__ == 1',
      'E_UNKNOWN_FIELD 8 Wallet has no field __proto__; expected one of id, imported, exported, label',
    ],
    [
      'constructor == 1',
      'E_UNKNOWN_KEYWORD 1 unknown keyword constructor; expected one of activity, eth, solana, tron, bitcoin, tempo, wallet, wallet_account, private_key, wallets, secret',
    ],
    [
      "Timestamp('2026-03-01T00:00:00Z') == 1",
      'E_UNKNOWN_FUNCTION 1 Timestamp exists only in the time expression of a policy',
    ],
    ['now(1) == 1', 'E_UNKNOWN_FUNCTION 1 there is no function now'],
    [
      "eth.eip_7702_authorization.chain_id in ['1']",
      'E_TYPE 1 expected an element of the list (a string), found a number',
    ],
    [
      "eth.eip_7702_authorization.chain_id < '1'",
      'E_TYPE 1 < orders two numbers or two timestamps, found a number and a string',
    ],
  ])('%s', (text, message) => {
    expect(check('condition', text)).toBe(message);
  });

  test.each([
    "eth.eip_712.message['a'] == eth.eip_712.message['b']",
    "eth.eip_712.message['a'] in ['x', 'y']",
    "'0xab' in eth.tx.contract_call_args['recipients']",
    "eth.eip_712.message['a'].count == 1",
    "eth.eip_712.message['a'].filter(x, x == 1).count() == 1",
    "eth.eip_712.message['a'].hex_to_uint() == 1",
    "eth.eip_712.message['a'][0..2].count() == 2",
    "eth.eip_712.message[eth.eip_712.message['key']] == 1",
    '[1, eth.tx.value, eth.eip_712.domain.chain_id, eth.eip_7702_authorization.nonce].contains(1)',
    "[eth.tx.to, wallet_account.address, 'x'].contains('y')",
    "'1' == eth.eip_7702_authorization.chain_id",
    '[[], [1]].any(x, x.count() == 0)',
    "solana.tx.instructions.any(i, i.parsed_instruction_data.named_account['x'] == 'y')",
    "solana.tx.instructions.any(i, i.parsed_instruction_data.named_accounts['x'] == 'y')",
    "activity.params.signatures.any(s, s.derivation.signing_leaf.leaf_id == 'l')",
    'activity.params.assets > 5 && activity.params.sponsor',
    'tron.tx.contract.any(c, c.owner.keys.any(k, k.weight > 1))',
  ])('%s is accepted', (text) => {
    expect(check('condition', text)).toBe('accepted');
  });
});

describe('consensus and time', () => {
  test.each<[ExpressionKind, string, string]>([
    [
      'consensus',
      "activity.type == 'x'",
      'E_UNKNOWN_KEYWORD 1 unknown keyword activity here, it belongs to the condition of a policy; expected one of approvers, credentials',
    ],
    [
      'condition',
      'approvers.count() > 1',
      'E_UNKNOWN_KEYWORD 1 unknown keyword approvers here, it belongs to the consensus of a policy; expected one of activity, eth, solana, tron, bitcoin, tempo, wallet, wallet_account, private_key, wallets, secret',
    ],
    ['consensus', 'approvers', 'E_NOT_BOOL 1 expected a bool, found a list of User'],
    [
      'consensus',
      "approvers.any(u, u.tag == 'x')",
      'E_UNKNOWN_FIELD 20 User has no field tag; expected one of id, tags, email, alias',
    ],
    [
      'consensus',
      'approvers.contains(approvers[0])',
      'E_TYPE 20 expected an element of the list (the struct User), found the struct User',
    ],
    ['time', 'time.now > 5', 'E_TYPE 1 > orders two numbers or two timestamps, found a timestamp and an int'],
    ['time', 'time', 'E_NOT_BOOL 1 expected a bool, found the struct Time'],
    ['time', 'time.now > Timestamp(time.now)', 'E_TYPE 22 expected a string literal as argument of Timestamp'],
    [
      'time',
      "time.now > Timestamp('2026-02-29T00:00:00Z')",
      'E_TIMESTAMP 22 expected an RFC 3339 time in UTC, such as 2026-03-01T00:00:00Z',
    ],
    [
      'time',
      "CronSpan('* * * *', '1h', 'UTC')",
      'E_CRON 10 a schedule has five fields (minute, hour, day of month, month, day of week), this has 4',
    ],
    ['time', "CronSpan('60 * * * *', '1h', 'UTC')", 'E_CRON 10 minute: 60 is outside 0-59'],
    [
      'time',
      "CronSpan('*/5 * * * *', '1h', 'UTC')",
      'E_CRON 10 minute: expected * or numbers and ranges such as 1,3-5, found "*/5"',
    ],
    ['time', "CronSpan('* * * * 5-1', '1h', 'UTC')", 'E_CRON 10 day of week: the range 5-1 runs backwards'],
    [
      'time',
      "CronSpan('* * * * *', '', 'UTC')",
      'E_DURATION 23 expected whole days, hours and minutes in this order, such as 1d12h or 30m',
    ],
    ['time', "CronSpan('* * * * *', '8d', 'UTC')", 'E_DURATION 23 a window lasts at most seven days'],
    ['time', `CronSpan('* * * * *', '${'9'.repeat(400)}d', 'UTC')`, 'E_DURATION 23 a window lasts at most seven days'],
    ['time', "CronSpan('* * * * *', '0d0h0m', 'UTC')", 'E_DURATION 23 a window must last longer than nothing'],
    [
      'time',
      "CronSpan('* * * * *', '1h', '+01:00')",
      'E_TIMEZONE 29 expected an IANA time zone, such as Europe/Berlin',
    ],
    [
      'time',
      "CronSpan('* * * * *', '1h', 'Europe/Nowhere')",
      'E_TIMEZONE 29 expected an IANA time zone, such as Europe/Berlin',
    ],
    ['time', "CronSpan('* * * * *', '1h')", 'E_ARITY 1 CronSpan takes 3 arguments, found 2'],
    [
      'time',
      Array.from({ length: 65 }, () => "CronSpan('* * * * *','1m','UTC')").join('||'),
      'E_LIMIT 2177 a time expression has at most 64 windows',
    ],
  ])('%s: %s', (kind, text, message) => {
    expect(check(kind, text)).toBe(message);
  });
});

describe('lists that hold decoded values', () => {
  const decoded = "eth.eip_712.message['a']";

  test.each(['1', "'a'", 'true', 'eth.tx.to', '[1]', '[]', 'eth.eip_712.message', 'secret.static_properties'])(
    'may hold %s too',
    (other) => {
      expect(check('condition', `[${decoded}, ${other}].count() == 2`)).toBe('accepted');
    },
  );

  test.each([
    ['wallet', 'the struct Wallet'],
    ['wallets', 'a list of Wallet'],
    ['[wallets]', 'a list of lists'],
  ])('hold no %s, which decoded data never has', (other, found) => {
    expect(check('condition', `[${decoded}, ${other}].any(x, x == 1)`)).toBe(
      `E_TYPE 1 ${found} and a value whose type is only known at run time do not share a list`,
    );
    expect(check('condition', `[${other}, ${decoded}].count() == 2`)).toMatch(/^E_TYPE 1 /);
  });
});

test('the message of a refusal names field, code and column', () => {
  const text = "wallet.id == 'w' &&\n wallet.path == ''";
  const compiled = compileExpression('condition', text);
  if (compiled.ok) throw new Error('expected a refusal');
  expect(describeStaticError('condition', text, compiled.error)).toBe(
    'invalid policy condition: Wallet has no field path; expected one of id, imported, exported, label (E_UNKNOWN_FIELD at line 2, column 9)',
  );
  expect(describeStaticError('mfa', text, compiled.error)).toMatch(/^invalid mfa policy condition: /);
  expect(describeStaticError('scope', text, compiled.error)).toMatch(/^invalid session profile scope: /);
  const time = compileExpression('time', 'x');
  if (time.ok) throw new Error('expected a refusal');
  expect(describeStaticError('time', 'x', time.error)).toBe(
    'invalid policy time: unknown keyword x; expected one of time (E_UNKNOWN_KEYWORD at column 1)',
  );
});

test('messages are not longer than people read', () => {
  const compiled = compileExpression('condition', `${'x'.repeat(10_000)} == 1`);
  expect(compiled.ok ? '' : compiled.error.message).toHaveLength(601);
});
