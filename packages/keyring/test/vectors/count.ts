import { appendFileSync } from 'node:fs';

/** Adds cases of a published corpus to the figure which the summary of the run prints. */
export function countVectorCases(n: number): void {
  const file = process.env.VECTOR_COUNT_FILE;
  if (file) appendFileSync(file, `${n}\n`);
}
