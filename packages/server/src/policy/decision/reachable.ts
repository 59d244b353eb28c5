import type { Expression } from '../evaluate/expression.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { type DirectoryNeeds, needsOf } from './directory.ts';
import { consensusShape } from './policy-set.ts';
import { type Member, type Reachability, reachabilityOf } from './reachability.ts';

/** Whether these users together could ever meet a consensus. */
export const canBeReached = (expression: Expression<'consensus'>, members: readonly Member[]): Reachability =>
  reachabilityOf(expression, consensusShape(expression), { users: [], credentials: [] }, members, {
    steps: POLICY_LIMITS.steps,
  });

/** Whom to hand in for it. */
export const consensusNeeds = (expression: Expression<'consensus'>): DirectoryNeeds =>
  needsOf([consensusShape(expression)]);
