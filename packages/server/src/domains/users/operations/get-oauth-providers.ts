import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderOauthProvider } from '../render/user.ts';
import { OauthProviderShape } from '../shapes/credentials.ts';
import { OauthReader } from '../store/oauth.ts';
import { UserReader } from '../store/users.ts';

export const getOauthProviders = defineQuery({
  name: 'get_oauth_providers',
  summary: 'OAuth providers of a user, or of the whole organization; oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    userId: Type.Optional(IdShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ oauthProviders: Type.Array(OauthProviderShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { userId, paginationOptions }) {
    if (userId !== undefined) await read(UserReader).get(actor.organizationId, userId);
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(OauthReader).providers(actor.organizationId, userId, request);
    return { oauthProviders: items.map(renderOauthProvider), pageInfo };
  },
});
