import type { Actor } from '../core/actor.ts';
import type { Activity, Vote } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activities.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { ActivityAnswer, Submission } from './ballot.ts';
import type { ActivityVersion } from './define.ts';
import type { Effect } from './effect.ts';
import type { Court } from './hold.ts';
import type { Judgement } from './judge-vote.ts';
import type { Matter } from './matter.ts';

/** What a vote is about to run, with its parameters as they were sent. */
export interface Target {
  readonly matter: Matter;
  readonly version: ActivityVersion;
}

/** The state that a vote is judged on: outside the transaction first, and again in it. */
export interface State {
  readonly read: ReadStores;
  readonly court: Court;
  /** Undefined where nothing is pending. */
  readonly matter: Matter | undefined;
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
  readonly court: Court;
  readonly target: Target | undefined;
  readonly found: ActivityWithVotes | undefined;
  /** The length of the activity's body: other requests get a turn before and after work on a long one. */
  readonly bytes: number;
  readonly nowMs: number;
  readonly judge: (state: State) => Promise<Judgement>;
  readonly draft: (judgement: Judgement) => Promise<Draft>;
  readonly answer: (found: ActivityWithVotes, judgement: Judgement) => ActivityAnswer;
}

/** What is committed if it still holds in the transaction. */
export interface Prepared {
  readonly draft: Draft;
  /** What was decided before the transaction. */
  readonly expected: Judgement;
  readonly effect: Effect | undefined;
}
