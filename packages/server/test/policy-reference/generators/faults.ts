// Expressions with exactly one fault, of which the code is known. Around the fault everything is well typed, so the
// code does not depend on the order of checking.
import fc from 'fast-check';
import type { StaticCode } from '../reference/codes.ts';
import type { ExpressionField } from '../reference/keywords.ts';
import { bools } from './expressions.ts';
import { oneOf } from './pools.ts';
import { scopeOf } from './terms.ts';

/** The fields that have keywords of their own; the others use those of a condition. */
type Vocabulary = 'condition' | 'consensus' | 'time';

export interface FaultyExpression {
  readonly field: ExpressionField;
  readonly expression: string;
  readonly code: StaticCode;
}

const TOO_LARGE = String(2n ** 256n);
const TOO_SMALL = `-${2n ** 127n + 1n}`;

/** Bool expressions that are at fault wherever they stand. */
const FAULTS_ANYWHERE: Readonly<Partial<Record<StaticCode, readonly string[]>>> = {
  E_TYPE: [
    "1 == 'a'",
    "'a' != 1",
    "'a' < 'b'",
    'true < false',
    'true == 1',
    '!1',
    "!'a'",
    '(1 && true)',
    "('a' || false)",
    "1 in ['a']",
    "'a' in [1, 2]",
    '1 in 1',
    "'a' in 'abc'",
    '[1] in [[1]]',
    "[1, 'a'].count() == 2",
    '[true, 1].count() == 2',
    '[[1], [true]].count() == 2',
    '[1, 2] == [1, 2]',
    "'abc'.contains('a')",
    "'abc'.count() == 3",
    "['a'].contains(1)",
    '[1].hex_to_uint() == 1',
    '5.hex_to_uint() == 5',
    '[1, 2].any(x, x)',
    "['a'].filter(x, x).count() == 1",
    '5.any(x, true)',
    "'abc'.all(x, true)",
    '5[0] == 5',
    'true[0] == true',
    '5[0..1] == 5',
    "[1]['a'] == 1",
    "'abc'[true] == 'a'",
    "'abc'['a'..1] == 'a'",
    "'abc'[0..'b'] == 'a'",
    '[1][[0]] == 1',
  ],
  E_UNKNOWN_KEYWORD: ['y == 1', 'nobody.id == 1', 'constructor == 1', '[1].any(x, true) && x == 1', '__proto__ == 1'],
  E_UNKNOWN_FUNCTION: ['[1].first() == 1', "'a'.lower() == 'a'", '[1].toString() == 1'],
  E_ARITY: ['[1].count(1) == 1', '[1].contains()', '[1].contains(1, 1)', "'ff'.hex_to_uint(16) == 255"],
  E_INT_RANGE: [`${TOO_LARGE} > 0`, `1 in [${TOO_LARGE}]`, `${TOO_SMALL} < 0`, `-${TOO_LARGE} < 0`],
  E_SYNTAX: [
    '007 == 7',
    '-01 == 1',
    '1 + 1 == 2',
    '0x10 == 16',
    '1.5 > 1',
    '(1 < 2 < 3)',
    '(true == true == true)',
    '"a" == "a"',
    "'a\\nb' == 'x'",
    "'a\nb' == 'x'",
    "'abc'[1..] == 'bc'",
    "'abc'[..1] == 'a'",
    "'abc'[] == 'a'",
    '[1,].count() == 1',
    '[1, 2].any(x)',
    '[1, 2].any(1, true)',
    '[1, 2].any(in, true)',
    '[1].any(x, true, true)',
    '(true',
    '()',
    'true && && true',
    'true & true',
    'true | true',
    'true and true',
    '1 = 1',
    '1 === 1',
    '--1 == 1',
    '-(1) == 1',
    "-'a' == 1",
    'true ? true : false',
    'true\u00a0&& true',
    'true\u3000',
    'true // comment',
    '[1].in == 1',
    'é == 1',
  ],
  E_LIMIT: [
    `${'('.repeat(80)}true${')'.repeat(80)}`,
    `${'['.repeat(80)}${']'.repeat(80)}.count() == 1`,
    `[${Array.from({ length: 1001 }, (_, index) => index).join(',')}].count() == 1001`,
  ],
};

