import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { EffectShape, ExpressionShape } from '../../../engine/shapes/rules.ts';
import { invalidField } from '../../../lib/errors.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { PolicyDescriptionShape } from '../shapes.ts';
import { PolicyReader } from '../store/policies.ts';
import { describeDraft } from '../words/described.ts';

export const describePolicy = defineQuery({
  name: 'describe_policy',
  ours: true,
  summary:
    'A policy, stored or a draft, as one sentence: what it allows or denies and to whom, with the mistakes and names in its expressions, and what a draft changes in the stored policy.',
  bodyLimit: LIMITS.bodyBytes,
  parameters: Type.Object({
    organizationId: IdShape,
    policyId: Type.Optional(IdShape),
    /** A policy that is not stored. With the id of one that is, it is compared with it. */
    draft: Type.Optional(
      Type.Object({
        policyId: Type.Optional(IdShape),
        policyName: Type.Optional(NameShape),
        effect: EffectShape,
        condition: Type.Optional(ExpressionShape),
        consensus: Type.Optional(ExpressionShape),
        time: Type.Optional(ExpressionShape),
      }),
    ),
  }),
  response: Type.Object({ description: PolicyDescriptionShape }),
  async run({ read, actor, config, expressions, nowMs }, { policyId, draft }) {
    if ((policyId === undefined) === (draft === undefined)) {
      throw invalidField('draft', 'give either policyId or draft');
    }
    const { organizationId } = actor;
    const input = { read, organizationId, chains: config.chains, expressions, nowMs };
    const storedId = policyId ?? draft?.policyId;
    const stored = storedId === undefined ? undefined : await read(PolicyReader).get(organizationId, storedId);
    if (draft !== undefined) return { description: await describeDraft(input, draft, stored) };
    const { direction: _same, ...description } = await describeDraft(
      input,
      stored as NonNullable<typeof stored>,
      stored,
    );
    return { description };
  },
});
