/** Microseconds of a clock that all processes of the machine share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
