import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    earn_wrapper: EarnWrapperTable;
    earn_request: EarnRequestTable;
  }
}

export interface EarnWrapperTable {
  organization_id: string;
  caip2: string;
  wrapper_address: string;
  splitter_address: string;
  vault_address: string;
  provider: string;
  asset_address: string;
  asset_symbol: string;
  asset_decimals: number;
  client_fee_bps: number;
  client_fee_wallet: string;
  service_fee_bps: number;
  service_fee_wallet: string | null;
  deposits_disabled: number;
  deploy_request_id: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface EarnRequestTable {
  organization_id: string;
  id: string;
  kind: string;
  caip2: string;
  wrapper_address: string;
  wallet_address: string;
  amount: string;
  send_id: string | null;
  created_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('earn_wrapper', {
    integrity: authority('says to which contract a deposit goes, and who gets the fees'),
    erased: { by: 'wrapper_address' },
  }),
  defineTable('earn_request', {
    integrity: authority('says what is paid in or out, and which transaction does it'),
    erased: { by: 'id' },
  }),
];
