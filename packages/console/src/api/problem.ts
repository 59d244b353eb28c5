import { ActivityError, ActivityFailedError, ActivityRejectedError, CustosError, NetworkError } from '@custos/sdk';
import { askedToWaitUntilMs, connection } from './connection.ts';

/** Why something did not work, in words for the person in front of it. */
export interface Problem {
  readonly kind:
    | 'session' // 401: the page asks to sign in again and stays as it is
    | 'denied' // 403
    | 'gone' // 404
    | 'conflict' // 409
    | 'too-often' // 429
    | 'unavailable' // 503
    | 'offline'
    | 'clock'
    | 'invalid' // 400, with the fields where they are known
    | 'passkey'
    | 'bug';
  readonly title: string;
  readonly text: string;
  readonly code?: string;
  readonly retryAtMs?: number;
  readonly fields: readonly { readonly field: string; readonly description: string }[];
  /** The activity that was stored although it did not succeed. */
  readonly activityId?: string;
  /** Details of the service's answer, such as what each policy said. */
  readonly details: readonly unknown[];
}

const CLOCK_MS = 60_000;

const TITLES: Readonly<Record<Problem['kind'], string>> = {
  session: 'Your session ended.',
  denied: 'This is not allowed.',
  gone: 'This is no longer there.',
  conflict: 'Somebody else changed this first.',
  'too-often': 'Too many requests.',
  unavailable: 'The service cannot answer right now.',
  offline: 'No answer from the service.',
  clock: 'The clock of this computer differs.',
  invalid: 'The service did not accept this.',
  passkey: 'The passkey was not used.',
  bug: 'Something broke.',
};

export function problemOf(error: unknown, nowMs: number = Date.now()): Problem {
  if (!(error instanceof CustosError)) return problem('bug', messageOf(error));
  const code = { code: String(error.code) };
  const found = {
    ...code,
    fields: error.violations,
    details: error.details,
    ...(error instanceof ActivityError && { activityId: error.activityId }),
    ...activityIn(error.details),
  };
  const kind = kindOf(error);
  switch (kind) {
    case 'clock':
      return problem(kind, clockText(nowMs), found);
    case 'offline':
      return problem(
        kind,
        'The page tries again by itself. Sending the same request again is safe: it counts once.',
        found,
      );
    case 'too-often':
    case 'unavailable': {
      const retryAtMs = askedToWaitUntilMs(error.httpStatus ?? 0, nowMs);
      return problem(kind, sentence(error.message), { ...found, ...(retryAtMs !== undefined && { retryAtMs }) });
    }
    default:
      return problem(kind, sentence(error.message), found);
  }
}

function kindOf(error: CustosError): Problem['kind'] {
  if (error instanceof NetworkError) return 'offline';
  if (error instanceof ActivityRejectedError) return 'denied';
  if (error instanceof ActivityFailedError) return 'invalid';
  if (error.code === 'PASSKEY_FAILED' || error.code === 'PASSKEY_UNAVAILABLE') return 'passkey';
  const isClockOff = Math.abs(connection.get().clockOffsetMs) > CLOCK_MS;
  if (isClockOff && error.violations.some(({ field }) => field === 'timestampMs')) return 'clock';
  if (isClockOff && /timestamp/i.test(error.message)) return 'clock';
  switch (error.httpStatus) {
    case 401:
      return 'session';
    case 403:
      return 'denied';
    case 404:
      return 'gone';
    case 409:
      return 'conflict';
    case 429:
      return 'too-often';
    case 503:
      return 'unavailable';
    case undefined:
      return error.code === 'UNEXPECTED_ANSWER' ? 'bug' : 'invalid';
    default:
      return error.httpStatus >= 500 ? 'bug' : 'invalid';
  }
}

const problem = (kind: Problem['kind'], text: string, more: Partial<Problem> = {}): Problem => ({
  kind,
  title: TITLES[kind],
  text,
  fields: [],
  details: [],
  ...more,
});

const messageOf = (error: unknown): string => (error instanceof Error ? sentence(error.message) : 'Reload the page.');

/** Messages of the service begin small and end without a stop. */
const sentence = (message: string): string =>
  message === '' ? '' : `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;

function clockText(nowMs: number): string {
  const { clockOffsetMs } = connection.get();
  const ahead = clockOffsetMs > 0 ? 'behind' : 'ahead of';
  const time = (ms: number): string => new Date(ms).toLocaleTimeString('en-GB');
  return `This computer is ${duration(Math.abs(clockOffsetMs))} ${ahead} the service: it has ${time(nowMs)}, the service ${time(nowMs + clockOffsetMs)}. Set the clock, then try again.`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

function activityIn(details: readonly unknown[]): { activityId?: string } {
  for (const detail of details) {
    const activityId = (detail as { activityId?: unknown } | null)?.activityId;
    if (typeof activityId === 'string') return { activityId };
  }
  return {};
}
