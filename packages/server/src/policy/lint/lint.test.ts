import { describe, expect, test } from 'vitest';
import type { Policy } from '../decision/policy-set.ts';
import { createExpressionCache } from '../evaluate/expression-cache.ts';
import { lintPolicies } from './lint.ts';

const cache = createExpressionCache();
const allow = (id: string, texts: Omit<Policy, 'id' | 'effect'> = {}): Policy => ({
  id,
  effect: 'EFFECT_ALLOW',
  ...texts,
});
const deny = (id: string, texts: Omit<Policy, 'id' | 'effect'> = {}): Policy => ({
  id,
  effect: 'EFFECT_DENY',
  ...texts,
});
const codes = (policies: readonly Policy[], options = {}) =>
  lintPolicies(policies, cache, options).map(({ policyId, code, otherPolicyIds }) => [
    policyId,
    code,
    ...(otherPolicyIds ?? []),
  ]);

describe('what can never match', () => {
  test.each([
    'false',
    "wallet.id == 'a' && wallet.id == 'b'",
    "wallet.id == 'a' && wallet.id != 'a'",
    "wallet.id in ['a', 'b'] && ['c'].contains(wallet.id)",
    'wallet.imported && !wallet.imported',
    'wallet.imported == true && wallet.imported == false',
    'eth.tx.value > 10 && eth.tx.value < 5',
    'eth.tx.value >= 10 && 10 > eth.tx.value',
    'eth.tx.value == 3 && !(eth.tx.value <= 3)',
    'eth.tx.value in [1, 2] && eth.tx.value > 2',
    "(wallet.id == 'a' && wallet.id == 'b') || false",
    'wallets.count() < 0',
    "solana.tx.transfers.any(t, t.to == 'x') && !solana.tx.transfers.any(t, t.to == 'x')",
    "activity.kind == 'CREATE_WALLET' && activity.action == 'SIGN'",
    "activity.resource == 'WALLET' && activity.resource == 'USER'",
    "!(activity.action in ['CREATE', 'UPDATE', 'DELETE', 'SIGN', 'EXPORT', 'IMPORT', 'VERIFY', 'ENCRYPT'])",
    '1 == 2',
  ])('%s', (condition) => {
    expect(codes([allow('p', { condition })])).toContainEqual(['p', 'NEVER_MATCHES']);
  });

  test.each([
    "wallet.id == 'a' || wallet.id == 'b'",
    "wallet.id in ['a', 'b'] && wallet.id != 'a'",
    'eth.tx.value > 10 && eth.tx.value < 12',
    "eth.tx.to == '0xAB' && eth.tx.to == '0xab'",
    "wallet_account.address == '0xAB' && wallet_account.address == '0xab'",
    "activity.kind == 'CREATE_WALLET' && activity.action == 'CREATE'",
    "solana.tx.transfers.any(t, t.to == 'x') && solana.tx.transfers.any(t, t.to == 'y')",
    "wallets.any(w, w.id == 'a') && wallets.any(w, w.id == 'b')",
    'true',
  ])('but not %s', (condition) => {
    expect(codes([allow('p', { condition })])).toEqual([]);
  });

  test('in consensus and time', () => {
    const never = [['p', 'NEVER_MATCHES']];
    expect(codes([allow('p', { consensus: 'approvers.count() > 2 && approvers.count() < 2' })])).toEqual(never);
    expect(codes([allow('p', { consensus: 'approvers.count() == 0' })])).toEqual(never);
    expect(codes([allow('p', { consensus: 'approvers.count() == 1' })])).toEqual([]);
    const time = "time.now > Timestamp('2026-01-01T00:00:00Z') && time.now < Timestamp('2025-01-01T00:00:00Z')";
    expect(codes([allow('p', { time })])).toEqual(never);
    const until = "time.now < Timestamp('2025-01-01T00:00:00Z')";
    expect(codes([allow('p', { time: until })])).toEqual([]);
    expect(codes([allow('p', { time: until })], { nowMs: Date.UTC(2025, 0, 1) })).toEqual(never);
    expect(codes([allow('p', { time: until })], { nowMs: Date.UTC(2024, 0, 1) })).toEqual([]);
  });
});

