// The production engine against the reference, on random texts, contexts and decisions. Both must give the same value,
// the same error and the same decision; where the protocol leaves room, README.md says which way both go.
import fc from 'fast-check';
import { expect, onTestFailed, test } from 'vitest';
import { times } from '../harness/effort.ts';
import {
  isProductionDecided,
  productionDecision,
  productionMayVote,
  productionMfaApplies,
  productionScopeCovers,
  productionVerdict,
} from './differential/production.ts';
import { faultyExpressions } from './generators/faults.ts';
import {
  conditionCases,
  consensusCases,
  damagedCases,
  type GuardCase,
  guardCases,
  type LanguageCase,
  mutatedCases,
  overBudgetCases,
  timeCases,
} from './generators/language-cases.ts';
import { PAIR_CONTEXT, pairTexts } from './generators/pairs.ts';
import { decisionScenarios } from './generators/scenarios.ts';
import { type DecisionInput, decide, mayVote } from './reference/decision.ts';
import { check, evaluate } from './reference/language.ts';
import { applicableMfaPolicy, scopeAllows } from './reference/sessions.ts';

const seed = process.env.TEST_SEED ? Number(process.env.TEST_SEED) | 0 : Math.floor(Math.random() * 2 ** 31);

/** Only against a hang: how long it takes depends on the machine. */
const TIMEOUT_MS = times(600_000);

function differential<Case>(
  name: string,
  numRuns: number,
  cases: fc.Arbitrary<Case>,
  agree: (one: Case) => void,
): void {
  test(`${name} (${numRuns} cases)`, { timeout: TIMEOUT_MS }, () => {
    onTestFailed(() => console.error(`${name}: TEST_SEED=${seed} repeats this run`));
    fc.assert(fc.property(cases, agree), { seed, numRuns: times(numRuns), maxSkipsPerRun: 1 });
  });
}

/** Every verdict that the protocol allows: one, unless a text is refused for several faults. */
function allowedVerdicts({ expression, field, context }: LanguageCase): readonly string[] {
  const checked = check(expression, field);
  if (!checked.ok) return checked.codes;
  const result = evaluate(checked.expression, context);
  return [result.ok ? String(result.value) : result.code];
}

function agreeOnVerdict(one: LanguageCase): void {
  expect(allowedVerdicts(one)).toContain(productionVerdict(one.expression, one.field, one.context));
}

function agreeOnGuard({ expression, contexts }: GuardCase): void {
  const mfa = [{ id: 'm', order: 1, condition: expression }];
  const applies = contexts.some((context) => applicableMfaPolicy(mfa, context) !== undefined);
  const covers = contexts.every((context) => scopeAllows(expression, context));
  expect(productionMfaApplies(expression, contexts)).toBe(applies);
  expect(productionScopeCovers(expression, contexts)).toBe(covers);
}

function agreeOnDecision(input: DecisionInput): void {
  const decision = decide(input);
  expect(productionDecision(input, false)).toEqual(decision);
  // The same when only policies that can concern the request are looked at.
  const concerned = productionDecision(input, true);
  expect(concerned.final).toBe(decision.final);
  expect(decision.perPolicy).toMatchObject(concerned.perPolicy);
}

/** The last vote is decided, and before that, whether it counts at all. */
function agreeOnVotes(input: DecisionInput): void {
  agreeOnDecision(input);
  const before = beforeTheVote(input);
  const vote = input.votes.at(-1)!;
  if (before !== undefined) expect(productionMayVote(before, vote)).toBe(mayVote(before, vote));
}

function beforeTheVote(input: DecisionInput): DecisionInput | undefined {
  return input.votes.length === 1 ? undefined : { ...input, votes: input.votes.slice(0, -1) };
}

differential('conditions, well typed', 2000, conditionCases(), agreeOnVerdict);
differential('consensus expressions, well typed', 750, consensusCases(), agreeOnVerdict);
differential('time expressions, well typed', 375, timeCases(), agreeOnVerdict);
differential('texts with one fault', 625, faultyExpressions(), ({ expression, field, code }) => {
  expect(productionVerdict(expression, field, {})).toBe(code);
});
differential('damaged texts', 750, damagedCases(), agreeOnVerdict);
differential('texts with exchanged tokens', 1000, mutatedCases(), agreeOnVerdict);
differential('expressions over budget', 20, overBudgetCases(), agreeOnVerdict);
differential('MFA conditions and scopes', 500, guardCases(), agreeOnGuard);
differential('decisions, where more approvals never hurt', 625, decisionScenarios({ monotone: true }), agreeOnVotes);
differential('decisions with any consensus', 625, decisionScenarios({ monotone: false }), (input) => {
  const before = beforeTheVote(input);
  fc.pre(isProductionDecided(input) && (before === undefined || isProductionDecided(before)));
  agreeOnVotes(input);
});

test('every operator on every pair of values', () => {
  for (const expression of pairTexts()) {
    const one: LanguageCase = { field: 'condition', expression, context: PAIR_CONTEXT };
    const verdict = productionVerdict(expression, 'condition', PAIR_CONTEXT);
    expect(allowedVerdicts(one), `${expression} is ${verdict} in production`).toContain(verdict);
  }
});
