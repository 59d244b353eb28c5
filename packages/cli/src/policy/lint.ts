import { createExpressionCache, type LintFinding, lintPolicies } from '@custos/server/policy';
import { type Cursor, collect, type FileProblem, openFile, required } from './cursor.ts';
import { type NamedPolicy, readPolicies } from './policies.ts';
import { TEST_FILE_FIELDS } from './test-file.ts';

/** A finding, with the names and the text that a person knows the policies by. */
export interface NamedFinding extends LintFinding {
  readonly policyName: string;
  readonly otherPolicyNames?: readonly string[];
  /** The expression it is about. */
  readonly text?: string;
}

/** Policies from a test file, a bare list of them or an answer of list_policies. */
export function readLintFile(file: string): readonly NamedPolicy[] | readonly FileProblem[] {
  const problems: FileProblem[] = [];
  const [policies] = collect([file], problems, () => policiesOf(openFile(file), file, problems));
  return policies === undefined || problems.length > 0 ? problems : policies;
}

/** Policies from an answer that was not read from a file. */
export const policiesOf = (cursor: Cursor, file: string, problems: FileProblem[]): NamedPolicy[] =>
  readPolicies(
    Array.isArray(cursor.value)
      ? cursor
      : required(cursor, cursor.members('a file of policies', [...TEST_FILE_FIELDS, 'pageInfo']), 'policies'),
    file,
    problems,
  ).map(({ policy }) => policy);

export function lint(policies: readonly NamedPolicy[], nowMs: number): readonly NamedFinding[] {
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const nameOf = (policyId: string): string => byId.get(policyId)?.name ?? policyId;
  return lintPolicies(policies, createExpressionCache(), { nowMs }).map((finding) => {
    const text = finding.expression === undefined ? undefined : byId.get(finding.policyId)?.[finding.expression];
    return {
      ...finding,
      policyName: nameOf(finding.policyId),
      ...(finding.otherPolicyIds !== undefined && { otherPolicyNames: finding.otherPolicyIds.map(nameOf) }),
      ...(typeof text === 'string' && { text }),
    };
  });
}

/** A finding as a person reads it, with the part of the expression that it is about marked. */
export function renderFinding({
  code,
  policyName,
  message,
  otherPolicyNames,
  expression,
  span,
  text,
}: NamedFinding): string {
  const others = otherPolicyNames?.map((name) => `'${name}'`).join(', ');
  const shown = text === undefined ? [] : span === undefined ? text.split('\n') : mark(text, span.start, span.end);
  return [
    `${code}: policy '${policyName}': ${message}`,
    ...(others === undefined ? [] : [`  see ${others}`]),
    ...(expression === undefined ? [] : [`  ${expression}:`, ...shown.map((line) => `    ${line}`)]),
    '',
  ].join('\n');
}

/** How many characters of a line are shown. */
const LINE_SHOWN_MAX = 160;

/** The line that a part begins on, cut when it is long, and below it carets under the part. */
function mark(text: string, start: number, end: number): [string, string] {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const found = text.indexOf('\n', start);
  const lineEnd = found === -1 ? text.length : found;
  const from = start - lineStart > LINE_SHOWN_MAX / 2 ? start - LINE_SHOWN_MAX / 4 : lineStart;
  const to = Math.min(lineEnd, from + LINE_SHOWN_MAX);
  const before = `${from > lineStart ? '…' : ''}${text.slice(from, start)}`;
  const marked = text.slice(start, Math.max(start, Math.min(end, to)));
  const after = `${text.slice(start + marked.length, to)}${to < lineEnd ? '…' : ''}`;
  const width = (part: string): number => [...part].length;
  const line = `${before}${marked}${after}`.replaceAll('\t', ' ').replaceAll('\r', ' ');
  return [line, `${' '.repeat(width(before))}${'^'.repeat(Math.max(1, width(marked)))}`];
}