const FAULTS_BY_FIELD: Readonly<Record<Vocabulary, Partial<Record<StaticCode, readonly string[]>>>> = {
  condition: {
    E_TYPE: [
      "eth.tx.chain_id == '8453'",
      'eth.tx.to == 5',
      'activity == activity',
      'wallet in wallets',
      'wallet == wallet',
      'secret.static_properties[0] == 1',
      "secret.static_properties['kind'] == 1",
      'secret.static_properties == secret.static_properties',
      'wallets == wallets',
      "wallets.contains('w1')",
      'wallets.any(w, w.id)',
      "eth.eip_712.message['list'] == [1]",
      "eth.eip_712.message['text'] < 'a'",
      "eth.eip_7702_authorization.nonce < '7'",
      '[wallet, private_key].count() == 2',
      "wallet_account.path_indexes == 'm/44'",
    ],
    E_UNKNOWN_KEYWORD: ['approvers.count() >= 1', 'time.now == time.now', "credentials.any(c, c.type == 'x')"],
    E_UNKNOWN_FIELD: [
      "eth.tx.recipient == 'x'",
      "wallet_account.path == ''",
      "activity.params.nope == 'x'",
      "activity.params.constructor == 'x'",
      "wallets.any(w, w.address == 'x')",
      "solana.block == 'x'",
      "eth.eip_712.domain.salt == 'x'",
    ],
    E_UNKNOWN_FUNCTION: ["CronSpan('0 9 * * 1-5', '8h', 'America/New_York')", "Timestamp('2026-03-01T00:00:00Z') == 1"],
  },
  consensus: {
    E_TYPE: [
      "approvers == 'alice'",
      "approvers.contains('alice')",
      "approvers.any(u, u.tags == 'ops')",
      'approvers.any(u, u.id)',
    ],
    E_UNKNOWN_KEYWORD: ["activity.type == 'X'", "wallet.id == 'w1'", 'time.now == time.now'],
    E_UNKNOWN_FIELD: ["approvers.any(u, u.nickname == 'x')", "credentials.any(c, c.label == 'x')"],
    E_UNKNOWN_FUNCTION: ["CronSpan('0 9 * * *', '8h', 'UTC')"],
  },
  time: {
    E_TYPE: ['time.now > 5', "time.now == '2026-03-01T00:00:00Z'", 'time.now == true'],
    E_UNKNOWN_KEYWORD: ["activity.type == 'X'", 'approvers.count() >= 1'],
    E_UNKNOWN_FIELD: ['time.later == time.now'],
    E_ARITY: ["CronSpan('0 9 * * *', '1h')", "Timestamp('2026-03-01T00:00:00Z', 'UTC') < time.now"],
    E_TIMESTAMP: [
      '2026-03-01T00:00:00-05:00',
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
      '2026-03-00T00:00:00Z',
      '2026-03-01',
      '2026-03-01 00:00:00Z',
      '2026-03-01T24:00:00Z',
      '2026-03-01T00:60:00Z',
      '2016-12-31T23:59:60Z',
      '2026-03-01T00:00Z',
      '2026-03-01T00:00:00',
      '2026-03-01T00:00:00.Z',
      '2026-03-01T00:00:00.1234567890Z',
      '26-03-01T00:00:00Z',
      '',
    ].map((text) => `Timestamp('${text}') < time.now`),
    E_CRON: [
      '*/5 * * * *',
      '@daily',
      '0 9 * JAN MON',
      '0 0 9 * * 1',
      '0 9 * *',
      '0 9 * * 7',
      '0 9 * * 5-1',
      '60 9 * * *',
      '0 24 * * *',
      '0 9 0 * *',
      '0 9 32 * *',
      '0 9 * 0 *',
      '0 9 * 13 *',
      '0 9 * * *,1',
      '0 9 ? * *',
      '0 9 L * *',
      '0,, 9 * * *',
      '-1 9 * * *',
      '1- 9 * * *',
      '',
    ].map((text) => `CronSpan('${text}', '1h', 'UTC')`),
    E_DURATION: [
      '0m',
      '0d0h0m',
      '',
      '10081m',
      '169h',
      '8d',
      '7d1m',
      '1.5h',
      '30s',
      '1m1h',
      '1h1h',
      '1h 30m',
      '1H',
      'h',
      '-1h',
      '60',
    ].map((text) => `CronSpan('0 9 * * *', '${text}', 'UTC')`),
    E_TIMEZONE: ['Mars/Olympus', '+01:00', '-05:00', '+0100', '+01', 'America/New York', '', 'Z'].map(
      (text) => `CronSpan('0 9 * * *', '1h', '${text}')`,
    ),
  },
};

/** Expressions that are fine but for their type. */
const NOT_BOOL: Readonly<Record<Vocabulary, readonly string[]>> = {
  condition: ['1', "'a'", '[1]', '-5', 'activity', 'wallets', 'wallet.id', 'eth.tx.value', "eth.eip_712.message['ok']"],
  consensus: ['1', 'approvers', 'approvers.count()', 'approvers.filter(u, true)', 'credentials[0].type'],
  time: ['1', 'time.now', "Timestamp('2026-03-01T00:00:00Z')", 'time'],
};

/** One fault somewhere in an otherwise well-typed expression. */
export function faultyExpressions(): fc.Arbitrary<FaultyExpression> {
  return oneOf(['condition', 'consensus', 'time'] as const).chain((vocabulary) =>
    fc.tuple(fieldsWith(vocabulary), faultsOf(vocabulary)).chain(([field, [code, fault]]) => {
      const expressions = code === 'E_NOT_BOOL' ? fc.constant(fault) : embedded(vocabulary, fault);
      return expressions.map((expression) => ({ field, expression, code }));
    }),
  );
}

function fieldsWith(vocabulary: Vocabulary): fc.Arbitrary<ExpressionField> {
  return vocabulary === 'condition' ? oneOf(['condition', 'mfa', 'scope']) : fc.constant(vocabulary);
}

/** A code first, then one of its faults: codes with few faults are as likely as the others. */
function faultsOf(vocabulary: Vocabulary): fc.Arbitrary<[StaticCode, string]> {
  const all = [FAULTS_ANYWHERE, FAULTS_BY_FIELD[vocabulary], { E_NOT_BOOL: NOT_BOOL[vocabulary] }];
  return oneOf(all.flatMap((faults) => Object.entries(faults))).chain(([code, texts]) =>
    oneOf(texts).map((text): [StaticCode, string] => [code as StaticCode, text]),
  );
}

/** The fault alone, beside well-typed operands, under `!`, or in the body of a lambda. */
function embedded(vocabulary: Vocabulary, fault: string): fc.Arbitrary<string> {
  const good = bools(1, scopeOf(vocabulary)).map(({ text }) => `(${text})`);
  return fc.oneof(
    fc.constant(fault),
    good.map((text) => `${text} && (${fault})`),
    good.map((text) => `(${fault}) || ${text}`),
    fc.constant(`!(${fault})`),
    fc.constant(`(${fault}) == true`),
    fc.constant(`[1, 2].any(element, ${fault})`),
    good.map((text) => `['a'].filter(element, ${text} && (${fault})).count() == 0`),
  );
}
