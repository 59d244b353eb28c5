import { Buffer } from 'node:buffer';
import { hexOf } from './encoding.ts';
import { type Signer, signingKeyOf, signMessage, uncompressPoint } from './p256.ts';

const SCHEME = 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256';

export interface AppProof {
  readonly scheme: typeof SCHEME;
  /** The encryption key and the signing key, both uncompressed, in one text of hexadecimal. */
  readonly publicKey: string;
  readonly proofPayload: string;
  /** r and s, 128 digits of hexadecimal, by the second key over SHA-256 of the payload's UTF-8. */
  readonly signature: string;
}

export interface AddressDerivation {
  readonly organizationId: string;
  readonly walletId: string;
  readonly derivationPath: string;
  readonly address: string;
}

export interface PolicyOutcome {
  readonly organizationId: string;
  readonly outcome: string;
  readonly decisionContextDigest: string;
  readonly organizationDataDigest: string;
  readonly parentOrganizationDataDigest: string;
  readonly userRequestApprovals: readonly unknown[];
}

export function addressDerivationPayload(timestampMs: number, proof: AddressDerivation): string {
  const { organizationId, walletId, derivationPath, address } = proof;
  return JSON.stringify({
    type: 'APP_PROOF_TYPE_ADDRESS_DERIVATION',
    timestampMs: String(timestampMs),
    addressDerivationProof: { organizationId, walletId, derivationPath, address },
  });
}

export function policyOutcomePayload(timestampMs: number, proof: PolicyOutcome): string {
  const { organizationId, outcome, decisionContextDigest, organizationDataDigest } = proof;
  const { parentOrganizationDataDigest, userRequestApprovals } = proof;
  return JSON.stringify({
    type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
    timestampMs: String(timestampMs),
    policyOutcomeProof: {
      organizationId,
      outcome,
      decisionContextDigest,
      organizationDataDigest,
      parentOrganizationDataDigest,
      userRequestApprovals,
    },
  });
}

/** The proof that this process said so. Without a boot proof it does not say what process that is. */
export function signAppProof(signer: Signer, encryptionPublicKey: Uint8Array, proofPayload: string): AppProof {
  const signingKey = signingKeyOf(signer);
  return {
    scheme: SCHEME,
    publicKey: hexOf(uncompressPoint(encryptionPublicKey)) + hexOf(signingKey.publicKey),
    proofPayload,
    signature: hexOf(signMessage(signingKey, Buffer.from(proofPayload, 'utf8'), 'raw')),
  };
}
