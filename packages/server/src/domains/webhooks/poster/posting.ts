import type { Clock } from '../../../lib/clock.ts';
import type { OutboundReason } from '../../../outbound/outbound-error.ts';
import type { ResolveHost } from '../../../outbound/resolve-host.ts';

export interface Posting {
  readonly url: string;
  /**
   * Names and values in turn, without Host, Content-Length and what else concerns the connection: the poster adds
   * those.
   */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface Receipt {
  readonly latencyMs: number;
  /** Of the answer, if there was one. */
  readonly status?: number;
  /** The header as it was sent, cut after 64 characters. */
  readonly retryAfter?: string;
  /** The beginning of the answer as text; of public targets only (protocol/webhooks 5.2). */
  readonly answer?: string;
  /** Why there was no answer. */
  readonly error?: OutboundReason;
}

export interface LocalPosterParts {
  /** Normalised blocks, see lib/network.ts. */
  readonly allow: readonly string[];
  readonly resolveHost?: ResolveHost;
  /** Certificates to trust in place of the system's. */
  readonly ca?: string;
  /** For a whole delivery; half of it for name, connection and handshake. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}
