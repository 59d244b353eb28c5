import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderApiKey } from '../render/user.ts';
import { ApiKeyShape } from '../shapes/credentials.ts';
import { CredentialReader } from '../store/credentials.ts';
import { UserReader } from '../store/users.ts';

export const getApiKeys = defineQuery({
  name: 'get_api_keys',
  summary: 'API keys of a user, or of the whole organization; oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    userId: Type.Optional(IdShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ apiKeys: Type.Array(ApiKeyShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { userId, paginationOptions }) {
    if (userId !== undefined) await read(UserReader).get(actor.organizationId, userId);
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(CredentialReader).apiKeys(actor.organizationId, userId, request);
    return { apiKeys: items.map(renderApiKey), pageInfo };
  },
});
