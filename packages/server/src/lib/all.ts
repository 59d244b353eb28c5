/**
 * Like Promise.all, but when one fails the others have ended too before it throws: none still writes afterwards. Of several
 * failures the first in time is thrown, because on a database the later ones are only its echoes.
 */
export async function all<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  let first: { readonly reason: unknown } | undefined;
  const results = await Promise.all(
    work.map((promise) =>
      promise.catch((reason: unknown) => {
        first ??= { reason };
      }),
    ),
  );
  if (first !== undefined) throw (first as { readonly reason: unknown }).reason;
  return results as never;
}
