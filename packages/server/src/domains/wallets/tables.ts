import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    wallet: WalletTable;
    wallet_account: WalletAccountTable;
    private_key: PrivateKeyTable;
    private_key_address: PrivateKeyAddressTable;
    private_key_tag: PrivateKeyTagTable;
    import_target: ImportTargetTable;
  }
}

export interface WalletTable {
  organization_id: string;
  id: string;
  name: string;
  /** Entropy, language and passphrase, sealed by the keyring. */
  sealed_seed: Uint8Array;
  exported: number;
  imported: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface WalletAccountTable {
  organization_id: string;
  id: string;
  wallet_id: string;
  name: string | null;
  curve: string;
  path: string;
  /** The path that is really derived; two spellings of it are one account. */
  path_key: string;
  address_format: string;
  address: string;
  /** What look-ups compare: lower case where the chain ignores case. */
  address_key: string;
  public_key: string;
  exported: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface PrivateKeyTable {
  organization_id: string;
  id: string;
  name: string;
  curve: string;
  public_key: string;
  sealed_key: Uint8Array;
  exported: number;
  imported: number;
  /** Of its addresses and tags. */
  owned_digest: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface PrivateKeyAddressTable {
  organization_id: string;
  private_key_id: string;
  address_format: string;
  /** Its place among the formats that were asked for. */
  position: number;
  address: string;
  address_key: string;
}

export interface PrivateKeyTagTable {
  organization_id: string;
  private_key_id: string;
  tag_id: string;
}

/** A one-time key that an import is encrypted to. */
export interface ImportTargetTable {
  organization_id: string;
  id: string;
  user_id: string;
  kind: string;
  target_public_key: string;
  sealed_target: Uint8Array;
  expires_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('wallet', {
    integrity: authority('says which seed a wallet has'),
    unique: {
      ux_wallet_name: { columns: ['organization_id', 'name'], message: 'a wallet with this name already exists' },
    },
    sealed: [{ column: 'sealed_seed', kind: 'wallet-seed' }],
    revises: ['id'],
    erased: { by: 'id' },
  }),
  defineTable('wallet_account', {
    integrity: authority('says which key an address is signed with'),
    unique: {
      ux_wallet_account_path: {
        columns: ['organization_id', 'wallet_id', 'curve', 'path_key', 'address_format'],
        message: 'an account with this path and address format already exists in the wallet',
      },
      ux_wallet_account_name: {
        columns: ['organization_id', 'name'],
        message: 'a wallet account with this name already exists',
      },
    },
    revises: ['id', 'address_key'],
    erased: { by: 'id' },
  }),
  defineTable('private_key', {
    integrity: authority('says which key an id is signed with'),
    owns: {
      digests: 'owned_digest',
      isByTable: false,
      key: ['organization_id', 'private_key_id'],
      changesOften: true,
    },
    unique: {
      ux_private_key_name: {
        columns: ['organization_id', 'name'],
        message: 'a private key with this name already exists',
      },
    },
    sealed: [{ column: 'sealed_key', kind: 'private-key' }],
    revises: ['id'],
    erased: { by: 'id' },
  }),
  defineTable('private_key_address', {
    integrity: authority('says which key an address is signed with'),
    set: { under: 'private_key', by: ['address_format'] },
    revises: ['private_key_id', 'address_key'],
    erased: { by: 'private_key_id' },
  }),
  defineTable('private_key_tag', {
    integrity: authority('is what policies read of a private key'),
    set: { under: 'private_key', by: ['tag_id'] },
    revises: ['private_key_id'],
    erased: { by: 'private_key_id' },
  }),
  defineTable('import_target', {
    integrity: authority('says whose import a key is opened for'),
    sealed: [
      {
        column: 'sealed_target',
        kind: { wallet: 'import-target', 'private-key': 'import-target', secret: 'secret-target' },
      },
    ],
    erased: { by: 'id' },
  }),
];
