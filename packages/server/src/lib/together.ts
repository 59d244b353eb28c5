/**
 * Waits for all of them, also where one fails, and then throws the first failure in their order: when a transaction is undone,
 * none of its statements may be under way.
 */
export async function together<Works extends readonly unknown[]>(
  works: readonly [...Works],
): Promise<{ -readonly [Index in keyof Works]: Awaited<Works[Index]> }> {
  const ends: PromiseSettledResult<unknown>[] = await Promise.allSettled(works);
  const values = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
  return values as never;
}
