import type { VelocityAggregation } from '../../core/model.ts';
import { nameOf } from '../../describe/names.ts';
import { policyNames } from '../../describe/policy-names.ts';
import {
  type Direction,
  danger,
  lookClosely,
  type PolicyText,
  routine,
  type Sentence,
  type SentenceContext,
} from '../../describe/sentence.ts';
import { counted, listOf, named, say, strong, type TextPart, written } from '../../describe/text.ts';
import { durationText } from '../../describe/values.ts';
import { comparePolicies } from '../../policy/index.ts';

// Policies and limits in words.

interface NewPolicy {
  readonly policyName: string;
  readonly effect: string;
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
  readonly notes?: string;
}

const textOfPolicy = ({ policyName, effect, condition, consensus, time, notes }: NewPolicy): PolicyText => ({
  policyName,
  effect,
  condition: condition ?? '',
  consensus: consensus ?? '',
  time: time ?? '',
  notes: notes ?? '',
});

const isEmpty = (expression: string | undefined): boolean => (expression ?? '').trim() === '';

export function newPolicySentence(policy: NewPolicy): Sentence {
  return { ...addedPolicy(policy), policyChange: { direction: 'CHANGE', after: textOfPolicy(policy) } };
}

function addedPolicy({ policyName, effect, condition, consensus }: NewPolicy): Sentence {
  const name = named(policyName);
  if (effect !== 'EFFECT_ALLOW') {
    if (!isEmpty(condition)) return routine(say`Add the denial ${name}: it stops what fits its condition.`);
    return lookClosely(
      say`Deny all that a policy can govern: the denial "${name}" has no condition.`,
      'denies everything',
      'Only the root quorum can act then, until this denial is deleted. I want that.',
    );
  }
  if (isEmpty(condition) && isEmpty(consensus)) {
    return danger(
      say`Allow ${strong('anybody here all that a policy can allow')}: "${name}" has no condition and no consensus.`,
      'allows everything to everybody',
      'Every user here can then do all that a policy can allow, alone. I want that.',
    );
  }
  if (isEmpty(consensus)) {
    return lookClosely(
      say`Allow ${strong('anybody here')} what fits the condition of ${name}: it has no consensus.`,
      'allows it to everybody',
      'Every user here can then do this alone. I have read the condition.',
    );
  }
  if (isEmpty(condition)) {
    return danger(
      say`Allow ${strong('all that a policy can allow')} to those who meet the consensus of ${name}: it has no condition.`,
      'allows everything to some',
      'Those who meet the consensus can then do all that a policy can allow. I want that.',
    );
  }
  return lookClosely(
    say`Add policy ${name}: it allows what fits its condition, once its consensus is met.`,
    'a new permission',
    'I have read its condition and its consensus and want to allow this.',
  );
}

export function newPoliciesSentence(policies: readonly NewPolicy[]): Sentence {
  const all = policies.map(newPolicySentence);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const worst =
    all.find(({ marks }) => marks.some(({ risk }) => risk === 'DANGER')) ?? all.find(({ marks }) => marks.length > 0);
  return {
    parts: say`Add ${strong(counted(policies.length, 'policy', 'policies'))}: ${listOf(policies.map(({ policyName }) => named(policyName)))}.`,
    marks: [...new Map(all.flatMap(({ marks }) => marks).map((mark) => [mark.text, mark])).values()],
    ...(worst?.consequence !== undefined && { consequence: worst.consequence }),
    steps: all.map(({ parts, marks }) => ({ sentence: parts, risk: marks[0]?.risk ?? 'ROUTINE' })),
  };
}

/** `a, b, and c`: each is a clause of its own. */
const joined = (clauses: readonly (readonly TextPart[])[]): readonly TextPart[] =>
  clauses.flatMap((clause, index) => {
    const between = index === 0 ? '' : index === clauses.length - 1 ? ', and ' : ', ';
    return say`${between}${clause}`;
  });

const VERBS: Readonly<Record<Direction, string>> = { WIDEN: 'Widen', NARROW: 'Narrow', CHANGE: 'Change' };

interface PolicyUpdate {
  readonly policyId: string;
  readonly policyName?: string;
  readonly policyEffect?: string;
  readonly policyCondition?: string;
  readonly policyConsensus?: string;
  readonly policyNotes?: string;
  readonly time?: string;
}

