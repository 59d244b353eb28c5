import { expect, test } from 'vitest';
import { storedErrorCode } from './error-codes.ts';

test.each([
  ['a code of this version', 'INVALID_OTP_CODE', 'INVALID_OTP_CODE'],
  ['one that was renamed', 'CHAIN_UNAVAILABLE', 'RPC_CALL_ERROR'],
  ['one that this version does not know', 'OF_A_NEWER_VERSION', 'FAILED_PRECONDITION'],
  ['a name that every object has', 'constructor', 'FAILED_PRECONDITION'],
])('%s, as it was stored', (_what, stored, known) => {
  expect(storedErrorCode(stored)).toBe(known);
});