describe('what always fails', () => {
  test.each([
    "wallet.id == 'w1' || private_key.id == 'k1'",
    'eth.tx.value > 1 || solana.tx.transfers.count() > 0',
    "activity.params.user_id == 'u' || wallet.id == 'w'",
    'eth.tx.value > 1 && eth.eip_712.domain.chain_id == 1',
    "'abc'[5] == 'a' || wallet.imported",
    "'xyz'.hex_to_uint() == 1",
  ])('%s', (condition) => {
    expect(codes([allow('p', { condition })])).toEqual([['p', 'ALWAYS_ERRORS']]);
  });

  test.each([
    "activity.kind == 'CREATE_WALLET' && eth.tx.value > 5",
    "activity.action == 'SIGN' && activity.params.target_public_key == 'k'",
    "activity.params.type == 'TRANSACTION_TYPE_SOLANA' && eth.tx.value > 5",
    "activity.resource == 'WALLET' && private_key.id == 'k'",
    "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL' && eth.eip_712.primary_type == 'Permit'",
  ])('what the activity never has: %s', (condition) => {
    const [finding] = lintPolicies([allow('p', { condition })], cache);
    expect(['FIELD_NEVER_PRESENT', 'ALWAYS_ERRORS']).toContain(finding?.code);
  });

  test.each([
    "activity.kind == 'SIGN_TRANSACTION' && eth.tx.value > 5 && wallet.id == 'w'",
    "activity.action == 'SIGN' && eth.tx.value > 5",
    "eth.eip_712.primary_type == 'Permit' && private_key.id == 'k'",
    "activity.params.encoding == 'PAYLOAD_ENCODING_EIP712' && eth.eip_712.primary_type == 'Permit'",
    'wallets.any(w, w.imported)',
    "secret.static_properties['kind'] == 'x'",
  ])('but not %s', (condition) => {
    expect(codes([allow('p', { condition })])).toEqual([]);
  });
});

test('a text that is no expression', () => {
  expect(codes([allow('p', { condition: 'eth.tx.valu > 1' })])).toEqual([['p', 'EXPRESSION_INVALID']]);
});

describe('values that no activity has', () => {
  const unknown = (condition: string) =>
    lintPolicies([allow('p', { condition })], cache)
      .filter(({ code }) => code === 'UNKNOWN_ACTIVITY_VALUE')
      .map(({ message, span }) => `${condition.slice(span?.start, span?.end)}: ${message}`);

  test('are named, with a guess at what was meant', () => {
    expect(unknown("activity.kind == 'ACTIVITY_TYPE_CREATE_WALLET'")).toEqual([
      "'ACTIVITY_TYPE_CREATE_WALLET': no activity has the kind ACTIVITY_TYPE_CREATE_WALLET, did you mean CREATE_WALLET?",
    ]);
    expect(unknown("activity.type == 'CREATE_WALLET' || activity.kind == 'SIGN_TRANSACTION'")).toEqual([
      "'CREATE_WALLET': no activity has the type CREATE_WALLET, did you mean ACTIVITY_TYPE_CREATE_WALLET?",
    ]);
    expect(unknown("activity.action in ['SIGN', 'sign']")).toEqual([
      "['SIGN', 'sign']: no activity has the action sign, did you mean SIGN?",
    ]);
    expect(unknown("activity.resource == 'SIGN'")).toEqual([
      "'SIGN': no activity has the resource SIGN, that is a value of activity.action",
    ]);
    expect(unknown("activity.action != 'READ'")).toEqual([
      "'READ': no activity has the action READ; there are DELETE, CREATE, UPDATE, EXPORT, IMPORT, SIGN, VERIFY, ENCRYPT",
    ]);
  });

  test('are not looked for in what is no fact of the activity', () => {
    expect(unknown("wallet.label == 'x' && [1].any(activity, activity == 1)")).toEqual([]);
  });
});

describe('what a denial shadows', () => {
  const shadowed = [['a', 'SHADOWED_BY_DENY', 'd']];
  test.each([
    [undefined, "wallet.id == 'w'"],
    ['true', undefined],
    ["wallet.id == 'w'", "eth.tx.value < 5 && wallet.id == 'w'"],
    ["activity.action == 'SIGN'", "activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'w'"],
    ["activity.resource == 'WALLET' || activity.resource == 'PRIVATE_KEY'", "activity.kind == 'CREATE_WALLET'"],
    ['eth.tx.value > 5', "activity.kind == 'SIGN_TRANSACTION' && eth.tx.value > 10"],
    ["wallet.id in ['v', 'w']", "wallet.id == 'w' && eth.tx.value < 3"],
    ["wallet.id != 'x'", "wallet.id in ['v', 'w']"],
  ])('%s shadows %s', (denied, allowed) => {
    expect(codes([allow('a', { condition: allowed }), deny('d', { condition: denied })])).toEqual(shadowed);
  });

  test.each([
    ["wallet.id == 'w'", "wallet.id == 'v'"],
    ["wallet.id == 'w'", undefined],
    ["activity.kind == 'CREATE_WALLET'", "activity.action == 'CREATE'"],
    ['eth.tx.value > 10', 'eth.tx.value > 5'],
    // The denial fails where the allowance holds, and a failing denial does not deny.
    ["activity.kind == 'SIGN_TRANSACTION' || solana.tx.transfers.count() > 0", "activity.kind == 'SIGN_TRANSACTION'"],
    ["wallet.id == 'w' || eth.tx.value > 1", "wallet.id == 'w'"],
    ["activity.action == 'SIGN' || activity.kind[0..99] == 'x'", "activity.action == 'SIGN'"],
  ])('%s does not shadow %s', (denied, allowed) => {
    const findings = codes([allow('a', { condition: allowed }), deny('d', { condition: denied })]);
    expect(findings.filter(([, code]) => code === 'SHADOWED_BY_DENY')).toEqual([]);
  });

  test('only while the denial itself holds', () => {
    const hours = "CronSpan('0 9 * * *', '8h', 'UTC')";
    const two = 'approvers.count() >= 2';
    expect(codes([allow('a'), deny('d', { time: hours })])).toEqual([]);
    expect(codes([allow('a', { time: hours }), deny('d', { time: hours })])).toEqual(shadowed);
    expect(codes([allow('a'), deny('d', { consensus: two })])).toEqual([]);
    expect(codes([allow('a', { consensus: two }), deny('d', { consensus: two })])).toEqual(shadowed);
  });
});

