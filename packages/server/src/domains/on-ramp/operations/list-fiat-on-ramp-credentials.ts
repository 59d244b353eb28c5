import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderOnRampCredential } from '../render.ts';
import { OnRampCredentialShape } from '../shapes.ts';
import { OnRampReader } from '../store.ts';

export const listFiatOnRampCredentials = defineQuery({
  name: 'list_fiat_on_ramp_credentials',
  summary: 'Fiat on-ramp credentials of the organization, oldest first, with their secrets as they were submitted.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ fiatOnRampCredentials: Type.Array(OnRampCredentialShape), pageInfo: PageInfoShape }),
  async run({ read, actor: { organizationId }, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(OnRampReader).credentials(organizationId, request);
    return { fiatOnRampCredentials: items.map((item) => renderOnRampCredential(organizationId, item)), pageInfo };
  },
});
