// protocol/policies 9.2 and protocol/policies 10.2: the same conditions, read with other rules for run-time errors.
import { compile, evaluate } from './language.ts';
import type { JsonObject } from './values.ts';

export interface MfaPolicyText {
  readonly id: string;
  readonly order: number;
  readonly condition?: string;
}

/** The one MFA policy that applies: lowest order first, equal orders as listed (oldest first). */
export function applicableMfaPolicy(
  policies: readonly MfaPolicyText[],
  context: JsonObject,
): MfaPolicyText | undefined {
  return policies.toSorted((a, b) => a.order - b.order).find((policy) => mfaConditionHolds(policy.condition, context));
}

/** What the request does not have at all makes the condition false; any other error makes it true, to fail closed. */
function mfaConditionHolds(condition: string | undefined, context: JsonObject): boolean {
  const result = evaluate(compile(condition, 'mfa'), context);
  return result.ok ? result.value : !(result.code === 'R_MISSING_FIELD' && result.isForeign);
}

/** Any run-time error denies. */
export function scopeAllows(scope: string | undefined, context: JsonObject): boolean {
  const result = evaluate(compile(scope, 'scope'), context);
  return result.ok && result.value;
}
