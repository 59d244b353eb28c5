import { type BreakOff, converse, type Exchange, type Outcome } from '../../../outbound/converse.ts';
import { OutboundError } from '../../../outbound/outbound-error.ts';
import { answerText } from './answer-text.ts';
import type { Posting, Receipt } from './posting.ts';
import type { Route, Routes } from './routes.ts';
import type { Slots } from './slots.ts';

/** A longer answer is cut off, and its status counts (protocol/webhooks 4.3). */
const ANSWER = { maxBytes: 64 * 1024, acceptPartial: true };
const RETRY_AFTER_LENGTH_MAX = 64;

export interface PostParts {
  readonly routes: Routes;
  readonly patience: Patience;
  readonly underWay: Slots<BreakOff>;
}

interface Patience {
  /** For name, connection and handshake. */
  readonly connectMs: number;
  /** For everything together. */
  readonly totalMs: number;
}

/**
 * One posting on its way: the name, the connection, the answer. `ended` is called once, perhaps at once, and nothing is
 * thrown. Meanwhile `underWay` has what breaks it off.
 */
export function startPost(
  { routes, patience: { connectMs, totalMs }, underWay }: PostParts,
  { url, headers, body }: Posting,
  ended: (receipt: Receipt) => void,
): void {
  const startedAtMs = performance.now();
  const slot = underWay.put(breakOff);
  let isOver = false;
  let leaveConversation: BreakOff | undefined;
  let connecting: NodeJS.Timeout | undefined;
  const total = setTimeout(() => breakOff(tooLate('no answer')), totalMs);

  function end(result: Omit<Receipt, 'latencyMs'>): void {
    if (isOver) return;
    isOver = true;
    underWay.take(slot);
    clearTimeout(total);
    stopConnecting();
    ended({ latencyMs: Math.round(performance.now() - startedAtMs), ...result });
  }

  /**
   * Also for what should never be thrown here: a delivery that fails is tried again, and a thread that dies has lost
   * many.
   */
  function endWith(error: unknown): void {
    end({ error: error instanceof OutboundError ? error.reason : 'network' });
  }

  function breakOff(reason: OutboundError): void {
    if (leaveConversation === undefined) endWith(reason);
    else leaveConversation(reason);
  }

  function startConnecting(): void {
    const elapsedMs = performance.now() - startedAtMs;
    connecting ??= setTimeout(() => breakOff(tooLate('no connection')), Math.max(0, connectMs - elapsedMs));
  }

  function stopConnecting(): void {
    clearTimeout(connecting);
    connecting = undefined;
  }

  function send(route: Route, isNewConnection: boolean): void {
    if (isOver) return;
    stopConnecting();
    leaveConversation = converse(route.open(headerList(route, headers, body), isNewConnection), body, ANSWER, {
      checkPeer: route.checkPeer,
      opening: startConnecting,
      opened: stopConnecting,
      ended: (outcome) => finish(route, outcome, isNewConnection),
    });
  }

  function finish(route: Route, outcome: Outcome, isNewConnection: boolean): void {
    if (outcome instanceof OutboundError) endWith(outcome);
    else if (outcome !== 'stale-connection') end(receiptOf(route, outcome));
    // Deliveries are made at least once and carry their event's id, so that this one may arrive twice.
    else if (isNewConnection) end({ error: 'network' });
    else attempt(() => send(route, true));
  }

  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      endWith(error);
    }
  }

  attempt(() => {
    const found = routes.find(url);
    if (!(found instanceof Promise)) return send(found, false);
    startConnecting();
    found.then((route) => attempt(() => send(route, false)), endWith);
  });
}

const tooLate = (what: string): OutboundError => new OutboundError('timeout', `${what} in time`);

/** In the form that is written as it is, without an object of headers in between. */
const headerList = ({ host }: Route, headers: Posting['headers'], body: string): string[] => [
  'Host',
  host,
  'Content-Length',
  String(Buffer.byteLength(body)),
  'Accept-Encoding',
  'identity',
  ...headers,
];

function receiptOf(route: Route, { status, headers, body, remoteAddress }: Exchange): Omit<Receipt, 'latencyMs'> {
  const retryAfter = headers['retry-after'];
  return {
    status,
    ...(retryAfter === undefined ? {} : { retryAfter: retryAfter.slice(0, RETRY_AFTER_LENGTH_MAX) }),
    ...(route.checkPeer(remoteAddress) === 'public' ? { answer: answerText(body) } : {}),
  };
}
