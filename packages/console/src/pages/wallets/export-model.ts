import { openKeyBundle, openWalletBundle, type TargetKey } from '@custos/sdk';
import { bundleSigner } from '../../api/service-keys.ts';
import { fromHex, toBase58, toHex } from '../../lib/bytes.ts';

/** What can be exported. */
export type ExportSubject =
  | { readonly kind: 'wallet'; readonly id: string; readonly name: string; readonly accountCount?: number }
  | {
      readonly kind: 'account';
      /** Its address. */
      readonly id: string;
      readonly name: string;
      readonly curve: string;
      readonly addressFormat: string;
      readonly publicKey?: string | undefined;
    }
  | {
      readonly kind: 'key';
      readonly id: string;
      readonly name: string;
      readonly curve: string;
      readonly publicKey?: string | undefined;
    };

export type Opened =
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly passphrase: string }
  | { readonly kind: 'keys'; readonly forms: readonly { readonly label: string; readonly text: string }[] };

export const EXPORTS = {
  wallet: { method: 'exportWallet', type: 'ACTIVITY_TYPE_EXPORT_WALLET' },
  account: { method: 'exportWalletAccount', type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT' },
  key: { method: 'exportPrivateKey', type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY' },
} as const;

export function exportParameters(subject: ExportSubject, targetPublicKey: string) {
  switch (subject.kind) {
    case 'wallet':
      return { walletId: subject.id, targetPublicKey };
    case 'account':
      return { address: subject.id, targetPublicKey };
    default:
      return { privateKeyId: subject.id, targetPublicKey };
  }
}

/** The bundle in an activity's result, once it is completed. */
export function bundleIn(result: unknown): string | undefined {
  for (const part of Object.values((result ?? {}) as Record<string, unknown>)) {
    const bundle = (part as { exportBundle?: unknown } | null)?.exportBundle;
    if (typeof bundle === 'string') return bundle;
  }
  return undefined;
}

/** Opens a bundle in this browser, after checking that the service signed it for this organization. */
export async function openExport(
  subject: ExportSubject,
  exportBundle: string,
  target: TargetKey,
  organizationId: string,
): Promise<Opened> {
  const options = {
    exportBundle,
    targetPrivateKey: target.privateKey,
    organizationId,
    bundleSigner: await bundleSigner(),
  };
  if (subject.kind === 'wallet') {
    const { mnemonic, passphrase } = await openWalletBundle(options);
    return { kind: 'words', words: mnemonic.split(' '), passphrase };
  }
  const key = await openKeyBundle(options);
  try {
    return { kind: 'keys', forms: formsOf(subject, key) };
  } finally {
    key.fill(0);
  }
}

/** The forms in which other wallets take a key. */
function formsOf(subject: Exclude<ExportSubject, { kind: 'wallet' }>, key: Uint8Array) {
  const isEd25519 = subject.curve === 'CURVE_ED25519';
  const forms = [{ label: isEd25519 ? 'Seed, 32 bytes in hex' : 'Private key in hex', text: `0x${toHex(key)}` }];
  const publicKey = fromHex(subject.publicKey ?? '');
  const isSolana = subject.kind === 'account' && subject.addressFormat === 'ADDRESS_FORMAT_SOLANA';
  if (isSolana && publicKey?.length === 32) {
    forms.unshift({ label: 'As Solana wallets import it', text: toBase58(Uint8Array.of(...key, ...publicKey)) });
  }
  return forms;
}
