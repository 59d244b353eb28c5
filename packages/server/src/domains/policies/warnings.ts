import type { Policy } from '../../core/model.ts';
import type { PrepareContext } from '../../engine/define.ts';
import { lintPolicies } from '../../policy/index.ts';
import { PolicyReader } from './store/policies.ts';

/** Something that is probably not what the author of a policy means. */
export interface PolicyWarning {
  readonly code: string;
  readonly policyId: string;
  readonly message: string;
  readonly expression?: string;
  readonly otherPolicyIds?: string[];
}

/** Comparing takes the service's time, so that it is left to the command line where there are many. */
const OTHERS_MAX = 1000;
const PAIRS_MAX = 20_000;

/** What a linter says about these policies among the others of the organization; it refuses nothing. */
export async function warningsAbout(
  { read, actor, expressions, nowMs }: PrepareContext,
  changed: readonly Policy[],
): Promise<PolicyWarning[]> {
  const about = new Set<string>(changed.map(({ id }) => id));
  const count = await read(PolicyReader).count(actor.organizationId);
  const isCompared = count <= OTHERS_MAX && (count + changed.length) * changed.length <= PAIRS_MAX;
  const others = isCompared
    ? (await read(PolicyReader).all(actor.organizationId)).filter(({ id }) => !about.has(id))
    : [];
  const findings = isCompared
    ? lintPolicies([...others, ...changed], expressions, { nowMs, about })
    : changed.flatMap((policy) => lintPolicies([policy], expressions, { nowMs }));
  return [
    ...findings.map(({ code, policyId, message, expression, otherPolicyIds }) => ({
      code,
      policyId,
      message,
      ...(expression !== undefined && { expression }),
      ...(otherPolicyIds !== undefined && { otherPolicyIds: [...otherPolicyIds] }),
    })),
    ...(isCompared ? [] : changed.slice(0, 1).map(({ id }) => notCompared(id))),
  ];
}

const notCompared = (policyId: string): PolicyWarning => ({
  code: 'NOT_COMPARED',
  policyId,
  message: 'there are too many policies to compare with each other here: `custos policy lint` does it',
});
