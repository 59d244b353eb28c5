import { toUtf8 } from './bytes.ts';
import { CustosError, errorOfAnswer, NetworkError } from './errors.ts';
import { sleep } from './exchange.ts';
import type { ActivityStatus } from './generated/operations.ts';
import { retryDelayMs } from './retry.ts';
import type { SignedRequest } from './signed-request-type.ts';

const PATH = '/public/v1/feed';
/** The service says something at least every ten seconds. */
const SILENCE_MS = 25_000;

export interface FeedOptions {
  /** Another organization than the client's, such as a sub-organization. */
  readonly organizationId?: string;
  /** Where to go on: the `cursor` of the last event that was dealt with. Without one the feed begins now. */
  readonly cursor?: string;
  /** Ends the feed with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hears that the feed was interrupted, and why; it goes on by itself. */
  readonly onInterrupted?: (error: CustosError) => void;
  /** Hears that the feed is open, for the first time and after each interruption. */
  readonly onOpen?: () => void;
}

interface FeedPosition {
  /** Where to go on after this event. */
  readonly cursor: string;
}

/** An activity that was submitted, voted on or decided. */
export interface ActivityEvent extends FeedPosition {
  readonly kind: 'ACTIVITY';
  readonly activityId: string;
  readonly type: string;
  readonly status: ActivityStatus;
  readonly updatedAt: string;
}

export interface SendEvent extends FeedPosition {
  readonly kind: 'SEND';
  readonly sendTransactionStatusId: string;
  readonly activityId: string;
  readonly state: string;
  readonly updatedAt: string;
}

export interface WebhookDeliveryEvent extends FeedPosition {
  readonly kind: 'WEBHOOK_DELIVERY';
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly state: string;
  readonly updatedAt: string;
}

/** The cursor was too old or of another database: what happened meanwhile is only in the lists. */
export interface GapEvent extends FeedPosition {
  readonly kind: 'GAP';
}

export type FeedEvent = ActivityEvent | SendEvent | WebhookDeliveryEvent | GapEvent;

export interface FeedParts {
  readonly base: string;
  readonly organizationId: string;
  readonly fetch: typeof globalThis.fetch;
  readonly stamp: (
    path: string,
    body: Uint8Array<ArrayBuffer>,
    signal: AbortSignal | undefined,
  ) => Promise<SignedRequest>;
}

/** What a line may hold; a newer service may say more. */
interface Line {
  readonly cursor?: string;
  readonly event?: FeedEvent;
  readonly end?: { readonly code: string; readonly message: string };
}

/** Where a feed stands, over all its connections. */
interface Following {
  cursor: string | undefined;
  tries: number;
}

/**
 * Events as they happen, over as many connections as it takes: after a lost one it goes on where it stood. It ends by its
 * signal, by leaving the loop, or by an error that no further try would mend, such as a revoked credential.
 */
export async function* followFeed(parts: FeedParts, options: FeedOptions): AsyncGenerator<FeedEvent, void, undefined> {
  const following: Following = { cursor: options.cursor, tries: 0 };
  for (;;) {
    let retryAfter: string | null = null;
    try {
      const answer = await open(parts, options, following.cursor);
      retryAfter = answer.retryAfter;
      if (answer.error !== undefined) throw answer.error;
      options.onOpen?.();
      yield* eventsOf(answer, following, options.signal);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof CustosError)) throw error;
      const delayMs = delayOf(error, retryAfter, following.tries);
      if (delayMs === undefined) throw error;
      following.tries += 1;
      options.onInterrupted?.(error);
      await sleep(delayMs, options.signal);
    }
  }
}

/** However often it fails, the wait grows no longer than this many doublings. */
const DOUBLINGS_MAX = 5;
const BUSY_DELAY_MS = 1000;

/** Undefined where the service refuses for good. */
function delayOf(error: CustosError, retryAfter: string | null, tries: number): number | undefined {
  const asked = retryDelayMs(error, retryAfter, Math.min(tries, DOUBLINGS_MAX), Math.random());
  if (asked !== undefined) return asked;
  return error.code === 'UNAVAILABLE' ? BUSY_DELAY_MS * (0.5 + Math.random()) : undefined;
}

interface Opened {
  readonly error?: CustosError;
  readonly retryAfter: string | null;
  readonly read: () => Promise<string | undefined>;
  readonly close: () => void;
}

async function open(parts: FeedParts, options: FeedOptions, cursor: string | undefined): Promise<Opened> {
  const { signal, organizationId = parts.organizationId } = options;
  const body = toUtf8(JSON.stringify({ organizationId, ...(cursor !== undefined && { cursor }) }));
  // Stamped anew for each connection: its cursor differs.
  const request = await parts.stamp(PATH, body, signal);
  const connection = new Connection(signal);
  try {
    const response = await connection.during(() =>
      parts.fetch(parts.base + PATH, {
        method: 'POST',
        body,
        headers: {
          Accept: 'application/x-ndjson',
          'Content-Type': 'application/json',
          [request.headerName]: request.headerValue,
        },
        redirect: 'manual',
        cache: 'no-store',
        signal: connection.signal,
      }),
    );
    const retryAfter = response.headers.get('retry-after');
    const close = (): void => connection.close();
    if (!response.ok || response.body === null) {
      const error = errorOfAnswer(response.status, await connection.during(() => response.text()));
      close();
      return { error, retryAfter, read: async () => undefined, close };
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const read = async (): Promise<string | undefined> => {
      const { done, value } = await connection.during(() => reader.read());
      return done ? undefined : decoder.decode(value, { stream: true });
    };
    return { retryAfter, read, close };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** One connection: what it waits for ends with the caller's signal, and after too long a silence. */
class Connection {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort: () => void;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    this.#abort = () => this.#controller.abort(outer?.reason);
    outer?.throwIfAborted();
    outer?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#controller.abort(), SILENCE_MS);
    let stop = (): void => {};
    // Not every `fetch` lets go of a body by its signal.
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(this.#controller.signal.reason);
    });
    this.#controller.signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([work(), stopped]);
    } catch (error) {
      this.#outer?.throwIfAborted();
      throw new NetworkError('the feed was interrupted', error);
    } finally {
      clearTimeout(timer);
      this.#controller.signal.removeEventListener('abort', stop);
    }
  }

  close(): void {
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }
}

/** A line of the service is far shorter. */
const LINE_LENGTH_MAX = 256 * 1024;

async function* eventsOf(
  { read, close }: Opened,
  following: Following,
  signal: AbortSignal | undefined,
): AsyncGenerator<FeedEvent, void, undefined> {
  let rest = '';
  try {
    for (;;) {
      const piece = await read();
      // It ends with a line that says why; without one it was cut.
      if (piece === undefined) throw new NetworkError('the feed was interrupted', undefined);
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_LENGTH_MAX) throw new CustosError('UNEXPECTED_ANSWER', 'a line of the feed is too long');
      for (const text of lines) {
        const { cursor, event, end } = parseLine(text);
        if (end !== undefined) throw new CustosError(end.code, end.message);
        following.tries = 0;
        if (event !== undefined && cursor !== undefined) yield { ...event, cursor };
        // After the event was dealt with: whoever fails on one gets it again.
        following.cursor = cursor ?? following.cursor;
        signal?.throwIfAborted();
      }
    }
  } finally {
    close();
  }
}

function parseLine(text: string): Line {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Line;
  } catch (cause) {
    throw new CustosError('UNEXPECTED_ANSWER', 'a line of the feed is not JSON', { cause });
  }
}
