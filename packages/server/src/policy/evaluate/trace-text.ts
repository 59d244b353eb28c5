import type { TraceNode } from './trace.ts';
import { STRUCT_SHOWN } from './values.ts';

/**
 * A reason tree as lines of text: what each sub-expression came to, its source, and a star where the result follows from it.
 * Literals, names and structs by themselves say nothing that their parents do not show.
 */
export function renderTrace(trace: TraceNode): string {
  return linesOf(trace, 0).join('\n');
}

function linesOf(node: TraceNode, depth: number): string[] {
  const mark = node.decisive ? '*' : ' ';
  const line = `${'  '.repeat(depth)}${mark} ${describeResult(node)}  ${node.text.replace(/\s+/g, ' ')}`;
  const children = node.children.filter((child) => isTelling(child) || child.error !== undefined);
  const cut = node.isCut === true ? [`${'  '.repeat(depth + 1)}  …`] : [];
  return [line, ...children.flatMap((child) => linesOf(child, depth + 1)), ...cut];
}

const SILENT: ReadonlySet<TraceNode['kind']> = new Set(['bool', 'integer', 'string', 'list', 'name'] as const);

const isTelling = ({ kind, value }: TraceNode): boolean => !SILENT.has(kind) && value !== STRUCT_SHOWN;

function describeResult({ evaluations, trueCount, falseCount, value, error }: TraceNode): string {
  if (error !== undefined) return `${error.code} (${error.message})`;
  if (evaluations === 0) return 'not evaluated';
  if (value !== undefined) return value;
  return trueCount + falseCount > 0
    ? `true ${trueCount} times, false ${falseCount} times`
    : `evaluated ${evaluations} times`;
}
