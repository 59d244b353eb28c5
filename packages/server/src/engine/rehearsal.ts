import type { MfaRequirement, Organization } from '../core/model.ts';
import type { Awaited } from '../policy/index.ts';

/** What an open activity waits for, and what an approval of the reader's would do. */
export interface Rehearsal {
  readonly decider: Organization;
  /** Undefined where nothing can be decided any more, because the proposer or what it is about is gone. */
  readonly awaited: Awaited | undefined;
  /** Whether the reader's approval, or a further proof, would count. */
  readonly isAwaited: boolean;
  /** Whether the reader's approval would complete the activity. */
  readonly completes: boolean;
  /** Who has to prove more before anybody can go on, and what. */
  readonly owed: readonly MfaRequirement[];
}
