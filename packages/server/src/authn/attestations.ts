import type { VerifiedAuthenticator } from './attestation.ts';

/** A passkey registration as the wire carries it (protocol/stamps 4.1). */
export interface AttestationInput {
  readonly challenge: string;
  readonly credentialId: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
}

/** Verifies passkey registrations; operations get it from their context. */
export interface Attestations {
  verify(input: AttestationInput, origins: readonly string[] | null): Promise<VerifiedAuthenticator>;
}

export type { VerifiedAuthenticator };
