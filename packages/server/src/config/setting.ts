import { SettingError } from './setting-error.ts';

/** One setting: an environment variable with a default that works on a laptop. */
export interface Setting<T> {
  readonly name: `CUSTOS_${string}`;
  /** As the README shows it; the empty string means unset. */
  readonly fallback: string;
  readonly summary: string;
  parse(text: string): T;
}

export const setting = <T>(
  name: Setting<T>['name'],
  fallback: string,
  summary: string,
  parse: (text: string) => T,
): Setting<T> => ({
  name,
  fallback,
  summary,
  parse,
});

/** Its value in an environment; throws SettingError with one clear sentence. */
export function readSetting<T>({ name, fallback, parse }: Setting<T>, environment: NodeJS.ProcessEnv): T {
  try {
    return parse(environment[name] || fallback);
  } catch (error) {
    if (error instanceof SettingError) throw new SettingError(`${name} ${error.message}`);
    throw error;
  }
}

export const text = (value: string): string => value;

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new SettingError(`must be a whole number from ${min} to ${max}`);
    return number;
  };
}

export function choice<const Choice extends string>(...choices: readonly Choice[]): (value: string) => Choice {
  return (value) => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new SettingError(`must be one of ${choices.join(', ')}`);
    return found;
  };
}
