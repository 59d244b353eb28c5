/** "a", "a or b", "a, b or c". */
export function joinWords(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length <= 1) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Cut by code points, so that no character is halved. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${[...text.slice(0, max + 1)].slice(0, max - 1).join('')}…`;
}

/** 0x, six, dots, six: how lists show an address. */
export function shortAddress(address: string): string {
  if (address.length <= 18) return address;
  const start = address.startsWith('0x') ? 8 : 6;
  return `${address.slice(0, start)}…${address.slice(-6)}`;
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  number === 1 ? `1 ${one}` : `${number} ${many}`;

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six'];
export const numberWord = (number: number): string => NUMBERS[number] ?? String(number);

export const article = (noun: string): string => (/^[aeiou]/i.test(noun) ? 'an' : 'a');
