/** How many decimals an asset has, and what it is called. */
export interface Unit {
  readonly symbol: string;
  readonly decimals: number;
}

export type NamedKind = 'user' | 'tag' | 'wallet' | 'privateKey' | 'policy';

export interface Named {
  readonly kind: NamedKind;
  readonly name: string;
}

/** What ids, addresses and chains are called. Callers fill it with one read; what is unknown keeps its spelling. */
export interface Names {
  /** A user, tag, wallet, private key or policy of the organization. */
  thing(id: string): Named | undefined;
  /** An own account, or a contract whose interface was uploaded. */
  address(address: string): string | undefined;
  chain(caip2: string): string | undefined;
  coin(caip2: string): Unit | undefined;
  /** A configured token. */
  token(caip2: string, address: string): Unit | undefined;
}

export const NO_NAMES: Names = {
  thing: () => undefined,
  address: () => undefined,
  chain: () => undefined,
  coin: () => undefined,
  token: () => undefined,
};

/** What texts name, so that one read finds all of it. */
export interface Mentions {
  readonly ids: readonly string[];
  readonly addresses: readonly string[];
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Ethereum's in hex, and quoted texts that may be addresses of other chains. */
const ADDRESS = /0x[0-9a-f]{40}(?![0-9a-f])|(?<=')[1-9A-HJ-NP-Za-km-z]{26,62}(?=')/gi;
/** A list that names more is shown by its length anyway. */
const MENTIONS_MAX = 1_000;

export function mentionsIn(texts: Iterable<string>): Mentions {
  const ids = new Set<string>();
  const addresses = new Set<string>();
  for (const text of texts) {
    for (const [id] of text.matchAll(ID)) if (ids.size < MENTIONS_MAX) ids.add(id.toLowerCase());
    for (const [address] of text.matchAll(ADDRESS)) {
      if (addresses.size < MENTIONS_MAX) addresses.add(address.startsWith('0x') ? address.toLowerCase() : address);
    }
  }
  return { ids: [...ids], addresses: [...addresses] };
}
