/**
 * Waits for all of them, also where one fails: when a transaction is undone, none of its statements may be under way. Throws
 * what failed first. On PostgreSQL everything behind it fails too, only because of it.
 */
export async function together<Works extends readonly unknown[]>(
  works: readonly [...Works],
): Promise<{ -readonly [Index in keyof Works]: Awaited<Works[Index]> }> {
  const failures: unknown[] = [];
  const values = await Promise.all(
    works.map(async (work) => {
      try {
        return await work;
      } catch (error) {
        failures.push(error);
        return undefined;
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
  return values as never;
}
