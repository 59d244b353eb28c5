import { printable } from './printable.ts';
import { StartError } from './start-error.ts';

/** What a row of the table `deployment` says. Whoever can write to the database may have written anything there. */
export function storedJson<T>(name: string, text: string, isWhole: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(text);
    if (isWhole(value)) return value;
  } catch {
    // Said below.
  }
  throw new StartError(`the row ${printable(name)} of the table deployment is damaged: restore it from a backup`);
}

export const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Times that a date can show. */
export const isTimes = (value: unknown): value is Record<string, number> =>
  isFields(value) && Object.values(value).every((each) => typeof each === 'number' && Math.abs(each) <= 8.64e15);
