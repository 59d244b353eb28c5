import { ApiError } from '../../lib/errors.ts';
import { together } from '../../lib/together.ts';

/** Whether something failed because a row is not what the service wrote. It was reported where it was noticed. */
export const isViolation = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'INTEGRITY_VIOLATION';

/**
 * Does something with several at once, and where a row among them is not genuine, with the halves of them and so on: one such
 * row keeps only itself. Answers with those that it was, beside the results of the others.
 */
export async function apart<Key, Result>(
  keys: readonly Key[],
  work: (keys: readonly Key[]) => Promise<readonly Result[]>,
): Promise<{ readonly results: readonly Result[]; readonly refused: readonly Key[] }> {
  if (keys.length === 0) return { results: [], refused: [] };
  try {
    return { results: await work(keys), refused: [] };
  } catch (error) {
    if (!isViolation(error)) throw error;
    if (keys.length === 1) return { results: [], refused: keys };
  }
  const middle = Math.ceil(keys.length / 2);
  const first = await apart(keys.slice(0, middle), work);
  const second = await apart(keys.slice(middle), work);
  return { results: [...first.results, ...second.results], refused: [...first.refused, ...second.refused] };
}

/** The same for each by itself, side by side. */
export async function apartEach<Key, Result>(
  keys: readonly Key[],
  work: (key: Key) => Promise<readonly Result[]>,
): Promise<{ readonly results: readonly Result[]; readonly refused: readonly Key[] }> {
  const all = await together(keys.map((key) => apart([key], () => work(key))));
  return { results: all.flatMap(({ results }) => results), refused: all.flatMap(({ refused }) => refused) };
}

/** Whether something was done: false where a row that it needs is not genuine. */
export async function isDone(work: () => Promise<unknown>): Promise<boolean> {
  const { refused } = await apart([0], async () => {
    await work();
    return [];
  });
  return refused.length === 0;
}
