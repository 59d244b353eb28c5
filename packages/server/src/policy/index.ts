/**
 * The policy language and its decision procedure: pure, bounded, the same answer for the same input. The server decides with
 * it, and the command line tests and checks policies with it offline.
 */
export { ACTIVITY_TYPES, type ActivityTypeFacts, activityType } from './catalog/activity-types.ts';
export type { KindFacts, OwnAccount, PolicyAction, PolicyResource } from './catalog/kind-facts.ts';
export { both, INNER_CALLS, PAYLOADS, SIGNERS, TRANSACTIONS } from './catalog/namespaces.ts';
export {
  type CompareOptions,
  comparePolicies,
  type Direction,
  type PolicyComparison,
  type PolicyText,
} from './compare/compare.ts';
export { type Awaited, type AwaitedPolicy, awaited } from './decision/awaited.ts';
export { type CoverageRecorder, createCoverage, type PolicyCoverage, type UncoveredPart } from './decision/coverage.ts';
export { decide, explainDenial } from './decision/decide.ts';
export type {
  ActivityFacts,
  Approval,
  Decision,
  DecisionInput,
  DecisionOptions,
  DecisionOutcome,
  DecisionReason,
  OrganizationFacts,
  PendingPolicy,
} from './decision/decision.ts';
export { type DirectoryNeeds, directoryNeeds } from './decision/directory.ts';
export { type GuardResult, mfaApplies, newGuardBudget, scopeCovers } from './decision/guards.ts';
export type {
  EvaluationError,
  PolicyEvaluation,
  PolicyOutcome,
  PolicyReason,
  PolicyTrace,
  VoteEvaluation,
} from './decision/outcome.ts';
export {
  checkPolicy,
  type Policy,
  type PolicyEffect,
  type PolicyProblem,
  type PolicySet,
  preparePolicies,
  somePolicies,
} from './decision/policy-set.ts';
export type { Member } from './decision/reachability.ts';
export { canBeReached, consensusNeeds } from './decision/reachable.ts';
export { type VoteStanding, voteStanding } from './decision/votes.ts';
export { describePolicy } from './describe/describe.ts';
export type { DescribedWarning, Draft, PolicyDescription } from './describe/description.ts';
export {
  type Compilation,
  compileExpression,
  describeStaticError,
  type Evaluation,
  type Expression,
  type ExpressionField,
  evaluate,
  explain,
  kindOfField,
} from './evaluate/expression.ts';
export { createExpressionCache, type ExpressionCache } from './evaluate/expression-cache.ts';
export { FactsError, factsFromJson } from './evaluate/facts-json.ts';
export type { TraceNode } from './evaluate/trace.ts';
export { renderTrace } from './evaluate/trace-text.ts';
export { type DynamicValue, hexText, intValue, tupleOf, uintValue } from './evaluate/values.ts';
export { type DecisionExplanation, type Explained, explainDecision, explainVote } from './explain/decision.ts';
export { type Explanation, explainEvaluation } from './explain/explain.ts';
export type { Approver } from './explain/reading.ts';
export { newSearchBudget } from './explain/windows.ts';
export type { ExpressionKind } from './language/checker.ts';
export type { RuntimeError, RuntimeErrorCode, Span, StaticError, StaticErrorCode } from './language/errors.ts';
export type {
  ActivityParams,
  BitcoinTransactionFacts,
  ConditionFacts,
  Eip712Facts,
  Eip7702AuthorizationFacts,
  EthereumTransactionFacts,
  Namespaces,
  PolicyCredential,
  PolicyUser,
  PrivateKeyFacts,
  SecretFacts,
  SolanaTransactionFacts,
  TempoTransactionFacts,
  TronTransactionFacts,
  WalletAccountFacts,
  WalletFacts,
} from './language/structs.ts';
export { POLICY_LIMITS } from './limits.ts';
export type { LintCode, LintFinding } from './lint/findings.ts';
export { type LintOptions, lintPolicies } from './lint/lint.ts';
export { instantFromMs } from './time/timestamp.ts';
export { groupDigits } from './words/amounts.ts';
export { type Mentions, mentionsIn, type Named, type NamedKind, type Names } from './words/names.ts';
