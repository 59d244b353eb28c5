/** Round steps from 0 to above the highest value: three of them. What is counted has whole ones. */
export function axisOf(
  values: readonly number[],
  isCount = false,
): { readonly max: number; readonly ticks: readonly number[] } {
  const highest = Math.max(0, ...values);
  if (highest === 0) return { max: 1, ticks: [0, 1] };
  const rough = highest / 3;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 4, 5, 8, 10].find((factor) => factor * magnitude >= rough) ?? 10) * magnitude;
  const used = isCount ? Math.max(1, Math.ceil(step)) : step;
  const ticks = [0, 1, 2, 3].map((index) => Number((index * used).toPrecision(12)));
  return { max: used * 3, ticks };
}

/** A line over the whole width, with gaps where values are missing. */
export function pathOf(
  values: readonly (number | undefined)[],
  max: number,
  width: number,
  height: number,
): { readonly line: string; readonly area: string } {
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const runs: string[][] = [];
  let run: string[] | undefined;
  values.forEach((value, index) => {
    if (value === undefined || !Number.isFinite(value)) {
      run = undefined;
      return;
    }
    const y = height - (Math.min(value, max) / max) * (height - 2);
    if (run === undefined) {
      run = [];
      runs.push(run);
    }
    run.push(`${round(index * step)} ${round(y)}`);
  });
  const line = runs.map((points) => `M${points.join('L')}`).join('');
  const area = runs
    .filter((points) => points.length > 1)
    .map(
      (points) =>
        `M${points[0]?.split(' ')[0]} ${height}L${points.join('L')}L${points.at(-1)?.split(' ')[0]} ${height}Z`,
    )
    .join('');
  return { line, area };
}

const round = (value: number): number => Math.round(value * 10) / 10;
