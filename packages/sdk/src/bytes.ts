/** Bytes that WebCrypto takes: never a view of shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>;

export const toUtf8 = (text: string): Bytes => new TextEncoder().encode(text);

export const toBytes = (source: ArrayBuffer | ArrayBufferView): Bytes =>
  source instanceof ArrayBuffer
    ? new Uint8Array(source)
    : new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Undefined unless the text is hex of whole bytes. */
export function fromHex(text: string): Bytes | undefined {
  if (!/^([0-9a-f]{2})*$/i.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(2 * index, 2 * index + 2), 16),
  );
}

export function toBase64url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Undefined unless the text is base64url, padded or not. */
export function fromBase64url(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
