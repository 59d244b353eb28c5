import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { StartError } from '../lib/start-error.ts';
import { parseKeyText } from './key-text.ts';

// RFC 8032, 7.1, test 1.
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const PAIR = base58.encode(bytesOf(SEED + PUBLIC));

const parse = (namespace: 'eip155' | 'solana', text: string) => parseKeyText(namespace, Buffer.from(text));

describe('keys as people keep them', () => {
  test.each([
    ['eip155', SEED],
    ['eip155', `0x${SEED}`],
    ['eip155', `0X${SEED.toUpperCase()}`],
    ['eip155', ` \t${SEED}\r\n`],
    ['solana', SEED],
    ['solana', `0x${SEED}\n`],
    ['solana', base58.encode(bytesOf(SEED))],
  ] as const)('%s: %j', (namespace, text) => {
    expect(parse(namespace, text)).toEqual({ privateKey: bytesOf(SEED), publicKey: undefined });
  });

  test('the pair of Solana, whose second half is kept to be compared', () => {
    expect(parse('solana', `${PAIR}\n`)).toEqual({ privateKey: bytesOf(SEED), publicKey: PUBLIC });
  });
});

test.each([
  ['eip155', ''],
  ['eip155', '0x'],
  ['eip155', SEED.slice(1)],
  ['eip155', `${SEED}0`],
  ['eip155', `${SEED.slice(1)}g`],
  ['eip155', `${SEED.slice(0, 32)} ${SEED.slice(32)}`],
  ['eip155', `0x0x${SEED.slice(2)}`],
  ['eip155', PAIR],
  ['eip155', base58.encode(bytesOf(SEED))],
  ['solana', ''],
  ['solana', SEED.slice(2)],
  ['solana', base58.encode(bytesOf(SEED.slice(2)))],
  ['solana', base58.encode(bytesOf(SEED + PUBLIC.slice(2)))],
  ['solana', `${PAIR.slice(1)}0`],
  ['solana', '1'.repeat(40)],
  ['solana', '1'.repeat(200)],
] as const)('what is no key is refused without a word of it: %s %j', (namespace, text) => {
  const refused = expect.objectContaining({
    constructor: StartError,
    message: expect.stringMatching(/^what was given on standard input is no private key: it must be [^\n]+$/),
  });
  let caught: unknown;
  try {
    parse(namespace, text);
  } catch (error) {
    caught = error;
  }
  expect(caught).toEqual(refused);
  if (text.length > 2) expect((caught as Error).message).not.toContain(text);
});
