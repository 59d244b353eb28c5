import { assert } from '../lib/assert.ts';
import { ApiError } from '../lib/errors.ts';
import type { ChainFormat, Network, ReferenceForm } from './chain.ts';
import { FORMATS } from './formats.ts';
import type { ChainSettings, ConfiguredChains } from './settings.ts';

const formats: readonly ChainFormat[] = Object.values(FORMATS);

/** The families whose chains can be configured. */
export const NETWORKS: readonly Network[] = formats.flatMap(({ network }) => network ?? []);

const findNetwork = (name: string): Network | undefined => NETWORKS.find(({ namespace }) => namespace === name);

export function networkNamed(namespace: ChainSettings['namespace']): Network {
  const network = findNetwork(namespace);
  assert(network !== undefined, 'the namespace of a configured chain is that of a family');
  return network;
}

/** The family of a chain that is configured, or was when something was stored. */
export const networkOf = (caip2: string): Network => networkNamed(namespaceOf(caip2) as ChainSettings['namespace']);

const namespaceOf = (caip2: string): string => caip2.slice(0, caip2.indexOf(':'));

/** What stands behind the colon of a chain's name. */
export const referenceOf = (caip2: string): string => caip2.slice(caip2.indexOf(':') + 1);

/** The one spelling of a chain: no alias, and a reference as long as CAIP-2 has it. */
export function chainName(caip2: string): string {
  const network = findNetwork(namespaceOf(caip2));
  return network === undefined ? caip2 : `${network.namespace}:${network.canonicalReference(referenceOf(caip2))}`;
}

/** A regular expression, without its anchors, for names of chains; `form` says where they are written. */
export const namePattern = (networks: readonly Network[], form: (network: Network) => ReferenceForm): string =>
  networks.map((network) => `${network.namespace}:${form(network).pattern}`).join('|');

/** The names of chains for messages. */
export const shownNames = (form: (network: Network) => ReferenceForm): string =>
  NETWORKS.map((network) => `${network.namespace}:${form(network).shown}`).join(' or ');

/** A chain by any of its spellings. Refuses one that is not configured, or is of another family than is wanted. */
export function configuredChain(chains: ConfiguredChains, caip2: string, wanted?: Network): ChainSettings {
  const name = chainName(caip2);
  if (wanted !== undefined && namespaceOf(name) !== wanted.namespace) {
    throw new ApiError('REQUEST_INVALID', `this operation serves ${wanted.namespace} chains, ${caip2} is none`);
  }
  const chain = chains.get(name);
  if (chain === undefined) {
    throw new ApiError(
      'CHAIN_NOT_CONFIGURED',
      `chain ${name} is not configured: the operator adds it to the setting CUSTOS_CHAINS`,
    );
  }
  return chain;
}
