import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import type { TreeKind } from '../../../core/store/tree.ts';
import { TreeReader } from '../../../core/store/tree.ts';
import { defineQuery } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';

const KINDS: Readonly<Record<'EMAIL' | 'PHONE_NUMBER', TreeKind>> = {
  EMAIL: 'VERIFIED_EMAIL',
  PHONE_NUMBER: 'VERIFIED_PHONE_NUMBER',
};

export const listVerifiedSuborgs = defineQuery({
  name: 'list_verified_suborgs',
  summary: 'Ids of sub-organizations whose email or phone number is verified, oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterType: Type.Optional(Type.Enum(['', 'EMAIL', 'PHONE_NUMBER'])),
    filterValue: Type.Optional(textShape(8192)),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ organizationIds: Type.Array(Type.String()), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { filterType, filterValue, paginationOptions }) {
    const { items, pageInfo } = await read(TreeReader).subOrganizations(
      actor.organizationId,
      toFilter(filterType, filterValue),
      toPageRequest(paginationOptions, config.listMax),
      (cursor) => read(OrganizationReader).hasChild(actor.organizationId, cursor),
    );
    return { organizationIds: items.map((item) => item.id), pageInfo };
  },
});

function toFilter(
  type: '' | 'EMAIL' | 'PHONE_NUMBER' | undefined,
  value: string | undefined,
): { kinds: TreeKind[]; value: string | undefined } {
  if (type === undefined || type === '') {
    if (value) throw invalidField('filterType', 'is required with filterValue');
    return { kinds: Object.values(KINDS), value: undefined };
  }
  if (!value) throw invalidField('filterValue', 'is required with filterType');
  return { kinds: [KINDS[type]], value: value.trim() };
}
