import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderAuthenticator } from '../render/user.ts';
import { AuthenticatorShape } from '../shapes/credentials.ts';
import { CredentialReader } from '../store/credentials.ts';
import { UserReader } from '../store/users.ts';

export const getAuthenticators = defineQuery({
  name: 'get_authenticators',
  summary: 'Passkeys of a user, oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    userId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ authenticators: Type.Array(AuthenticatorShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { userId, paginationOptions }) {
    await read(UserReader).get(actor.organizationId, userId);
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(CredentialReader).authenticators(actor.organizationId, userId, request);
    return { authenticators: items.map(renderAuthenticator), pageInfo };
  },
});
