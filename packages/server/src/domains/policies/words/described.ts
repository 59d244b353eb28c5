import type { ConfiguredChains } from '../../../chains/settings.ts';
import { Members } from '../../../core/directory.ts';
import type { Policy } from '../../../core/model.ts';
import { toMember } from '../../../engine/members.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { textOf } from '../../../lib/text-part.ts';
import {
  canBeReached,
  comparePolicies,
  consensusNeeds,
  type DescribedWarning,
  type Draft,
  describePolicy,
  type ExpressionCache,
  type LintFinding,
  lintPolicies,
  mentionsIn,
  type Names,
  type PolicyDescription,
} from '../../../policy/index.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { PolicyReader } from '../store/policies.ts';
import { loadNames } from './names.ts';

/** Comparing takes the service's time, so it is left to the command line where there are many. */
const OTHERS_MAX = 1000;
/** Of a policy that is not stored. */
const DRAFT_ID = 'draft';

export interface DescribeInput {
  readonly read: ReadStores;
  readonly organizationId: OrganizationId;
  readonly chains: ConfiguredChains;
  readonly expressions: ExpressionCache;
  readonly nowMs: number;
}

export interface PolicyDraft extends Draft {
  readonly policyId?: string | undefined;
  readonly policyName?: string | undefined;
}

const textsOf = ({ condition, consensus, time }: Draft): string[] => [condition ?? '', consensus ?? '', time ?? ''];

export const namesOfPolicies = async (
  { read, organizationId, chains }: DescribeInput,
  policies: readonly Draft[],
): Promise<Names> => await loadNames(read, organizationId, chains, mentionsIn(policies.flatMap(textsOf)));

/** A policy among the others of its organization, and against the stored one if it stands in for it. */
export async function describeDraft(input: DescribeInput, draft: PolicyDraft, stored: Policy | undefined) {
  const { expressions } = input;
  const names = await namesOfPolicies(input, stored === undefined ? [draft] : [draft, stored]);
  const description = describePolicy(draft, { names, cache: expressions });
  const warnings =
    description.errors.length > 0
      ? description.warnings
      : [
          ...description.warnings,
          ...(await lintAmongOthers(input, draft, stored)),
          ...(await unreachable(input, draft)),
        ];
  const comparison =
    stored === undefined
      ? undefined
      : comparePolicies({ ...stored, policyName: stored.name }, draft, { names, cache: expressions });
  return renderDescription(
    { ...description, warnings },
    comparison && { direction: comparison.direction, changes: comparison.changes.map(textOf) },
  );
}

/** A stored policy by itself, as a list shows it. */
export function describeStored({ expressions, nowMs }: DescribeInput, policy: Policy, names: Names) {
  const description = describePolicy(policy, { names, cache: expressions });
  const findings = description.errors.length > 0 ? [] : lintPolicies([policy], expressions, { nowMs }).map(toWarning);
  return renderDescription({ ...description, warnings: [...description.warnings, ...findings] });
}

const renderDescription = (
  { sentence, text, risk, errors, warnings, marks }: PolicyDescription,
  compared: { readonly direction: 'WIDEN' | 'NARROW' | 'CHANGE'; readonly changes: string[] } | undefined = undefined,
) => ({
  sentence: [...sentence],
  text,
  risk,
  errors: [...errors],
  warnings: [...warnings],
  marks: marks.map(({ expression, start, end, text: mark }) => ({ expression, start, end, text: mark })),
  ...(compared !== undefined && { direction: compared.direction }),
  changes: compared?.changes ?? [],
});

async function lintAmongOthers(
  { read, organizationId, expressions, nowMs }: DescribeInput,
  draft: PolicyDraft,
  stored: Policy | undefined,
): Promise<DescribedWarning[]> {
  const count = await read(PolicyReader).count(organizationId);
  const others = count <= OTHERS_MAX ? await read(PolicyReader).all(organizationId) : [];
  const id = stored?.id ?? DRAFT_ID;
  const { condition, consensus, time } = draft;
  const effect = draft.effect as Policy['effect'];
  const own = { id, name: draft.policyName, effect, condition, consensus, time };
  const findings = lintPolicies([...others.filter((other) => other.id !== id), own], expressions, {
    nowMs,
    about: new Set([id]),
  });
  return findings.map(toWarning);
}

const toWarning = ({ code, message, expression, span }: LintFinding): DescribedWarning => ({
  code,
  message,
  ...(expression !== undefined && { expression }),
  ...(span !== undefined && { start: span.start, end: span.end }),
});

/** Approvals that nobody here can give. */
async function unreachable(
  { read, organizationId, expressions }: DescribeInput,
  { effect, consensus }: PolicyDraft,
): Promise<DescribedWarning[]> {
  if (effect === 'EFFECT_DENY' || consensus === undefined || consensus === '') return [];
  const compilation = expressions.compile('consensus', consensus);
  if (!compilation.ok) return [];
  const members = await read(Members).find(organizationId, consensusNeeds(compilation.expression));
  if (canBeReached(compilation.expression, members.map(toMember)) !== 'unreachable') return [];
  return [
    {
      code: 'CONSENSUS_UNREACHABLE',
      message: 'The users of the organization cannot meet this consensus, so it allows nothing.',
      expression: 'consensus',
    },
  ];
}