describe('raw signing that bypasses rules about transactions', () => {
  const rule = allow('rule', { condition: "wallet.id == 'w' && eth.tx.value < 5" });
  const bypass = [['raw', 'RAW_SIGNING_BYPASS', 'rule']];

  test.each([
    undefined,
    "activity.action == 'SIGN'",
    "activity.action == 'SIGN' && wallet.id == 'w'",
    "activity.kind == 'SIGN_RAW_PAYLOAD'",
    "activity.kind in ['SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION'] && wallet.id in ['v', 'w']",
    "activity.params.encoding in ['PAYLOAD_ENCODING_EIP712', 'PAYLOAD_ENCODING_HEXADECIMAL']",
    "activity.params.hash_function == 'HASH_FUNCTION_NO_OP'",
  ])('%s', (condition) => {
    expect(codes([rule, allow('raw', { condition })])).toEqual(bypass);
  });

  test.each([
    "activity.action == 'SIGN' && wallet.id == 'v'",
    "activity.action == 'SIGN' && private_key.id == 'k'",
    "activity.kind == 'SIGN_TRANSACTION'",
    "activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'",
    "eth.eip_712.primary_type == 'Permit'",
    "eth.tx.value < 3 && wallet.id == 'w'",
    "activity.kind == 'CREATE_WALLET'",
  ])('but not %s', (condition) => {
    expect(codes([rule, allow('raw', { condition })])).toEqual([]);
  });

  test('a denial about transactions is bypassed too', () => {
    const denied = deny('rule', { condition: 'eth.tx.value > 5' });
    expect(codes([denied, allow('raw', { condition: "activity.action == 'SIGN'" })])).toEqual(bypass);
  });
});

describe('denials that a request can switch off', () => {
  test.each([
    ["eth.tx.data[0..10] == '0xa9059cbb' || eth.tx.value > 5", 'eth.tx.data[0..10]'],
    ["eth.tx.value > 5 || eth.tx.contract_call_args['x'] == 1", "eth.tx.contract_call_args['x'] == 1"],
    ["eth.tx.to == '0xab' && eth.tx.contract_call_args['x'] == 1", 'eth.tx.contract_call_args'],
    ["solana.tx.instructions.any(i, i.parsed_instruction_data.instruction_name == 'x')", 'i.parsed_instruction_data'],
    ['tron.tx.contract.any(c, c.amount > 5)', 'c.amount'],
  ])('%s', (condition, part) => {
    const findings = lintPolicies([deny('p', { condition })], cache);
    expect(findings.map(({ code, span }) => [code, condition.slice(span?.start, span?.end)])).toEqual([
      ['DENY_CAN_BE_SWITCHED_OFF', part],
    ]);
    expect(codes([allow('p', { condition })])).toEqual([]);
  });

  test.each([
    "eth.tx.data[0..10] == '0xa9059cbb'",
    "eth.tx.data[0..10] == '0xa9059cbb' || eth.tx.data[0..10] == '0x23b872dd'",
    "eth.tx.value > 5 || eth.tx.to == '0xab'",
    "bitcoin.tx.outputs.any(o, o.address == 'x')",
  ])('but not %s', (condition) => {
    expect(codes([deny('p', { condition })])).toEqual([]);
  });
});

test('a change is checked against the others without checking them all', () => {
  const policies = [
    allow('old', { condition: 'false' }),
    allow('a', { condition: "wallet.id == 'w'" }),
    deny('new', { condition: "wallet.id == 'w'" }),
  ];
  expect(codes(policies, { about: new Set(['new']) })).toEqual([['a', 'SHADOWED_BY_DENY', 'new']]);
  expect(codes(policies, { about: new Set(['old']) })).toEqual([['old', 'NEVER_MATCHES']]);
});

test('policies far beyond what people write are left alone', () => {
  const contradiction = (parts: number) =>
    Array.from({ length: parts }, (_, index) => `wallet.id=='${index}'`).join('&&');
  expect(codes([allow('p', { condition: contradiction(10) })])).toEqual([['p', 'NEVER_MATCHES']]);
  expect(codes([allow('p', { condition: contradiction(800) })])).toEqual([]);
});
