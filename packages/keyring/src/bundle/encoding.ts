import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

/** Hexadecimal in either case, of an even number of digits and within the bounds, or a refusal that names the field. */
export function parseHex(text: unknown, name: string, bytesMin: number, bytesMax: number): Uint8Array {
  if (typeof text !== 'string' || text.length < 2 * bytesMin || text.length > 2 * bytesMax) {
    const length = bytesMin === bytesMax ? `${bytesMin}` : `${bytesMin} to ${bytesMax}`;
    throw new KeyringError('INVALID_INPUT', `${name} must be the hexadecimal text of ${length} bytes`);
  }
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) {
    throw new KeyringError('INVALID_INPUT', `${name} is not hexadecimal`);
  }
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

/** RFC 4648, section 5, without padding and with no stray bits: of two spellings one is refused. */
export function parseBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? Uint8Array.from(bytes) : undefined;
}

/** Text from UTF-8 that is exactly that. */
export function parseUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new KeyringError('INVALID_INPUT', `${name} is not UTF-8`);
  }
}

/** A JSON object, no array and not null. */
export function parseJsonObject(text: string, name: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KeyringError('INVALID_INPUT', `${name} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new KeyringError('INVALID_INPUT', `${name} is not a JSON object`);
  }
  return value as Record<string, unknown>;
}
