import { expect, test } from 'vitest';
import { toEventDescription, withDescription } from './description.ts';

test('is the last field of the body, and the bytes before it are the same', () => {
  const description = toEventDescription({ text: 'Do it.', risk: 'DANGER', consequence: 'I want that.' });
  expect(withDescription('{"id":"1"}', description)).toBe(
    '{"id":"1","description":{"text":"Do it.","risk":"DANGER","consequence":"I want that."}}',
  );
});

test('has no consequence where nobody has to agree to one', () => {
  expect(toEventDescription({ text: 'Do it.', risk: 'ROUTINE' })).toBe('{"text":"Do it.","risk":"ROUTINE"}');
});

test.each(['', null])('without words the body stays as it is: %j', (description) => {
  expect(withDescription('{"id":"1"}', description)).toBe('{"id":"1"}');
  expect(toEventDescription(undefined)).toBe('');
});

test('long texts are cut between characters', () => {
  const [whole, long] = ['😀'.repeat(1000), '😀'.repeat(1001)];
  const toTexts = (text: string) => JSON.parse(toEventDescription({ text, risk: 'DANGER', consequence: text }));
  expect(toTexts(whole)).toEqual({ text: whole, risk: 'DANGER', consequence: whole });
  expect(toTexts(long)).toEqual({ text: `${whole}…`, risk: 'DANGER', consequence: `${whole}…` });
});
