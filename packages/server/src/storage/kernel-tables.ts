import { authority, defineTable, derived, none, type Table } from './table.ts';

/** The tables of schema.ts, which the kernel itself reads and writes. */
export const kernelTables: readonly Table[] = [
  defineTable('deployment', {
    integrity: derived(
      'names keys that the keyring compares with its ring, and that open only what was sealed with them',
    ),
    erased: 'never',
  }),
  defineTable('integrity_key', {
    integrity: derived(
      'holds keys that the keyring opens only as what it sealed them; its ring says whether one must be there',
    ),
    key: ['key_id', 'generation'],
    unique: {
      ux_integrity_key_generation: { columns: ['generation'], message: 'this generation has a key already' },
    },
    sealed: [
      { column: 'sealed_key', kind: 'integrity-key', owner: ['key_id', 'generation'], organizationId: 'deployment' },
    ],
    erased: 'never',
  }),
  defineTable('organization', {
    integrity: authority('says who is in the root quorum, who the parent is, and under which key secrets are sealed'),
    owns: { digests: 'rules_digest', isByTable: true, key: ['organization_id'], changesOften: false },
    plainBytes: ['wrapped_key'],
    revises: ['id'],
    erased: 'never',
  }),
  defineTable('organization_feature', {
    integrity: authority('says which ways to log in an organization allows, and whose code it trusts'),
    set: { under: 'organization', by: ['name'] },
    key: ['organization_id', 'name'],
    unique: {
      ux_organization_feature: { columns: ['organization_id', 'name'], message: 'this feature is already set' },
    },
    erased: { by: 'name' },
  }),
  defineTable('tree_entry', {
    integrity: authority('leads a credential, a contact or an identity to the organization that it logs in to'),
    unique: {
      ux_tree_value: {
        columns: ['root_id', 'kind', 'unique_value'],
        message: 'a credential or verified contact with this value already exists',
      },
    },
    erased: { by: 'owner_id' },
  }),
  defineTable('activity', {
    integrity: authority('says what is done once enough have approved it'),
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
    integrity: authority('counts towards a quorum', {
      source_address:
        'tells where somebody was, which no decision reads; it is emptied when the organization is deleted',
    }),
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
    integrity: none('is sealed for the activity that it belongs to; another row opens nothing'),
    key: ['organization_id', 'activity_id'],
    sealed: [{ column: 'sealed_result', kind: 'activity-result', owner: 'activity_id' }],
    erased: { by: 'activity_id' },
  }),
  defineTable('tombstone', {
    integrity: none('can only take votes away; what its absence allows is in the threat model'),
    erased: { by: 'id' },
  }),
  defineTable('app_proof', {
    integrity: none('carries a signature that whoever reads it verifies'),
    erased: 'never',
  }),
  defineTable('service_key', {
    integrity: authority('says with which keys the service signs, and which it tells others to trust'),
    key: ['role', 'key_id'],
    sealed: [{ column: 'sealed_key', kind: 'service-key', owner: 'key_id', organizationId: 'deployment' }],
    erased: 'never',
  }),
  defineTable('rate_window', {
    integrity: none('slows down; who may do what is decided elsewhere'),
    erased: { by: 'name' },
  }),
  defineTable('used_token', {
    integrity: authority('keeps a token from being used twice'),
    erased: { by: 'token_id' },
  }),
  defineTable('restoration', {
    integrity: authority('keeps what was issued before a restore from counting, and everything until it is accepted'),
    erased: 'never',
  }),
  defineTable('accepted_bundle', {
    integrity: none('can only refuse a bundle; what its absence allows is in the threat model'),
    erased: 'never',
  }),
];
