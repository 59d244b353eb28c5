import { describe, expect, test } from 'vitest';
import { contains, normalizeCidr, parseAddress } from './network.ts';

describe('blocks', () => {
  test.each([
    ['192.168.1.100/24', '192.168.1.0/24'],
    ['10.0.0.1', '10.0.0.1/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/31', '255.255.255.254/31'],
    ['10.255.0.0/9', '10.128.0.0/9'],
    ['2001:DB8::1/48', '2001:db8::/48'],
    ['::1', '::1/128'],
    ['::/0', '::/0'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::ffff:10.1.2.3/120', '10.1.2.0/24'],
    [' 10.0.0.0/8 ', '10.0.0.0/8'],
  ])('%s is %s', (text, block) => expect(normalizeCidr(text)).toBe(block));

  test.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.1',
    '0x7f.1',
    '256.0.0.1',
    '10.0.0.0/-1',
    '10.0.0.0/',
    'a/8',
    '::1%eth0',
    '::ffff:0:0/90',
    '10.0.0.0/8/8',
    '1.2.3.4.5',
    '01.2.3.4.5/8',
    '010.0.0.1',
    '10.0.0.010/32',
    '::ffff:010.0.0.1',
  ])('%j is none', (text) => expect(normalizeCidr(text)).toBeUndefined());
});

describe('membership', () => {
  const holds = (cidr: string, text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && contains(cidr, address);
  };
  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.1.1.1', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '10.0.0.1', false],
    ['2001:db8::/32', '2001:db8:1::5', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['10.0.0.1/32', '10.0.0.1', true],
  ])('%s and %s: %s', (cidr, text, expected) => expect(holds(cidr, text)).toBe(expected));

  test.each(['', 'unknown', '10.1', 'localhost', '1.2.3.4:80', '[::1]', '::1.2.3.4', '0::10.0.0.1'])(
    '%j is no address',
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );
});
