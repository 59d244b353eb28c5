import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a host name. Rejects, or answers with none, when there is no such name. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const QUERY = { timeout: 2000, tries: 2 };

/**
 * Names that strangers choose are asked of the name servers directly: the system's own lookup occupies a thread for as
 * long as a name server likes, and a few slow ones would stop every other lookup of this process. `otherwise` is asked
 * for what they do not know; `servers` replaces those of the system.
 */
export function createResolveHost(otherwise?: ResolveHost, servers?: readonly string[]): ResolveHost {
  return async (hostname) => {
    // RFC 6761, section 6.3: these names are never asked of anybody.
    if (/(^|\.)localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
    const found = await askNameServers(hostname, servers);
    return found.length > 0 || otherwise === undefined ? found : otherwise(hostname);
  };
}

/** With the hosts file and the search domains, for operators who allow addresses of their own network. */
export const systemLookup: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

async function askNameServers(hostname: string, servers?: readonly string[]): Promise<readonly string[]> {
  const resolver = new Resolver(QUERY);
  if (servers !== undefined) resolver.setServers(servers);
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
