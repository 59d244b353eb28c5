import { expect, test } from 'vitest';
import { associatedAccount } from './associated.ts';
import { ADDRESS_TABLE_LOOKUP } from './message.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './transfers.ts';

test('the token account that belongs to an owner', () => {
  const [owner, mint] = [
    'B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj',
    '7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z',
  ];
  // A vector of the tests of solana-program/token.
  expect(associatedAccount(owner, mint, TOKEN_PROGRAM)).toBe('DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n');
  expect(associatedAccount(owner, mint, TOKEN_2022_PROGRAM)).not.toBe(associatedAccount(owner, mint, TOKEN_PROGRAM));
  expect(associatedAccount(owner, ADDRESS_TABLE_LOOKUP, TOKEN_PROGRAM)).toBeUndefined();
});
