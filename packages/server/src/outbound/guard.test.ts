import { describe, expect, test } from 'vitest';
import { checkAddresses, checkPeer, type Guard, parseTarget } from './guard.ts';
import type { OutboundReason } from './outbound-error.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:4700:4700::1111';
const INSIDE = '10.1.0.5';
const OUTSIDE = '10.2.0.5';
const LENIENT: Guard = { allow: ['10.1.0.0/16'] };
const STRICT: Guard = { ...LENIENT, everyAddress: true, usualPorts: true };

const check = (guard: Guard, url: string, ...addresses: string[]): readonly string[] => [
  ...checkAddresses(guard, parseTarget(url), addresses).keys(),
];

const refusedAs = (reason: OutboundReason) => expect.objectContaining({ name: 'OutboundError', reason });

describe('several addresses', () => {
  test('all good ones are called', () => {
    expect(check(STRICT, 'https://a.test/', PUBLIC, PUBLIC_6, INSIDE)).toEqual([PUBLIC, PUBLIC_6, INSIDE]);
  });

  test.each([
    ['https://a.test/', PUBLIC, OUTSIDE],
    ['https://a.test/', PUBLIC, '169.254.169.254'],
    ['https://a.test/', PUBLIC_6, 'fd00:ec2::254'],
    ['http://a.test/', INSIDE, PUBLIC],
  ])('%s at %s and %s: the good one alone, or nothing for the strict', (url, good, bad) => {
    expect(check(LENIENT, url, bad, good)).toEqual([good]);
    expect(() => check(STRICT, url, good, bad)).toThrow(refusedAs('forbidden-address'));
    expect(() => check(STRICT, url, bad, good)).toThrow(refusedAs('forbidden-address'));
    expect(() => check(LENIENT, url, bad)).toThrow(refusedAs('forbidden-address'));
  });

  test('a bad one does not hide behind many good ones', () => {
    const many = Array.from({ length: 64 }, (_, index) => `93.184.215.${index}`);
    expect(check(STRICT, 'https://a.test/', ...many)).toEqual(many.slice(0, 8));
    expect(() => check(STRICT, 'https://a.test/', ...many, OUTSIDE)).toThrow(refusedAs('forbidden-address'));
    expect(() => check(STRICT, 'https://a.test/', ...many, PUBLIC_6)).toThrow(refusedAs('forbidden-address'));
  });
});

describe('ports', () => {
  test.each([
    ['https://a.test/', true],
    ['https://a.test:443/', true],
    ['https://a.test:1024/', true],
    ['https://a.test:65535/', true],
    ['https://a.test:1023/', false],
    ['https://a.test:80/', false],
    ['https://a.test:25/', false],
    ['https://a.test:22/', false],
    ['https://a.test:0/', false],
  ])('%s at a public address: %s', (url, isPermitted) => {
    expect(check(LENIENT, url, PUBLIC)).toEqual([PUBLIC]);
    expect(check(STRICT, url, INSIDE)).toEqual([INSIDE]);
    if (isPermitted) expect(check(STRICT, url, PUBLIC)).toEqual([PUBLIC]);
    else expect(() => check(STRICT, url, PUBLIC)).toThrow(refusedAs('bad-url'));
  });

  test('a name inside and outside the list has the ports of the outside', () => {
    expect(check(STRICT, 'https://a.test:444/', INSIDE)).toEqual([INSIDE]);
    expect(() => check(STRICT, 'https://a.test:444/', INSIDE, PUBLIC)).toThrow(refusedAs('bad-url'));
  });
});

test('the peer of a connection is judged by its own address', () => {
  const target = parseTarget('https://a.test/');
  const reachable = checkAddresses(STRICT, target, [PUBLIC, INSIDE]);
  expect(checkPeer(STRICT, target, reachable, PUBLIC)).toBe('public');
  expect(checkPeer(STRICT, target, reachable, INSIDE)).toBe('allowed');
  expect(checkPeer(STRICT, target, reachable, `::ffff:${INSIDE}`)).toBe('allowed');
  expect(checkPeer(STRICT, target, reachable, PUBLIC_6)).toBe('public');
  expect(() => checkPeer(STRICT, target, reachable, OUTSIDE)).toThrow(refusedAs('forbidden-address'));
});
