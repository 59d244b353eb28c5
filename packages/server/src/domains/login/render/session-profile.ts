import type { SessionProfile } from '../../../core/model.ts';
import { times } from '../../../lib/render-times.ts';

export const renderSessionProfile = (profile: SessionProfile) => ({
  sessionProfileId: profile.id,
  sessionProfileName: profile.name,
  scope: profile.scope,
  ...(profile.expirationSeconds !== undefined && { expirationSeconds: String(profile.expirationSeconds) }),
  ...(profile.notes !== '' && { notes: profile.notes }),
  ...times(profile),
});
