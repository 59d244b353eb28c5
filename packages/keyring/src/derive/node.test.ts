import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { childData, KeyNode, splitNode } from './node.ts';

const node = (): KeyNode => new KeyNode(new Uint8Array(32).fill(115), new Uint8Array(32).fill(51));

test('a node does not print its keys', () => {
  const subject = node();
  subject.publicKey(() => new Uint8Array(33).fill(99));
  const prints = [
    `${subject}`,
    inspect(subject),
    inspect({ nested: [subject] }, { depth: 10, showHidden: true, getters: true }),
    inspect(subject, { customInspect: false, showHidden: true, getters: true }),
    format('%s %o %O %j', subject, subject, subject, subject),
    JSON.stringify({ subject }),
    JSON.stringify({ ...subject }),
    JSON.stringify(Object.entries(subject)),
  ];
  for (const print of prints) expect(print).not.toMatch(/115|7373|5151|51,|99/);
  expect(JSON.stringify(subject)).toBe('"[secret]"');
});

test('wiping a node wipes all of it and makes it unusable', () => {
  const subject = node();
  const arrays = [subject.privateKey(), subject.chainCode(), subject.publicKey(() => new Uint8Array(33).fill(2))];
  subject[Symbol.dispose]();
  for (const bytes of arrays) expect(bytes.every((byte) => byte === 0)).toBe(true);
  expect(() => subject.privateKey()).toThrow('wiped');
  expect(() => subject.chainCode()).toThrow('wiped');
  expect(() => subject.publicKey(() => new Uint8Array(33))).toThrow('wiped');
});

test('the public key is computed once', () => {
  const subject = node();
  let calls = 0;
  const compute = (): Uint8Array => {
    calls += 1;
    return new Uint8Array(33);
  };
  expect(subject.publicKey(compute)).toBe(subject.publicKey(compute));
  expect(calls).toBe(1);
});

test('a hash is split into copies and wiped', () => {
  const hash = Uint8Array.from({ length: 64 }, (_, index) => index + 1);
  const split = splitNode(hash);
  expect(split.privateKey()[0]).toBe(1);
  expect(split.privateKey().length).toBe(32);
  expect(split.chainCode()[31]).toBe(64);
  expect(hash.every((byte) => byte === 0)).toBe(true);
});

test('the data of a child', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  expect(hex(childData(new Uint8Array(32).fill(0xaa), 0x8000_002c))).toBe(`00${'aa'.repeat(32)}8000002c`);
  expect(hex(childData(new Uint8Array(33).fill(0x02), 7))).toBe(`${'02'.repeat(33)}00000007`);
});
