import type { CreatePolicyParameters, GetPolicyResponse, UpdatePolicyParameters } from '@custos/sdk';
import { expressionLines } from '../../lib/diff.ts';

export type StoredPolicy = GetPolicyResponse['policy'];
export type Effect = StoredPolicy['effect'];

/** A policy as it stands in the form. */
export interface Draft {
  readonly policyName: string;
  readonly effect: Effect;
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
  readonly notes: string;
}

export const NEW: Draft = {
  policyName: '',
  effect: 'EFFECT_ALLOW',
  condition: '',
  consensus: '',
  time: '',
  notes: '',
};

const EXPRESSIONS = ['condition', 'consensus', 'time'] as const;
export type Expression = (typeof EXPRESSIONS)[number];

/** What is written in one long line is shown with a line for each part; spaces mean nothing in the language. */
const LINE_MAX = 60;
const shown = (text: string): string =>
  text.length > LINE_MAX && !text.includes('\n') ? expressionLines(text).join('\n') : text;

export const draftOf = (policy: StoredPolicy): Draft => ({
  policyName: policy.policyName,
  effect: policy.effect,
  condition: shown(policy.condition),
  consensus: shown(policy.consensus),
  time: shown(policy.time ?? ''),
  notes: policy.notes,
});

export const isSame = (one: Draft, other: Draft): boolean =>
  (Object.keys(NEW) as (keyof Draft)[]).every((key) => one[key] === other[key]);

/** What `create_policy` takes. Empty expressions are left out. */
export const toCreate = ({ policyName, effect, notes, ...rest }: Draft): CreatePolicyParameters => ({
  policyName: policyName.trim(),
  effect,
  notes,
  ...Object.fromEntries(EXPRESSIONS.filter((name) => rest[name].trim() !== '').map((name) => [name, rest[name]])),
});

/** What `update_policy` takes: only what differs. An expression that was cleared is sent empty. */
export function toUpdate(policyId: string, draft: Draft, stored: Draft): UpdatePolicyParameters {
  const differs = (key: keyof Draft): boolean => draft[key] !== stored[key];
  return {
    policyId,
    ...(differs('policyName') && { policyName: draft.policyName.trim() }),
    ...(differs('effect') && { policyEffect: draft.effect }),
    ...(differs('condition') && { policyCondition: draft.condition.trim() }),
    ...(differs('consensus') && { policyConsensus: draft.consensus.trim() }),
    ...(differs('time') && { time: draft.time.trim() }),
    ...(differs('notes') && { policyNotes: draft.notes }),
  };
}

/** What `describe_policy` and `simulate_activity` take. */
export const toSupposed = (draft: Draft, policyId: string | undefined) => ({
  ...(policyId !== undefined && { policyId }),
  ...(draft.policyName.trim() !== '' && { policyName: draft.policyName.trim() }),
  effect: draft.effect,
  condition: draft.condition,
  consensus: draft.consensus,
  time: draft.time,
});

/** Where in a text something is, counted from 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
