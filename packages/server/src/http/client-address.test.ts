import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const PROXIES = ['10.0.0.0/8', 'fd00::/8'];

test.each([
  ['a stranger is the peer', '203.0.113.5', undefined, '203.0.113.5'],
  ['a header from a stranger is not read', '203.0.113.5', '10.9.9.9, 192.0.2.1', '203.0.113.5'],
  ['a proxy names its client', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['what the client wrote before the proxy is not believed', '10.0.0.1', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
  ['several trusted hops', '::ffff:10.0.0.1', '192.0.2.1, 198.51.100.7, fd00::2, 10.2.2.2', '198.51.100.7'],
  ['a proxy that does not say', '10.0.0.1', undefined, undefined],
  ['a proxy that says nonsense', '10.0.0.1', '198.51.100.7, unknown', undefined],
  ['only proxies', '10.0.0.1', '10.1.1.1, 10.2.2.2', undefined],
  ['IPv6', 'fd00::1', '2001:db8::9', '2001:db8::9'],
])('%s', (_name, peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }, PROXIES)).toBe(expected);
});

test('without trusted proxies no header is read', () => {
  expect(clientAddress('127.0.0.1', { 'x-forwarded-for': '198.51.100.7' }, [])).toBe('127.0.0.1');
});
