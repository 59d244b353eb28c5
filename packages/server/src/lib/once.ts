/**
 * A value that is computed when it is first asked for, and then kept: tables of hashes, say, that no start has to wait
 * for (docs/decisions/0051).
 */
export function once<T>(compute: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: compute() };
    return kept.value;
  };
}
