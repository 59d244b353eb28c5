import { defineTable, type Table } from './table.ts';

/** The tables of schema.ts, which the kernel itself reads and writes. */
export const kernelTables: readonly Table[] = [
  defineTable('deployment', {
    erased: 'never',
  }),
  defineTable('organization', {
    plainBytes: ['wrapped_key'],
    revises: ['id'],
    erased: 'never',
  }),
  defineTable('organization_feature', {
    unique: {
      ux_organization_feature: { columns: ['organization_id', 'name'], message: 'this feature is already set' },
    },
    erased: { by: 'name' },
  }),
  defineTable('tree_entry', {
    unique: {
      ux_tree_value: {
        columns: ['root_id', 'kind', 'unique_value'],
        message: 'a credential or verified contact with this value already exists',
      },
    },
    erased: { by: 'owner_id' },
  }),
  defineTable('activity', {
    unique: {
      ux_activity_fingerprint: {
        columns: ['organization_id', 'fingerprint'],
        message: 'an activity with the same fingerprint already exists',
      },
    },
    sealed: [
      { column: 'sealed_body', kind: 'activity-body', isLarge: true },
      { column: 'sealed_parameters', kind: 'activity-parameters', isLarge: true },
    ],
    followed: { kind: 'ACTIVITY', fields: { activityId: 'id', type: 'type', status: 'status' } },
    erased: 'never',
  }),
  defineTable('vote', {
    key: ['organization_id', 'activity_id', 'id'],
    unique: {
      ux_vote_message: {
        columns: ['organization_id', 'activity_id', 'user_id', 'message_digest'],
        message: 'this signed body already exists as a vote',
      },
    },
    sealed: [{ column: 'sealed_message', kind: 'vote-message', owner: 'id', isLarge: true }],
    // Where somebody was is no part of what was decided.
    emptied: ['source_address'],
    erased: 'never',
  }),
  defineTable('sealed_result', {
    key: ['organization_id', 'activity_id'],
    sealed: [{ column: 'sealed_result', kind: 'activity-result', owner: 'activity_id' }],
    erased: { by: 'activity_id' },
  }),
  defineTable('tombstone', {
    erased: { by: 'id' },
  }),
  defineTable('app_proof', {
    erased: 'never',
  }),
  defineTable('service_key', {
    key: ['role', 'key_id'],
    sealed: [{ column: 'sealed_key', kind: 'service-key', owner: 'key_id', organizationId: 'deployment' }],
    erased: 'never',
  }),
  defineTable('rate_window', {
    erased: { by: 'name' },
  }),
  defineTable('used_token', {
    erased: { by: 'token_id' },
  }),
  defineTable('accepted_bundle', {
    erased: 'never',
  }),
];
