import { describe, expect, test } from 'vitest';
import type { IpAllowlist } from '../../core/model.ts';
import { isAllowedFrom } from './allowlist.ts';

const list = (cidrs: readonly string[], extra: Partial<IpAllowlist> = {}): IpAllowlist => ({
  publicKey: undefined,
  enabled: true,
  onEvaluationError: 'DENY',
  rules: cidrs.map((cidr) => ({ cidr, createdAtMs: 1 })),
  ...extra,
});
const ofKey = (publicKey: string, cidrs: readonly string[], extra: Partial<IpAllowlist> = {}): IpAllowlist =>
  list(cidrs, { publicKey, ...extra });

const OFFICE = '203.0.113.0/24';
const INSIDE = '203.0.113.7';
const OUTSIDE = '198.51.100.7';

describe('the list of the organization', () => {
  test.each<[string, readonly IpAllowlist[], string | undefined, boolean]>([
    ['none accepts all addresses', [], OUTSIDE, true],
    ['none accepts an unknown address', [], undefined, true],
    ['a rule that holds the address', [list([OFFICE])], INSIDE, true],
    ['a rule that does not', [list([OFFICE])], OUTSIDE, false],
    ['one of several rules', [list(['10.0.0.0/8', OFFICE])], INSIDE, true],
    ['enabled without a rule blocks everything', [list([])], INSIDE, false],
    ['not enabled it has no say', [list([OFFICE], { enabled: false })], OUTSIDE, true],
    ['not enabled and without a rule neither', [list([], { enabled: false })], OUTSIDE, true],
    ['a block of one address', [list(['203.0.113.7/32'])], INSIDE, true],
    ['the address beside it', [list(['203.0.113.7/32'])], '203.0.113.8', false],
    ['everything of one family', [list(['0.0.0.0/0'])], OUTSIDE, true],
    ['is not everything of the other', [list(['0.0.0.0/0'])], '2001:db8::1', false],
    ['nor the other way round', [list(['::/0'])], OUTSIDE, false],
    ['IPv6', [list(['2001:db8::/32'])], '2001:db8:ffff::1', true],
    ['IPv6 outside', [list(['2001:db8::/32'])], '2001:db9::1', false],
    ['IPv4 in IPv6 clothes is IPv4', [list([OFFICE])], `::ffff:${INSIDE}`, true],
    ['with a zone', [list(['fe80::/10'])], 'fe80::1%eth0', true],
  ])('%s', (_name, lists, address, allowed) => {
    expect(isAllowedFrom(lists, 'key', address)).toBe(allowed);
    expect(isAllowedFrom(lists, undefined, address)).toBe(allowed);
  });
});

describe('the list of a key', () => {
  test.each<[string, readonly IpAllowlist[], string, boolean]>([
    ['decides its key without one of the organization', [ofKey('key', [OFFICE])], OUTSIDE, false],
    ['lets its key in', [ofKey('key', [OFFICE])], INSIDE, true],
    ['is enforced whatever enabled says', [ofKey('key', [OFFICE], { enabled: false })], OUTSIDE, false],
    ['wins over that of the organization', [list([]), ofKey('key', [OFFICE])], INSIDE, true],
    ['wins when it is the narrower one', [list(['0.0.0.0/0']), ofKey('key', [OFFICE])], OUTSIDE, false],
    ['wins in any order', [ofKey('key', [OFFICE]), list(['0.0.0.0/0'])], OUTSIDE, false],
    ['without a rule leaves it to the organization', [list([OFFICE]), ofKey('key', [])], OUTSIDE, false],
    ['without a rule, and no list there, is open', [ofKey('key', [])], OUTSIDE, true],
    ['of another key is not its business', [ofKey('other', [OFFICE])], OUTSIDE, true],
    ['of another key does not open the way either', [list([OFFICE]), ofKey('other', ['0.0.0.0/0'])], OUTSIDE, false],
  ])('%s', (_name, lists, address, allowed) => {
    expect(isAllowedFrom(lists, 'key', address)).toBe(allowed);
  });

  test('is not that of a passkey, which has no key to name', () => {
    const lists = [list([OFFICE]), ofKey('key', ['0.0.0.0/0'])];
    expect(isAllowedFrom(lists, undefined, OUTSIDE)).toBe(false);
    expect(isAllowedFrom(lists, undefined, INSIDE)).toBe(true);
  });
});

describe('an address that cannot be told', () => {
  test.each([undefined, '', 'unknown', 'localhost', '203.0.113', '203.0.113.7, 10.0.0.1', '[::1]'])(
    '%s is what the judging list says it is',
    (address) => {
      const open = { onEvaluationError: 'ALLOW' } as const;
      expect(isAllowedFrom([list(['0.0.0.0/0', '::/0'])], 'key', address)).toBe(false);
      expect(isAllowedFrom([list([OFFICE], open)], 'key', address)).toBe(true);
      // The key's list decides, so its word counts.
      expect(isAllowedFrom([list([OFFICE], open), ofKey('key', [OFFICE])], 'key', address)).toBe(false);
      expect(isAllowedFrom([list([OFFICE]), ofKey('key', [OFFICE], open)], 'key', address)).toBe(true);
    },
  );
});
