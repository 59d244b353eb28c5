import { invalid } from './derive/check.ts';

// The shape of an argument, whatever came in its place.

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
