import { setImmediate } from 'node:timers/promises';
import { walletPlaintext } from '../bundle/export.ts';
import { phraseOf } from '../derive/mnemonic.ts';
import { publicKeyOf } from '../derive/public-key.ts';
import type { PrivateKeyForKit, RecoveryKitContents, WalletForKit } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import { encryptPieces } from '../recovery-kit/encrypt.ts';
import { BETWEEN, beginning, END, privateKeyEntry, walletEntry } from '../recovery-kit/json.ts';
import { Secret } from '../secret.ts';
import type { Keys } from './keys.ts';
import { TURN } from './turn.ts';

/** Whose keys are opened. */
interface Organization {
  readonly organizationKey: Uint8Array;
  readonly organizationId: string;
}

/** One export, whatever it holds; kits have a ceiling of their own besides (docs/decisions/0064). */
export async function exportRecoveryKit(
  keys: Keys,
  organizationKey: Uint8Array,
  organizationId: string,
  contents: RecoveryKitContents,
  recipients: readonly string[],
): Promise<Uint8Array> {
  await keys.transfers.admit({
    kind: 'export',
    what: 'exportRecoveryKit',
    organizationId,
    ownerIds: [organizationId],
    kit: { wallets: contents.wallets.length, privateKeys: contents.privateKeys.length, recipients },
  });
  return encryptPieces(pieces(keys, { organizationKey, organizationId }, contents, recipients), recipients);
}

/** A few keys at a time, so that others have their turn between them. */
async function* pieces(
  keys: Keys,
  organization: Organization,
  contents: RecoveryKitContents,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  yield beginning(organization.organizationId, contents, recipients);
  let opened = 0;
  const turn = async (): Promise<void> => {
    opened += 1;
    if (opened % TURN === 0) await setImmediate();
  };
  for (const [index, wallet] of contents.wallets.entries()) {
    await turn();
    yield await walletPiece(keys, organization, wallet, index === 0);
  }
  yield new Uint8Array(BETWEEN);
  for (const [index, key] of contents.privateKeys.entries()) {
    await turn();
    yield await privateKeyPiece(keys, organization, key, index === 0);
  }
  yield new Uint8Array(END);
}

function walletPiece(
  keys: Keys,
  organization: Organization,
  wallet: WalletForKit,
  isFirst: boolean,
): Promise<Uint8Array> {
  return keys.unseal({ ...organization, ownerId: wallet.walletId }, KIND.walletSeed, wallet.sealedSeed, (bytes) => {
    const { entropy, language, passphrase } = material.decodeSeed(bytes);
    return new Secret(phraseOf(entropy, language)).use((words) =>
      new Secret(walletPlaintext(words)).use((phrase) =>
        walletEntry(wallet, { phrase, language, passphrase }, isFirst),
      ),
    );
  });
}

function privateKeyPiece(
  keys: Keys,
  organization: Organization,
  key: PrivateKeyForKit,
  isFirst: boolean,
): Promise<Uint8Array> {
  return keys.unseal({ ...organization, ownerId: key.privateKeyId }, KIND.privateKey, key.sealedKey, (bytes) => {
    const { curve, key: privateKey } = material.decodePrivateKey(bytes);
    return privateKeyEntry(key, { curve, privateKey, publicKey: publicKeyOf(curve, privateKey) }, isFirst);
  });
}
