import { API_KEY_TYPES, type ApiKey, type ApiKeyType } from '../../core/model.ts';

export const LASTING_DAYS = 30;
export const LASTING_MS = LASTING_DAYS * 24 * 60 * 60 * 1000;

/** Keys that somebody registered to keep. The others are those of sessions, logins and recoveries, which end. */
export const KEPT_KEY_TYPES: readonly ApiKeyType[] = API_KEY_TYPES.filter((type) =>
  type.startsWith('CREDENTIAL_TYPE_API_KEY_'),
);

/** Whether a key is still a way in after `forMs`. */
export function isLastingKey({ type, expiresAtMs }: ApiKey, nowMs: number, forMs: number = LASTING_MS): boolean {
  if (!KEPT_KEY_TYPES.includes(type)) return false;
  return expiresAtMs === undefined || (expiresAtMs > nowMs && expiresAtMs >= nowMs + forMs);
}
