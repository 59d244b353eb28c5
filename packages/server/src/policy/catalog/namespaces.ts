/** The namespaces that a request may have, as the language writes them. */
export const NAMESPACES = [
  'eth.tx',
  'eth.eip_712',
  'eth.eip_7702_authorization',
  'solana.tx',
  'tron.tx',
  'bitcoin.tx',
  'tempo.tx',
  'wallet',
  'wallet_account',
  'private_key',
  'wallets',
  'secret',
] as const;
export type Namespace = (typeof NAMESPACES)[number];

/** Namespaces that come together; a request has those of one alternative. */
export type Alternatives = readonly (readonly Namespace[])[];

/** The target of a signature or export is a wallet account or a private key, never both (protocol/policy-facts 2). */
export const SIGNERS: Alternatives = [['wallet', 'wallet_account'], ['private_key']];
export const TRANSACTIONS: Alternatives = [['eth.tx'], ['solana.tx'], ['tron.tx'], ['bitcoin.tx'], ['tempo.tx']];
export const PAYLOADS: Alternatives = [[], ['eth.eip_712'], ['eth.eip_7702_authorization']];
/** Earn and swap sign inner calls, which may be shown. */
export const INNER_CALLS: Alternatives = [['eth.tx'], []];

export const both = (first: Alternatives, second: Alternatives): Alternatives =>
  first.flatMap((some) => second.map((others) => [...some, ...others]));
