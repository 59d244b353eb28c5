import Type from 'typebox';

/** protocol/wallets 8.2. */
export const RecoveryKitShape = Type.Object({
  recoveryKitId: Type.String(),
  activityId: Type.String(),
  recipients: Type.Array(Type.String()),
  sha256: Type.String(),
  sizeBytes: Type.Integer(),
  pieceCount: Type.Integer(),
  walletCount: Type.Integer(),
  privateKeyCount: Type.Integer(),
  createdAt: Type.String(),
});
