import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderSecret } from '../render.ts';
import { KeyValueShape } from '../shapes.ts';
import { SecretReader } from '../store.ts';

export const listSecrets = defineQuery({
  name: 'list_secrets',
  summary: 'What is known of the secrets of the organization, newest first; never the secrets.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({
    secrets: Type.Array(
      Type.Object({
        secretId: Type.String(),
        name: Type.Optional(Type.String()),
        staticProperties: Type.Array(KeyValueShape),
        createdAtUnixMs: Type.String(),
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(SecretReader).page(actor.organizationId, request);
    return { secrets: items.map(renderSecret), pageInfo };
  },
});
