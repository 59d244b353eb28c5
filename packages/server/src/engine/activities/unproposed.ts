import type { Activity } from '../../core/model.ts';

/** An activity that nobody proposed and nobody voted on; the audit log tells by it what the service did by itself. */
export const unproposedActivity = (
  about: Pick<Activity, 'id' | 'organizationId' | 'fingerprint' | 'operation' | 'type' | 'parameters' | 'result'>,
  nowMs: number,
): Activity => ({
  ...about,
  status: 'ACTIVITY_STATUS_COMPLETED',
  proposerId: undefined,
  authorityId: undefined,
  body: undefined,
  sealedBody: undefined,
  sealedParameters: undefined,
  failure: undefined,
  denial: undefined,
  wantsProofs: false,
  openTo: undefined,
  hasMfa: false,
  roundStartedAtMs: nowMs,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
});
