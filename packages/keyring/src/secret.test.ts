import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

const secretBytes = (): Uint8Array => Uint8Array.of(115, 51, 99, 114, 51, 116);

test('a secret does not print itself', () => {
  const secret = new Secret(secretBytes());
  const prints = [
    `${secret}`,
    String(secret),
    inspect(secret),
    inspect({ nested: [secret] }, { depth: 10, showHidden: true }),
    format('%s %o %O %j', secret, secret, secret, secret),
    JSON.stringify({ secret }),
    JSON.stringify(Object.entries(secret)),
    JSON.stringify({ ...secret }),
  ];
  for (const print of prints) {
    expect(print).not.toMatch(/s3cr3t|115|73336372/);
  }
  expect(`${secret}`).toBe('[secret]');
  expect(inspect(secret)).toBe('[secret]');
  expect(JSON.stringify(secret)).toBe('"[secret]"');
});

test('a secret is lent once and wiped after', () => {
  const bytes = secretBytes();
  const secret = new Secret(bytes);
  expect(secret.use((lent) => lent[0])).toBe(115);
  expect([...bytes]).toEqual([0, 0, 0, 0, 0, 0]);
  expect(() => secret.use(() => undefined)).toThrow('only once');
});

test('a secret is wiped when its user throws', () => {
  const bytes = secretBytes();
  const fail = (): never => {
    throw new Error('failed');
  };
  expect(() => new Secret(bytes).use(fail)).toThrow('failed');
  expect(bytes.every((byte) => byte === 0)).toBe(true);
});

test('a secret is wiped only when the promise of its user has settled', async () => {
  const bytes = secretBytes();
  const seen = await new Secret(bytes).use(async (lent) => {
    await Promise.resolve();
    return lent[0];
  });
  expect(seen).toBe(115);
  expect(bytes.every((byte) => byte === 0)).toBe(true);

  const failing = secretBytes();
  await expect(new Secret(failing).use(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(failing.every((byte) => byte === 0)).toBe(true);
});

test('a wiped secret is not lent', () => {
  const bytes = secretBytes();
  const secret = new Secret(bytes);
  secret.wipe();
  expect(bytes.every((byte) => byte === 0)).toBe(true);
  expect(() => secret.use(() => undefined)).toThrow('only once');
});
