import Type from 'typebox';
import type { IdentityTokens } from '../../../authn/identity/tokens.ts';
import { UnknownIssuerError } from '../../../authn/oidc/id-token.ts';
import { canonicalPublicKey } from '../../../authn/public-key.ts';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { oidcTreeValue, type TreeKind, TreeReader } from '../../../core/store/tree.ts';
import { defineQuery } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';

const FILTERS = [
  'NAME',
  'USERNAME',
  'EMAIL',
  'PHONE_NUMBER',
  'CREDENTIAL_ID',
  'PUBLIC_KEY',
  'WALLET_ACCOUNT_ADDRESS',
] as const satisfies readonly TreeKind[];
type Filter = '' | (typeof FILTERS)[number] | 'OIDC_TOKEN';

export const listSuborgs = defineQuery({
  name: 'list_suborgs',
  summary: 'Ids of sub-organizations, oldest first; optionally those that hold a name, contact or credential.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterType: Type.Optional(Type.Enum(['', ...FILTERS, 'OIDC_TOKEN'])),
    filterValue: Type.Optional(textShape(16_384)),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ organizationIds: Type.Array(Type.String()), pageInfo: PageInfoShape }),
  async run({ read, actor, config, tokens }, { filterType, filterValue, paginationOptions }) {
    const { items, pageInfo } = await read(TreeReader).subOrganizations(
      actor.organizationId,
      await toFilter(tokens, filterType, filterValue),
      toPageRequest(paginationOptions, config.listMax),
      (cursor) => read(OrganizationReader).hasChild(actor.organizationId, cursor),
    );
    return { organizationIds: items.map((item) => item.id), pageInfo };
  },
});

async function toFilter(
  tokens: IdentityTokens,
  type: Filter | undefined,
  value: string | undefined,
): Promise<{ kinds: TreeKind[]; value: string } | undefined> {
  if (type === undefined || type === '') {
    if (value) throw invalidField('filterType', 'is required with filterValue');
    return undefined;
  }
  if (!value) throw invalidField('filterValue', 'is required with filterType');
  if (type === 'OIDC_TOKEN') return await byToken(tokens, value.trim());
  if (type === 'PUBLIC_KEY') return { kinds: [type], value: canonicalPublicKey(value.trim()) ?? value };
  return { kinds: [type], value: value.trim() };
}

/** What a token says counts only after its issuer's keys have shown that it is the issuer's. */
async function byToken(tokens: IdentityTokens, text: string): Promise<{ kinds: TreeKind[]; value: string }> {
  try {
    return { kinds: ['OIDC'], value: oidcTreeValue(await tokens.oidc(text)) };
  } catch (error) {
    // Of an issuer that the tree does not know, nobody has an identity.
    if (error instanceof UnknownIssuerError) return { kinds: [], value: '' };
    throw error;
  }
}
