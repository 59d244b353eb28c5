import { base58 } from '@scure/base';

export function solanaAddress(publicKey: Uint8Array): string {
  return base58.encode(publicKey);
}
