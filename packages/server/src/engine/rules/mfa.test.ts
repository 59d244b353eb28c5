import { describe, expect, test } from 'vitest';
import type { AuthenticationMethod, MfaRequirement, MfaStep } from '../../core/model.ts';
import { type ActivityId, type MfaPolicyId, randomId, type UserId } from '../../lib/ids.ts';
import { credit, isSatisfied } from './mfa.ts';

const passkey: AuthenticationMethod = { type: 'AUTHENTICATION_TYPE_PASSKEY', id: 'p1' };
const apiKey: AuthenticationMethod = { type: 'AUTHENTICATION_TYPE_API_KEY', id: 'k1' };
const session: AuthenticationMethod = { type: 'AUTHENTICATION_TYPE_SESSION' };

const requirement = (...steps: MfaStep[]): MfaRequirement => ({
  activityId: randomId() as ActivityId,
  userId: randomId() as UserId,
  mfaPolicyId: randomId() as MfaPolicyId,
  steps,
  proofs: [],
  satisfiedAtMs: undefined,
  createdAtMs: 1,
});
const step = (...any: AuthenticationMethod[]): MfaStep => ({ any });
const evidence = (method: AuthenticationMethod, digest: string = randomId()) => ({
  method,
  credentialId: 'c',
  digest,
});
const after = (start: MfaRequirement, ...methods: AuthenticationMethod[]) =>
  methods.reduce((state, method) => credit(state, evidence(method), 5), start);

describe('one step', () => {
  test('any of its methods meets it', () => {
    const any = requirement(step({ type: 'AUTHENTICATION_TYPE_PASSKEY' }, { type: 'AUTHENTICATION_TYPE_API_KEY' }));
    expect(isSatisfied(after(any, passkey))).toBe(true);
    expect(isSatisfied(after(any, apiKey))).toBe(true);
    expect(isSatisfied(after(any, session))).toBe(false);
  });

  test('a named credential is that one and no other', () => {
    expect(isSatisfied(after(requirement(step(passkey)), passkey))).toBe(true);
    expect(isSatisfied(after(requirement(step({ ...passkey, id: 'p2' })), passkey))).toBe(false);
  });

  test('the zero id is the session without a profile', () => {
    const zero = step({ type: 'AUTHENTICATION_TYPE_SESSION', id: '00000000-0000-0000-0000-000000000000' });
    expect(isSatisfied(after(requirement(zero), session))).toBe(true);
    expect(isSatisfied(after(requirement(zero), { ...session, id: 'profile' }))).toBe(false);
    const profile = step({ type: 'AUTHENTICATION_TYPE_SESSION', id: 'profile' });
    expect(isSatisfied(after(requirement(profile), session))).toBe(false);
  });
});

describe('several steps', () => {
  const two = requirement(step({ type: 'AUTHENTICATION_TYPE_API_KEY' }), step({ type: 'AUTHENTICATION_TYPE_PASSKEY' }));

  test('are met in sequence; one that comes too early is discarded', () => {
    expect(after(two, passkey).proofs).toEqual([]);
    expect(isSatisfied(after(two, passkey, apiKey))).toBe(false);
    expect(isSatisfied(after(two, apiKey, passkey))).toBe(true);
    expect(after(two, apiKey, apiKey).proofs).toHaveLength(1);
  });

  test('need a proof each, even of the same method', () => {
    const same = requirement(step(apiKey), step(apiKey));
    const once = credit(same, evidence(apiKey, 'd1'), 5);
    expect(isSatisfied(credit(once, evidence(apiKey, 'd1'), 6))).toBe(false);
    expect(isSatisfied(credit(once, evidence(apiKey, 'd2'), 6))).toBe(true);
  });

  test('a proof after the last step changes nothing', () => {
    const done = after(two, apiKey, passkey);
    expect(after(done, apiKey)).toBe(done);
  });
});
