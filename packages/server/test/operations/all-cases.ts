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

function find<Part extends keyof OperationCases>(operation: string, part: Part): NonNullable<OperationCases[Part]> {
  const found = byOperation.get(operation)?.[part];
  if (found === undefined) throw new Error(`cases.ts of its domain has no ${part} case of ${operation}`);
  return found;
}

export const activityCase = (operation: string): ActivityCase => find(operation, 'activity');
export const queryCase = (operation: string): QueryCase => find(operation, 'query');

/** The hostile case of an operation, built for one tenant and one version, the current one unless told. */
export const caseFor = async (operation: string, tenant: Tenant, type?: string): Promise<Case> =>
  await find(operation, 'hostile')(tenant, type);
