import { CustosError, NetworkError } from './errors.ts';
import { parseUrl } from './url.ts';

/** How long an answer may take unless told otherwise. */
export const ATTEMPT_TIMEOUT_MS = 30_000;

/** The address without the slashes at its end. */
export function checkBaseUrl(baseUrl: string, name = 'baseUrl'): string {
  const base = baseUrl.replace(/\/+$/, '');
  if (/^https?:\/\//i.test(base) && parseUrl(base) !== undefined) return base;
  throw new CustosError(
    'INVALID_OPTION',
    `${name} must be an http:// or https:// address, not ${JSON.stringify(base)}`,
  );
}

/** Timers of browsers and Node take no more. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** A time in milliseconds that a caller may set. */
export function checkTimeout(name: string, value: number): number {
  if (value > 0 && value <= TIMEOUT_MS_MAX) return value;
  throw new CustosError('INVALID_OPTION', `${name} must be a number of milliseconds above 0, not ${value}`);
}

/** Looked up at each call, so that a replaced one is used. */
export const globalFetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request);

export interface Answer {
  readonly response: Response;
  readonly text: string;
}

/**
 * One request and its whole answer. A `NetworkError` when there is none in time; the reason of the caller's signal when
 * that was aborted. Nobody is followed to another address: what is sent, and who is believed, is meant for one service.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
  timeoutMs: number,
): Promise<Answer> {
  const { signal } = request;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort();
  }, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal: controller.signal });
    if (isRedirect(response)) throw redirected(response.status);
    return { response, text: await response.text() };
  } catch (error) {
    if (error instanceof CustosError) throw error;
    signal?.throwIfAborted();
    const reason = isLate ? `it took longer than ${Math.round(timeoutMs)} ms` : reasonOf(error);
    throw new NetworkError(`no answer from ${new URL(url).origin}: ${reason}`, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Browsers hide where it leads, and its status. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

const redirected = (httpStatus: number): CustosError =>
  new CustosError('UNEXPECTED_ANSWER', 'the answer is a redirect: give the address that it leads to, if it is yours', {
    httpStatus,
  });

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
