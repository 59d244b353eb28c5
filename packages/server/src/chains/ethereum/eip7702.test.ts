import fc from 'fast-check';
import { hashAuthorization } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { hashAuthorizationJson } from './eip7702.ts';

const ADDRESS = '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F';
const digestOf = (text: string): string => `0x${Buffer.from(hashAuthorizationJson(text).digest).toString('hex')}`;

describe('hashAuthorizationJson', () => {
  test('agrees with viem', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (chainId, nonce) => {
        const authorization = { address: ADDRESS, chainId, nonce } as const;
        expect(digestOf(JSON.stringify(authorization))).toBe(hashAuthorization(authorization));
      }),
      { numRuns: 50, examples: [[0, 0]] },
    );
  });

  test('takes every spelling of an integer and any case of an address', () => {
    const number = hashAuthorizationJson(JSON.stringify({ address: ADDRESS, chainId: 255, nonce: 16 }));
    expect(number).toMatchObject({ address: ADDRESS.toLowerCase(), chainId: 255n, nonce: 16n });
    const hex = JSON.stringify({ nonce: '0x10', chainId: '0xFF', address: `0x${ADDRESS.slice(2).toUpperCase()}` });
    expect(hashAuthorizationJson(hex)).toEqual(number);
    expect(
      hashAuthorizationJson(JSON.stringify({ address: ADDRESS.toLowerCase(), chainId: '255', nonce: '16' })),
    ).toEqual(number);
  });

  test.each<[string, string, string]>([
    ['no JSON', 'abc', 'the JSON text is refused'],
    ['nothing', '', 'the JSON text is refused'],
    ['a list', '[]', 'not an object'],
    ['null', 'null', 'not an object'],
    ['no address', '{"chainId":1,"nonce":1}', 'address is missing'],
    ['no chain id', `{"address":"${ADDRESS}","nonce":1}`, 'chainId is missing'],
    ['no nonce', `{"address":"${ADDRESS}","chainId":1}`, 'nonce is missing'],
    ['null as nonce', `{"address":"${ADDRESS}","chainId":1,"nonce":null}`, 'nonce is not an integer'],
    ['a negative nonce', `{"address":"${ADDRESS}","chainId":1,"nonce":-1}`, 'nonce is out of range'],
    ['a fraction', `{"address":"${ADDRESS}","chainId":1.5,"nonce":1}`, 'chainId is not an integer'],
    ['an inexact number', `{"address":"${ADDRESS}","chainId":9007199254740993,"nonce":1}`, 'too large unless'],
    ['the last nonce', `{"address":"${ADDRESS}","chainId":1,"nonce":"18446744073709551615"}`, 'nonce is out of range'],
    [
      'a chain id of 257 bits',
      `{"address":"${ADDRESS}","chainId":"${2n ** 256n}","nonce":1}`,
      'chainId is out of range',
    ],
    ['a short address', '{"address":"0x00","chainId":1,"nonce":1}', 'address has 1 bytes'],
    ['an address without 0x', `{"address":"${ADDRESS.slice(2)}","chainId":1,"nonce":1}`, 'address is not hexadecimal'],
    ['a duplicate member', `{"address":"${ADDRESS}","chainId":1,"chainId":2,"nonce":1}`, 'duplicate'],
    ['a second address', `{"address":"${ADDRESS}","contractAddress":"","chainId":1,"nonce":1}`, 'unknown member'],
  ])('refuses %s', (_name, text, reason) => {
    expect(() => hashAuthorizationJson(text)).toThrow(ApiError);
    expect(() => hashAuthorizationJson(text)).toThrow(reason);
    expect(() => hashAuthorizationJson(text)).toThrow('invalid payload encoding');
  });
});
