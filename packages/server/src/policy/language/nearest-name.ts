/** Longer names are nobody's typing mistake. */
const NAME_MAX = 64;

/** The candidate that was probably meant: one or two slips away, or the only one that begins so. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length === 0 || name.length > NAME_MAX) return undefined;
  const wanted = name.toLowerCase();
  const distances = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, candidate.toLowerCase()) }))
    .toSorted((left, right) => left.distance - right.distance);
  const [best] = distances;
  if (best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 3))) return best.candidate;
  const starting = candidates.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  return starting.length === 1 && wanted.length > 1 ? starting[0] : undefined;
}

/** Insertions, deletions, substitutions and swapped neighbours. */
function distanceOf(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i];
    const above = rows[i - 1] as number[];
    for (let j = 1; j <= right.length; j += 1) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      let best = Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, (above[j - 1] as number) + cost);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        best = Math.min(best, ((rows[i - 2] as number[])[j - 2] as number) + 1);
      }
      row.push(best);
    }
    rows.push(row);
  }
  return (rows[left.length] as number[])[right.length] as number;
}
