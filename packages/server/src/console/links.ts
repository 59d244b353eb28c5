import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { randomToken, sha256 } from '../lib/encoding.ts';
import { ApiError } from '../lib/errors.ts';

/** How long a link signs in. */
export const LINK_MS = 10 * 60 * 1000;
/** Those before are forgotten; only somebody with the key of the credentials file can ask for more. */
const LINKS_MAX = 16;

interface Link {
  readonly hash: Buffer;
  readonly madeAtMs: number;
  isUsed: boolean;
}

/**
 * Links that sign in to the console once (docs/decisions/0046). Of a token only its hash is kept, in this process: where
 * there are links there is one process.
 */
export class ConsoleLinks {
  readonly #elapsed: Clock;
  #links: Link[] = [];
  /** Bodies that asked for links, by when; bytes that were recorded ask once. */
  readonly #askedAtMs = new Map<string, number>();

  constructor(elapsed: Clock) {
    this.#elapsed = elapsed;
  }

  /** A new token. */
  issue(): string {
    const token = randomToken();
    this.#links.push({ hash: sha256(token), madeAtMs: this.#elapsed(), isUsed: false });
    this.#links = this.#links.slice(-LINKS_MAX);
    return token;
  }

  /** Uses the token up, whatever becomes of the sign-in. No other call gets in between: nothing here waits. */
  use(token: string): void {
    const hash = sha256(token);
    // Every link is compared, so that the time says nothing.
    const [link] = this.#links.filter((candidate) => timingSafeEqual(candidate.hash, hash));
    if (link === undefined) {
      throw new ApiError('LINK_INVALID', 'this is no link of this service, or of an earlier start of it');
    }
    if (link.isUsed) throw new ApiError('LINK_USED', 'this link has been used; it signs in once');
    if (this.#elapsed() - link.madeAtMs >= LINK_MS) {
      throw new ApiError('LINK_EXPIRED', 'this link is older than ten minutes');
    }
    link.isUsed = true;
  }

  /** Whether nobody asked with these bytes before, as long as bytes count. */
  isFirst(fingerprint: string): boolean {
    const nowMs = this.#elapsed();
    for (const [known, atMs] of this.#askedAtMs) {
      if (nowMs - atMs > LINK_MS) this.#askedAtMs.delete(known);
    }
    if (this.#askedAtMs.has(fingerprint)) return false;
    this.#askedAtMs.set(fingerprint, nowMs);
    return true;
  }
}
