import type { ActivityId, RecoveryKitId } from '../../lib/ids.ts';

export interface RecoveryKit {
  readonly id: RecoveryKitId;
  readonly activityId: ActivityId;
  readonly recipients: readonly string[];
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly pieceCount: number;
  readonly walletCount: number;
  readonly privateKeyCount: number;
  readonly createdAtMs: number;
}

/** So many of an organization are kept; a further one takes the place of the oldest. */
export const KITS_KEPT = 5;

/** A piece in base64 is far below what an answer may have, and a kit of the largest size has some hundred. */
export const PIECE_BYTES = 512 * 1024;
