import { type Policy, preparePolicies } from '../decision/policy-set.ts';
import type { ExpressionCache } from '../evaluate/expression-cache.ts';
import { lintExpressions } from './expressions.ts';
import type { LintCode, LintFinding } from './findings.ts';
import { allowsRawSigning, mayShareKey, restrictsTransactions } from './raw-signing.ts';
import { shadows } from './shadow.ts';
import { type Subject, subjectOf } from './subject.ts';

export interface LintOptions {
  /** Also finds policies whose time has passed. */
  readonly nowMs?: number;
  /** Only findings in which one of these policies takes part; with many policies this is what a single change needs. */
  readonly about?: ReadonlySet<string>;
}

/** Policies that another one may have to do with: all of them, or those that the question is about. */
interface Parties {
  readonly all: readonly Subject[];
  readonly changed: readonly Subject[];
}

/** What is probably wrong with these policies, alone and together. A clean answer is no proof that they are right. */
export function lintPolicies(
  policies: readonly Policy[],
  cache: ExpressionCache,
  { nowMs, about }: LintOptions = {},
): readonly LintFinding[] {
  const isAbout = ({ prepared }: Subject): boolean => about === undefined || about.has(prepared.policy.id);
  const partiesOf = (all: readonly Subject[]): Parties => ({ all, changed: all.filter(isAbout) });
  const subjects = preparePolicies(policies, cache).policies.map(subjectOf);
  const alone = subjects.filter(isAbout).flatMap(({ prepared }) => lintExpressions(prepared, nowMs));
  // What can do nothing by itself needs no further comment.
  const disabled = new Set(alone.filter(({ code }) => DISABLING.has(code)).map(({ policyId }) => policyId));
  const able = subjects.filter(({ prepared }) => prepared.invalid === undefined && !disabled.has(prepared.policy.id));
  const denying = partiesOf(able.filter(({ prepared }) => prepared.policy.effect === 'EFFECT_DENY'));
  const restricting = partiesOf(able.filter(restrictsTransactions));

  const together = able.flatMap((allow): LintFinding[] => {
    if (allow.prepared.policy.effect === 'EFFECT_DENY') return [];
    const others = ({ all, changed }: Parties): readonly Subject[] =>
      (isAbout(allow) ? all : changed).filter((other) => other !== allow);
    const shadowing = others(denying).filter((deny) => shadows(deny, allow));
    if (shadowing.length > 0) return [finding('SHADOWED_BY_DENY', allow, shadowing)];
    const rules = others(restricting);
    if (rules.length === 0 || !allowsRawSigning(allow)) return [];
    const bypassed = rules.filter((rule) => mayShareKey(rule, allow));
    return bypassed.length > 0 ? [finding('RAW_SIGNING_BYPASS', allow, bypassed)] : [];
  });
  return [...alone, ...together];
}

const DISABLING: ReadonlySet<LintCode> = new Set<LintCode>([
  'EXPRESSION_INVALID',
  'NEVER_MATCHES',
  'ALWAYS_ERRORS',
  'FIELD_NEVER_PRESENT',
]);

const MESSAGES = {
  SHADOWED_BY_DENY: 'it never allows anything: whenever it would, another policy denies, and a denial wins',
  RAW_SIGNING_BYPASS:
    'it allows to sign raw payloads, and a raw payload can be the hash of any transaction, so rules about the transactions ' +
    'of the same key can be passed by: ask for activity.kind, or for typed data by activity.params.encoding',
} as const;

const finding = (code: keyof typeof MESSAGES, { prepared }: Subject, others: readonly Subject[]): LintFinding => ({
  code,
  policyId: prepared.policy.id,
  message: MESSAGES[code],
  otherPolicyIds: others.map((other) => other.prepared.policy.id),
});
