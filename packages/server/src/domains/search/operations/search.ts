import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape, integerShape, SearchTextShape } from '../../../lib/shapes.ts';
import { SubOrganizationReader } from '../../organizations/sub-organizations.ts';
import { MATCH_KINDS, type Match, SearchReader } from '../store.ts';

const LIMIT_MAX = 50;
const LIMIT_DEFAULT = 20;

export const search = defineQuery({
  name: 'search',
  ours: true,
  summary:
    'What the organization has by a name or a piece of it, or by the beginning of an id, an address or a transaction hash; of a parent also its sub-organizations.',
  parameters: Type.Object({
    organizationId: IdShape,
    text: SearchTextShape,
    limit: Type.Optional(integerShape(1, LIMIT_MAX)),
  }),
  response: Type.Object({
    matches: Type.Array(
      Type.Object({
        kind: Type.Enum([...MATCH_KINDS]),
        id: Type.String(),
        name: Type.String(),
        detail: Type.Optional(Type.String()),
        /** The wallet of an account, the activity of a send. */
        parentId: Type.Optional(Type.String()),
      }),
    ),
    /** There may be more: only the newest of each kind were searched, or too many were found. */
    isPartial: Type.Optional(Type.Boolean()),
  }),
  example: { limit: 20 },
  async run({ read, actor, config }, { text, limit = LIMIT_DEFAULT }) {
    const { organization, organizationId } = actor;
    const own = await read(SearchReader).find(organizationId, text, limit + 1, [...config.chains.keys()]);
    const children =
      organization.parentId === undefined
        ? await read(SubOrganizationReader).find(organizationId, text, limit + 1)
        : { ids: [], isPartial: false };
    const found = await read(SubOrganizationReader).counted(organizationId, children.ids.slice(0, limit + 1));
    const matches = unique([
      ...own.matches,
      ...found.map(({ id, name }): Match => ({ kind: 'SUB_ORGANIZATION', id, name, rank: rankOf(id, name, text) })),
    ]).sort((one, other) => one.rank - other.rank);
    const isPartial = own.isPartial || children.isPartial || matches.length > limit;
    return {
      matches: matches.slice(0, limit).map(({ rank: _, ...match }) => match),
      ...(isPartial && { isPartial }),
    };
  },
});

/** One that is found by its name has it; others are found by something that stands for them. */
function rankOf(id: string, name: string, text: string): Match['rank'] {
  const [folded, wanted] = [name.toLowerCase(), text.toLowerCase()];
  if (id.startsWith(wanted)) return 0;
  return folded.startsWith(wanted) ? 1 : folded.includes(wanted) ? 2 : 0;
}

/** Each once, as what it is nearest to. */
function unique(matches: readonly Match[]): Match[] {
  const best = new Map<string, Match>();
  for (const match of matches) {
    const known = best.get(match.id);
    if (known === undefined || match.rank < known.rank) best.set(match.id, match);
  }
  return [...best.values()];
}
