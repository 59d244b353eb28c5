import { ApiError } from '../lib/errors.ts';
import { parseUrl } from '../lib/url.ts';

const ANDROID_ORIGIN_PATTERN = /^android:apk-key-hash:[A-Za-z0-9_-]{1,128}$/;
const WEB_ORIGIN_PATTERN = /^https?:\/\/[^\s/?#@\\]+$/i;
const HOST_CHARACTERS_MAX = 253;
const HOST_PATTERN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])$/;
const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const ORIGINS_VALUE_CHARACTERS_MAX = 8192;
const ORIGINS_MAX = 100;

/** The origins that the feature allows; null, which is any, where it is not set or empty. */
export const allowedOrigins = (value: string | undefined): string[] | null =>
  value ? parseWebauthnOrigins(value) : null;

/**
 * Reads the value of FEATURE_NAME_WEBAUTHN_ORIGINS (protocol/organizations 2.2): one origin, several separated by
 * commas, or a JSON array. Answers serialized origins as a browser writes them.
 */
export function parseWebauthnOrigins(value: string): string[] {
  if (value.length > ORIGINS_VALUE_CHARACTERS_MAX) throw invalidOrigins('value is too long');
  const entries = value.trim().startsWith('[') ? parseOriginArray(value) : value.split(',');
  if (entries.length > ORIGINS_MAX) throw invalidOrigins(`at most ${ORIGINS_MAX} origins are allowed`);
  const origins = new Set(entries.map((entry) => parseOrigin(entry.trim())));
  if (origins.size === 0) throw invalidOrigins('at least one origin is needed');
  return [...origins];
}

function parseOriginArray(value: string): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (cause) {
    throw invalidOrigins('value starts like a JSON array but is not one', cause);
  }
  if (!Array.isArray(parsed) || !parsed.every((entry) => typeof entry === 'string')) {
    throw invalidOrigins('the JSON array must hold strings only');
  }
  return parsed;
}

function parseOrigin(text: string): string {
  if (ANDROID_ORIGIN_PATTERN.test(text)) return text;
  const url = WEB_ORIGIN_PATTERN.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) {
    throw invalidOrigins('an origin is https://host[:port], http://localhost[:port] or android:apk-key-hash:<hash>');
  }
  if (url.hostname.length > HOST_CHARACTERS_MAX || !HOST_PATTERN.test(url.hostname)) {
    throw invalidOrigins('the host of an origin is not valid');
  }
  if (url.protocol === 'http:' && !LOCAL_HOSTS.includes(url.hostname)) {
    throw invalidOrigins('an origin with http is allowed for localhost only');
  }
  return url.origin;
}

function invalidOrigins(why: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_FEATURE_VALUE', `webauthn origins: ${why}`, { cause });
}
