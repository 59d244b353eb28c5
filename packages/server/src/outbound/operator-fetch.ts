import { parseUrl } from '../lib/url.ts';
import { withDeadline } from './deadline.ts';
import { type Exchange, exchange, type OutboundOptions } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';

/** A request to a host that the operator set: any address, http or https, but with the same bounds (decision 32). */
export function operatorFetch(text: string, options: OutboundOptions): Promise<Exchange> {
  return withDeadline(options, async (signal) => {
    if (parseUrl(text) === undefined || !/^https?:/i.test(text))
      throw new OutboundError('bad-url', 'the URL must be http or https');
    return exchange(new URL(text), options, { agent: false }, signal);
  });
}
