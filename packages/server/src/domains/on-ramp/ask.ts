import { ApiError } from '../../lib/errors.ts';
import type { Exchange, OutboundOptions } from '../../outbound/exchange.ts';
import { operatorFetch } from '../../outbound/operator-fetch.ts';
import type { OnRampProvider } from './model.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** Too slow, too early, too many: the same question may be answered later. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);
/** A session is something that was made, so that 201 says as much as 200. */
const DONE: ReadonlySet<number> = new Set([200, 201]);
const REASON = /^[\w.-]{1,64}$/;

export const PROVIDER_LABELS: Readonly<Record<OnRampProvider, string>> = {
  FIAT_ON_RAMP_PROVIDER_COINBASE: 'Coinbase',
  FIAT_ON_RAMP_PROVIDER_MOONPAY: 'MoonPay',
};

export interface Question extends Pick<OutboundOptions, 'method' | 'headers' | 'body'> {
  readonly provider: OnRampProvider;
  readonly url: string;
  /** What is asked for, in an answer to our own caller. */
  readonly subject: string;
  readonly timeoutMs?: number;
}

/** A provider's answer as JSON, which may be anything; undefined when it knows nothing of what is to be read (404). */
export async function ask({ provider, url, subject, timeoutMs = TIMEOUT_MS, ...request }: Question): Promise<unknown> {
  const label = PROVIDER_LABELS[provider];
  let answer: Exchange;
  try {
    answer = await operatorFetch(url, {
      ...request,
      headers: { accept: 'application/json', 'user-agent': 'custos', ...request.headers },
      timeoutMs,
      maxBytes: ANSWER_BYTES_MAX,
    });
  } catch (cause) {
    throw new ApiError('UNAVAILABLE', `${label} cannot be reached`, { retryAfterSeconds: 1, cause });
  }
  const { status } = answer;
  if (status >= 500 || LATER.has(status) || (status >= 300 && status < 400)) {
    throw new ApiError('UNAVAILABLE', `${label} is not available (HTTP status ${status})`, { retryAfterSeconds: 1 });
  }
  if (status === 404 && request.method === 'GET') return undefined;
  const body = parse(answer.body);
  if (!DONE.has(status))
    throw providerFailed(provider, `refused ${subject}: ${reasonOf(body) ?? `HTTP status ${status}`}`);
  if (body === undefined) throw providerFailed(provider, `answered ${subject} with something that is not JSON`);
  return body;
}

export const providerFailed = (provider: OnRampProvider, problem: string): ApiError =>
  new ApiError('ON_RAMP_PROVIDER_FAILED', `${PROVIDER_LABELS[provider]} ${problem}`);

/** The members of an object, whatever came in its place. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The provider's name of the mistake, and nothing else of its answer, since an answer may repeat what it was sent. */
function reasonOf(body: unknown): string | undefined {
  const { errorType, type } = membersOf(body);
  return [errorType, type].find((reason): reason is string => typeof reason === 'string' && REASON.test(reason));
}
