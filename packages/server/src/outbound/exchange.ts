import { request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { type Bounds, converse, type Exchange, type Listener, type Outcome } from './converse.ts';
import { OutboundError } from './outbound-error.ts';

export type { Exchange } from './converse.ts';

export interface OutboundOptions extends Bounds {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** For everything together: name, connection, handshake, answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How to connect. `agent: false` means a new connection that ends with the answer. */
export type Dial = Pick<RequestOptions, 'agent' | 'lookup' | 'ca'> & Pick<Listener, 'checkPeer'>;

/** One request and its whole answer. */
export async function exchange(url: URL, options: OutboundOptions, dial: Dial, signal: AbortSignal): Promise<Exchange> {
  let outcome = await attempt(url, options, dial, signal);
  // A reading request may simply be asked again on a new connection; a writing one might do its work twice.
  if (outcome === 'stale-connection' && options.method !== 'POST')
    outcome = await attempt(url, options, { ...dial, agent: false }, signal);
  if (outcome === 'stale-connection') throw new OutboundError('network', 'the connection was closed');
  if (outcome instanceof OutboundError) throw outcome;
  return outcome;
}

function attempt(url: URL, options: OutboundOptions, dial: Dial, signal: AbortSignal): Promise<Outcome> {
  const { method = 'GET', headers = {} } = options;
  const { checkPeer = () => {}, ...connection } = dial;
  return new Promise((ended) => {
    signal.throwIfAborted();
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send({
      ...urlToHttpOptions(url),
      ...connection,
      method,
      headers: { 'accept-encoding': 'identity', ...headers, host: url.host },
      rejectUnauthorized: true,
    });
    const breakOff = converse(request, options.body, options, { checkPeer, ended });
    signal.addEventListener('abort', () => breakOff(signal.reason as OutboundError), { once: true });
  });
}
