/** Secrets leave in an export and come in with an import. Each kind is counted for itself. */
export type TransferKind = 'export' | 'import';

/** How many of a kind a minute may have; 0 is no limit. */
export interface TransferLimits {
  readonly perOrganization: number;
  readonly inAll: number;
}

export const DEFAULT_LIMITS: Readonly<Record<TransferKind, TransferLimits>> = {
  export: { perOrganization: 60, inAll: 600 },
  import: { perOrganization: 0, inAll: 0 },
};

/** Of recovery kits, wherever exports have a limit: each is one export and holds all that an organization has. */
export const KIT_LIMITS: TransferLimits = { perOrganization: 2, inAll: 10 };

/** The limits that a keyring is started with; the usual ones where absent. */
export interface KeyringLimits {
  readonly exportLimits?: TransferLimits | undefined;
  readonly importLimits?: TransferLimits | undefined;
}

/** The exports or imports of one call, as they are counted and logged. None of it is secret. */
export interface Transfers {
  readonly kind: TransferKind;
  /** The call that makes them. */
  readonly what: string;
  readonly organizationId: string;
  /** One for each. */
  readonly ownerIds: readonly string[];
  /** Of an export that is a recovery kit: what it holds, and for whom. */
  readonly kit?: { readonly wallets: number; readonly privateKeys: number; readonly recipients: readonly string[] };
}

/** What every export and import passes before any key is opened for it (docs/decisions/0059). */
export interface TransferGate {
  /**
   * All or none. Exports are refused with TOO_MANY_EXPORTS when they must wait, and with TOO_MANY_EXPORTS_AT_ONCE if a
   * minute may not have so many; imports with TOO_MANY_IMPORTS and TOO_MANY_IMPORTS_AT_ONCE.
   */
  admit(wanted: Transfers): Promise<void>;
}
