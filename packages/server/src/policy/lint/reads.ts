import { type GovernedType, namespacesOf, paramsOf } from '../catalog/activity-facts.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath, alwaysEvaluated, namespaceOf } from '../language/paths.ts';
import type { Domain } from './domain.ts';

/**
 * What a condition cannot be evaluated without: nothing short-circuits, so one absent namespace is an error of the
 * whole.
 */
export interface Reads {
  readonly namespaces: ReadonlySet<string>;
  readonly params: ReadonlySet<string>;
}

export function readsOf(tree: CheckedTree): Reads {
  const namespaces = new Set<string>();
  const params = new Set<string>();
  for (const node of alwaysEvaluated(tree.root)) {
    const path = accessPath(tree, node);
    const namespace = path === undefined ? undefined : namespaceOf(path);
    if (namespace === 'activity.params') {
      if (path?.[2] !== undefined) params.add(path[2]);
    } else if (namespace !== undefined) namespaces.add(namespace);
  }
  return { namespaces, params };
}

/** The namespace that comes with a value of a parameter; the empty text where none does. */
const NAMESPACE_OF_VALUE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    TRANSACTION_TYPE_ETHEREUM: 'eth.tx',
    TRANSACTION_TYPE_SOLANA: 'solana.tx',
    TRANSACTION_TYPE_TRON: 'tron.tx',
    TRANSACTION_TYPE_BITCOIN: 'bitcoin.tx',
    TRANSACTION_TYPE_TEMPO: 'tempo.tx',
    PAYLOAD_ENCODING_EIP712: 'eth.eip_712',
    PAYLOAD_ENCODING_EIP7702_AUTHORIZATION: 'eth.eip_7702_authorization',
    PAYLOAD_ENCODING_HEXADECIMAL: '',
    PAYLOAD_ENCODING_TEXT_UTF8: '',
  }),
);

const SHOWN_BY_PARAMS: ReadonlySet<string> = new Set(NAMESPACE_OF_VALUE.values());

/** Namespaces that the parameters of a condition leave possible; undefined when they say nothing about it. */
function namespacesByParams(domains: ReadonlyMap<string, Domain>): ReadonlySet<string> | undefined {
  const values = ['activity.params.type', 'activity.params.encoding'].flatMap((key) => [
    ...(domains.get(key)?.allowed ?? []),
  ]);
  const known = values.map((value) => NAMESPACE_OF_VALUE.get(String(value)));
  return values.length === 0 || known.includes(undefined) ? undefined : new Set(known as string[]);
}

/** The alternatives of namespaces of such a request under which a condition has all that it reads. */
export function feasibleAlternatives(
  { namespaces, params }: Reads,
  domains: ReadonlyMap<string, Domain>,
  { type, kind }: GovernedType,
): readonly (readonly string[])[] {
  const exposed = paramsOf(type, kind);
  if ([...params].some((name) => !exposed.includes(name))) return [];
  const byParams = namespacesByParams(domains);
  return namespacesOf(kind).filter((alternative: readonly string[]) => {
    if (![...namespaces].every((namespace) => alternative.includes(namespace))) return false;
    const shown = alternative.find((namespace) => SHOWN_BY_PARAMS.has(namespace)) ?? '';
    return byParams === undefined || byParams.has(shown);
  });
}
