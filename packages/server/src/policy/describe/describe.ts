import { textOf } from '../../lib/text-part.ts';
import type { Expression } from '../evaluate/expression.ts';
import { compileExpression } from '../evaluate/expression.ts';
import type { ExpressionCache } from '../evaluate/expression-cache.ts';
import type { ExpressionKind } from '../language/checker.ts';
import { conjunctsOf } from '../lint/domain.ts';
import { contextOfTree } from '../words/context.ts';
import type { Names } from '../words/names.ts';
import { cautionsAbout } from './cautions.ts';
import type { DescribedError, DescribedWarning, Draft, PolicyDescription } from './description.ts';
import { marksIn, type UnknownId } from './marks.ts';
import { sentenceOf } from './sentence.ts';

export interface DescribeOptions {
  readonly names: Names;
  readonly cache?: ExpressionCache;
}

/** What a policy allows or denies, as one sentence that claims no more than its expressions say. Pure. */
export function describePolicy(draft: Draft, { names, cache }: DescribeOptions): PolicyDescription {
  const errors: DescribedError[] = [];
  const compile = <K extends ExpressionKind>(kind: K): Expression<K> | undefined => {
    const text = draft[kind] ?? '';
    if (text === '') return undefined;
    const compilation = cache === undefined ? compileExpression(kind, text) : cache.compile(kind, text);
    if (compilation.ok) return compilation.expression;
    const { code, message, start, end, suggestion } = compilation.error;
    errors.push({ expression: kind, code, message, start, end, ...(suggestion !== undefined && { suggestion }) });
    return undefined;
  };
  const expressions = { condition: compile('condition'), consensus: compile('consensus'), time: compile('time') };
  const invalid = new Set(errors.map(({ expression }) => expression));
  const { sentence, facts } = sentenceOf(draft.effect, expressions, invalid, names);
  const marked = (['condition', 'consensus', 'time'] as const).flatMap((kind) => {
    const root = expressions[kind]?.tree.root;
    return root === undefined ? [] : [marksIn(kind, root, contextOfTree(root, conjunctsOf(root), names))];
  });
  const unknownIds = marked.flatMap((one) => one.unknownIds);
  const cautions = errors.length > 0 ? [] : cautionsAbout(draft.effect, facts);
  return {
    sentence,
    text: textOf(sentence),
    risk: errors.length > 0 ? 'UNREADABLE' : facts.risk,
    errors,
    warnings: [...cautions, ...unknownIds.map(unknownIdWarning)],
    marks: marked.flatMap(({ marks }) => marks),
  };
}

const unknownIdWarning = ({ expression, start, end, id }: UnknownId): DescribedWarning => ({
  code: 'UNKNOWN_ID',
  message: `Nothing in this organization has the id ${id}.`,
  expression,
  start,
  end,
});
