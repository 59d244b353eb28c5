import type { Actor } from '../core/actor.ts';
import type { Activity, Vote } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { VoteOutcome } from './decide-vote.ts';
import type { ActivityVersion } from './define.ts';
import type { Execution } from './execution.ts';
import type { Authority } from './hold.ts';
import type { Intent } from './intent.ts';
import type { ActivityAnswer, Submission } from './vote-draft.ts';

/** What a vote is about to run, with its parameters as they were sent. */
export interface Target {
  readonly intent: Intent;
  readonly version: ActivityVersion;
}

/** The state that a vote is decided on: outside the transaction first, and again in it. */
export interface State {
  readonly read: ReadStores;
  readonly authority: Authority;
  /** Undefined where nothing is pending. */
  readonly intent: Intent | undefined;
  /** The activity with its earlier votes; undefined before the first one. */
  readonly found: ActivityWithVotes | undefined;
}

export interface Draft {
  /** The activity as the vote finds it: as stored, or as the first vote makes it. */
  readonly activity: Activity;
  readonly vote: Vote;
}

/**
 * A vote that a request gives. A submission is the first vote on an activity that it brings along; whatever else differs
 * between that and a later vote follows from `found`.
 */
export interface VoteRequest {
  readonly actor: Actor;
  readonly submission: Submission;
  /** Who decides, as it was before the decision. */
  readonly authority: Authority;
  readonly target: Target | undefined;
  readonly found: ActivityWithVotes | undefined;
  /** The length of the activity's body: other requests get a turn before and after work on a long one. */
  readonly bytes: number;
  readonly nowMs: number;
  readonly decide: (state: State) => Promise<VoteOutcome>;
  readonly draft: (voteOutcome: VoteOutcome) => Promise<Draft>;
  readonly answer: (found: ActivityWithVotes, voteOutcome: VoteOutcome) => ActivityAnswer;
}

/** What is committed if it still holds in the transaction. */
export interface Prepared {
  readonly draft: Draft;
  /** What was decided before the transaction. */
  readonly expected: VoteOutcome;
  readonly execution: Execution | undefined;
}
