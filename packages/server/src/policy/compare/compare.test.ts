import { describe, expect, it } from 'vitest';
import { textOf } from '../../lib/text-part.ts';
import { type Names, NO_NAMES } from '../words/names.ts';
import { comparePolicies, type PolicyText } from './compare.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const names: Names = {
  ...NO_NAMES,
  chain: () => 'Ethereum',
  coin: () => ({ symbol: 'ETH', decimals: 18 }),
  token: () => ({ symbol: 'USDC', decimals: 6 }),
};

const allow = (condition: string, extra: Partial<PolicyText> = {}): PolicyText => ({
  effect: 'EFFECT_ALLOW',
  condition,
  ...extra,
});
const deny = (condition: string): PolicyText => ({ effect: 'EFFECT_DENY', condition });

const compared = (before: PolicyText, after: PolicyText) => {
  const { direction, changes } = comparePolicies(before, after, { names });
  return [direction, changes.map(textOf)];
};

const TRANSFER = `eth.tx.chain_id == 1 && eth.tx.to == '${USDC}' && eth.tx.function_name == 'transfer'`;
const [A, B, C] = [1, 2, 3].map((digit) => `'0x${String(digit).repeat(40)}'`);

describe('comparePolicies', () => {
  it('says that a limit rises and that recipients are no longer limited', () => {
    expect(
      compared(
        allow(
          `${TRANSFER} && eth.tx.contract_call_args['amount'] <= 1000000000 && eth.tx.contract_call_args['to'] in [${A}, ${B}, ${C}]`,
        ),
        allow(`${TRANSFER} && eth.tx.contract_call_args['amount'] <= 5000000000`),
      ),
    ).toEqual([
      'WIDEN',
      ['the limit rises from 1,000 to 5,000\u00a0USDC', 'recipients are no longer limited to 3 addresses'],
    ]);
  });

  it.each<[string, PolicyText, PolicyText, string]>([
    ['a lower limit', allow('eth.tx.value < 10'), allow('eth.tx.value <= 5'), 'NARROW'],
    ['the same limit written otherwise', allow('eth.tx.value < 10'), allow('9 >= eth.tx.value'), 'CHANGE'],
    ['a longer list', allow(`eth.tx.to == ${A}`), allow(`eth.tx.to in [${A}, ${B}]`), 'WIDEN'],
    ['another list', allow(`eth.tx.to == ${A}`), allow(`eth.tx.to in [${C}, ${B}]`), 'CHANGE'],
    ['a longer list of a denial', deny(`eth.tx.to == ${A}`), deny(`eth.tx.to in [${A}, ${B}]`), 'NARROW'],
    ['a part less of a denial', deny(`eth.tx.to == ${A} && eth.tx.type == '2'`), deny(`eth.tx.to == ${A}`), 'NARROW'],
    // A value too large to read makes the first deny, whoever is paid; the second does not read it.
    [
      'a denial that no longer fails',
      deny(`activity.kind == 'X' && eth.tx.value > 1`),
      deny(`activity.kind == 'X'`),
      'CHANGE',
    ],
    [
      'a limit up, a list shorter',
      allow(`eth.tx.value <= 5 && eth.tx.to in [${A}, ${B}]`),
      allow(`eth.tx.value <= 9 && eth.tx.to == ${A}`),
      'CHANGE',
    ],
    ['an alternative more', allow('eth.tx.value <= 5'), allow("eth.tx.value <= 5 || eth.tx.type == '2'"), 'CHANGE'],
    ['no condition', allow('eth.tx.value <= 5'), allow(''), 'WIDEN'],
    [
      'an approver more in a list',
      allow('', { consensus: "approvers.any(u, u.id == 'a')" }),
      allow('', { consensus: "approvers.any(user, user.id in ['a', 'b'])" }),
      'WIDEN',
    ],
    [
      'one approval more',
      allow('', { consensus: 'approvers.count() >= 1' }),
      allow('', { consensus: 'approvers.count() >= 2' }),
      'NARROW',
    ],
    ['no consensus', allow('', { consensus: 'approvers.count() >= 2' }), allow(''), 'WIDEN'],
    [
      'a variable renamed',
      allow('', { consensus: "approvers.any(u, u.id == 'a')" }),
      allow('', { consensus: "approvers.any(v, v.id == 'a')" }),
      'CHANGE',
    ],
    ['a time', allow(''), allow('', { time: "CronSpan('0 9 * * 1-5', '8h', 'UTC')" }), 'NARROW'],
    ['a text that cannot be read', allow('eth.tx.value <='), allow('eth.tx.value <= 5'), 'CHANGE'],
    ['an allow that denies', allow('eth.tx.value <= 5'), deny(''), 'NARROW'],
    ['a denial that allows', deny('eth.tx.value <= 5'), allow('eth.tx.value <= 5'), 'WIDEN'],
  ])('%s', (_what, before, after, direction) => {
    expect(comparePolicies(before, after).direction).toBe(direction);
  });

  it('tells what a created or deleted policy does', () => {
    expect(comparePolicies(undefined, allow('')).direction).toBe('WIDEN');
    expect(comparePolicies(undefined, deny('')).direction).toBe('NARROW');
    expect(comparePolicies(deny(''), undefined).direction).toBe('WIDEN');
    expect(comparePolicies(allow(''), undefined).direction).toBe('NARROW');
  });

  it('lists changes of approvals and times', () => {
    const [, changes] = compared(
      allow('', { consensus: 'approvers.count() >= 2' }),
      allow('', { time: "CronSpan('0 9 * * 1-5', '8h', 'UTC')" }),
    );
    expect(changes).toEqual([
      'approvals are no longer asked for: at least two approvers',
      'it now applies only while time is within Monday to Friday, 09:00 to 17:00, UTC',
    ]);
  });
});
