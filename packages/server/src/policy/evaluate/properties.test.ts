import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GOVERNED_TYPES } from '../catalog/activity-facts.ts';
import { typeSetOf } from '../catalog/type-set.ts';
import { possibleTypes } from '../decision/concern.ts';
import { printTree } from '../language/printer.ts';
import type { ConditionFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { compileExpression, evaluate, explain } from './expression.ts';
import { type DynamicValue, hexText, intValue, tupleOf, uintValue } from './values.ts';

/** Random expressions of each type, most of them well typed. */
const expressions = fc.letrec<Record<'bool' | 'number' | 'text' | 'any' | 'list', string>>((tie) => {
  const number = tie('number');
  const text = tie('text');
  const any = tie('any');
  const bool = tie('bool');
  const list = tie('list');
  const literal = fc.constantFrom("''", "'a'", "'0xAB'", "'0xab'", "'5'", "'05'", "'w'", "'é😀'");
  const integer = fc.constantFrom(
    '0',
    '1',
    '2',
    '5',
    '-1',
    `${2n ** 127n - 1n}`,
    `${2n ** 127n}`,
    `${2n ** 256n - 1n}`,
  );
  const key = fc.constantFrom("'a'", "'b'", "'n'", "'list'", "'tuple'", "'map'", "'none'");
  const equality = fc.constantFrom('==', '!=');
  const order = fc.constantFrom('<', '<=', '>', '>=');
  const join = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((pieces) => pieces.join(' '));
  return {
    number: fc.oneof(
      { maxDepth: 4 },
      integer,
      fc.constantFrom('eth.tx.value', 'eth.tx.gasPrice', 'eth.eip_712.domain.chain_id', 'x'),
      list.map((value) => `${value}.count()`),
      list.map((value) => `${value}.count`),
      text.map((value) => `(${value}).hex_to_uint()`),
    ),
    text: fc.oneof(
      { maxDepth: 4 },
      literal,
      fc.constantFrom('eth.tx.to', 'eth.tx.data', 'wallet.id', 'wallet_account.address', 'activity.kind', 't'),
      fc.tuple(text, number).map(([value, index]) => `(${value})[${index}]`),
      fc.tuple(text, number, number).map(([value, from, to]) => `(${value})[${from}..${to}]`),
    ),
    any: fc.oneof(
      { maxDepth: 3 },
      key.map((name) => `eth.eip_712.message[${name}]`),
      fc.tuple(any, fc.oneof(key, number)).map(([value, index]) => `${value}[${index}]`),
    ),
    list: fc.oneof(
      { maxDepth: 3 },
      fc.array(number, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.array(text, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      any,
      fc.constantFrom('wallet_account.path_indexes', 'private_key.tags'),
      fc.tuple(list, fc.constantFrom('x', 't'), bool).map(([value, name, body]) => `${value}.filter(${name}, ${body})`),
      fc.tuple(list, number, number).map(([value, from, to]) => `${value}[${from}..${to}]`),
    ),
    bool: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('true', 'false', 'wallet.imported'),
      join(number, order, number),
      join(number, equality, number),
      join(text, equality, text),
      join(any, equality, fc.oneof(any, number, text)),
      join(any, order, fc.oneof(any, number)),
      join(fc.oneof(number, text, any), fc.constant('in'), list),
      fc.tuple(list, fc.oneof(number, text, any)).map(([value, item]) => `${value}.contains(${item})`),
      fc
        .tuple(list, fc.constantFrom('any', 'all'), fc.constantFrom('x', 't'), bool)
        .map(([value, kind, name, body]) => `${value}.${kind}(${name}, ${body})`),
      fc
        .tuple(bool, fc.constantFrom('&&', '||'), bool)
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      bool.map((operand) => `!(${operand})`),
      join(bool, equality, bool)
        .map((comparison) => `(${comparison})`)
        .filter((value) => !/(==|!=|<|>| in ).*(==|!=|<|>| in )/.test(value)),
    ),
  };
});

const dynamic: fc.Arbitrary<DynamicValue> = fc.oneof(
  fc.boolean(),
  fc.constantFrom('', 'a', '0xab', '5', '-1'),
  fc.constantFrom('0xAB', '', '10').map(hexText),
  fc.constantFrom(0n, 5n, 2n ** 256n - 1n).map(uintValue),
  fc.constantFrom(-1n, 5n, 2n ** 200n).map(intValue),
  fc.constant([uintValue(1n), uintValue(5n)]),
  fc.constant(tupleOf([hexText('0xab'), uintValue(1n)])),
  fc.constant(new Map<string, DynamicValue>([['a', 'b']])),
);

const facts = fc
  .record({
    value: fc.constantFrom(0n, 5n, -1n, 2n ** 127n),
    message: fc.dictionary(fc.constantFrom('a', 'b', 'n', 'list', 'tuple', 'map'), dynamic),
    has: fc.subarray(['tx', 'eip_712', 'wallet', 'wallet_account', 'private_key', 'activity']),
  })
  .map(({ value, message, has }) => {
    const whole = {
      activity: {
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        kind: 'CREATE_WALLET',
        resource: 'WALLET',
        action: 'CREATE',
        params: {},
      },
      wallet: { id: 'w', imported: true, exported: false, label: 'é😀' },
      wallet_account: { address: '0xAb', path_indexes: [44n, 60n], path_hardened: [true, false] },
      private_key: { id: 'k', tags: ['a', 'b'], imported: false, exported: false, label: '' },
    };
    const eth = {
      tx: { to: '0xAB', data: '0xa9059cbb', value, gas_price: 2n },
      eip_712: { primary_type: 'P', domain: { chain_id: 1n }, message: new Map(Object.entries(message)) },
    };
    const keep = <T extends object>(object: T) =>
      Object.fromEntries(Object.entries(object).filter(([name]) => has.includes(name)));
    return { ...keep(whole), eth: keep(eth) } as unknown as ConditionFacts;
  });

describe('expressions', () => {
  test('any expression has a value or an error of the language, within its steps, watched or not', () => {
    let checked = 0;
    fc.assert(
      fc.property(expressions.bool, facts, (text, context) => {
        const compiled = compileExpression('condition', text);
        if (!compiled.ok) {
          expect(compiled.error.code).toMatch(/^E_/);
          expect(compiled.error.column).toBeGreaterThan(0);
          return;
        }
        checked += 1;
        const evaluation = evaluate(compiled.expression, context);
        if (!evaluation.ok) expect(evaluation.error.code).toMatch(/^R_/);
        expect(evaluation.steps).toBeLessThanOrEqual(POLICY_LIMITS.steps);
        const { evaluation: watched, trace } = explain(compiled.expression, context);
        expect(watched).toEqual(evaluation);
        expect(trace.error?.code ?? trace.value).toBe(evaluation.ok ? String(evaluation.value) : evaluation.error.code);
      }),
      { numRuns: 5_000 },
    );
    // The generator must not spend its time on texts that are refused.
    expect(checked).toBeGreaterThan(1_000);
  });

  test('the canonical text means the same', () => {
    fc.assert(
      fc.property(expressions.bool, facts, (text, context) => {
        const first = compileExpression('condition', text);
        fc.pre(first.ok);
        if (!first.ok) return;
        const second = compileExpression('condition', printTree(first.expression.tree.root));
        if (!second.ok) throw new Error(second.error.message);
        const outcome = (compiled: typeof first) => {
          const evaluation = evaluate(compiled.expression, context);
          return evaluation.ok ? evaluation.value : evaluation.error.code;
        };
        expect(outcome(second)).toBe(outcome(first));
      }),
      { numRuns: 1_000 },
    );
  });

  test('fewer steps give the same answer or none', () => {
    fc.assert(
      fc.property(expressions.bool, facts, fc.nat({ max: 60 }), (text, context, stepsMax) => {
        const compiled = compileExpression('condition', text);
        fc.pre(compiled.ok);
        if (!compiled.ok) return;
        const whole = evaluate(compiled.expression, context);
        const cut = evaluate(compiled.expression, context, stepsMax);
        if (whole.steps <= stepsMax) expect(cut).toEqual(whole);
        else expect(cut).toMatchObject({ ok: false, error: { code: 'R_LIMIT' } });
      }),
      { numRuns: 1_000 },
    );
  });

  test('any text compiles or is refused, in every field', () => {
    const pieces = fc.constantFrom(
      'eth',
      '.tx',
      '.value',
      'approvers',
      '.any(u, ',
      'u',
      '.id',
      ')',
      '(',
      '[',
      ']',
      '0',
      "'a'",
      ' == ',
      ' && ',
      '!',
      'time',
      '.now',
      'CronSpan(',
      'Timestamp(',
      ', ',
      '..',
      '.count()',
      '.count',
      ' in ',
      '-',
      'true',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 25 }),
        fc.constantFrom('condition' as const, 'consensus' as const, 'time' as const),
        (parts, kind) => {
          const compiled = compileExpression(kind, parts.join(''));
          if (!compiled.ok) expect(compiled.error.code).toMatch(/^E_/);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe('what a condition says about types of activities', () => {
  const values = [
    'ACTIVITY_TYPE_CREATE_WALLET',
    'CREATE_WALLET',
    'WALLET',
    'CREATE',
    'SIGN',
    'SIGN_TRANSACTION',
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    'NO_SUCH',
  ];
  const conditions = fc.letrec<{ bool: string }>((tie) => {
    const fact = fc.constantFrom('type', 'kind', 'resource', 'action').map((name) => `activity.${name}`);
    const value = fc.constantFrom(...values).map((name) => `'${name}'`);
    return {
      bool: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(fact, fc.constantFrom('==', '!='), value).map((parts) => parts.join(' ')),
        fc.tuple(value, fact).map(([name, left]) => `${name} == ${left}`),
        fc.tuple(fact, fc.array(value, { maxLength: 3 })).map(([left, names]) => `${left} in [${names.join(', ')}]`),
        fc
          .tuple(fact, fc.array(value, { maxLength: 3 }))
          .map(([left, names]) => `[${names.join(', ')}].contains(${left})`),
        fc.tuple(fact, value).map(([left, name]) => `${left}[0..1] == ${name}[0..1]`),
        fc.constantFrom('true', 'false', "wallet.id == 'w'", "wallet.id == 'v'"),
        fc
          .tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool'))
          .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
        tie('bool').map((operand) => `!(${operand})`),
      ),
    };
  }).bool;

  test('is never less than what happens', () => {
    fc.assert(
      fc.property(conditions, fc.constantFrom(...GOVERNED_TYPES), fc.boolean(), (text, row, isKnown) => {
        const compiled = compileExpression('condition', text);
        if (!compiled.ok) throw new Error(compiled.error.message);
        const activity = { ...row, type: isKnown ? row.type : `${row.type}_V99`, params: {} };
        const evaluation = evaluate(compiled.expression, {
          activity,
          wallet: { id: 'w', imported: false, exported: false, label: '' },
        });
        if (!evaluation.ok) throw new Error(evaluation.error.message);
        const possible = possibleTypes(compiled.expression.tree);
        const set = evaluation.value ? possible.true : possible.false;
        expect(set & typeSetOf(activity)).not.toBe(0n);
      }),
      { numRuns: 3_000 },
    );
  });
});
