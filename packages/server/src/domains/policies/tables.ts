import { authority, defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    policy: PolicyTable;
    policy_evaluation: PolicyEvaluationTable;
    ip_allowlist: IpAllowlistTable;
    contract_interface: ContractInterfaceTable;
    velocity_control: VelocityControlTable;
    velocity_entry: VelocityEntryTable;
  }
}

/** Expressions as their author wrote them; empty counts as true. */
export interface PolicyTable {
  organization_id: string;
  id: string;
  name: string;
  effect: string;
  condition: string;
  consensus: string;
  time: string;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What each policy said when a vote was judged; JSON. */
export interface PolicyEvaluationTable {
  organization_id: string;
  activity_id: string;
  vote_id: string;
  evaluations: string;
  created_at_ms: number;
}

/** The organization's list has an empty public key. */
export interface IpAllowlistTable {
  organization_id: string;
  public_key: string;
  enabled: number;
  on_evaluation_error: string;
  rules: string;
  updated_at_ms: number;
}

export interface ContractInterfaceTable {
  organization_id: string;
  id: string;
  type: string;
  address: string;
  address_key: string;
  definition: string;
  label: string;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface VelocityControlTable {
  organization_id: string;
  id: string;
  name: string;
  identifier: string;
  data_source: string;
  aggregation: string;
  refuse_uncounted: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/**
 * One amount that counts against a control; `total` is the running sum of its group, so a window needs two rows only.
 */
export interface VelocityEntryTable {
  organization_id: string;
  control_id: string;
  group_key: string;
  id: string;
  activity_id: string;
  amount: string;
  total: string;
  created_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('policy', {
    integrity: authority('allows and denies'),
    set: { under: 'organization', by: ['id'] },
    unique: {
      ux_policy_name: {
        columns: ['organization_id', 'name'],
        message: 'policy label must be unique',
        code: 'POLICY_LABEL_NOT_UNIQUE',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('policy_evaluation', {
    integrity: none('tells why something was decided; nothing is decided by it'),
    erased: 'never',
  }),
  defineTable('ip_allowlist', {
    integrity: authority('says from where requests are taken'),
    set: { under: 'organization', by: ['public_key'] },
    erased: { by: 'public_key' },
  }),
  defineTable('contract_interface', {
    integrity: authority('says what policies read in a transaction'),
    set: { under: 'organization', by: ['type', 'address_key'], isLarge: true },
    unique: {
      ux_contract_interface: {
        columns: ['organization_id', 'type', 'address_key'],
        message: 'an interface for this contract address already exists',
        code: 'REQUEST_INVALID',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('velocity_control', {
    integrity: authority('limits what may be moved'),
    set: { under: 'organization', by: ['id'] },
    unique: {
      ux_velocity_identifier: {
        columns: ['organization_id', 'identifier'],
        message: 'a velocity control with this identifier already exists',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('velocity_entry', {
    integrity: authority('is what counts against a limit'),
    erased: { by: 'id' },
  }),
];
