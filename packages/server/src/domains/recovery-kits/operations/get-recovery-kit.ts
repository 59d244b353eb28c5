import Type from 'typebox';
import type { Actor } from '../../../core/actor.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import { IdShape, integerShape } from '../../../lib/shapes.ts';
import { renderRecoveryKit } from '../render.ts';
import { RecoveryKitShape } from '../shapes.ts';
import { RecoveryKitReader } from '../store.ts';

/**
 * Whoever may make a kit may have its file, and nobody else, by no read session either: an identity that is lost later opens
 * only what somebody could fetch before.
 */
function requireRootUser({ organization, homeId, userId, credential }: Actor): void {
  const isRoot = homeId === organization.id && organization.rootUserIds.includes(userId);
  if (isRoot && credential.kind !== 'read-session') return;
  throw new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    'only members of the root quorum of this organization may fetch the file of a recovery kit, by a request that they stamp',
  );
}

export const getRecoveryKit = defineQuery({
  name: 'get_recovery_kit',
  summary:
    'A recovery kit, and with `piece` (from 0) one piece of its file in base64, for members of the root quorum. The pieces one after the other are the file.',
  ours: true,
  example: { piece: 0 },
  parameters: Type.Object({
    organizationId: IdShape,
    recoveryKitId: IdShape,
    piece: Type.Optional(integerShape(0)),
  }),
  response: Type.Object({
    recoveryKit: RecoveryKitShape,
    piece: Type.Optional(Type.Object({ position: Type.Integer(), content: Type.String() })),
  }),
  async run({ read, actor }, { recoveryKitId, piece }) {
    const { organizationId } = actor;
    const kits = read(RecoveryKitReader);
    const kit = await kits.get(organizationId, recoveryKitId);
    const recoveryKit = renderRecoveryKit(kit);
    if (piece === undefined) return { recoveryKit };
    requireRootUser(actor);
    if (piece >= kit.pieceCount) throw invalidField('piece', `must be below ${kit.pieceCount}, the number of pieces`);
    const bytes = await kits.piece(organizationId, kit.id, piece);
    return { recoveryKit, piece: { position: piece, content: Buffer.from(bytes).toString('base64') } };
  },
});
