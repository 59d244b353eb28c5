import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https';
import { boundedMap } from '../../../lib/bounded-map.ts';
import type { AddressClass } from '../../../outbound/classify-address.ts';
import {
  addressesOf,
  answerWith,
  checkAddresses,
  checkPeer,
  type Guard,
  parseTarget,
  type Reachable,
  type Target,
} from '../../../outbound/guard.ts';
import type { HostCache } from '../../../outbound/host-cache.ts';

/** The way to one URL over addresses that have been checked. */
export interface Route {
  /** A new connection is one that nobody had before and nobody gets afterwards. */
  open(headers: readonly string[], isNewConnection: boolean): ClientRequest;
  /** As the Host header has it. */
  readonly host: string;
  checkPeer(address: string): AddressClass;
}

export interface Routes {
  /**
   * At once where the addresses of the host are known; throws or rejects with an OutboundError where there is no way.
   */
  find(url: string): Route | Promise<Route>;
  close(): void;
}

interface Place {
  readonly target: Target;
  /** Of an address in the URL itself. */
  readonly fixed?: readonly string[];
  /** The route over the addresses that it was made of. */
  known?: { readonly route: Route; readonly addresses: readonly string[] };
}

const URLS_MAX = 2048;
/** Free ones of a host. Receivers commonly close idle connections after five seconds. */
const KEPT = { keepAlive: true, maxFreeSockets: 32, timeout: 4000 };
const HEADER_BYTES_MAX = 16 * 1024;

type PooledOptions = RequestOptions & { readonly pool: string };

/** Connections are shared by what the route says, not by the options that the usual agents put together every time. */
class HttpPool extends HttpAgent {
  override getName(options: object): string {
    return (options as PooledOptions).pool;
  }
}

class HttpsPool extends HttpsAgent {
  override getName(options: object): string {
    return (options as PooledOptions).pool;
  }
}

export function createRoutes(guard: Guard, hosts: HostCache, ca?: string): Routes {
  const places = boundedMap<Place>(URLS_MAX);
  const pools = { 'http:': new HttpPool(KEPT), 'https:': new HttpsPool(KEPT) };

  function placeOf(url: string): Place {
    const known = places.get(url);
    if (known !== undefined) return known;
    const target = parseTarget(url);
    const place: Place = target.isAddress ? { target, fixed: [target.host] } : { target };
    places.set(url, place);
    return place;
  }

  function routeOver(place: Place, addresses: readonly string[]): Route {
    if (place.known?.addresses === addresses) return place.known.route;
    const route = makeRoute(place.target, checkAddresses(guard, place.target, addresses));
    place.known = { route, addresses };
    return route;
  }

  function makeRoute(target: Target, reachable: Reachable): Route {
    const { url, scheme, host, port } = target;
    const send = scheme === 'https:' ? requestHttps : requestHttp;
    const options: PooledOptions = {
      method: 'POST',
      host,
      port,
      path: `${url.pathname}${url.search}`,
      lookup: answerWith(reachable),
      maxHeaderSize: HEADER_BYTES_MAX,
      // A connection is kept for as long as the name leads to where it was made to.
      pool: `${url.origin} ${[...reachable.keys()].sort().join(' ')}`,
      ...(scheme === 'https:' ? tlsOptions(target, ca) : {}),
    };
    return {
      host: url.host,
      open: (headers, isNewConnection) => send({ ...options, agent: isNewConnection ? false : pools[scheme], headers }),
      checkPeer: (address) => checkPeer(guard, target, reachable, address),
    };
  }

  return {
    find(url) {
      const place = placeOf(url);
      const addresses = place.fixed ?? hosts.known(place.target.host);
      if (addresses !== undefined) return routeOver(place, addresses);
      return addressesOf(place.target, hosts.find).then((found) => routeOver(place, found));
    },
    close() {
      for (const pool of Object.values(pools)) pool.destroy();
    },
  };
}

/** RFC 6066, section 3: an address is not named in the handshake, and a name has no dot at its end there. */
const tlsOptions = ({ host, isAddress }: Target, ca: string | undefined): RequestOptions => ({
  rejectUnauthorized: true,
  servername: isAddress ? '' : host.replace(/\.$/, ''),
  ...(ca === undefined ? {} : { ca }),
});
