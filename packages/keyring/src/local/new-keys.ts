import { type AddressFormat, addressOfKey } from '../address/index.ts';
import { hexOf } from '../bundle/encoding.ts';
import type { AccountPlan } from '../check/keys.ts';
import type { Curve } from '../curve.ts';
import { publicKeyFormsOf } from '../derive/public-key.ts';
import type { CreatedPrivateKey, CreatedWallet, DerivedAccount, Holder } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import * as material from '../material.ts';
import type { Keys } from './keys.ts';

// What creating and importing have in common.

export async function newWallet(
  keys: Keys,
  holder: Holder,
  seed: material.WalletSeed,
  plans: readonly AccountPlan[],
): Promise<CreatedWallet> {
  const sealedSeed = await keys.seal(holder, KIND.walletSeed, material.encodeSeed(seed));
  // From the sealed seed and not from the one in hand: what is given back is known to open.
  return { sealedSeed, accounts: await derive(keys, holder, sealedSeed, plans) };
}

export async function newPrivateKey(
  keys: Keys,
  holder: Holder,
  curve: Curve,
  key: Uint8Array,
  formats: readonly AddressFormat[],
): Promise<CreatedPrivateKey> {
  const publicKey = publicKeyFormsOf(curve, key);
  const addresses = formats.map((format) => addressOfKey(format, curve, publicKey));
  const sealedKey = await keys.seal(holder, KIND.privateKey, material.encodePrivateKey(curve, key));
  return { sealedKey, publicKey: hexOf(publicKey.bytes), addresses };
}

export async function derive(
  keys: Keys,
  holder: Holder,
  sealedSeed: Uint8Array,
  plans: readonly AccountPlan[],
): Promise<DerivedAccount[]> {
  return keys.wallets.lend(holder, sealedSeed, plans, ({ curve, path, pathKey, addressFormat }, key) => {
    const publicKey = publicKeyFormsOf(curve, key);
    return {
      path,
      pathKey,
      publicKey: hexOf(publicKey.bytes),
      address: addressOfKey(addressFormat, curve, publicKey),
    };
  });
}
