import { sealMnemonic, sealPrivateKey } from '@custos/sdk';
import { bundleSigner } from '../../api/service-keys.ts';
import { fromBase58, fromHex } from '../../lib/bytes.ts';
import { onLeaving } from '../../lib/leaving.ts';
import { createStore } from '../../lib/store.ts';

export type ImportKind = 'words' | 'key';

export const WORD_COUNTS: readonly number[] = [12, 15, 18, 21, 24];

/** Preparations that wait for others, by kind. Their results are public keys: nothing secret is here. */
export const preparations = createStore<Readonly<Partial<Record<ImportKind, string>>>>({});
onLeaving(() => preparations.set({}));

export const setPreparation = (kind: ImportKind, activityId: string | undefined): void => {
  const { [kind]: _, ...others } = preparations.get();
  preparations.set(activityId === undefined ? others : { ...others, [kind]: activityId });
};

/** The bundle in an activity's result, once it is completed. */
export function importBundleIn(result: unknown): string | undefined {
  for (const part of Object.values((result ?? {}) as Record<string, unknown>)) {
    const bundle = (part as { importBundle?: unknown } | null)?.importBundle;
    if (typeof bundle === 'string') return bundle;
  }
  return undefined;
}

export const wordsIn = (text: string): readonly string[] => text.trim().split(/\s+/u).filter(Boolean);

/** What is wrong with the words, as far as it can be told without their list. */
export function wordsProblem(text: string): string | undefined {
  const words = wordsIn(text);
  if (words.length === 0) return 'Type the words, with spaces between them.';
  if (!WORD_COUNTS.includes(words.length)) {
    return `There are ${words.length} words; a wallet has 12, 15, 18, 21 or 24.`;
  }
  return undefined;
}

const KEY_BYTES = 32;

/** 32 bytes from what other wallets write: hex, or for Solana base58 of seed and public key. */
export function readKey(text: string, curve: string): Uint8Array | undefined {
  const trimmed = text.trim();
  const hex = fromHex(trimmed);
  if (hex?.length === KEY_BYTES) return hex;
  if (curve !== 'CURVE_ED25519') return undefined;
  const bytes = fromBase58(trimmed);
  if (bytes?.length !== KEY_BYTES && bytes?.length !== 2 * KEY_BYTES) return undefined;
  return bytes.subarray(0, KEY_BYTES);
}

export const keyProblem = (text: string, curve: string): string | undefined => {
  if (text.trim() === '') return 'Type the key.';
  if (readKey(text, curve) !== undefined) return undefined;
  return curve === 'CURVE_ED25519'
    ? 'This is neither 64 hex digits nor the base58 text of a Solana wallet.'
    : 'A key has 64 hex digits; 0x may stand before them.';
};

interface Target {
  readonly importBundle: string;
  readonly organizationId: string;
  readonly userId: string;
}

export const sealWords = async (target: Target, mnemonic: string, passphrase: string): Promise<string> =>
  await sealMnemonic({ ...target, bundleSigner: await bundleSigner(), mnemonic, passphrase });

export async function sealKey(target: Target, text: string, curve: string): Promise<string> {
  const privateKey = readKey(text, curve);
  if (privateKey === undefined) throw new RangeError('not a private key');
  try {
    return await sealPrivateKey({ ...target, bundleSigner: await bundleSigner(), privateKey });
  } finally {
    privateKey.fill(0);
  }
}
