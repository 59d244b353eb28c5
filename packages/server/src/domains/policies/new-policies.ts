import type { Policy } from '../../core/model.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { requireExpression } from '../../engine/expressions.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Stores } from '../../storage/stores.ts';
import type { PolicyParams } from './shapes.ts';
import { PolicyStore } from './store/policies.ts';
import { type PolicyWarning, warningsAbout } from './warnings.ts';

interface Expressions {
  readonly condition?: string | undefined;
  readonly consensus?: string | undefined;
  readonly time?: string | undefined;
}

export const textsOf = ({ condition, consensus, time }: Expressions): (string | undefined)[] => [
  condition,
  consensus,
  time,
];

/** What the caller's request calls the expressions. */
type ExpressionNames = Readonly<Record<keyof Expressions, string>>;
const NAMES: ExpressionNames = { condition: 'condition', consensus: 'consensus', time: 'time' };

export function checkPolicy(policy: Expressions, field: string, names: ExpressionNames = NAMES): void {
  for (const each of ['condition', 'consensus', 'time'] as const) {
    requireExpression(each, policy[each] ?? '', `${field}.${names[each]}`);
  }
}

/** Policies about to be stored, and what their author should look at. */
export interface NewPolicies {
  readonly policies: readonly Policy[];
  readonly warnings: readonly PolicyWarning[];
}

export async function draftPolicies(
  context: PrepareContext,
  parameters: readonly PolicyParams[],
): Promise<NewPolicies> {
  const { newId, nowMs } = context;
  const policies = parameters.map(
    (params): Policy => ({
      id: newId(),
      name: params.policyName,
      effect: params.effect as Policy['effect'],
      condition: params.condition ?? '',
      consensus: params.consensus ?? '',
      time: params.time ?? '',
      notes: params.notes,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
  );
  return { policies, warnings: await warningsAbout(context, policies) };
}

/** Policies are kept compiled, so that all of an organization together have a bound. */
export async function requireRoom(store: Stores, organizationId: OrganizationId): Promise<void> {
  if ((await store(PolicyStore).weight(organizationId)) <= LIMITS.policiesLength) return;
  throw new ApiError(
    'RESOURCE_LIMIT_EXCEEDED',
    `the policies of an organization can have at most ${LIMITS.policiesLength} characters, each counted with 100 more`,
  );
}

export async function addPolicies(
  { store, actor, config }: ExecuteContext,
  policies: readonly Policy[],
): Promise<string[]> {
  const { organizationId } = actor;
  const limit = config.limitPolicies;
  if (limit !== undefined && (await store(PolicyStore).count(organizationId)) + policies.length > limit) {
    throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${limit} policies`);
  }
  await store(PolicyStore).insert(organizationId, policies);
  await requireRoom(store, organizationId);
  return policies.map((policy) => policy.id);
}
