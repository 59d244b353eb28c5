import { monotonicClock } from '../../../lib/clock.ts';
import type { BreakOff } from '../../../outbound/converse.ts';
import { createHostCache } from '../../../outbound/host-cache.ts';
import { OutboundError } from '../../../outbound/outbound-error.ts';
import { createResolveHost, systemLookup } from '../../../outbound/resolve-host.ts';
import { startPost } from './post.ts';
import type { LocalPosterParts, Posting, Receipt } from './posting.ts';
import { createRoutes } from './routes.ts';
import { webhookGuard } from './rules.ts';
import { createSlots } from './slots.ts';
import { startThread, type Thread, type ThreadParts } from './thread.ts';

/** Posts webhooks under the rules for URLs that tenants supply. */
export interface Poster {
  /** Never rejects. */
  deliver(posting: Posting): Promise<Receipt>;
  /** Breaks off what is under way, and whatever comes later. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const UNDELIVERED: Receipt = { latencyMs: 0, error: 'network' };

/** Delivers in this thread. */
export function localPoster(parts: LocalPosterParts): Poster {
  const { allow, ca, timeoutMs: totalMs = TIMEOUT_MS, clock = monotonicClock } = parts;
  const resolveHost = parts.resolveHost ?? createResolveHost(allow.length > 0 ? systemLookup : undefined);
  const routes = createRoutes(webhookGuard(allow), createHostCache(resolveHost, clock), ca);
  const underWay = createSlots<BreakOff>();
  const post = { routes, underWay, patience: { connectMs: totalMs / 2, totalMs } };
  let isClosed = false;
  return {
    deliver: (posting) =>
      new Promise((resolve) => {
        if (isClosed) resolve(UNDELIVERED);
        else startPost(post, posting, resolve);
      }),
    async close() {
      isClosed = true;
      for (const breakOff of underWay.takeAll()) breakOff(new OutboundError('network', 'the poster was closed'));
      routes.close();
    },
  };
}

/**
 * Delivers in a thread of its own, so that deliveries do not take the time of requests. It starts with the first
 * delivery and again with the next one after a death, which ends what was under way.
 */
export function threadPoster(parts: ThreadParts): Poster {
  let thread: Thread | undefined;
  let isClosed = false;
  return {
    async deliver(posting) {
      if (isClosed) return UNDELIVERED;
      thread ??= startThread(parts, (dead) => {
        if (thread === dead) thread = undefined;
      });
      return thread.deliver(posting);
    },
    async close() {
      isClosed = true;
      await thread?.end();
    },
  };
}
