/**
 * Bounds of the policy language (protocol/policies 12). A hostile text or transaction meets one of them; nobody else
 * should.
 */
export const POLICY_LIMITS = {
  expressionCodePoints: 16_384,
  nesting: 64,
  listItems: 1_000,
  /** Windows of one time expression; each may need the history of another time zone. */
  cronSpans: 64,
  /** One step is one evaluated sub-expression, one compared list element, or 64 characters of text looked at. */
  steps: 100_000,
  /** Over all policies of one decision: many policies must not add up to a stalled server. */
  decisionSteps: 1_000_000,
  /** What starting an evaluation costs a decision besides its steps. */
  evaluationSteps: 5,
  /** Over all searches of one decision for approvals that could still come; they must not use up what policies need. */
  searchSteps: 1_000_000,
  /** Sub-expressions that the explanation of one expression shows. */
  traceNodes: 1_000,
  /** Over all expressions of one explained decision. */
  decisionTraceNodes: 50_000,
  /** Up to here every policy is evaluated and listed; beyond, only those that can concern the activity. */
  listedPolicies: 100,
  /** The most approvals that a consensus is assumed to wait for. */
  consensusUsers: 1_000,
  /** Credentials of one user that the search for a possible consensus tries one by one. */
  credentialsTried: 20,
} as const;
