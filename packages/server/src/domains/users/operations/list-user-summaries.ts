import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, integerShape, PageInfoShape, PaginationShape, SearchTextShape } from '../../../lib/shapes.ts';
import { SummaryReader, type UserSummary } from '../store/summaries.ts';

const Count = integerShape(0);

const UserSummaryShape = Type.Object({
  userId: Type.String(),
  userName: Type.String(),
  userEmail: Type.Optional(Type.String()),
  isRoot: Type.Boolean(),
  /** It has API keys, and nothing that a person would have. */
  isProgram: Type.Boolean(),
  tagIds: Type.Array(Type.String()),
  passkeyCount: Count,
  apiKeyCount: Count,
  sessionCount: Count,
  oauthCount: Count,
  mfaPolicyCount: Count,
  lastSeenAt: Type.Optional(Type.String()),
  /** When the first of its API keys ends. */
  credentialExpiresAt: Type.Optional(Type.String()),
});

export const listUserSummaries = defineQuery({
  name: 'list_user_summaries',
  ours: true,
  summary:
    'Users of the organization with what they have and when they were last seen, oldest first; with a text, those that have it in their name or email.',
  parameters: Type.Object({
    organizationId: IdShape,
    text: Type.Optional(SearchTextShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    users: Type.Array(UserSummaryShape),
    /** Only the newest users were searched. */
    isPartial: Type.Optional(Type.Boolean()),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config, nowMs }, { text, paginationOptions }) {
    const { organization, organizationId } = actor;
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo, isPartial } = await read(SummaryReader).users(organizationId, text, request, nowMs);
    const roots = new Set<string>(organization.rootUserIds);
    return {
      users: items.map((user) => render(user, roots.has(user.id))),
      pageInfo,
      ...(isPartial && { isPartial }),
    };
  },
});

const render = (user: UserSummary, isRoot: boolean) => ({
  userId: user.id,
  userName: user.name,
  isRoot,
  isProgram:
    user.apiKeyCount > 0 &&
    // Programs stamp with their keys; somebody who signs in is a person.
    user.passkeyCount + user.oauthCount + user.sessionCount === 0 &&
    user.email === undefined &&
    user.phone === undefined,
  tagIds: [...user.tagIds],
  passkeyCount: user.passkeyCount,
  apiKeyCount: user.apiKeyCount,
  sessionCount: user.sessionCount,
  oauthCount: user.oauthCount,
  mfaPolicyCount: user.mfaPolicyCount,
  ...(user.email !== undefined && { userEmail: user.email }),
  ...(user.lastSeenAtMs !== undefined && { lastSeenAt: toRfc3339(user.lastSeenAtMs) }),
  ...(user.credentialExpiresAtMs !== undefined && { credentialExpiresAt: toRfc3339(user.credentialExpiresAtMs) }),
});
