import { describe, expect, test } from 'vitest';
import type { ExpressionKind } from '../language/checker.ts';
import type { ConditionFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { compileExpression, type Expression, evaluate, explain } from './expression.ts';
import { factsFromJson } from './facts-json.ts';
import { renderTrace } from './trace-text.ts';
import { hexText, intValue, tupleOf, uintValue } from './values.ts';

function compile<K extends ExpressionKind>(kind: K, text: string): Expression<K> {
  const compiled = compileExpression(kind, text);
  if (!compiled.ok) throw new Error(`${text}: ${compiled.error.message}`);
  return compiled.expression;
}

function run(text: string, facts: ConditionFacts = {}): boolean | string {
  const evaluation = evaluate(compile('condition', text), facts);
  return evaluation.ok ? evaluation.value : evaluation.error.code;
}

const message = (members: Record<string, unknown>): ConditionFacts =>
  ({
    eth: { eip_712: { primary_type: 'P', domain: {}, message: new Map(Object.entries(members)) } },
  }) as ConditionFacts;

const a = "eth.eip_712.message['a']";
const b = "eth.eip_712.message['b']";

describe('values of types only known at run time', () => {
  test.each<[string, Record<string, unknown>, boolean | string]>([
    // The same kind compares, another kind is an error.
    [`${a} == ${b}`, { a: 'x', b: 'x' }, true],
    [`${a} == ${b}`, { a: true, b: false }, false],
    [`${a} == ${b}`, { a: true, b: 'true' }, 'R_TYPE'],
    [`${a} == ${b}`, { a: uintValue(5n), b: intValue(5n) }, true],
    [`${a} != ${b}`, { a: uintValue(5n), b: intValue(-5n) }, true],
    [`${a} == ${b}`, { a: [], b: [] }, 'R_TYPE'],
    [`${a} == ${b}`, { a: new Map(), b: new Map() }, 'R_TYPE'],
    [`${a} == ${b}`, { a: tupleOf([]), b: tupleOf([]) }, 'R_TYPE'],
    [`${a} < ${b}`, { a: uintValue(1n), b: uintValue(2n) }, true],
    [`${a} < ${b}`, { a: '1', b: '2' }, 'R_TYPE'],
    [`${a} < ${b}`, { a: false, b: true }, 'R_TYPE'],
    // A number equals its canonical decimal text, only under == and !=.
    [`${a} == '5'`, { a: uintValue(5n) }, true],
    [`'-5' == ${a}`, { a: intValue(-5n) }, true],
    [`${a} != '5'`, { a: uintValue(6n) }, true],
    [`${a} == '05'`, { a: uintValue(5n) }, 'R_TYPE'],
    [`${a} == '-0'`, { a: uintValue(0n) }, 'R_TYPE'],
    [`${a} == ' 5'`, { a: uintValue(5n) }, 'R_TYPE'],
    [`${a} == ''`, { a: uintValue(0n) }, 'R_TYPE'],
    [`${a} in ['5']`, { a: uintValue(5n) }, 'R_TYPE'],
    [`[${a}].contains('5')`, { a: uintValue(5n) }, 'R_TYPE'],
    [`${a} == 10`, { a: hexText('10') }, 'R_TYPE'],
    [`${a} == 5`, { a: '5' }, true],
    [`${a} == 5`, { a: '9'.repeat(5_000) }, false],
    // Hex folds its case, and only hex does.
    [`${a} == '0xAB'`, { a: hexText('0xab') }, true],
    [`${a} == '0xAB'`, { a: '0xab' }, false],
    [`${a} == ${b}`, { a: hexText('0xab'), b: '0xAB' }, true],
    [`${a}[2..4] == 'AB'`, { a: hexText('0xab') }, true],
    [`${a}[2] == 'A'`, { a: hexText('0xab') }, true],
    [`${a} in ['0xAB']`, { a: hexText('0xab') }, true],
    // Kelvin sign and dotted I fold in other alphabets; here nothing does.
    [`${a} == '\u212a'`, { a: hexText('k') }, false],
    [`${a} == 'İ'`, { a: hexText('i̇') }, false],
    // Access by the kind of value.
    [`${a}[0] == 1`, { a: [uintValue(1n)] }, true],
    [`${a}[0] == 1`, { a: tupleOf([uintValue(1n)]) }, true],
    [`${a}[1] == 1`, { a: tupleOf([uintValue(1n)]) }, 'R_INDEX'],
    [`'abc'[-1..${a}] == 'a'`, { a: 'x' }, 'R_TYPE'],
    [`'abc'[${a}..-1] == 'a'`, { a: 'x' }, 'R_TYPE'],
    [`'abc'[${a}..-1] == 'a'`, { a: uintValue(1n) }, 'R_INDEX'],
    [`${a}['x'] == 1`, { a: tupleOf([uintValue(1n)]) }, 'R_TYPE'],
    [`${a}['x'] == 1`, { a: [uintValue(1n)] }, 'R_TYPE'],
    [`${a}['x'] == 1`, { a: new Map([['x', uintValue(1n)]]) }, true],
    [`${a}['y'] == 1`, { a: new Map([['x', uintValue(1n)]]) }, 'R_MISSING_KEY'],
    [`${a}['__proto__'] == 1`, { a: new Map([['x', uintValue(1n)]]) }, 'R_MISSING_KEY'],
    [`${a}['constructor'] == 1`, { a: new Map() }, 'R_MISSING_KEY'],
    [`${a}[0] == 1`, { a: new Map([['0', uintValue(1n)]]) }, 'R_TYPE'],
    [`${a}[0] == 'a'`, { a: 'abc' }, true],
    [`${a}[0] == 'a'`, { a: uintValue(1n) }, 'R_TYPE'],
    [`${a}[${b}] == 'b'`, { a: 'abc', b: uintValue(1n) }, true],
    [`${a}[${b}] == 'b'`, { a: 'abc', b: 'x' }, 'R_TYPE'],
    [`${a}[0..2].count() == 2`, { a: [uintValue(1n), uintValue(2n)] }, true],
    [`${a}[0..2].count() == 2`, { a: tupleOf([uintValue(1n), uintValue(2n)]) }, 'R_TYPE'],
    [`${a}[0..2] == 'ab'`, { a: 'abc' }, true],
    [`${a}[0..2] == 'ab'`, { a: true }, 'R_TYPE'],
    [`${a}.count() == 0`, { a: [] }, true],
    [`${a}.count == 0`, { a: 'abc' }, 'R_TYPE'],
    [`${a}.count() == 0`, { a: new Map() }, 'R_TYPE'],
    [`${a}.any(x, x == 1)`, { a: [uintValue(1n)] }, true],
    [`${a}.any(x, x == 1)`, { a: tupleOf([]) }, 'R_TYPE'],
    [`${a}.contains(1)`, { a: [uintValue(1n)] }, true],
    [`1 in ${a}`, { a: 'abc' }, 'R_TYPE'],
    [`${a}.hex_to_uint() == 255`, { a: 'ff' }, true],
    [`${a}.hex_to_uint() == 255`, { a: hexText('0XFF') }, true],
    [`${a}.hex_to_uint() == 255`, { a: uintValue(1n) }, 'R_TYPE'],
    // Reading, not carrying, a number out of range is the error.
    [`${a} == 1`, { a: intValue(2n ** 127n) }, 'R_INT_RANGE'],
    [`${a} == 1`, { a: intValue(-(2n ** 127n)) }, false],
    [`${a} == 1`, { a: uintValue(2n ** 256n) }, 'R_INT_RANGE'],
    [`${a} == 1`, { a: uintValue(-1n) }, 'R_INT_RANGE'],
    [`${a}.count() == 1`, { a: [intValue(2n ** 200n)] }, true],
    [`${a}.all(x, true)`, { a: [intValue(2n ** 200n)] }, true],
    [`${a}.all(x, x == 1)`, { a: [intValue(2n ** 200n)] }, 'R_INT_RANGE'],
    [`${a}.contains(1)`, { a: [uintValue(1n), intValue(2n ** 200n)] }, 'R_INT_RANGE'],
  ])('%s on %o', (text, members, expected) => {
    expect(run(text, message(members))).toBe(expected);
  });
});

describe('errors', () => {
  test('the first one from the left is the one reported', () => {
    expect(run("'a'[1] == '' && eth.tx.value > 1")).toBe('R_INDEX');
    expect(run("eth.tx.value > 1 && 'a'[1] == ''")).toBe('R_MISSING_FIELD');
    expect(run("['x'][1] in [wallet.id]")).toBe('R_INDEX');
  });

  test('what is missing is told apart', () => {
    const missing = (text: string, facts: ConditionFacts) => {
      const evaluation = evaluate(compile('condition', text), facts);
      return evaluation.ok ? undefined : evaluation.error.missing;
    };
    const activity = { type: 'T', kind: 'K', resource: 'R', action: 'A', params: {} };
    expect(missing("wallet.id == 'w'", {})).toBe('keyword');
    expect(missing('eth.tx.value > 1', { eth: {} })).toBe('keyword');
    expect(missing("activity.params.user_id == 'u'", { activity })).toBe('parameter');
    expect(
      missing(
        "tron.tx.contract[0].to_address == 'T'",
        factsFromJson('condition', { tron: { tx: { contract: [{}] } } }),
      ),
    ).toBe('field');
  });

  test('they carry the place where they happened', () => {
    const text = "wallet.id == 'w' && 'abc'[7] == 'a'";
    const evaluation = evaluate(compile('condition', text), factsFromJson('condition', { wallet: { id: 'w' } }));
    if (evaluation.ok) throw new Error('expected an error');
    expect(text.slice(evaluation.error.start, evaluation.error.end)).toBe("'abc'[7]");
    expect(evaluation.error.message).toBe('the text has no character 7');
  });

  test('a fact of the wrong kind is our mistake, not an error of the policy', () => {
    const facts = { eth: { tx: { value: 5 } } } as unknown as ConditionFacts;
    expect(() => run('eth.tx.value > 1', facts)).toThrow(/assertion failed/);
  });
});

describe('texts', () => {
  test.each([
    ["'😀'[0] == '😀'", true],
    ["'a😀'[1..2] == '😀'", true],
    ["'a😀'[2..2] == ''", true],
    ["'a😀'[2] == ''", 'R_INDEX'],
    ["'a😀'[0..3] == ''", 'R_INDEX'],
    ["'abc'[9007199254740993] == ''", 'R_INDEX'],
    [`'abc'[0..${2n ** 256n - 1n}] == ''`, 'R_INDEX'],
    ["'abc'[-1..2] == ''", 'R_INDEX'],
    ["''.hex_to_uint() == 0", 'R_HEX'],
    ["'0x'.hex_to_uint() == 0", 'R_HEX'],
    ["'0X1'.hex_to_uint() == 1", 'R_HEX'],
    [`'${'f'.repeat(64)}'.hex_to_uint() == ${2n ** 256n - 1n}`, true],
    [`'0x${'0'.repeat(65)}'.hex_to_uint() == 0`, 'R_HEX'],
    ["' 1'.hex_to_uint() == 1", 'R_HEX'],
  ])('%s', (text, expected) => {
    expect(run(text)).toBe(expected);
  });

  test('an address is hex when it starts with 0x', () => {
    const at = (address: string) => factsFromJson('condition', { wallet_account: { address } });
    expect(run("wallet_account.address == '0xAB'", at('0xab'))).toBe(true);
    expect(run("wallet_account.address[2..4] == 'AB'", at('0xab'))).toBe(true);
    expect(run("wallet_account.address == 'tb1QA'", at('tb1qa'))).toBe(false);
    expect(run("[wallet_account.address, 'x'].contains('0xAB')", at('0xab'))).toBe(true);
  });

  describe('a public key equals its other spellings and nothing else', () => {
    const x = 'ab'.repeat(32);
    const [even, odd] = [`${'0'.repeat(63)}e`, `${'0'.repeat(63)}F`];
    const facts = (target_public_key: string) =>
      factsFromJson('condition', { activity: { params: { target_public_key } } });
    const key = 'activity.params.target_public_key';

    test.each([
      [`02${x}`, `02${x.toUpperCase()}`, true],
      [`02${x}`, `04${x}${even}`, true],
      [`04${x}${even}`, `02${x}`, true],
      [`04${x}${odd}`, `03${x}`, true],
      [`04${x}${odd}`, `02${x}`, false],
      [`03${x}`, `04${x}${even}`, false],
      [`04${x}`, `02${x}`, false],
      [`04${x}${even}00`, `02${x}`, false],
      [`0x02${x}`, `02${x}`, false],
    ])('%s and %s', (sent, written, expected) => {
      expect(run(`${key} == '${written}'`, facts(sent))).toBe(expected);
      expect(run(`${key} != '${written}'`, facts(sent))).toBe(!expected);
      expect(run(`${key} in ['x', '${written}']`, facts(sent))).toBe(expected);
      expect(run(`['x', '${written}'].contains(${key})`, facts(sent))).toBe(expected);
      expect(run(`[${key}, 'x'].contains('${written}')`, facts(sent))).toBe(expected);
    });

    test('its parts are plain hex', () => {
      expect(run(`${key}[0..2] == '04'`, facts(`04${x}${even}`))).toBe(true);
      expect(run(`${key}[0..4] == '04AB'`, facts(`04${x}${even}`))).toBe(true);
    });
  });
});

test('an alias reads the field that it means', () => {
  const facts = factsFromJson('condition', { eth: { tx: { gas_price: 7 } } });
  expect(run('eth.tx.gasPrice == 7 && eth.tx.gas_price == 7', facts)).toBe(true);
});

test('unset parts of Spark requests read as empty', () => {
  const facts = factsFromJson('condition', { activity: { params: { signatures: [{}] } } });
  const text =
    "activity.params.signatures.all(s, s.message == '' && s.derivation.type == '' && s.derivation.static_deposit.index == 0 && s.derivation.signing_leaf.leaf_id == '')";
  expect(run(text, facts)).toBe(true);
});

test('variables shadow keywords and each other, and come back', () => {
  expect(run('[1].any(eth, eth == 1) && [2].all(x, [3].any(x, x == 3) && x == 2)')).toBe(true);
  expect(run('[[1], [2]].all(x, x.all(y, [y].any(z, z == y)))')).toBe(true);
  expect(run('[1, 2].filter(x, x == 2).any(x, x == 2)')).toBe(true);
});

describe('steps', () => {
  const numbers = (count: number) => `[${Array.from({ length: count }, (_, index) => index).join(',')}]`;

  test('a loop over loops ends at the limit', () => {
    expect(run(`${numbers(1_000)}.all(x, ${numbers(1_000)}.all(y, true))`)).toBe('R_LIMIT');
  });

  test('the limit is exact and can be lowered', () => {
    const text = 'true && true';
    expect(evaluate(compile('condition', text), {}, 3)).toEqual({ ok: true, value: true, steps: 3 });
    expect(evaluate(compile('condition', text), {}, 2)).toMatchObject({
      ok: false,
      error: { code: 'R_LIMIT' },
      steps: 2,
    });
    expect(evaluate(compile('condition', text), {}, 10 ** 9).ok).toBe(true);
  });

  test('comparing and cutting long texts is paid for', () => {
    const long = 'a'.repeat(1_000_000);
    const facts = message({ a: long, b: `${long.slice(1)}b`, list: Array.from({ length: 20 }, () => long) });
    const steps = (text: string) => evaluate(compile('condition', text), facts).steps;
    expect(steps(`${a} == ${b}`)).toBeGreaterThan(15_000);
    expect(steps(`${a}[0..999999] == 'x'`)).toBeGreaterThan(15_000);
    expect(steps(`${a} == 'x'`)).toBeLessThan(20);
    expect(steps(`${a}[0..10] == 'x'`)).toBeLessThan(20);
    expect(run(`eth.eip_712.message['list'].all(x, x == ${a})`, facts)).toBe('R_LIMIT');
  });

  test('comparing with the elements of a list is paid for, unless they are literals', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => uintValue(BigInt(index)));
    const steps = (text: string) => evaluate(compile('condition', text), message({ a: many })).steps;
    expect(steps(`5 in ${a}`)).toBeGreaterThan(2_000);
    expect(steps(`${a}[0..2000].count() == 2000`)).toBeGreaterThan(2_000);
    expect(steps(`5 in ${numbers(1_000)}`)).toBeLessThan(10);
    expect(steps(`${numbers(1_000)}.contains(5)`)).toBeLessThan(10);
  });

  test('never more than the limit', () => {
    const evaluation = evaluate(compile('condition', `${numbers(1_000)}.all(x, ${numbers(1_000)}.all(y, true))`), {});
    expect(evaluation.steps).toBe(POLICY_LIMITS.steps);
  });
});

