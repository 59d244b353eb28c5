import { parseUrl } from '../lib/url.ts';
import { withDeadline } from './deadline.ts';
import { type Exchange, exchange, type OutboundOptions } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';

/**
 * A request to a host that the operator set: any address, http or https, but with the same bounds (protocol/http 5.1).
 */
export function operatorFetch(text: string, options: OutboundOptions): Promise<Exchange> {
  return withDeadline(options, async (signal) => {
    const url = /^https?:/i.test(text) ? parseUrl(text) : undefined;
    if (url === undefined) throw new OutboundError('bad-url', 'the URL must be http or https');
    return exchange(url, options, { agent: false }, signal);
  });
}
