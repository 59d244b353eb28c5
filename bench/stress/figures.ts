export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'requests';
  readonly atMost: number;
}

export const isMet = ({ value, atMost }: Figure): boolean => value <= atMost;

export function printFigures(title: string, figures: readonly Figure[], notes: readonly string[]): void {
  const rows = figures.map((figure) => [
    figure.name,
    `${show(figure.value)} ${figure.unit}`,
    `${figure.atMost} ${figure.unit}`,
    isMet(figure) ? 'pass' : 'FAIL',
  ]);
  const table = [['figure', 'measured', 'at most', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`\n${title}\n${[...lines, ...notes].map((line) => `  ${line}\n`).join('')}`);
}

const show = (value: number): string => (Number.isFinite(value) ? value.toFixed(value < 10 ? 1 : 0) : 'none');
