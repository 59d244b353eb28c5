import type { NameKind, NameSource } from './describe/names.ts';
import { domains } from './domains.ts';
import {
  type ActivityOperation,
  type ActivityVersion,
  type Operation,
  type QueryOperation,
  type VoteOperation,
  wireKeys,
} from './engine/define.ts';

/** Every operation of every domain. */
export const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
export const activities: readonly ActivityOperation[] = operations.filter((operation) => operation.kind === 'activity');
export const votes: readonly VoteOperation[] = operations.filter((operation) => operation.kind === 'vote');
export const queries: readonly QueryOperation[] = operations.filter((operation) => operation.kind === 'query');

/** What every domain has names for. */
export const nameSources: ReadonlyMap<NameKind, NameSource> = new Map(
  domains.flatMap(({ names = [] }) => names).map((source) => [source.kind, source]),
);

const byType = new Map(
  activities.flatMap((operation) =>
    operation.versions.map((version) => [version.type, { operation, version }] as const),
  ),
);

/** Types that no path serves but that the history of an organization holds. */
export const BOOTSTRAP_TYPE = 'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2';

/** The operation and version that serve a type. */
export const versionOfType = (
  type: string,
): { readonly operation: ActivityOperation; readonly version: ActivityVersion } | undefined => byType.get(type);

export function operationOfType(type: string): ActivityOperation {
  const found = byType.get(type);
  if (found === undefined) throw new Error(`no operation for ${type}`);
  return found.operation;
}

export function wireKeysOfType(type: string): { readonly intentKey: string; readonly resultKey: string } {
  return byType.get(type)?.version ?? wireKeys(type);
}

export const pathOf = (operation: Operation): string =>
  `/public/v1/${operation.kind === 'query' ? 'query' : 'submit'}/${operation.name}`;
