import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { pageOfList, toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, integerShape, PageInfoShape, PaginationShape, SearchTextShape } from '../../../lib/shapes.ts';
import { type CountedSubOrganization, SubOrganizationReader } from '../sub-organizations.ts';

const Count = integerShape(0);

export const searchSubOrganizations = defineQuery({
  name: 'search_sub_organizations',
  ours: true,
  summary: 'Sub-organizations by name, contact, user name, address or id; without a text all of them. Newest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    text: Type.Optional(SearchTextShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    subOrganizations: Type.Array(
      Type.Object({
        organizationId: Type.String(),
        name: Type.String(),
        createdAt: Type.String(),
        userCount: Count,
        walletCount: Count,
      }),
    ),
    /** There may be more: only the newest ones were searched, or too many were found. */
    isPartial: Type.Optional(Type.Boolean()),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config }, { text, paginationOptions }) {
    const { organizationId } = actor;
    const reader = read(SubOrganizationReader);
    if (text === undefined) {
      const { items, pageInfo } = await reader.page(
        organizationId,
        toPageRequest(paginationOptions, config.listMax),
        (cursor) => read(OrganizationReader).hasChild(organizationId, cursor),
      );
      return { subOrganizations: items.map(render), pageInfo };
    }
    const { ids, isPartial } = await reader.find(organizationId, text);
    const { items, pageInfo } = pageOfList(ids, paginationOptions, config.listMax, (id) => id);
    const found = await reader.counted(organizationId, items);
    return { subOrganizations: found.map(render), pageInfo, ...(isPartial && { isPartial }) };
  },
});

const render = ({ id, name, createdAtMs, userCount, walletCount }: CountedSubOrganization) => ({
  organizationId: id as string,
  name,
  createdAt: toRfc3339(createdAtMs),
  userCount,
  walletCount,
});
