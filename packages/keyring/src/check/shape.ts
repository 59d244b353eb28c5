import { invalid } from '../derive/check.ts';
import { checkBytes, checkName } from '../seal/layout.ts';

// The shape of an argument, whatever came in its place. Answers are checked copies, so that what was checked is what is
// used, also when the caller changes its object or its bytes meanwhile.

/** Longer than any name, contact or scope that the service takes. */
const TEXT_LENGTH_MAX = 1024;
const LONE_SURROGATE = /\p{Surrogate}/u;

export function membersOf<T>(value: unknown, name: string): { readonly [K in keyof T]?: unknown } {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} must be an object`);
  return value;
}

export function listOf(list: unknown, name: string, min: number, max: number): unknown[] {
  if (!Array.isArray(list) || list.length < min || list.length > max) {
    throw invalid(`${name} must be a list of ${min} to ${max}`);
  }
  // Holes of a sparse list become undefined, which map would pass over.
  return Array.from(list as unknown[]);
}

/** Not by slice, which shares memory when the caller's array is a Buffer. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

export function bytesOf(bytes: unknown, name: string): Uint8Array {
  checkBytes(bytes, name);
  return copyOf(bytes);
}

export function nameOf(text: unknown, name: string): string {
  checkName(text, name);
  return text;
}

export function textOf(text: unknown, name: string, lengthMax: number): string {
  if (typeof text !== 'string' || LONE_SURROGATE.test(text)) throw invalid(`${name} must be well-formed text`);
  if (text.length > lengthMax) throw invalid(`${name} is longer than ${lengthMax} characters`);
  return text;
}

export function nonEmptyOf(text: unknown, name: string): string {
  const known = textOf(text, name, TEXT_LENGTH_MAX);
  if (known === '') throw invalid(`${name} must not be empty`);
  return known;
}
