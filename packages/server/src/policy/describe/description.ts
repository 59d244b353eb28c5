import type { TextPart } from '../../lib/text-part.ts';
import type { ExpressionKind } from '../language/checker.ts';
import type { Span } from '../language/errors.ts';

/** A policy that need not be stored. */
export interface Draft {
  readonly effect: string;
  readonly condition?: string | undefined;
  readonly consensus?: string | undefined;
  readonly time?: string | undefined;
}

export type Risk = 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';

/** Why an expression is refused, and where. */
export interface DescribedError {
  readonly expression: ExpressionKind;
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** What probably stands in place of the span. */
  readonly suggestion?: string;
}

export interface DescribedWarning {
  readonly code: string;
  readonly message: string;
  readonly expression?: ExpressionKind;
  readonly start?: number;
  readonly end?: number;
}

/** A policy in words. */
export interface PolicyDescription {
  readonly sentence: readonly TextPart[];
  readonly text: string;
  readonly risk: Risk;
  readonly errors: readonly DescribedError[];
  readonly warnings: readonly DescribedWarning[];
  readonly marks: readonly Mark[];
}

/** A name or an amount with its unit, to stand behind a literal. */
export interface Mark extends Span {
  readonly expression: ExpressionKind;
  readonly text: string;
}

/** What the sentence found out, for risks and warnings. */
export interface SentenceFacts {
  readonly hasCondition: boolean;
  readonly hasConsensus: boolean;
  /** Whether it lets assets be sent. */
  readonly sends: boolean;
  readonly limitsRecipient: boolean;
  readonly limitsAmount: boolean;
  readonly risk: Risk;
}
