import { type KindFacts, POLICY_RESOURCES } from '../../packages/server/src/policy/catalog/kind-facts.ts';
import { activities } from '../../packages/server/src/registry.ts';

type Activity = (typeof activities)[number];

/**
 * What policies know of the operations, as a file of the policy engine: it may not load them, because the command line
 * checks policies without a server.
 */
export function servedKinds(): string {
  const kinds = activities.flatMap(factsOf).sort(byResourceAndKind);
  const rootQuorum = activities
    .filter(({ policy }) => policy.governedBy === 'root-quorum')
    .flatMap(typesOf)
    .sort();
  return `// Written by \`npm run generate\` from the registry of operations. Do not edit.
import type { KindFacts } from './kind-facts.ts';

/** Kinds that operations have, with what these say of themselves. */
export const SERVED_KINDS: readonly KindFacts[] = [
${kinds.map((facts) => `  ${literal(facts)},\n`).join('')}];

/** Types that the root quorum alone decides. */
export const ROOT_QUORUM_TYPES: readonly string[] = [
${rootQuorum.map((type) => `  ${literal(type)},\n`).join('')}];
`;
}

const typesOf = ({ versions, unserved }: Activity): string[] => [...versions.map(({ type }) => type), ...unserved];

function factsOf(operation: Activity): KindFacts[] {
  const { name, policy, versions, ownAccount } = operation;
  if (policy.governedBy !== 'policy') return [];
  const { resource, action, params, namespaces, signsRaw } = policy;
  const types = typesOf(operation);
  const base = types.find((type) => !/_V[0-9]+$/.test(type));
  if (base === undefined) throw new Error(`${name} has no first version: name it in unserved`);
  for (let version = 2; version <= types.length; version += 1) {
    if (!types.includes(`${base}_V${version}`))
      throw new Error(`${name} has a gap in its versions: ${types.join(', ')}`);
  }
  const others = versions.filter(({ policyParams }) => policyParams.join() !== (params ?? []).join());
  const facts: KindFacts = {
    kind: base.replace('ACTIVITY_TYPE_', ''),
    resource,
    action,
    versions: types.length,
    ...(params && { params }),
    ...(others.length > 0 && {
      paramsByType: Object.fromEntries(others.map(({ type, policyParams }) => [type, policyParams])),
    }),
    ...(namespaces && { namespaces }),
    ...(signsRaw === true && { signsRaw }),
    ...(ownAccount !== 'none' && { ownAccount }),
  };
  return [facts];
}

function byResourceAndKind(one: KindFacts, other: KindFacts): number {
  const distance = POLICY_RESOURCES.indexOf(one.resource) - POLICY_RESOURCES.indexOf(other.resource);
  return distance !== 0 ? distance : one.kind < other.kind ? -1 : 1;
}

/** A value in the spelling of the sources. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([key, field]) => `${key}: ${literal(field)}`);
  return `{ ${entries.join(', ')} }`;
}
