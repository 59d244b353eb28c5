import type { ConfiguredChains } from '../../../chains/settings.ts';
import { Users } from '../../../core/directory.ts';
import { renderEvaluation } from '../../../engine/render-evaluation.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import {
  type Approver,
  type DecisionExplanation,
  type Explained,
  explainEvaluation,
  mentionsIn,
  type Names,
  newSearchBudget,
  type VoteEvaluation,
} from '../../../policy/index.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { loadNames, shownName } from './names.ts';

/** Reads, once, what everything is called that these evaluations mention. */
export const namesFor = async (
  read: ReadStores,
  organizationId: OrganizationId,
  chains: ConfiguredChains,
  evaluations: readonly VoteEvaluation[],
  ids: readonly string[] = [],
): Promise<Names> => {
  const found = mentionsIn(evaluations.map((evaluation) => JSON.stringify(evaluation)));
  return await loadNames(read, organizationId, chains, { ...found, ids: [...new Set([...found.ids, ...ids])] });
};

/** Who approved, with the tags that they have now. */
export async function approversNamed(
  read: ReadStores,
  organizationId: OrganizationId,
  userIds: readonly string[],
): Promise<readonly Approver[]> {
  const members = await read(Users).members(organizationId, [...new Set(userIds)]);
  return members.map(({ id, user, tagIds }) => ({ id, name: shownName(user.name), tags: tagIds }));
}

export interface ExplainedAt {
  readonly names: Names;
  readonly atMs: number;
  readonly approvers: readonly Approver[];
  readonly pendingNames?: (policyId: string) => readonly string[] | undefined;
}

export function explainAll(
  evaluations: readonly VoteEvaluation[],
  options: ExplainedAt,
): { readonly explained: readonly Explained[]; readonly rendered: ReturnType<typeof renderExplained>[] } {
  const budget = newSearchBudget();
  const explained = evaluations.map((evaluation) => ({
    evaluation,
    explanation: explainEvaluation(evaluation, { ...options, budget }),
  }));
  return { explained, rendered: explained.map(renderExplained) };
}

const renderExplained = ({ evaluation, explanation }: Explained) => ({
  ...renderEvaluation(evaluation),
  explanation: { ...explanation, sentence: [...explanation.sentence], parts: [...explanation.parts] },
});

export const renderDecisionWords = ({ sentence, whatWouldPass }: DecisionExplanation) => ({
  sentence: [...sentence],
  ...(whatWouldPass !== undefined && { whatWouldPass }),
});
