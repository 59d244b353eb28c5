import type { FileProblem } from './cursor.ts';
import { count, EXIT, printJson, refuse } from './output.ts';
import { renderFile, totalCoverage } from './report.ts';
import { type FileResult, runTestFile } from './run.ts';
import { readTestFile, type TestFile } from './test-file.ts';

interface Options {
  readonly json?: boolean;
  readonly coverageMin?: number;
}

/** Runs the files and prints what came of it; answers the exit code. */
export function testPolicies(files: readonly string[], { json, coverageMin = 0 }: Options): number {
  const read = files.map(readTestFile);
  const problems: FileProblem[] = read.flatMap((found) => (isTestFile(found) ? [] : found));
  const results = read.filter(isTestFile).map((tests) => runTestFile(tests, problems));
  if (problems.length > 0) return refuse(problems, json);

  const cases = results.flatMap((result) => result.cases);
  const failed = cases.filter(({ passed }) => !passed).length;
  const { covered, parts, percent } = totalCoverage(results.map(({ coverage }) => coverage));
  if (json === true) {
    printJson({ passed: cases.length - failed, failed, coverage: { covered, parts, percent }, files: results });
  } else {
    print(results, cases.length, failed);
  }
  if (percent < coverageMin) {
    process.stderr.write(
      `custos: the cases cover ${percent}% of the sub-expressions, --coverage-min is ${coverageMin}\n`,
    );
  }
  return failed > 0 || percent < coverageMin ? EXIT.found : EXIT.ok;
}

const isTestFile = (found: TestFile | readonly FileProblem[]): found is TestFile => 'cases' in found;

function print(results: readonly FileResult[], cases: number, failed: number): void {
  for (const result of results) process.stdout.write(`${renderFile(result)}\n`);
  process.stdout.write(`${count(cases, 'case')}, ${failed === 0 ? 'all passed' : `${failed} failed`}\n`);
}
