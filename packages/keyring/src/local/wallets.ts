import { setImmediate } from 'node:timers/promises';
import type { AddressFormat } from '../address/index.ts';
import type { AccountPlan } from '../check/keys.ts';
import type { Curve } from '../curve.ts';
import type { MnemonicLanguage } from '../derive/languages.ts';
import { generatePrivateKeyOf } from '../derive/public-key.ts';
import type {
  CreatedPrivateKey,
  CreatedWallet,
  DerivedAccount,
  Holder,
  SigningKey,
  SigningScheme,
} from '../keyring.ts';
import { Secret } from '../secret.ts';
import { signAll } from '../sign/sign.ts';
import type { Signature } from '../sign/signature.ts';
import type { Keys } from './keys.ts';
import { derive, newPrivateKey, newWallet } from './new-keys.ts';
import { withSigningKey } from './signing-key.ts';
import { TURN } from './turn.ts';

const LANGUAGE: MnemonicLanguage = 'MNEMONIC_LANGUAGE_ENGLISH';
const NO_PASSPHRASE = new Uint8Array(0);

export async function createWallet(
  keys: Keys,
  owner: Holder,
  words: number,
  plans: readonly AccountPlan[],
): Promise<CreatedWallet> {
  return new Secret(keys.random((words * 4) / 3)).use((entropy) =>
    newWallet(keys, owner, { entropy, language: LANGUAGE, passphrase: NO_PASSPHRASE }, plans),
  );
}

export async function deriveAccounts(
  keys: Keys,
  owner: Holder,
  sealedSeed: Uint8Array,
  plans: readonly AccountPlan[],
): Promise<DerivedAccount[]> {
  return derive(keys, owner, sealedSeed, plans);
}

export async function createPrivateKey(
  keys: Keys,
  owner: Holder,
  curve: Curve,
  formats: readonly AddressFormat[],
): Promise<CreatedPrivateKey> {
  return new Secret(generatePrivateKeyOf(curve, keys.random)).use((key) =>
    newPrivateKey(keys, owner, curve, key, formats),
  );
}

export async function sign(
  keys: Keys,
  owner: Holder,
  key: SigningKey,
  scheme: SigningScheme,
  payloads: readonly Uint8Array[],
): Promise<Signature[]> {
  const signSome = (some: readonly Uint8Array[]) =>
    withSigningKey(keys, owner, key, (bytes, kept) => signAll(key.curve, scheme, bytes, some, kept));
  if (payloads.length <= TURN) return signSome(payloads);
  const signatures: Signature[] = [];
  for (let start = 0; start < payloads.length; start += TURN) {
    if (start > 0) await setImmediate();
    signatures.push(...(await signSome(payloads.slice(start, start + TURN))));
  }
  return signatures;
}
