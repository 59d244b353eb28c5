import { CustosError, errorOfAnswer } from './errors.ts';
import { ATTEMPT_TIMEOUT_MS, checkBaseUrl, checkTimeout, exchange, globalFetch, parseAnswer } from './exchange.ts';

/** A public key that the service signs with, or that clients encrypt to. */
export interface ServiceKey {
  /**
   * `bundle-signer` signs the bundles of imports and exports, `session-signer` sessions, `otp` the targets of one-time
   * codes and verification tokens; client secrets of OAuth 2.0 are sealed to `oauth-secret`, those of
   * on-ramp providers to `on-ramp-secret`.
   */
  readonly role: 'bundle-signer' | 'session-signer' | 'otp' | 'oauth-secret' | 'on-ramp-secret' | (string & {});
  /** Hex, in the one spelling that clients compare with. */
  readonly publicKey: string;
  readonly encoding: 'compressed' | 'uncompressed';
  readonly keyId: string;
}

export interface FetchServiceKeysOptions {
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  readonly signal?: AbortSignal;
  /** How long the answer may take; 30 seconds unless told. */
  readonly timeoutMs?: number;
}

/**
 * The public keys of a service. The answer is as trustworthy as the connection: fetch it once over one that you trust,
 * and pin the keys in your application.
 */
export async function fetchServiceKeys(baseUrl: string, options: FetchServiceKeysOptions = {}): Promise<ServiceKey[]> {
  const { fetch = globalFetch, signal, timeoutMs = ATTEMPT_TIMEOUT_MS } = options;
  const url = `${checkBaseUrl(baseUrl)}/public/v1/discovery/keys`;
  const request = { headers: { Accept: 'application/json' }, ...(signal && { signal }) };
  const { response, text } = await exchange(fetch, url, request, checkTimeout('timeoutMs', timeoutMs));
  if (!response.ok) throw errorOfAnswer(response.status, text);
  const { keys } = (parseAnswer(response.status, text) ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every(isServiceKey)) {
    throw new CustosError('UNEXPECTED_ANSWER', 'the answer holds no service keys', { httpStatus: response.status });
  }
  return keys.map(({ role, publicKey, encoding, keyId }) => ({ role, publicKey, encoding, keyId }));
}

/**
 * The keys of a role that a caller trusts: the one that it pinned, or those of `fetchServiceKeys`. A caller without types
 * could give neither, and nothing would be checked.
 */
export function trustedKeys(
  role: ServiceKey['role'],
  name: string,
  pinned: string | undefined,
  serviceKeys: readonly ServiceKey[] | undefined,
): readonly string[] {
  if (pinned !== undefined) return [pinned];
  const keys = (serviceKeys ?? []).filter((key) => key.role === role).map(({ publicKey }) => publicKey);
  if (keys.length > 0) return keys;
  throw new CustosError('INVALID_OPTION', `${name}, or serviceKeys with a key of the role ${role}, is needed`);
}

function isServiceKey(value: unknown): value is ServiceKey {
  const { role, publicKey, encoding, keyId } = (value ?? {}) as Record<string, unknown>;
  return (
    [role, publicKey, keyId].every((member) => typeof member === 'string') &&
    (encoding === 'compressed' || encoding === 'uncompressed')
  );
}
