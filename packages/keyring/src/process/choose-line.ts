/** While the first thread has less than this in hand, to wake another one costs more than the wait for it. */
const FEW_ITEMS = 4;
const FEW_BYTES = 16 * 1024;

/** What a thread has in hand. */
export interface Burden {
  readonly pendingCount: number;
  readonly pendingItems: number;
  readonly pendingBytes: number;
}

/** The first thread while it has little to do: its caches are the warmest. Then the one with the fewest calls. */
export function chooseLine<L extends Burden>(first: L, lines: readonly L[]): L {
  if (!isBusy(first)) return first;
  return lines.reduce((best, line) => (line.pendingCount < best.pendingCount ? line : best), first);
}

/** Whether it has so much in hand that another one is worth it. */
export const isBusy = ({ pendingItems, pendingBytes }: Burden): boolean =>
  pendingItems >= FEW_ITEMS || pendingBytes >= FEW_BYTES;
