import type { ExpressionKind } from '../language/checker.ts';
import type { Span } from '../language/errors.ts';

export type LintCode =
  /** It is not an expression of the language. */
  | 'EXPRESSION_INVALID'
  /** It is false whatever is requested, so the policy never applies. */
  | 'NEVER_MATCHES'
  /** It fails whatever is requested, so the policy never applies. */
  | 'ALWAYS_ERRORS'
  /** It reads what the activities that it names never have. */
  | 'FIELD_NEVER_PRESENT'
  /** It compares with a type, kind, resource or action that no activity has. */
  | 'UNKNOWN_ACTIVITY_VALUE'
  /** Whenever it would allow, another policy denies. */
  | 'SHADOWED_BY_DENY'
  /** It allows raw signing for keys whose transactions other policies restrict. */
  | 'RAW_SIGNING_BYPASS'
  /** A request can be made to fail a part of this denial, and then the rest of it does not deny. */
  | 'DENY_CAN_BE_SWITCHED_OFF';

/** A policy that probably does not do what its author means. */
export interface LintFinding {
  readonly code: LintCode;
  readonly policyId: string;
  readonly message: string;
  /** The expression it is about, and where in it. */
  readonly expression?: ExpressionKind;
  readonly span?: Span;
  /** Other policies that take part in it. */
  readonly otherPolicyIds?: readonly string[];
}
