import { domains } from '../../src/domains.ts';
import type { DomainCases, OperationCases } from './domain-cases.ts';
import type { ActivityCase, QueryCase } from './every-case.ts';
import type { Case } from './hostile-case.ts';
import type { Tenant } from './tenant.ts';

async function load(domain: string): Promise<DomainCases> {
  const { cases } = (await import(`../../src/domains/${domain}/cases.ts`)) as { cases: DomainCases };
  return cases;
}

/** The cases of each domain, from its folder. */
export const casesByDomain: ReadonlyMap<string, DomainCases> = new Map(
  await Promise.all(
    domains
      .filter(({ operations }) => operations.length > 0)
      .map(async ({ name }) => [name, await load(name)] as const),
  ),
);

const byOperation = new Map([...casesByDomain.values()].flatMap((cases) => Object.entries(cases)));

function part<Name extends 'activity' | 'query' | 'hostile'>(
  operation: string,
  name: Name,
): NonNullable<OperationCases[Name]> {
  const found = casesOf(operation)[name];
  if (found === undefined) throw new Error(`cases.ts of its domain has no ${name} case of ${operation}`);
  return found;
}

export function casesOf(operation: string): OperationCases {
  const cases = byOperation.get(operation);
  if (cases === undefined) throw new Error(`cases.ts of its domain has no entry for ${operation}`);
  return cases;
}

export const activityCase = (operation: string): ActivityCase => part(operation, 'activity');
export const queryCase = (operation: string): QueryCase => part(operation, 'query');

/** The hostile case of an operation, built for one tenant and one version, the current one unless told. */
export const caseFor = async (operation: string, tenant: Tenant, type?: string): Promise<Case> =>
  await part(operation, 'hostile')(tenant, type);
