import { authority, defineTable, derived, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    tvc_operator: TvcOperatorTable;
    tvc_operator_set: TvcOperatorSetTable;
    tvc_app: TvcAppTable;
    tvc_deployment: TvcDeploymentTable;
    tvc_approval: TvcApprovalTable;
  }
}

/** Somebody who approves manifests or holds a share of a quorum key. */
export interface TvcOperatorTable {
  organization_id: string;
  id: string;
  name: string;
  sign_public_key: string;
  /** Null for an operator of whom only a signing key is known. */
  encrypt_public_key: string | null;
  key_source: string;
  created_at_ms: number;
}

/** Never changed once it is made. */
export interface TvcOperatorSetTable {
  organization_id: string;
  id: string;
  name: string;
  threshold: number;
  /** JSON array of operator ids; fifty at most. */
  operator_ids: string;
  /** SHA-256 of the members in one order, so that the same set is not made twice. */
  members_digest: string;
  created_at_ms: number;
}

export interface TvcAppTable {
  organization_id: string;
  id: string;
  name: string;
  quorum_public_key: string;
  manifest_set_id: string;
  share_set_id: string;
  enable_egress: number;
  enable_debug_mode: number;
  live_deployment_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
}

export interface TvcDeploymentTable {
  organization_id: string;
  id: string;
  app_id: string;
  manifest_id: string;
  /** What operators sign: canonical JSON that says all about the deployment. */
  manifest: string;
  /** As it was submitted: encrypted, and not to us. */
  encrypted_pull_secret: string | null;
  /** As the manifest says. */
  replicas: number;
  /** When the approvals became enough. */
  approved_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
}

export interface TvcApprovalTable {
  organization_id: string;
  id: string;
  deployment_id: string;
  operator_id: string;
  /** r and s, 64 bytes. */
  signature: Uint8Array;
  created_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('tvc_operator', {
    integrity: authority('says whose signature approves a deployment'),
    unique: {
      ux_tvc_operator_key: {
        columns: ['organization_id', 'sign_public_key'],
        message: 'an operator with this public key already exists',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('tvc_operator_set', {
    integrity: authority('says how many operators approve a deployment'),
    unique: {
      ux_tvc_operator_set: {
        columns: ['organization_id', 'name', 'threshold', 'members_digest'],
        message: 'this operator set already exists',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('tvc_app', {
    integrity: authority('says which operators may approve, and which deployment is live'),
    erased: { by: 'id' },
  }),
  defineTable('tvc_deployment', {
    integrity: authority('holds the manifest that operators sign'),
    unique: {
      ux_tvc_manifest: { columns: ['organization_id', 'manifest_id'], message: 'this manifest already exists' },
    },
    erased: { by: 'id' },
  }),
  defineTable('tvc_approval', {
    integrity: derived('is a signature over the manifest, which is verified against the operator when it is counted'),
    unique: {
      ux_tvc_approval: {
        columns: ['organization_id', 'deployment_id', 'operator_id'],
        message: 'an approval of this manifest by this operator already exists',
      },
    },
    plainBytes: ['signature'],
    erased: { by: 'id' },
  }),
];
