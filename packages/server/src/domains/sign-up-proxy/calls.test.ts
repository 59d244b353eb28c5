import { expect, test } from 'vitest';
import { WIRE_PROXY_CALLS } from '../../reference/wire-operations.ts';
import { proxyCalls, proxyPathOf } from './calls.ts';

test('every call of the wire protocol is served, and nothing else', () => {
  expect(proxyCalls.map(({ name }) => name).sort()).toEqual([...WIRE_PROXY_CALLS].sort());
});

test('each has the path of its name', () => {
  expect(proxyCalls.map(proxyPathOf)).toContain('/v1/signup_v2');
  expect(new Set(proxyCalls.map(proxyPathOf)).size).toBe(proxyCalls.length);
});

test('a captcha guards codes and sign-ups', () => {
  const guarded = proxyCalls.filter(({ needsCaptcha }) => needsCaptcha).map(({ name }) => name);
  expect(guarded.sort()).toEqual(['otp_init', 'otp_init_v2', 'signup', 'signup_v2']);
});

test('no body at all is for those that need to be told nothing', () => {
  const bare = proxyCalls.filter(({ takesNothing }) => takesNothing).map(({ name }) => name);
  expect(bare.sort()).toEqual(['wallet_kit_client_params', 'wallet_kit_config']);
});
