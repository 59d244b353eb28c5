import type { Sharing } from '../calls/call.ts';

/**
 * The arguments of each part of a call that idle threads share; of a short list, or without such threads, of the whole.
 */
export function partsOf(
  args: readonly unknown[],
  { list, perThreadMin }: Pick<Sharing<unknown>, 'list' | 'perThreadMin'>,
  idleThreads: () => number,
): (readonly unknown[])[] {
  const items = args[list];
  if (!Array.isArray(items) || items.length < 2 * perThreadMin) return [args];
  // Where all threads have work, parts would only cost more calls.
  const count = Math.min(idleThreads(), Math.floor(items.length / perThreadMin));
  if (count <= 1) return [args];
  const size = Math.ceil(items.length / count);
  return Array.from({ length: count }, (_, part) => args.with(list, items.slice(part * size, (part + 1) * size)));
}
