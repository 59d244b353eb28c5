import { knownChain } from '../chains/known-chains.ts';
import type { Names as PolicyNames } from '../policy/index.ts';
import { configuredToken, nativeUnit } from './chain-names.ts';
import { knownName } from './chains/parties.ts';
import type { SentenceContext } from './sentence.ts';
import { written } from './text.ts';

const KINDS = ['user', 'tag', 'wallet', 'privateKey', 'policy'] as const;

/** What expressions of policies name, by the names that sentences look up. */
export const policyNames = (context: SentenceContext): PolicyNames => ({
  thing(id) {
    for (const kind of KINDS) {
      const found = context.names.get(kind as never, id.toLowerCase()) as { readonly name: string } | undefined;
      if (found !== undefined) return { kind, name: written(found.name).text };
    }
    return undefined;
  },
  address: (address) => {
    const name = knownName(context, address);
    return name === undefined ? undefined : written(name).text;
  },
  chain: (caip2) => knownChain(caip2)?.name,
  coin: (caip2) => (context.chains.has(caip2) ? nativeUnit(context.chains, caip2) : knownChain(caip2)),
  token: (caip2, address) => (context.chains.has(caip2) ? configuredToken(context.chains, caip2, address) : undefined),
});
