import type { Static } from 'typebox';
import type { ExecuteContext } from '../../engine/define.ts';
import { firstDuplicate } from '../../lib/collections.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { type Operator, type OperatorSet, operatorPublicKey } from './model.ts';
import { parseKeys } from './operator-keys.ts';
import { OPERATORS_MAX, type OperatorSetParamsShape } from './shapes.ts';
import { TvcReader, TvcStore } from './store.ts';

type OperatorSetParams = Static<typeof OperatorSetParamsShape>;

/** How a request names one of the two sets of an app. */
export interface SetChoice {
  /** Of the parameters: `manifestSet` or `shareSet`. */
  readonly name: 'manifestSet' | 'shareSet';
  readonly id: string | undefined;
  readonly params: OperatorSetParams | undefined;
  /** A key that one share opens is no shared key (protocol/deployments 1.2). */
  readonly thresholdMin: 1 | 2;
}

interface AppSets {
  readonly manifestSetId?: string;
  readonly manifestSetParams?: OperatorSetParams;
  readonly shareSetId?: string;
  readonly shareSetParams?: OperatorSetParams;
}

export const choicesOf = ({ manifestSetId, manifestSetParams, shareSetId, shareSetParams }: AppSets) => ({
  manifest: { name: 'manifestSet', id: manifestSetId, params: manifestSetParams, thresholdMin: 1 } satisfies SetChoice,
  share: { name: 'shareSet', id: shareSetId, params: shareSetParams, thresholdMin: 2 } satisfies SetChoice,
});

/** The rules on both sets that need no database. */
export function checkSets(sets: AppSets): void {
  const { manifest, share } = choicesOf(sets);
  const names = new Map<string, string>();
  for (const choice of [manifest, share]) {
    checkChoice(choice);
    for (const { name, signPublicKey, field } of newOperatorsOf(choice)) {
      if ((names.get(signPublicKey) ?? name) !== name) {
        throw invalidField(`${field}.name`, 'must be the name that the same key has in the other set');
      }
      names.set(signPublicKey, name);
    }
  }
}

function checkChoice(choice: SetChoice): void {
  const { name, id, params, thresholdMin } = choice;
  const field = `parameters.${name}Params`;
  if ((id === undefined) === (params === undefined)) {
    throw invalidField(id === undefined ? field : `parameters.${name}Id`, `give ${name}Id or ${name}Params, not both`);
  }
  if (params === undefined) return;
  const { existingOperatorIds = [], threshold } = params;
  const added = newOperatorsOf(choice);
  const count = existingOperatorIds.length + added.length;
  if (count < 1 || count > OPERATORS_MAX) {
    throw invalidField(field, `must have 1 to ${OPERATORS_MAX} operators, new and existing ones together`);
  }
  if (threshold < thresholdMin || threshold > count) {
    throw invalidField(`${field}.threshold`, `must be from ${thresholdMin} to the number of operators (${count})`);
  }
  if (firstDuplicate(existingOperatorIds) !== undefined) {
    throw invalidField(`${field}.existingOperatorIds`, 'names the same operator twice');
  }
  if (firstDuplicate(added.map(({ signPublicKey }) => signPublicKey)) !== undefined) {
    throw invalidField(`${field}.newOperators`, 'names the same public key twice');
  }
}

type NewOperator = Pick<Operator, 'name' | 'signPublicKey' | 'encryptPublicKey'>;

function newOperatorsOf({ name, params }: SetChoice): (NewOperator & { readonly field: string })[] {
  return (params?.newOperators ?? []).map((operator, index) => {
    const field = `parameters.${name}Params.newOperators.${index}`;
    return { name: operator.name, ...parseKeys(operator.publicKey, `${field}.publicKey`), field };
  });
}

/** A set that there is, or one that is to be made. */
type SetPlan =
  | { readonly kind: 'existing'; readonly set: OperatorSet }
  | {
      readonly kind: 'new';
      readonly name: string;
      readonly threshold: number;
      readonly members: readonly (Operator | NewOperator)[];
    };

/** Looks up what a request names; refuses what cannot become a set. */
export async function planSet(read: ReadStores, organizationId: OrganizationId, choice: SetChoice): Promise<SetPlan> {
  const { name, id, params, thresholdMin } = choice;
  if (params === undefined) {
    const set = await read(TvcReader).getOperatorSet(organizationId, id as string);
    if (set.threshold < thresholdMin) {
      throw invalidField(`parameters.${name}Id`, `must be a set with a threshold of ${thresholdMin} or more`);
    }
    return { kind: 'existing', set };
  }
  const members: (Operator | NewOperator)[] = await read(TvcReader).getOperators(
    organizationId,
    params.existingOperatorIds ?? [],
  );
  for (const { field, ...added } of newOperatorsOf(choice)) {
    const known = await read(TvcReader).findOperator(organizationId, added.signPublicKey);
    if (known !== undefined && !isSame(known, added)) {
      throw new ApiError(
        'ALREADY_EXISTS',
        `${field}: an operator with this public key already exists under another name; give its id in existingOperatorIds`,
      );
    }
    members.push(known ?? added);
  }
  if (firstDuplicate(members.map(({ signPublicKey }) => signPublicKey)) !== undefined) {
    throw invalidField(`parameters.${name}Params`, 'names the same operator twice');
  }
  return { kind: 'new', name: params.name, threshold: params.threshold, members };
}

/** Whether what is called new is what there is. */
const isSame = (known: Operator, added: NewOperator): boolean =>
  known.name === added.name && operatorPublicKey(known) === operatorPublicKey(added);

/**
 * The set that is chosen, made if there is none like it: same name, threshold and members (protocol/deployments 1.2).
 */
export async function openSet(context: ExecuteContext, choice: SetChoice): Promise<OperatorSet> {
  const { store, actor, newId, nowMs } = context;
  const { organizationId } = actor;
  const plan = await planSet(store, organizationId, choice);
  if (plan.kind === 'existing') return plan.set;
  const operators: Operator[] = [];
  for (const member of plan.members) operators.push('id' in member ? member : await enlist(context, member));
  const { name, threshold } = plan;
  const ids = operators.map(({ id }) => id);
  const known = await store(TvcStore).findOperatorSet(organizationId, name, threshold, ids);
  if (known !== undefined) return known;
  const set: OperatorSet = { id: newId(), name, threshold, operators, createdAtMs: nowMs };
  await store(TvcStore).insertOperatorSet(organizationId, set);
  return set;
}

async function enlist({ store, actor, newId, nowMs }: ExecuteContext, added: NewOperator): Promise<Operator> {
  const operator: Operator = { id: newId(), ...added, keySource: 'EXTERNAL_KEY', createdAtMs: nowMs };
  await store(TvcStore).insertOperator(actor.organizationId, operator);
  return operator;
}
