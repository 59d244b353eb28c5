import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { unlessAborted, withDeadline } from './deadline.ts';
import { type Exchange, exchange, type OutboundOptions } from './exchange.ts';
import { addressesOf, answerWith, checkAddresses, checkPeer, type Guard, parseTarget } from './guard.ts';
import { createResolveHost, type ResolveHost, systemLookup } from './resolve-host.ts';

export interface OutboundAnswer extends Omit<Exchange, 'remoteAddress'> {
  /**
   * Whether the answer came from inside the operator's list: then its bytes are not stored or shown (protocol/http
   * 5.3).
   */
  readonly isInsideAllowList: boolean;
}

/**
 * A request to a URL that a tenant supplied. It goes to public addresses over https, to those of the operator's list
 * over http too; every other one is refused with an OutboundError, and so is everything else that brings no answer.
 */
export type GuardedFetch = (url: string, options: OutboundOptions) => Promise<OutboundAnswer>;

export interface GuardedFetchParts {
  readonly resolveHost?: ResolveHost;
  /** Certificates to trust in place of the system's. */
  readonly ca?: string;
}

/** Connections are kept by host name, and only for the next few requests of a burst. */
const KEPT = { keepAlive: true, maxFreeSockets: 4, timeout: 10_000 };

/** `allow` holds normalised blocks, see lib/network.ts. */
export function createGuardedFetch(allow: readonly string[], parts: GuardedFetchParts = {}): GuardedFetch {
  const guard: Guard = { allow };
  const resolveHost = parts.resolveHost ?? createResolveHost(allow.length > 0 ? systemLookup : undefined);
  const agents = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) };
  const trust = parts.ca === undefined ? {} : { ca: parts.ca };
  return (text, options) =>
    withDeadline(options, async (signal) => {
      const target = parseTarget(text);
      const reachable = checkAddresses(guard, target, await unlessAborted(signal, addressesOf(target, resolveHost)));
      // A kept connection was opened for an earlier answer of the name server, so what counts is where it leads.
      const check = (address: string) => checkPeer(guard, target, reachable, address);
      const dial = { agent: agents[target.scheme], lookup: answerWith(reachable), checkPeer: check, ...trust };
      const { remoteAddress, ...answer } = await exchange(target.url, options, dial, signal);
      return { ...answer, isInsideAllowList: check(remoteAddress) === 'allowed' };
    });
}
