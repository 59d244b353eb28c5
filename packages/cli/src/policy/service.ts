import { openService, type ServiceOptions } from '../credentials.ts';
import { type FileProblem, openText } from './cursor.ts';
import { policiesOf } from './lint.ts';
import type { NamedPolicy } from './policies.ts';

const PAGE = '100';

/** All policies of the organization that the credentials belong to. */
export async function fetchPolicies(options: ServiceOptions): Promise<readonly NamedPolicy[]> {
  const { client, organizationId } = openService(options);
  const policies: NamedPolicy[] = [];
  for (let after: string | undefined; ; ) {
    const paginationOptions = { limit: PAGE, ...(after !== undefined && { after }) };
    const answer = await client.queryRaw('list_policies', JSON.stringify({ organizationId, paginationOptions }));
    const page = readAnswer(answer);
    policies.push(...page);
    const { hasNextPage = false, endCursor = '' } = (answer as { readonly pageInfo?: PageInfo }).pageInfo ?? {};
    if (!hasNextPage || page.length === 0) return policies;
    after = endCursor;
  }
}

interface PageInfo {
  readonly hasNextPage?: boolean;
  readonly endCursor?: string;
}

/** The same reader as for files, so that what lint accepts is what the service answers. */
function readAnswer(answer: unknown): readonly NamedPolicy[] {
  const problems: FileProblem[] = [];
  const source = 'the answer of list_policies';
  const policies = policiesOf(openText(source, JSON.stringify(answer, null, 2)), source, problems);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  return policies;
}
