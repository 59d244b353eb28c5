import { expect, test } from 'vitest';
import { parseUrl } from './url.ts';

test('what is no URL is undefined', () => {
  expect(parseUrl('https://hooks.test/')?.hostname).toBe('hooks.test');
  for (const text of ['', 'hooks.test', 'https://', 'https://[::1', 'https://a b/'])
    expect(parseUrl(text)).toBeUndefined();
});

test('letters that are not ASCII are still read when the code is hot', () => {
  let wrong = 0;
  for (let count = 0; count < 50_000; count += 1) {
    if (parseUrl('https://bücher.test/')?.hostname !== 'xn--bcher-kva.test') wrong += 1;
  }
  expect(wrong).toBe(0);
});
