import { RECIPIENTS_MAX, recipientFault } from '@custos/keyring';
import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { danger, type Sentence } from '../../../describe/sentence.ts';
import { listOf, say, strong, type TextPart, written } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { sha256Hex } from '../../../lib/encoding.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { RecoveryKitId } from '../../../lib/ids.ts';
import { PrivateKeyStore } from '../../wallets/store/private-keys.ts';
import { WalletStore } from '../../wallets/store/wallets.ts';
import { hasKeys, readContents } from '../contents.ts';
import { KITS_KEPT, PIECE_BYTES } from '../model.ts';
import { RecoveryKitStore } from '../store.ts';

/** Longer than any recipient that somebody may mistake for the right kind, so that it is refused for what it is. */
const RecipientShape = Type.String({ maxLength: 2048 });

export const createRecoveryKit = defineActivity({
  name: 'create_recovery_kit',
  type: 'ACTIVITY_TYPE_CREATE_RECOVERY_KIT',
  summary:
    'Export all wallets and private keys of the organization, encrypted to age recipients: one file that opens without this service. They are marked as exported. Needs the root quorum.',
  policy: { governedBy: 'root-quorum' },
  credentials: 'none',
  lock: 'exclusive-with-rules',
  isLong: true,
  ours: true,
  example: { recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'] },
  parameters: Type.Object({ recipients: Type.Array(RecipientShape, { minItems: 1, maxItems: RECIPIENTS_MAX }) }),
  sentence: ({ recipients }) => sentenceOf(recipients),
  result: Type.Object({
    recoveryKitId: Type.String(),
    sha256: Type.String(),
    sizeBytes: Type.Integer(),
    pieceCount: Type.Integer(),
    walletCount: Type.Integer(),
    privateKeyCount: Type.Integer(),
    walletIds: Type.Array(Type.String()),
    privateKeyIds: Type.Array(Type.String()),
  }),
  check({ recipients }) {
    for (const [index, recipient] of recipients.entries()) {
      const fault = recipientFault(recipient);
      if (fault !== undefined) throw invalidField(`parameters.recipients.${index}`, fault);
    }
    const twice = firstDuplicate(recipients);
    if (twice !== undefined) throw invalidField('parameters.recipients', `names ${twice} twice`);
  },
  /** Before others are asked to approve what would come to nothing. */
  async describe({ read, actor }) {
    if (await hasKeys(read, actor.organizationId)) return;
    throw new ApiError(
      'FAILED_PRECONDITION',
      'this organization has no wallets and no private keys of its own; sub-organizations make their own kits',
    );
  },
  prepare: (context, { recipients }) =>
    // Once for each request: what is decided again is not exported again, and holds what there was when it was asked for.
    context.once(async () => {
      const { read, keyring, nowMs } = context;
      const { organizationId } = context.actor;
      const { wallets, privateKeys } = await readContents(read, organizationId);
      // After them: its key opens what was sealed again meanwhile, and what was not (docs/decisions/0058).
      const { name, wrappedKey } = await read(OrganizationReader).get(organizationId);
      const contents = { organizationName: name, madeAtMs: nowMs, wallets, privateKeys };
      const kit = await keyring.exportRecoveryKit(wrappedKey, organizationId, contents, recipients);
      return {
        sha256: sha256Hex(kit),
        sizeBytes: kit.length,
        pieces: piecesOf(kit),
        walletIds: wallets.map(({ walletId }) => walletId),
        privateKeyIds: privateKeys.map(({ privateKeyId }) => privateKeyId),
      };
    }),
  async execute({ store, actor, activityId, newId, nowMs }, { recipients }, made) {
    const { organizationId } = actor;
    const { pieces, ...result } = made;
    const { walletIds, privateKeyIds, sha256, sizeBytes } = result;
    const id: RecoveryKitId = newId();
    const counts = {
      pieceCount: pieces.length,
      walletCount: walletIds.length,
      privateKeyCount: privateKeyIds.length,
    };
    const kits = store(RecoveryKitStore);
    const kit = { id, activityId, recipients, sha256, sizeBytes, ...counts, createdAtMs: nowMs };
    await kits.insert(organizationId, kit, pieces);
    await kits.delete(organizationId, await kits.olderThanNewest(organizationId, KITS_KEPT));
    await store(WalletStore).markAllExported(organizationId, walletIds, nowMs);
    await store(PrivateKeyStore).markAllExported(organizationId, privateKeyIds, nowMs);
    return { recoveryKitId: id, ...result, ...counts };
  },
});

function piecesOf(kit: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < kit.length; start += PIECE_BYTES) pieces.push(kit.subarray(start, start + PIECE_BYTES));
  return pieces;
}

/** With every recipient in full: what somebody approves is who can open it. */
function sentenceOf(recipients: readonly string[]): Sentence {
  const shown = recipients.map((recipient): TextPart => ({ ...written(recipient), strong: true }));
  const whoever = recipients.length === 1 ? 'whoever holds its secret' : 'whoever holds the secret of one of them';
  return {
    ...danger(
      say`Hand out ${strong('all wallets and private keys')} of this organization, as they are when this is approved, to ${listOf(shown, RECIPIENTS_MAX)}: ${whoever} owns them for ever.`,
      'hands out every key of the organization',
      `I have compared ${recipients.length === 1 ? 'the recipient' : 'each recipient'} with what its owner told me. Whoever holds its secret owns every wallet and key here for ever, and nothing here can stop them. I want that.`,
    ),
    kind: 'Create a recovery kit',
    fields: recipients.map((recipient, index) => ({
      label: recipients.length === 1 ? 'Recipient' : `Recipient ${index + 1}`,
      value: [written(recipient)],
      kind: 'ADDRESS',
      note: 'as the request has it; only its owner can say whose it is',
    })),
  };
}
