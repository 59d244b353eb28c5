import type { Signature, SigningKey, SigningScheme } from '@custos/keyring';
import type { SignerAccount } from '../../chains/signable.ts';
import { isSpark, isTaproot } from '../../chains/signable.ts';
import type { DescribeContext, PrepareContext } from '../../engine/define.ts';
import { holderOf } from '../../engine/holder.ts';
import { chunks } from '../../lib/collections.ts';
import { ApiError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { addressKey } from '../../storage/address-key.ts';
import { SignerReader, type StoredSigner } from '../wallets/store/signers.ts';

const PAYLOADS_PER_CALL = 500;

/** Who signs: the public side for parsers, and what the keyring needs to use the key. */
export interface Signer {
  /** What signWith names. */
  readonly account: SignerAccount;
  /** Every address of a private key that is named by its id; otherwise the account alone. */
  readonly addresses: readonly SignerAccount[];
  readonly ownerId: string;
  readonly key: SigningKey;
  /** What it is among the organization's keys. */
  readonly source: StoredSigner;
}

/**
 * An account or private key by address, or by id (protocol/wallets 1.4). Refuses what this organization does not have.
 */
export async function resolveSigner(context: DescribeContext, signWith: string): Promise<Signer> {
  const signer = await findSigner(context, signWith);
  if (signer === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', 'signWith is not an address or id of a key in this organization');
  }
  return signer;
}

/** Accounts that share an address share key and scheme. */
export async function findSigner(
  { read, actor }: Pick<DescribeContext, 'read' | 'actor'>,
  signWith: string,
): Promise<Signer | undefined> {
  const { organizationId } = actor;
  const byId = isUuid(signWith.toLowerCase());
  const source = await read(SignerReader).find(
    organizationId,
    byId ? { id: signWith.toLowerCase() } : { address: signWith },
  );
  if (source === undefined) return undefined;
  return source.kind === 'wallet-account'
    ? walletSigner(source)
    : privateKeySigner(source, byId ? undefined : signWith);
}

function walletSigner(source: Extract<StoredSigner, { kind: 'wallet-account' }>): Signer {
  const { account, wallet } = source;
  const { curve, path, publicKey, address, addressFormat } = account;
  const named = { curve, publicKey: Buffer.from(publicKey, 'hex'), address, addressFormat };
  return {
    account: named,
    addresses: [named],
    ownerId: wallet.id,
    key: { kind: 'wallet', sealed: wallet.sealedSeed, curve, path },
    source,
  };
}

function privateKeySigner(
  source: Extract<StoredSigner, { kind: 'private-key' }>,
  signWith: string | undefined,
): Signer {
  const { key } = source;
  const { curve, sealedKey } = key;
  const publicKey = Buffer.from(key.publicKey, 'hex');
  const addresses = key.addresses.map(({ format, address }) => ({ curve, publicKey, address, addressFormat: format }));
  const named = addresses.find(({ address }) => signWith !== undefined && addressKey(address) === addressKey(signWith));
  // A key named by its id has no format, so it signs plainly.
  const plain = { curve, publicKey, address: key.publicKey, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' };
  return {
    account: named ?? plain,
    addresses: named === undefined ? addresses : [named],
    ownerId: key.id,
    key: { kind: 'private-key', sealed: sealedKey, curve },
    source,
  };
}

/** By the format of the address that signs (protocol/signing 1). */
function schemeOf({ curve, addressFormat }: SignerAccount): SigningScheme {
  if (curve === 'CURVE_ED25519') return 'eddsa';
  if (isTaproot(addressFormat)) return 'taproot';
  return isSpark(addressFormat) ? 'schnorr' : 'ecdsa';
}

/** Signs as the account, which is one of the signer's. */
export async function signAs(
  context: PrepareContext,
  signer: Signer,
  account: SignerAccount,
  payloads: readonly Uint8Array[],
): Promise<Signature[]> {
  const holder = holderOf(context, signer.ownerId);
  const scheme = schemeOf(account);
  const signatures: Signature[] = [];
  // A transaction may have more inputs than the keyring signs in one call.
  for (const some of chunks(payloads, PAYLOADS_PER_CALL)) {
    signatures.push(...(await context.keyring.sign(holder, signer.key, scheme, some)));
  }
  return signatures;
}