export function policyUpdateSentence(update: PolicyUpdate, context: SentenceContext): Sentence {
  const { names, isDone } = context;
  const before = names.get('policy', update.policyId);
  const name = nameOf(names, 'policy', update.policyId);
  // What it was before cannot be read any more once it is changed.
  if (before === undefined || isDone) {
    return lookClosely(
      say`Change policy ${name}.`,
      'changes a policy',
      'I have read the new text of this policy and want it.',
    );
  }
  const after: PolicyText = {
    policyName: update.policyName ?? before.policyName,
    effect: update.policyEffect ?? before.effect,
    condition: update.policyCondition ?? before.condition,
    consensus: update.policyConsensus ?? before.consensus,
    time: update.time ?? before.time,
    notes: update.policyNotes ?? before.notes,
  };
  const { name: _name, ...old } = before;
  const isRenamed = after.policyName !== old.policyName;
  // A new name is told apart: it decides nothing.
  const { direction, changes } = comparePolicies(
    old,
    { ...after, policyName: old.policyName },
    { names: policyNames(context) },
  );
  const policyChange = { direction, before: old, after };
  if (changes.length === 0) {
    const parts = isRenamed
      ? say`Rename policy ${name} to ${named(after.policyName)}.`
      : say`Change the notes of policy ${name}: what it decides stays the same.`;
    return { ...routine(parts), policyChange };
  }
  const clauses = joined(isRenamed ? [...changes, say`it is renamed to ${named(after.policyName)}`] : changes);
  const said = say`${VERBS[direction]} policy ${name}: ${clauses}.`;
  const opens = isEmpty(after.condition) && isEmpty(after.consensus) && after.effect === 'EFFECT_ALLOW';
  if (opens) {
    return {
      ...danger(
        said,
        'allows everything to everybody',
        'Every user here can then do all that a policy can allow, alone. I want that.',
      ),
      policyChange,
    };
  }
  const mark =
    direction === 'WIDEN' ? 'widens a policy' : direction === 'NARROW' ? 'narrows a policy' : 'changes a policy';
  return {
    ...lookClosely(said, mark, 'I have compared the old and the new text of this policy and want the new one.'),
    policyChange,
  };
}

export function policiesDeletedSentence(ids: readonly string[], { names }: SentenceContext): Sentence {
  const found = ids.flatMap((id) => names.get('policy', id) ?? []);
  const listed = listOf(ids.map((id) => nameOf(names, 'policy', id)));
  const [only] = found;
  const change =
    only !== undefined && ids.length === 1
      ? { policyChange: { direction: 'CHANGE' as const, before: withoutName(only) } }
      : {};
  if (found.some(({ effect }) => effect === 'EFFECT_DENY')) {
    const noun = ids.length === 1 ? 'the denial' : 'policies, denials among them,';
    return {
      ...danger(
        say`Delete ${noun} ${listed}: what it stopped may be allowed.`,
        'takes a denial away',
        'What this denial stopped may be allowed from then on. I want that.',
      ),
      ...change,
    };
  }
  const noun = ids.length === 1 ? 'policy' : 'policies';
  return {
    ...lookClosely(
      say`Delete ${noun} ${listed}: what only ${ids.length === 1 ? 'it' : 'they'} allowed is denied from then on.`,
      'takes a permission away',
      'What only this allowed is denied from then on. I want that.',
    ),
    ...change,
  };
}

const withoutName = ({ name: _name, ...text }: PolicyText & { readonly name: string }): PolicyText => text;

const OPERATORS: Readonly<Record<VelocityAggregation['operator'], string>> = {
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN: 'less than',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL: 'at most',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL: 'exactly',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL: 'at least',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN: 'more than',
};

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

interface NewControl {
  readonly name: string;
  readonly aggregation: {
    readonly operator: string;
    readonly threshold: string;
    readonly window: { readonly rolling?: { readonly duration: string } };
    readonly groupBy: { readonly user?: object; readonly wallet?: object };
  };
  readonly dataSource: { readonly chainAssetTransfer?: object };
}

export function velocitySentence({ name, aggregation, dataSource }: NewControl): Sentence {
  const { operator, threshold, window, groupBy } = aggregation;
  const [, length, unit = ''] = /^([0-9]+)([smhd])$/.exec(window.rolling?.duration ?? '') ?? [];
  const span =
    length === undefined ? say` in all` : say` within ${strong(durationText(Number(length) * (SECONDS[unit] ?? 1)))}`;
  const group = groupBy.user !== undefined ? ' by each user' : groupBy.wallet !== undefined ? ' from each wallet' : '';
  const what = dataSource.chainAssetTransfer === undefined ? 'activities' : 'units of the asset';
  const words = OPERATORS[operator as VelocityAggregation['operator']];
  return routine(
    say`Set the limit ${named(name)}: ${words} ${strong(written(threshold, 80).text)} ${what}${span}${group}.`,
  );
}
