import { appendFileSync } from 'node:fs';

/** Adds cases of a published corpus to the figure which the summary of the run prints. */
export function countVectorCases(n: number): void {
  // Test files run in processes of their own; short appends to one file are atomic and lose nothing.
  const file = process.env.VECTOR_COUNT_FILE;
  if (file) appendFileSync(file, `${n}\n`);
}
