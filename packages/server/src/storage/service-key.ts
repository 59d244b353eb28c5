/** A key pair of the service itself. */
export interface ServiceKey {
  readonly role: string;
  readonly keyId: string;
  readonly publicKey: string;
  readonly encoding: 'compressed' | 'uncompressed' | 'raw';
  readonly sealedKey: Uint8Array;
  readonly createdAtMs: number;
  /** Before this moment it is only published. */
  readonly signsFromMs: number;
}
