import type { Activity } from '@custos/sdk';
import type { Wish } from '../../../api/simulation.ts';

/** Somebody's request: what they asked for. */
export interface Asked {
  readonly wish: Wish;
  readonly submitterUserId: string | undefined;
}

/**
 * A past activity as a request that can be tried again. The first vote is the submission, and its message the very body
 * that was signed; the intent stands in where a vote lacks it.
 */
export function askedIn(activity: Activity): Asked | undefined {
  const first = activity.votes[0];
  const wish = wishIn(first?.message) ?? wishOfIntent(activity);
  return wish === undefined ? undefined : { wish, submitterUserId: first?.userId };
}

function wishIn(message: string | undefined): Wish | undefined {
  if (message === undefined) return undefined;
  try {
    const body = JSON.parse(message) as { readonly type?: unknown; readonly parameters?: unknown };
    // A vote of somebody else is a body of its own.
    if (typeof body.type !== 'string' || /_(?:APPROVE|REJECT)_ACTIVITY$/.test(body.type)) return undefined;
    return isObject(body.parameters) ? { type: body.type, parameters: body.parameters } : undefined;
  } catch {
    return undefined;
  }
}

function wishOfIntent({ type, intent }: Activity): Wish | undefined {
  const [parameters] = Object.values(intent);
  return isObject(parameters) ? { type, parameters } : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type Parsed = { readonly parameters: Record<string, unknown> } | { readonly error: string };

/** Parameters as somebody typed them. */
export function parseParameters(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return isObject(value) ? { parameters: value } : { error: 'Parameters are an object: { … }.' };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : 'it ends too early'}.` };
  }
}
