import { isIP, type LookupFunction } from 'node:net';
import { parseUrl } from '../lib/url.ts';
import { type AddressClass, classifyAddress } from './classify-address.ts';
import { OutboundError } from './outbound-error.ts';
import type { ResolveHost } from './resolve-host.ts';

/** What tenants may name: public addresses over https, those of the operator's list over http too. */
export interface Guard {
  /** Normalised blocks, see lib/network.ts. */
  readonly allow: readonly string[];
  /** Whether a single address that may not be reached forbids the whole name, and not only itself. */
  readonly everyAddress?: boolean;
  /** Whether public addresses may only be reached at 443 and above the ports that a system keeps for its services. */
  readonly usualPorts?: boolean;
}

export type Scheme = 'http:' | 'https:';

export interface Target {
  readonly url: URL;
  readonly scheme: Scheme;
  /** A name, or an address without the brackets of IPv6. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

/** The addresses of a target that may be called, each with where it lies. */
export type Reachable = ReadonlyMap<string, AddressClass>;

const URL_LENGTH_MAX = 2048;
/** Nobody needs more, and judging thousands of them takes the time of others. */
const ADDRESSES_MAX = 64;
const DIALLED_MAX = 8;
const SYSTEM_PORT_MAX = 1023;

/** The URL parser turns every spelling of an IPv4 address into the usual one. */
export function parseTarget(text: string): Target {
  if (text.length > URL_LENGTH_MAX)
    throw new OutboundError('bad-url', `the URL is longer than ${URL_LENGTH_MAX} characters`);
  const url = parseUrl(text);
  if (url === undefined) throw new OutboundError('bad-url', 'this is not a URL');
  const scheme = url.protocol;
  if (scheme !== 'https:' && scheme !== 'http:') throw new OutboundError('bad-url', 'the URL must be https');
  if (url.username !== '' || url.password !== '') throw new OutboundError('bad-url', 'the URL has user information');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (scheme === 'https:' ? 443 : 80) : Number(url.port);
  return { url, scheme, host, isAddress: isIP(host) !== 0, port };
}

/** Every address of the target, checked or not. */
export async function addressesOf({ host, isAddress }: Target, resolveHost: ResolveHost): Promise<readonly string[]> {
  if (isAddress) return [host];
  let addresses: readonly string[];
  try {
    addresses = await resolveHost(host);
  } catch (cause) {
    throw new OutboundError('unresolved', 'the host has no address', cause);
  }
  if (addresses.length === 0) throw new OutboundError('unresolved', 'the host has no address');
  return addresses;
}

/** Those of the addresses that may be called; an OutboundError if there is none, or as `everyAddress` says. */
export function checkAddresses(guard: Guard, target: Target, addresses: readonly string[]): Reachable {
  const judged = addresses
    .slice(0, ADDRESSES_MAX)
    .map((address) => [address, classifyAddress(address, guard.allow)] as const);
  const permitted = judged.filter(([, place]) => isPermitted(target.scheme, place));
  if (isRefused(guard, permitted.length, addresses.length)) throw forbiddenAddress(target.scheme);
  const called = guard.usualPorts ? permitted.filter(([, place]) => isUsualPort(target.port, place)) : permitted;
  if (isRefused(guard, called.length, permitted.length)) throw forbiddenPort();
  return new Map(called.slice(0, DIALLED_MAX));
}

/** Where the peer of a connection lies; an OutboundError if it may not be talked to. */
export function checkPeer(guard: Guard, target: Target, reachable: Reachable, address: string): AddressClass {
  return reachable.get(address) ?? (checkAddresses(guard, target, [address]).get(address) as AddressClass);
}

const isRefused = ({ everyAddress = false }: Guard, passed: number, of: number): boolean =>
  everyAddress ? passed < of : passed === 0;

const isPermitted = (scheme: Scheme, place: AddressClass): boolean =>
  place === 'allowed' || (place === 'public' && scheme === 'https:');

const isUsualPort = (port: number, place: AddressClass): boolean =>
  place === 'allowed' || port === 443 || port > SYSTEM_PORT_MAX;

const forbiddenAddress = (scheme: Scheme): OutboundError =>
  new OutboundError(
    'forbidden-address',
    scheme === 'https:'
      ? 'the host has no public address, and none that the operator allows'
      : 'plain http may only be used for addresses that the operator allows',
  );

const forbiddenPort = (): OutboundError =>
  new OutboundError('bad-url', `the port must be 443 or above ${SYSTEM_PORT_MAX}`);

/** The connection is made to the addresses that were checked; the name is not asked for again. */
export function answerWith(reachable: Reachable): LookupFunction {
  const records = [...reachable.keys()].map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    const [first] = records;
    if (all || first === undefined) callback(null, records);
    else callback(null, first.address, first.family);
  };
}
