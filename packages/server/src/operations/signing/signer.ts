import type { Signature, SigningKey, SigningScheme } from '@custos/keyring';
import type { SignerAccount } from '../../chains/signable.ts';
import { ApiError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Curve, PrivateKey, WalletAccount } from '../../lib/model.ts';
import type { PrepareContext } from '../define.ts';
import { holderOf } from '../wallets/accounts.ts';

/** Who signs: the public side for parsers, and what the keyring needs to use the key. */
export interface Signer {
  readonly account: SignerAccount;
  readonly scheme: SigningScheme;
  readonly ownerId: string;
  readonly key: SigningKey;
}

/** An account or private key by address, or by id (RES 5.1). Accounts that share an address share key and scheme. */
export async function resolveSigner({ read, actor }: PrepareContext, signWith: string): Promise<Signer> {
  const { organizationId } = actor;
  const byId = isUuid(signWith.toLowerCase());
  const account = byId
    ? await read.wallets.account(organizationId, signWith.toLowerCase())
    : (await read.wallets.accountsByAddress(organizationId, signWith))[0];
  if (account !== undefined) {
    const wallet = await read.wallets.get(organizationId, account.walletId);
    return walletSigner(account, wallet.id, wallet.sealedSeed);
  }
  const key = byId
    ? await read.privateKeys.find(organizationId, signWith.toLowerCase())
    : await read.privateKeys.byAddress(organizationId, signWith);
  if (key === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', 'signWith is not an address or id of a key in this organization');
  }
  return privateKeySigner(key, byId ? undefined : signWith);
}

function walletSigner(account: WalletAccount, walletId: string, sealed: Uint8Array): Signer {
  const { curve, path, publicKey, address, addressFormat } = account;
  return {
    account: { curve, publicKey: Buffer.from(publicKey, 'hex'), address, addressFormat },
    scheme: schemeOf(curve, addressFormat),
    ownerId: walletId,
    key: { kind: 'wallet', sealed, curve, path },
  };
}

/** A key named by its id has no format, so it signs plainly. */
function privateKeySigner(key: PrivateKey, signWith: string | undefined): Signer {
  const { curve, publicKey, sealedKey, addresses } = key;
  const named = addresses.find(({ address }) => address.toLowerCase() === signWith?.toLowerCase());
  const [first] = addresses;
  return {
    account: {
      curve,
      publicKey: Buffer.from(publicKey, 'hex'),
      address: named?.address ?? first?.address ?? publicKey,
      addressFormat: named?.format ?? first?.format ?? 'ADDRESS_FORMAT_COMPRESSED',
    },
    scheme: schemeOf(curve, named?.format ?? ''),
    ownerId: key.id,
    key: { kind: 'private-key', sealed: sealedKey, curve },
  };
}

function schemeOf(curve: Curve, addressFormat: string): SigningScheme {
  if (curve === 'CURVE_ED25519') return 'eddsa';
  if (/^ADDRESS_FORMAT_BITCOIN_.*_P2TR$/.test(addressFormat)) return 'taproot';
  if (addressFormat.startsWith('ADDRESS_FORMAT_SPARK_')) return 'schnorr';
  return 'ecdsa';
}

export async function signWithKey(
  context: PrepareContext,
  signer: Signer,
  payloads: readonly Uint8Array[],
): Promise<Signature[]> {
  return await context.keyring.sign(holderOf(context, signer.ownerId), signer.key, signer.scheme, payloads);
}
