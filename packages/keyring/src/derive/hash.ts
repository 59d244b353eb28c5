import { createHmac, pbkdf2 } from 'node:crypto';

/** HMAC-SHA-512 (RFC 2104) over the parts, one after the other. The caller wipes the answer when it is secret. */
export function hmacSha512(key: Uint8Array | string, ...parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha512', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** PBKDF2 (RFC 8018, 5.2) with HMAC-SHA-512 on the thread pool. */
export function pbkdf2Sha512(
  password: Uint8Array,
  salt: Uint8Array,
  iterations: number,
  length: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, length, 'sha512', (error, key) => {
      if (error) reject(error);
      else resolve(new Uint8Array(key.buffer, key.byteOffset, key.length));
    });
  });
}
