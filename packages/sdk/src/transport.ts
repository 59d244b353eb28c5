import { CustosError, errorOfAnswer, NetworkError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { parseUrl } from './url.ts';

const RETRY_ATTEMPTS = 3;
const RETRY_DELAY_MS = 1000;
const RETRY_DELAY_MS_MAX = 30_000;

/** Stamps a body, sends exactly those bytes, and answers the parsed JSON or throws what went wrong. */
export type Send = (path: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal | undefined) => Promise<unknown>;

export function createTransport(options: ClientOptions): Send {
  const base = checkBaseUrl(options.baseUrl);
  const fetch = options.fetch ?? globalFetch;
  const retries = options.retryAttempts ?? RETRY_ATTEMPTS;
  return async (path, body, signal) => {
    signal?.throwIfAborted();
    const { headerName, headerValue } = await options.stamper.stamp(body);
    const request = {
      method: 'POST',
      body,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', [headerName]: headerValue },
      // A stamp is meant for one service; it must not travel on to wherever an answer points.
      redirect: 'error',
      ...(signal && { signal }),
    } as const;
    // The same bytes have the same fingerprint, so that sending them again can never run an activity twice.
    for (let attempt = 0; ; attempt += 1) {
      const { response, text } = await exchange(fetch, base + path, request);
      if (response.ok) return parseAnswer(response.status, text);
      const delayMs = attempt < retries ? retryDelayMs(response) : undefined;
      if (delayMs === undefined) throw errorOfAnswer(response.status, text);
      await sleep(delayMs, signal);
    }
  };
}

/** The address without the slashes at its end. */
export function checkBaseUrl(baseUrl: string, name = 'baseUrl'): string {
  const base = baseUrl.replace(/\/+$/, '');
  if (/^https?:\/\//i.test(base) && parseUrl(base) !== undefined) return base;
  throw new CustosError(
    'INVALID_OPTION',
    `${name} must be an http:// or https:// address, not ${JSON.stringify(base)}`,
  );
}

/** Looked up at each call, so that a replaced one is used. */
export const globalFetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request);

export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(url, request);
    return { response, text: await response.text() };
  } catch (error) {
    request.signal?.throwIfAborted();
    throw new NetworkError(`no answer from ${new URL(url).origin}: ${reasonOf(error)}`, error);
  }
}

/** The innermost message, which is the one that says what happened. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const code: unknown = 'code' in error ? error.code : undefined;
  return error.message || (typeof code === 'string' ? code : error.name);
}

export function parseAnswer(httpStatus: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CustosError('UNEXPECTED_ANSWER', 'the answer is not JSON', { httpStatus, cause });
  }
}

/** How long to wait before asking again; undefined when asking again would not help. */
function retryDelayMs(response: Response): number | undefined {
  const header = response.headers.get('retry-after');
  if (response.status !== 503 && !(response.status === 409 && header !== null)) return undefined;
  const delayMs = header !== null && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : RETRY_DELAY_MS;
  return Math.min(delayMs, RETRY_DELAY_MS_MAX);
}

/** Resolves after a while, or rejects with the signal's reason as soon as it is aborted. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
