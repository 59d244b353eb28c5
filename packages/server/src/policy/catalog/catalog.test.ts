import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACTIVITY_PARAMS, CONDITION_ROOTS } from '../language/structs.ts';
import { fieldOf, type StructType } from '../language/types.ts';
import { GOVERNED_TYPES, namespacesOf, paramsOf } from './activity-facts.ts';
import { ACTIVITY_TYPES, activityType } from './activity-types.ts';
import { NAMESPACES } from './namespaces.ts';
import { ALL_TYPES, OTHER_TYPES, typeSetOf, typesIn, typesWith } from './type-set.ts';

const { activityTypes } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/policy-cases.json', import.meta.url), 'utf8'),
) as { activityTypes: { type: string; mark: string }[] };

test.each(activityTypes)('$type', ({ mark: _mark, ...row }) => {
  expect(activityType(row.type)).toEqual(row);
});

test('the cases are the published ones', () => {
  expect(activityTypes).toHaveLength(162);
});

test('beyond the published table there are only the wire contract, velocity controls, recovery kits, webhooks and bounces', () => {
  const published = new Set(activityTypes.map(({ type }) => type));
  const added = ACTIVITY_TYPES.filter(({ type }) => !published.has(type));
  expect(added.map(({ governedBy: _governedBy, ...row }) => Object.values(row).join(' ')).toSorted()).toEqual([
    'ACTIVITY_TYPE_CREATE_RECOVERY_KIT',
    'ACTIVITY_TYPE_CREATE_SWAP_QUOTE_V2 CREATE_SWAP_QUOTE CONFIG VERIFY',
    'ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL CREATE_VELOCITY_CONTROL POLICY CREATE',
    'ACTIVITY_TYPE_DELETE_RECOVERY_KITS',
    'ACTIVITY_TYPE_DELETE_SECRETS DELETE_SECRETS SECRET DELETE',
    'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL DELETE_VELOCITY_CONTROL POLICY DELETE',
    'ACTIVITY_TYPE_EARN_CLAIM_REWARDS EARN_CLAIM_REWARDS PRIVATE_KEY SIGN',
    'ACTIVITY_TYPE_EXECUTE_SWAP_V3 EXECUTE_SWAP PRIVATE_KEY SIGN',
    'ACTIVITY_TYPE_RECORD_EMAIL_EVENT RECORD_EMAIL_EVENT EMAIL_EVENT CREATE',
    'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERY REPLAY_WEBHOOK_DELIVERY WEBHOOK_ENDPOINT UPDATE',
    'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT TEST_WEBHOOK_ENDPOINT WEBHOOK_ENDPOINT VERIFY',
    'ACTIVITY_TYPE_UPDATE_PAYMENT_METHOD UPDATE_PAYMENT_METHOD PAYMENT_METHOD UPDATE',
  ]);
  expect(new Set(ACTIVITY_TYPES.map(({ type }) => type)).size).toBe(ACTIVITY_TYPES.length);
});

test('a name that objects inherit is no type', () => {
  expect(activityType('constructor')).toBeUndefined();
  expect(activityType('')).toBeUndefined();
});

test('every parameter of the language is exposed by some activity, and every exposed one is of the language', () => {
  const exposed = new Set(GOVERNED_TYPES.flatMap(({ type, kind }) => paramsOf(type, kind)));
  expect([...exposed].toSorted()).toEqual(Object.keys(ACTIVITY_PARAMS.fields).toSorted());
});

test('every namespace of the language comes with some activity', () => {
  const populated = new Set(GOVERNED_TYPES.flatMap(({ kind }) => namespacesOf(kind).flat()));
  expect([...populated].toSorted()).toEqual([...NAMESPACES].toSorted());
  for (const namespace of NAMESPACES) {
    const [root = '', member] = namespace.split('.');
    const found = fieldOf(CONDITION_ROOTS, root)?.field;
    expect(found?.presence).toBe('keyword');
    if (member !== undefined) expect(fieldOf(found?.type as StructType, member)?.field.presence).toBe('keyword');
  }
});

test('sets of types', () => {
  const signing = typesWith('kind', 'SIGN_TRANSACTION');
  expect(typesIn(signing).map(({ type }) => type)).toEqual([
    'ACTIVITY_TYPE_SIGN_TRANSACTION',
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  ]);
  expect(typesIn(ALL_TYPES)).toEqual(GOVERNED_TYPES);
  const [first] = typesIn(signing);
  if (first === undefined) throw new Error('expected a type');
  expect(typeSetOf(first) & signing).not.toBe(0n);
  // Facts that contradict the table are not trusted to be the table's.
  expect(typeSetOf({ ...first, resource: 'WALLET' })).toBe(OTHER_TYPES);
  expect(typeSetOf({ ...first, type: 'ACTIVITY_TYPE_NEW' })).toBe(OTHER_TYPES);
});
