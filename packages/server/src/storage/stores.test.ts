import { expect, test } from 'vitest';
import type { Connection } from './store.ts';
import { openReadStores, provide } from './stores.ts';

abstract class Names {
  abstract all(): string[];
}

class NameReader extends Names {
  all(): string[] {
    return ['one'];
  }
}

class NameStore extends NameReader {
  static readonly writes = true;
}

const connection = {} as Connection;

test('an abstract class that is asked for is the store that was provided for it', () => {
  const read = openReadStores(connection, { tables: [], provisions: [provide(Names, NameReader)] });
  expect(read(Names).all()).toEqual(['one']);
  expect(read(Names)).toBe(read(Names));
});

test('a store that writes is provided to nobody who only reads', () => {
  // @ts-expect-error: it does not compile.
  const provisions = [provide(Names, NameStore)];
  expect(() => openReadStores(connection, { tables: [], provisions })(Names)).toThrow('NameStore writes');
});
