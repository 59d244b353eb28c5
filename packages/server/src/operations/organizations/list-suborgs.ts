import Type from 'typebox';
import { invalidField, notServed } from '../../lib/errors.ts';
import { toPageRequest } from '../../lib/pagination.ts';
import type { TreeKind } from '../../storage/stores/tree.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../shapes/basic.ts';

const FILTERS: ReadonlySet<string> = new Set<TreeKind>([
  'NAME',
  'USERNAME',
  'EMAIL',
  'PHONE_NUMBER',
  'CREDENTIAL_ID',
  'PUBLIC_KEY',
]);
const LATER: ReadonlySet<string> = new Set(['OIDC_TOKEN', 'WALLET_ACCOUNT_ADDRESS']);

export const listSuborgs = defineQuery({
  name: 'list_suborgs',
  summary: 'Ids of sub-organizations, oldest first; optionally those that hold a name, contact or credential.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterType: Type.Optional(textShape(64)),
    filterValue: Type.Optional(textShape(8192)),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ organizationIds: Type.Array(Type.String()), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { filterType, filterValue, paginationOptions }) {
    const { items, pageInfo } = await read.tree.subOrganizations(
      actor.organizationId,
      toFilter(filterType, filterValue),
      toPageRequest(paginationOptions, config.listMax),
      (cursor) => read.organizations.hasChild(actor.organizationId, cursor),
    );
    return { organizationIds: items.map((item) => item.id), pageInfo };
  },
});

function toFilter(
  type: string | undefined,
  value: string | undefined,
): { kinds: TreeKind[]; value: string } | undefined {
  if (type === undefined || type === '') {
    if (value) throw invalidField('filterType', 'is required with filterValue');
    return undefined;
  }
  if (LATER.has(type)) throw notServed(`the filter ${type}`);
  if (!FILTERS.has(type)) throw invalidField('filterType', `must be one of ${[...FILTERS, ...LATER].join(', ')}`);
  if (!value) throw invalidField('filterValue', 'is required with filterType');
  return { kinds: [type as TreeKind], value: value.trim() };
}
