/**
 * For our own mistakes: a failed assertion stops the request and is logged as a bug. The caller's mistakes are
 * ApiErrors.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
