import type { FileProblem } from './cursor.ts';

export const EXIT = { ok: 0, found: 1, wrong: 2 } as const;

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Every problem on a line of its own; with --json also where programs look. */
export function refuse(problems: readonly FileProblem[], json: boolean | undefined): number {
  if (json === true) {
    printJson({
      problems: problems.map(({ file, place, subject, reason }) => ({ file, ...place, subject, reason })),
    });
  }
  for (const { message } of problems) process.stderr.write(`custos: ${message}\n`);
  return EXIT.wrong;
}

export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
