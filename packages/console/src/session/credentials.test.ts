import { describe, expect, test } from 'vitest';
import { readCredentials } from './credentials.ts';

describe('reading credentials', () => {
  test('the file of the first start', () => {
    const text = JSON.stringify({ organizationId: 'o', userId: 'u', apiPublicKey: '02ab', apiPrivateKey: ' cd ' });
    expect(readCredentials(text)).toEqual({ organizationId: 'o', publicKey: '02ab', privateKey: 'cd' });
  });

  test('a key pair alone', () => {
    expect(readCredentials('{"publicKey":"02ab","privateKey":"cd"}')).toEqual({ publicKey: '02ab', privateKey: 'cd' });
  });

  test.each(['', 'nonsense', 'null', '[]', '{}', '{"publicKey":"02ab"}', '{"publicKey":1,"privateKey":"cd"}'])(
    'not %j',
    (text) => {
      expect(readCredentials(text)).toBeUndefined();
    },
  );
});
