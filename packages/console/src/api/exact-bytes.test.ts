import { describe, expect, test } from 'vitest';
import { exactPieces, isDigestOf, sizeOf } from './exact-bytes.ts';
import type { Description } from './types.ts';

const description = (unsigned?: string): Description =>
  ({ ...(unsigned !== undefined && { bytes: { algorithm: 'none', digest: '0x', unsigned } }) }) as Description;
const known = (parameters: unknown): string => JSON.stringify({ type: 'T', parameters });

test('a digest is vouched for only where it was computed here', () => {
  const digest = '0xbc36789e7a1e281436464229828f817d6612f7b477d66591ff96a9e064bcc98a';
  const bytes = { algorithm: 'keccak-256', digest, unsigned: '' };
  const piece = { label: 'Payload', text: '0x00', isHex: true };
  expect(isDigestOf(bytes, [piece])).toBe(true);
  expect(isDigestOf(bytes, [{ ...piece, text: '01' }])).toBe(false);
  expect(isDigestOf(bytes, [{ ...piece, isHex: false }])).toBe(false);
  expect(isDigestOf(bytes, [piece, piece])).toBe(false);
  expect(isDigestOf({ ...bytes, algorithm: 'sha-256' }, [piece])).toBe(false);
});

describe('the exact bytes of a request', () => {
  test('are all of its payloads, each whole', () => {
    const payloads = ['0a'.repeat(40_000), '0x0b', 'hello'];
    const pieces = exactPieces(description(), known({ payloads }));
    expect(pieces.map(({ text }) => text)).toEqual(payloads);
    expect(pieces.map(({ label }) => label)).toEqual(['Payload 1 of 3', 'Payload 2 of 3', 'Payload 3 of 3']);
    expect(pieces.map(sizeOf)).toEqual([40_000, 1, 5]);
  });

  test.each([
    [{ payload: '0a0b' }, '0a0b'],
    [{ unsignedTransaction: '02f8' }, '02f8'],
  ])('are those of the request itself, not the ones that the service cut', (parameters, expected) => {
    expect(exactPieces(description('0xff…'), known(parameters)).map(({ text }) => text)).toEqual([expected]);
  });

  test('are what the service says where the request has no field of bytes', () => {
    expect(exactPieces(description('0x0c'), known({ to: '0x1' })).map(({ text }) => text)).toEqual(['0x0c']);
  });

  test('are the whole request where nothing else is whole', () => {
    const request = known({ to: '0x1' });
    expect(exactPieces(description('0x0c…'), request)).toEqual([
      { label: 'The whole request', text: request, isHex: false },
    ]);
    expect(exactPieces(description(), request)).toHaveLength(1);
  });

  test('are nothing where they are not here', () => {
    expect(exactPieces(description(), undefined)).toEqual([]);
    expect(exactPieces(description('0x0c…'), undefined)).toEqual([]);
    expect(exactPieces(description(''), undefined)).toEqual([]);
  });
});
