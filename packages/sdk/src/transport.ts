import { toUtf8 } from './bytes.ts';
import { CustosError, errorOfAnswer, NetworkError, withRequest } from './errors.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  checkBaseUrl,
  checkTimeout,
  exchange,
  globalFetch,
  parseAnswer,
  sleep,
} from './exchange.ts';
import type { ClientOptions } from './options.ts';
import { retryDelayMs } from './retry.ts';
import type { SignedRequest } from './signed-request-type.ts';

const RETRY_ATTEMPTS = 3;
const TOTAL_TIMEOUT_MS = 90_000;
/** The service takes no request that is older. */
const LIVE_MS = 60 * 60_000;

export interface Transport {
  /** Stamps a body, once. */
  stamp(path: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal | undefined): Promise<SignedRequest>;
  /** Sends exactly those bytes, again where that helps, and answers the parsed JSON or throws what went wrong. */
  send(request: SignedRequest, signal: AbortSignal | undefined): Promise<unknown>;
}

type Attempt = { readonly value: unknown } | { readonly error: CustosError; readonly retryAfter: string | null };

/**
 * The same bytes have the same fingerprint: the service finds the activity that they made, so asking again never makes a
 * second one. Whoever asks again is told what became of it.
 */
export function createTransport(options: ClientOptions): Transport {
  const base = checkBaseUrl(options.baseUrl);
  const fetch = options.fetch ?? globalFetch;
  const retries = options.retryAttempts ?? RETRY_ATTEMPTS;
  const timeoutMs = checkTimeout('timeoutMs', options.timeoutMs ?? ATTEMPT_TIMEOUT_MS);
  const totalMs = Math.min(checkTimeout('totalTimeoutMs', options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS), LIVE_MS);

  async function attempt(
    { path, body, headerName, headerValue }: SignedRequest,
    signal: AbortSignal | undefined,
    leftMs: number,
  ): Promise<Attempt> {
    const request = {
      method: 'POST',
      body: toUtf8(body),
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', [headerName]: headerValue },
      ...(signal && { signal }),
    };
    try {
      const { response, text } = await exchange(fetch, base + path, request, Math.min(timeoutMs, leftMs));
      if (response.ok) return { value: parseAnswer(response.status, text) };
      return { error: errorOfAnswer(response.status, text), retryAfter: response.headers.get('retry-after') };
    } catch (error) {
      if (!(error instanceof CustosError)) throw error;
      return { error, retryAfter: null };
    }
  }

  return {
    async stamp(path, body, signal) {
      signal?.throwIfAborted();
      const text = textOf(body);
      const { headerName, headerValue } = await options.stamper.stamp(body, signal && { signal });
      return { path, body: text, headerName, headerValue };
    },

    async send(request, signal) {
      const endsAt = performance.now() + totalMs;
      for (let tries = 0; ; tries += 1) {
        const outcome = await attempt(request, signal, Math.max(1, endsAt - performance.now()));
        if ('value' in outcome) return outcome.value;
        const { error, retryAfter } = outcome;
        const delayMs = tries < retries ? retryDelayMs(error, retryAfter, tries, Math.random()) : undefined;
        // Coming back before the service asked for it would not help either.
        if (delayMs === undefined || performance.now() + delayMs >= endsAt) {
          throw withRequest(tries > 0 ? afterTries(error, tries + 1) : error, request);
        }
        await sleep(delayMs, signal);
      }
    },
  };
}

const afterTries = (error: CustosError, count: number): CustosError =>
  error instanceof NetworkError ? new NetworkError(`${error.message} (asked ${count} times)`, error.cause) : error;

/** The same bytes as text, which is how callers keep a request; a byte order mark is part of what is stamped. */
function textOf(body: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new CustosError('INVALID_OPTION', 'the body is not UTF-8, and the service takes nothing else');
  }
}
