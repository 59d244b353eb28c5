import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { windowMs } from '../../../engine/rules/velocity.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { VelocityReader } from '../store/velocity.ts';
import { loadNames } from '../words/names.ts';
import { memberIdsIn, renderUsage } from '../words/velocity-usage.ts';

/** Users or wallets of one control that an answer lists. */
const GROUPS_MAX = 100;

export const listVelocityUsage = defineQuery({
  name: 'list_velocity_usage',
  ours: true,
  summary: 'How much of each velocity control is used at this moment, counted as the controls count.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({
    usage: Type.Array(
      Type.Object({
        velocityControlId: Type.String(),
        name: Type.String(),
        /** Of the organization, or of the user or wallet that has used most. */
        aggregate: Type.String(),
        threshold: Type.String(),
        operator: Type.String(),
        windowSeconds: Type.Optional(Type.Integer()),
        groups: Type.Optional(
          Type.Array(Type.Object({ key: Type.String(), name: Type.Optional(Type.String()), aggregate: Type.String() })),
        ),
        groupsAreCut: Type.Optional(Type.Boolean()),
        text: Type.String(),
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config, nowMs }, { paginationOptions }) {
    const { organizationId } = actor;
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(VelocityReader).page(organizationId, request);
    const used: { readonly groupKey: string; readonly used: bigint }[][] = [];
    for (const { id, aggregation } of items) {
      const lengthMs = windowMs(aggregation);
      const sinceMs = lengthMs === undefined ? undefined : nowMs - lengthMs;
      used.push(await read(VelocityReader).usage(organizationId, id, sinceMs, GROUPS_MAX + 1));
    }
    const ids = [...new Set(used.flatMap((groups) => memberIdsIn(groups)))];
    const names = await loadNames(read, organizationId, config.chains, { ids, addresses: [] });
    return {
      usage: items.map((control, index) => {
        const groups = used[index] ?? [];
        const isCut = groups.length > GROUPS_MAX;
        return renderUsage(control, groups.slice(0, GROUPS_MAX), isCut, names, config.chains);
      }),
      pageInfo,
    };
  },
});
