// Points of the language that the conformance cases leave out.
import { expect, test } from 'vitest';
import { check, compile, evaluate, verdict } from './reference/language.ts';
import { applicableMfaPolicy, scopeAllows } from './reference/sessions.ts';

const condition = (text: string, context = {}): string => verdict(text, 'condition', context);

test.each([
  ['64 parentheses', `${'('.repeat(64)}true${')'.repeat(64)}`, 'true'],
  ['65 parentheses', `${'('.repeat(65)}true${')'.repeat(65)}`, 'E_LIMIT'],
  ['1,000 elements', `[${Array(1000).fill('1').join()}].count() == 1000`, 'true'],
  ['1,001 elements', `[${Array(1001).fill('1').join()}].count() == 1001`, 'E_LIMIT'],
  ['16,384 characters', `'${'😀'.repeat(16_384 - 8)}' != ''`, 'true'],
  ['16,385 characters', `'${'😀'.repeat(16_384 - 7)}' != ''`, 'E_LIMIT'],
  ['a long chain is not deep', Array(500).fill('true').join(' && '), 'true'],
])('limits: %s', (_name, text, expected) => expect(condition(text)).toBe(expected));

test('the step budget ends an evaluation that a small text makes long', () => {
  const list = `[${Array(400).fill('1').join()}]`;
  expect(condition(`${list}.all(x, ${list}.all(y, y == x))`)).toBe('R_LIMIT');
});

test.each([
  ["'ABC'[0..2] == 'ab'", 'false'],
  ["eth.tx.data[2..4] == 'AB'", 'true'],
  ["eth.tx.data[2] == 'A'", 'true'],
  ["'0XABCD' in [eth.tx.data]", 'true'],
  ["[eth.tx.data, 'x'].contains('0xABCD')", 'true'],
  ["wallet_account.address == '0XAB'", 'true'],
  ["eth.tx.contract_call_args['text'] == 'ABC'", 'false'],
  ["eth.tx.contract_call_args['text'] == eth.tx.data", 'false'],
  ['eth.tx.data.hex_to_uint() == 43981', 'true'],
])('hex: %s', (text, expected) => {
  const tx = { data: '0xabcd', contract_call_args: { text: 'abc' } };
  expect(condition(text, { eth: { tx }, wallet_account: { address: '0xab' } })).toBe(expected);
});

test.each([
  ["eth.eip_712.message['large'] == 1", 'R_INT_RANGE'],
  ["eth.eip_712.message['list'].count() == 1", 'true'],
  ["eth.eip_712.message['list'].any(x, true)", 'true'],
  ["eth.eip_712.message['list'].any(x, x == 1)", 'R_INT_RANGE'],
])('an integer out of range fails when it is read: %s', (text, expected) => {
  const large = { $int: String(2n ** 127n) };
  expect(condition(text, { eth: { eip_712: { message: { large, list: [large] } } } })).toBe(expected);
});

test.each([
  ["secret.static_properties['constructor'] == ''", 'R_MISSING_KEY'],
  ["secret.static_properties['__proto__'] == ''", 'R_MISSING_KEY'],
  ['[1].any(__proto__, __proto__ == 1)', 'true'],
  ['[1].any(eth, [2].any(eth, eth == 2) && eth == 1)', 'true'],
  ['solana.tx.instructions.any(i, i.parsed_instruction_data.named_account == 1)', 'E_TYPE'],
])('names: %s', (text, expected) => expect(condition(text, { secret: { static_properties: {} } })).toBe(expected));

test('a refusal names every fault', () => {
  const result = check(`y == 1 && 'a' < 'b' && ${2n ** 256n} > [1].first()`, 'condition');
  expect(result).toMatchObject({ ok: false, code: 'E_INT_RANGE' });
  expect(result.ok ? [] : result.codes).toEqual(['E_INT_RANGE', 'E_UNKNOWN_KEYWORD', 'E_TYPE', 'E_UNKNOWN_FUNCTION']);
});

test('an absent keyword or parameter is told from an absent field', () => {
  const value = compile('eth.tx.value > 1', 'mfa');
  expect(evaluate(value, { eth: { eip_712: {} } })).toMatchObject({ code: 'R_MISSING_FIELD', isForeign: true });
  expect(evaluate(value, { eth: { tx: {} } })).toMatchObject({ code: 'R_MISSING_FIELD', isForeign: false });
  const parameter = compile("activity.params.session_profile_id == 'p1'", 'mfa');
  const missing = { code: 'R_MISSING_FIELD', isForeign: true };
  expect(evaluate(parameter, { activity: { params: {} } })).toMatchObject(missing);
});

test('the first MFA condition that holds applies, and errors hold unless a keyword is absent', () => {
  const policies = [
    { id: 'all', order: 9, condition: 'true' },
    { id: 'large', order: 1, condition: "activity.action == 'SIGN' && eth.tx.value > 1" },
    { id: 'named', order: 2, condition: "secret.static_properties['env'] == 'x'" },
  ];
  const activity = { action: 'SIGN' };
  expect(applicableMfaPolicy(policies, { activity })?.id).toBe('all');
  expect(applicableMfaPolicy(policies, { activity, eth: { tx: { value: 5 } } })?.id).toBe('large');
  expect(applicableMfaPolicy(policies, { activity, secret: { static_properties: {} } })?.id).toBe('named');
  expect(applicableMfaPolicy(policies.slice(1, 2), { activity })).toBeUndefined();
});

test('a session scope that ends in an error denies', () => {
  expect(scopeAllows("activity.action != 'EXPORT'", { activity: { action: 'SIGN' } })).toBe(true);
  expect(scopeAllows("activity.action != 'EXPORT'", { activity: { action: 'EXPORT' } })).toBe(false);
  expect(scopeAllows("wallet.id != 'w1'", { activity: { action: 'SIGN' } })).toBe(false);
});
