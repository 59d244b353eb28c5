import type { Signature } from '@custos/keyring';
import type { OrganizationId } from '../../lib/ids.ts';

/**
 * Signs what is sent. The activity that asked for a send was judged when it was accepted; here only the key has to be
 * there still. Throws SignerGone when it is not, and a KeyringError while the keyring is away.
 */
export interface SendSigner {
  /** By the key of an address of the organization; the signatures are in the order of the payloads. */
  sign(
    organizationId: OrganizationId,
    address: string,
    scheme: SendScheme,
    payloads: readonly Uint8Array[],
  ): Promise<Signature[]>;
  /** By the key that was imported for the chain with `custos chains import-key`. */
  signAsOperator(
    caip2: string,
    address: string,
    scheme: SendScheme,
    payloads: readonly Uint8Array[],
  ): Promise<Signature[]>;
}

export type SendScheme = 'ecdsa' | 'eddsa';
