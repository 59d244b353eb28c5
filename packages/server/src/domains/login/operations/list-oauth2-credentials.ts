import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderOauth2Credential } from '../render/oauth2-credential.ts';
import { Oauth2CredentialShape } from '../shapes/oauth.ts';
import { Oauth2CredentialReader } from '../store/oauth2-credentials.ts';

export const listOauth2Credentials = defineQuery({
  name: 'list_oauth2_credentials',
  summary: 'OAuth 2.0 credentials of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ oauth2Credentials: Type.Array(Oauth2CredentialShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(Oauth2CredentialReader).credentials(organizationId, request);
    return { oauth2Credentials: items.map((item) => renderOauth2Credential(organizationId, item)), pageInfo };
  },
});
