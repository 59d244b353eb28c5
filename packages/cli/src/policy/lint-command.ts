import { CustosError } from '@custos/sdk';
import type { ServiceOptions } from '../credentials.ts';
import { FileProblem } from './cursor.ts';
import { lint, type NamedFinding, readLintFile, renderFinding } from './lint.ts';
import { count, EXIT, printJson, refuse } from './output.ts';
import type { NamedPolicy } from './policies.ts';
import { fetchPolicies } from './service.ts';

interface Options extends ServiceOptions {
  readonly json?: boolean;
}

interface Source {
  /** Absent for the policies of a service. */
  readonly file?: string;
  readonly policies: readonly NamedPolicy[];
}

/** Looks at the policies of each file by themselves; answers the exit code. */
export function lintFiles(files: readonly string[], { json }: Options): number {
  const read = files.map((file) => ({ file, found: readLintFile(file) }));
  const problems = read.flatMap(({ found }) => found.filter((item) => item instanceof FileProblem));
  if (problems.length > 0) return refuse(problems, json);
  return report(
    read.map(({ file, found }) => ({ file, policies: found as readonly NamedPolicy[] })),
    json,
  );
}

/** Looks at the policies of an organization; answers the exit code. */
export async function lintService({ json, ...options }: Options): Promise<number> {
  let policies: readonly NamedPolicy[];
  try {
    policies = await fetchPolicies(options);
  } catch (error) {
    if (!(error instanceof CustosError || error instanceof FileProblem)) throw error;
    process.stderr.write(`custos: ${error.message}\n`);
    return EXIT.wrong;
  }
  return report([{ policies }], json);
}

function report(sources: readonly Source[], json: boolean | undefined): number {
  const nowMs = Date.now();
  const results = sources.map(({ file, policies }) => ({
    ...(file !== undefined && { file }),
    policies: policies.length,
    findings: lint(policies, nowMs),
  }));
  const findings: readonly NamedFinding[] = results.flatMap((result) => result.findings);
  if (json === true) {
    printJson({ sources: results });
  } else {
    for (const { file, findings: found } of results) {
      if (found.length === 0) continue;
      process.stdout.write(`${file === undefined ? '' : `${file}\n`}${found.map(renderFinding).join('\n')}\n`);
    }
    const policies = results.reduce((sum, result) => sum + result.policies, 0);
    const outcome = findings.length === 0 ? 'nothing found' : count(findings.length, 'finding');
    process.stdout.write(`${count(policies, 'policy').replace(/ys$/, 'ies')}: ${outcome}\n`);
  }
  return findings.length === 0 ? EXIT.ok : EXIT.found;
}