describe('explanations', () => {
  const explainCondition = (text: string, json: unknown) =>
    explain(compile('condition', text), factsFromJson('condition', json)).trace;

  test('the tree shows values and what decided', () => {
    const text = "wallet.id == 'w' && (eth.tx.value > 5 || eth.tx.chain_id == 1)";
    const trace = explainCondition(text, { wallet: { id: 'w' }, eth: { tx: { value: 3, chain_id: 2 } } });
    expect(trace).toMatchObject({ text, value: 'false', decisive: true, evaluations: 1, trueCount: 0, falseCount: 1 });
    const [first, second] = trace.children;
    expect(first).toMatchObject({ text: "wallet.id == 'w'", value: 'true', decisive: false });
    expect(second).toMatchObject({ text: 'eth.tx.value > 5 || eth.tx.chain_id == 1', value: 'false', decisive: true });
    expect(second?.children.map(({ decisive }) => decisive)).toEqual([true, true]);
    expect(first?.children.map(({ value }) => value)).toEqual(["'w'", "'w'"]);
  });

  test('the operand that settles a chain is the reason', () => {
    const trace = explainCondition('true || false || true', {});
    expect(trace.children.map(({ decisive }) => decisive)).toEqual([true, false, false]);
    const negated = explainCondition('!(true && false)', {});
    expect(negated.children[0]).toMatchObject({ decisive: true, value: 'false' });
    expect(negated.children[0]?.children.map(({ decisive }) => decisive)).toEqual([false, true]);
  });

  test('an error is traced to its place, and what it kept from being evaluated shows', () => {
    const trace = explainCondition("eth.tx.value > 1 && wallet.id == 'w'", { wallet: { id: 'w' } });
    const [left, right] = trace.children;
    expect(trace).toMatchObject({ decisive: true, error: { code: 'R_MISSING_FIELD' } });
    expect(left).toMatchObject({ decisive: true, error: { code: 'R_MISSING_FIELD', missing: 'keyword' } });
    expect(left?.children[0]?.children[0]?.children[0]).toMatchObject({ text: 'eth', decisive: true });
    expect(right).toMatchObject({ evaluations: 0, decisive: false, trueCount: 0, falseCount: 0 });
    expect(right).not.toHaveProperty('value');
  });

  test('bodies of lambdas are counted', () => {
    const trace = explainCondition('[1, 2, 3].any(x, x > 1)', {});
    expect(trace.children[0]).toMatchObject({ text: '[1, 2, 3]', value: 'a list of 3 elements', children: [] });
    expect(trace.children[1]).toMatchObject({ text: 'x > 1', evaluations: 3, trueCount: 2, falseCount: 1 });
    expect(trace.children[1]).not.toHaveProperty('value');
  });

  test('a tree that is too large keeps its reasons', () => {
    const text = `${Array.from({ length: 50 }, (_, index) => `${index} == ${index}`).join(' && ')} && 1 == 2`;
    const { trace } = explain(compile('condition', text), {}, undefined, 10);
    const count = (node: typeof trace): number => node.children.reduce((sum, child) => sum + count(child), 1);
    expect(count(trace)).toBe(10);
    expect(trace.isCut).toBe(true);
    expect(trace.children.find(({ decisive }) => decisive)).toMatchObject({ text: '1 == 2', value: 'false' });
    expect(explain(compile('condition', 'true && true'), {}).trace).not.toHaveProperty('isCut');
  });

  test('it can be read as text', () => {
    const text = "wallet.id == 'w' &&\n  [1, 2].any(x, x > 1) && eth.tx.value > 5";
    const lines = (json: unknown) => renderTrace(explainCondition(text, json)).split('\n');
    expect(lines({ wallet: { id: 'v' }, eth: { tx: { value: 7 } } })).toEqual([
      "* false  wallet.id == 'w' && [1, 2].any(x, x > 1) && eth.tx.value > 5",
      "  * false  wallet.id == 'w'",
      "      'v'  wallet.id",
      '    true  [1, 2].any(x, x > 1)',
      '      true 1 times, false 1 times  x > 1',
      '    true  eth.tx.value > 5',
      '      7  eth.tx.value',
    ]);
    expect(lines({ wallet: { id: 'w' } }).slice(-4)).toEqual([
      '  * R_MISSING_FIELD (this request has no eth)  eth.tx.value > 5',
      '    * R_MISSING_FIELD (this request has no eth)  eth.tx.value',
      '      * R_MISSING_FIELD (this request has no eth)  eth.tx',
      '        * R_MISSING_FIELD (this request has no eth)  eth',
    ]);
  });

  test('it is plain data, and long texts are cut', () => {
    const long = 'x'.repeat(1_000);
    const trace = explainCondition(`wallet.label == '${long}' && [1].count() == 1`, { wallet: { label: long } });
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
    expect(trace.text).toHaveLength(201);
    expect(trace.children[0]?.children[0]?.value).toHaveLength(131);
  });
});
