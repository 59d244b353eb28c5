import { OutboundError } from './outbound-error.ts';

export interface Deadline {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Runs the work under a signal that fires when time is up or the caller gives up, with an OutboundError as reason. */
export async function withDeadline<Result>(
  { timeoutMs, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort(new OutboundError('network', 'the request was given up', signal?.reason));
  const timer = setTimeout(
    () => controller.abort(new OutboundError('timeout', `no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    controller.signal.throwIfAborted();
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** For work that cannot be stopped: the wait for it ends with the signal. */
export function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}
