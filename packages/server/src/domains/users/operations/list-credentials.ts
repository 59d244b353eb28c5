import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { type CredentialSummary, SummaryReader } from '../store/summaries.ts';
import { UserReader } from '../store/users.ts';

const CredentialSummaryShape = Type.Object({
  credentialId: Type.String(),
  userId: Type.String(),
  kind: Type.Enum(['API_KEY', 'PASSKEY', 'SESSION', 'OAUTH']),
  name: Type.String(),
  publicKey: Type.Optional(Type.String()),
  createdAt: Type.String(),
  expiresAt: Type.Optional(Type.String()),
  lastUsedAt: Type.Optional(Type.String()),
});

export const listCredentials = defineQuery({
  name: 'list_credentials',
  ours: true,
  summary:
    'API keys, sessions, passkeys and OAuth identities of a user, or of the whole organization, with their last use; oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    userId: Type.Optional(IdShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ credentials: Type.Array(CredentialSummaryShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { userId, paginationOptions }) {
    if (userId !== undefined) await read(UserReader).get(actor.organizationId, userId);
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(SummaryReader).credentials(actor.organizationId, userId, request);
    return { credentials: items.map(render), pageInfo };
  },
});

const render = (credential: CredentialSummary) => ({
  credentialId: credential.id,
  userId: credential.userId,
  kind: credential.kind,
  name: credential.name,
  createdAt: toRfc3339(credential.createdAtMs),
  ...(credential.publicKey !== undefined && { publicKey: credential.publicKey }),
  ...(credential.expiresAtMs !== undefined && { expiresAt: toRfc3339(credential.expiresAtMs) }),
  ...(credential.lastUsedAtMs !== undefined && { lastUsedAt: toRfc3339(credential.lastUsedAtMs) }),
});
