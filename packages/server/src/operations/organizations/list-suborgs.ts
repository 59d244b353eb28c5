import Type from 'typebox';
import { invalidField, notServed } from '../../lib/errors.ts';
import { toPageRequest } from '../../lib/pagination.ts';
import type { TreeKind } from '../../storage/stores/tree.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../shapes/basic.ts';

const FILTERS = [
  'NAME',
  'USERNAME',
  'EMAIL',
  'PHONE_NUMBER',
  'CREDENTIAL_ID',
  'PUBLIC_KEY',
  'WALLET_ACCOUNT_ADDRESS',
] as const satisfies readonly TreeKind[];
const LATER = ['OIDC_TOKEN'] as const;
type Filter = '' | (typeof FILTERS)[number] | (typeof LATER)[number];

export const listSuborgs = defineQuery({
  name: 'list_suborgs',
  summary: 'Ids of sub-organizations, oldest first; optionally those that hold a name, contact or credential.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterType: Type.Optional(Type.Enum(['', ...FILTERS, ...LATER])),
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
  type: Filter | undefined,
  value: string | undefined,
): { kinds: TreeKind[]; value: string } | undefined {
  if (type === undefined || type === '') {
    if (value) throw invalidField('filterType', 'is required with filterValue');
    return undefined;
  }
  if (type === 'OIDC_TOKEN') throw notServed(`the filter ${type}`);
  if (!value) throw invalidField('filterValue', 'is required with filterType');
  return { kinds: [type], value: value.trim() };
}
