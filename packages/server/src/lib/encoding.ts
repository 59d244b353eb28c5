import { hash, randomBytes } from 'node:crypto';

export const sha256 = (bytes: Uint8Array | string): Buffer => hash('sha256', bytes, 'buffer');
export const sha256Hex = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex');
export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
export const toBase64url = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');

/** A text of 256 random bits that nobody can guess. */
export const randomToken = (): string => randomBytes(32).toString('base64url');
