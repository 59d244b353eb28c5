import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressClass, classifyAddress } from './classify-address.ts';
import { unlessAborted, withDeadline } from './deadline.ts';
import { type Exchange, exchange, type OutboundOptions } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';
import { createResolveHost, type ResolveHost, systemLookup } from './resolve-host.ts';

export interface OutboundAnswer extends Omit<Exchange, 'remoteAddress'> {
  /** Whether the answer came from inside the operator's list: then its bytes are not stored or shown (decision 32). */
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

const URL_LENGTH_MAX = 2048;
const ADDRESSES_MAX = 8;
/** Connections are kept by host name, and only for the next few requests of a burst. */
const KEPT = { keepAlive: true, maxFreeSockets: 4, timeout: 10_000 };

/** `allow` holds normalised blocks, see lib/network.ts. */
export function createGuardedFetch(allow: readonly string[], parts: GuardedFetchParts = {}): GuardedFetch {
  const resolveHost = parts.resolveHost ?? createResolveHost(allow.length > 0 ? systemLookup : undefined);
  const agents = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) };
  const trust = parts.ca === undefined ? {} : { ca: parts.ca };
  return (text, options) =>
    withDeadline(options, async (signal) => {
      const { url, scheme } = parseTarget(text);
      const addresses = await unlessAborted(signal, addressesOf(url, resolveHost));
      const permitted = addresses.filter((address) => isPermitted(scheme, classifyAddress(address, allow)));
      if (permitted.length === 0) throw forbidden(scheme);
      const dial = { agent: agents[scheme], lookup: answerWith(permitted.slice(0, ADDRESSES_MAX)), ...trust };
      const { remoteAddress, ...answer } = await exchange(url, options, dial, signal);
      // A kept connection was opened for an earlier answer of the name server, so what counts is where it leads.
      const origin = classifyAddress(remoteAddress ?? '', allow);
      if (!isPermitted(scheme, origin)) throw forbidden(scheme);
      return { ...answer, isInsideAllowList: origin === 'allowed' };
    });
}

type Scheme = 'http:' | 'https:';

function parseTarget(text: string): { readonly url: URL; readonly scheme: Scheme } {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) throw new OutboundError('bad-url', 'this is not a URL');
  const url = new URL(text);
  const scheme = url.protocol;
  if (scheme !== 'https:' && scheme !== 'http:') throw new OutboundError('bad-url', 'the URL must be https');
  if (url.username !== '' || url.password !== '') throw new OutboundError('bad-url', 'the URL has user information');
  return { url, scheme };
}

/** The URL parser has already turned every spelling of an IPv4 address into the usual one. */
async function addressesOf(url: URL, resolveHost: ResolveHost): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  let addresses: readonly string[];
  try {
    addresses = await resolveHost(host);
  } catch (cause) {
    throw new OutboundError('unresolved', 'the host has no address', cause);
  }
  if (addresses.length === 0) throw new OutboundError('unresolved', 'the host has no address');
  return addresses;
}

const isPermitted = (scheme: Scheme, address: AddressClass): boolean =>
  address === 'allowed' || (address === 'public' && scheme === 'https:');

const forbidden = (scheme: Scheme): OutboundError =>
  new OutboundError(
    'forbidden-address',
    scheme === 'https:'
      ? 'the host has no public address, and none that the operator allows'
      : 'plain http may only be used for addresses that the operator allows',
  );

/** The connection is made to the addresses that were checked; the name is not asked for again. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    const [first] = records;
    if (all || first === undefined) callback(null, records);
    else callback(null, first.address, first.family);
  };
}
