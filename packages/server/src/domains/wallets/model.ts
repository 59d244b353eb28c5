import type { Curve } from '../../core/model.ts';
import type { PrivateKeyId, TagId, UserId, WalletAccountId, WalletId } from '../../lib/ids.ts';

export interface Wallet {
  readonly id: WalletId;
  readonly name: string;
  readonly sealedSeed: Uint8Array;
  readonly exported: boolean;
  readonly imported: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface WalletAccount {
  readonly id: WalletAccountId;
  readonly walletId: WalletId;
  readonly name: string | undefined;
  readonly curve: Curve;
  readonly path: string;
  /** The path that is really derived; two spellings of it are one account. */
  readonly pathKey: string;
  readonly addressFormat: string;
  readonly address: string;
  /** Hex, compressed. */
  readonly publicKey: string;
  readonly exported: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface KeyAddress {
  readonly format: string;
  readonly address: string;
}

export interface PrivateKey {
  readonly id: PrivateKeyId;
  readonly name: string;
  readonly curve: Curve;
  readonly publicKey: string;
  readonly sealedKey: Uint8Array;
  readonly addresses: readonly KeyAddress[];
  readonly tagIds: readonly TagId[];
  readonly exported: boolean;
  readonly imported: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ImportKind = 'wallet' | 'private-key' | 'secret';

export interface ImportTarget {
  readonly id: string;
  readonly userId: UserId;
  readonly kind: ImportKind;
  readonly targetPublicKey: string;
  readonly sealedTarget: Uint8Array;
  readonly expiresAtMs: number;
}
