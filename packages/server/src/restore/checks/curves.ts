import type { Curve, Keyring, SigningKey } from '@custos/keyring';
import { SealedReader } from '../../core/store/sealed.ts';
import type { Storage } from '../../storage/storage.ts';
import { unlessRefused } from './addresses.ts';
import { DerivedReader } from './derived.ts';
import { signsAs } from './signature.ts';

const CURVES: readonly Curve[] = ['CURVE_SECP256K1', 'CURVE_P256', 'CURVE_ED25519'];

/** How a signature with a stored key of a curve came out. */
export interface SignedCurve {
  readonly curve: Curve;
  readonly outcome: 'verified' | 'wrong' | 'no key';
  /** The wallet account or private key that signed. */
  readonly id?: string;
}

/** Signs once on each curve, with a wallet's account where there is one, and verifies the signature with another library. */
export async function signOnCurves(storage: Storage, keyring: Keyring): Promise<SignedCurve[]> {
  const signed: SignedCurve[] = [];
  for (const curve of CURVES) {
    const signer = await signerOn(storage, curve);
    if (signer === undefined) {
      signed.push({ curve, outcome: 'no key' });
      continue;
    }
    const { id, organizationId, ownerId, publicKey, key } = signer;
    const organizationKey = await storage.read(SealedReader).organizationKey(organizationId);
    const isRight =
      organizationKey !== undefined &&
      (await unlessRefused(() => signsAs(keyring, { organizationKey, organizationId, ownerId }, key, publicKey)));
    signed.push({ curve, outcome: isRight === true ? 'verified' : 'wrong', id });
  }
  return signed;
}

interface Signer {
  readonly id: string;
  readonly organizationId: string;
  readonly ownerId: string;
  readonly publicKey: string;
  readonly key: SigningKey;
}

async function signerOn(storage: Storage, curve: Curve): Promise<Signer | undefined> {
  const reader = storage.read(DerivedReader);
  const account = await reader.accountOn(curve);
  if (account !== undefined) {
    const { id, organization_id: organizationId, wallet_id: ownerId, path, public_key: publicKey } = account;
    const sealed = await reader.seed(organizationId, ownerId);
    if (sealed !== undefined)
      return { id, organizationId, ownerId, publicKey, key: { kind: 'wallet', sealed, curve, path } };
  }
  const found = await reader.keyOn(curve);
  if (found === undefined) return undefined;
  const { id, organization_id: organizationId, public_key: publicKey, sealed_key: sealed } = found;
  return { id, organizationId, ownerId: id, publicKey, key: { kind: 'private-key', sealed, curve } };
}
