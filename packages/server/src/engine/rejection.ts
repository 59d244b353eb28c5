import type { Activity, Vote } from '../core/model.ts';
import { ApiError } from '../lib/errors.ts';
import type { Outcome } from './authorize.ts';
import type { RawRequest } from './request.ts';
import type { Submission } from './vote-draft.ts';

type Denial = Extract<Outcome, { kind: 'deny' }>;

/** A refused body above this is not kept: a user without rights must not be able to fill the database. */
const KEPT_BYTES_MAX = 4096;

/** What is stored of a refused activity and its vote: of a large body its size and its digest, and no sealed copy. */
export function shortenRejected<Draft extends { readonly activity: Activity; readonly vote: Vote }>(
  draft: Draft,
  outcome: Outcome,
  { request, body }: Submission,
): Draft {
  if (outcome.kind !== 'deny' || request.body.length <= KEPT_BYTES_MAX) return draft;
  const omittedBody = { bytes: request.body.length, sha256: body.fingerprint.replace(/^sha256:/, '') };
  return {
    ...draft,
    activity: { ...draft.activity, parameters: { omittedBody }, body: undefined, sealedBody: undefined },
    vote: { ...draft.vote, message: JSON.stringify({ omittedBody }) },
  };
}

/** Whether the body is stored, so that its secrets have to be sealed. */
export const keepsBody = (outcome: Outcome, request: RawRequest): boolean =>
  outcome.kind !== 'deny' || request.body.length <= KEPT_BYTES_MAX;

/**
 * Some rights are no matter of policies: a user imports for itself, a session with a profile makes sessions of that
 * profile. Operations refuse these while they describe or prepare, and the refusal is kept like every other.
 */
export async function orRefusal<T>(work: () => Promise<T>): Promise<T | Denial> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'REQUEST_NOT_AUTHORIZED') throw error;
    return { kind: 'deny', decision: undefined, why: error.message };
  }
}
