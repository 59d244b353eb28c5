import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { describeStaticError, type ExpressionCache, evaluate, instantFromMs } from '../../../policy/index.ts';
import { PolicyReader } from '../store/policies.ts';

export const getActivePolicies = defineQuery({
  name: 'get_active_policies',
  summary:
    'Which policies are active at this moment: those without a time expression, and those whose expression holds.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({
    statuses: Type.Array(
      Type.Object({
        organizationId: Type.String(),
        policyId: Type.String(),
        active: Type.Boolean(),
        timeExpr: Type.Optional(Type.String()),
        error: Type.Optional(Type.String()),
      }),
    ),
    evaluatedAtMs: Type.String(),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config, expressions, nowMs }, { paginationOptions }) {
    const { organizationId } = actor;
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(PolicyReader).page(organizationId, request);
    return {
      statuses: items.map(({ id, time }) => ({
        organizationId,
        policyId: id,
        ...activity(expressions, time, nowMs),
        ...(time !== '' && { timeExpr: time }),
      })),
      evaluatedAtMs: String(nowMs),
      pageInfo,
    };
  },
});

function activity(
  expressions: ExpressionCache,
  time: string,
  nowMs: number,
): { readonly active: boolean; readonly error?: string } {
  if (time === '') return { active: true };
  const compilation = expressions.compile('time', time);
  if (!compilation.ok) return { active: false, error: describeStaticError('time', time, compilation.error) };
  const evaluation = evaluate(compilation.expression, { time: { now: instantFromMs(nowMs) } });
  return evaluation.ok ? { active: evaluation.value } : { active: false, error: evaluation.error.message };
}
