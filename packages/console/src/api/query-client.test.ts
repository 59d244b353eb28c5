import { CustosError, NetworkError } from '@custos/sdk';
import { afterEach, expect, test } from 'vitest';
import { connection } from './connection.ts';
import { queryClient } from './query-client.ts';

const ask = (error: Error): Promise<unknown> =>
  queryClient
    .fetchQuery({
      queryKey: ['test', error.message],
      queryFn: () => {
        throw error;
      },
    })
    .catch(() => undefined);

afterEach(() => {
  queryClient.clear();
  connection.set({ lostSinceMs: undefined, nextTryMs: undefined, clockOffsetMs: 0 });
});

test('an answer that took too long counts as lost', async () => {
  await ask(new NetworkError('no answer: it took longer than 20000 ms', undefined));
  expect(connection.get().lostSinceMs).toEqual(expect.any(Number));
});

test('an answer that refuses does not', async () => {
  await ask(new CustosError('REQUEST_NOT_AUTHORIZED', 'no', { httpStatus: 403 }));
  expect(connection.get().lostSinceMs).toBeUndefined();
});
