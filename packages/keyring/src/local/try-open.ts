import { KeyringError } from '../errors.ts';

/** Undefined for what is refused. */
export function tryOpen<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof KeyringError) return undefined;
    throw error;
  }
}
