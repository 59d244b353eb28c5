import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdShape, listShape } from '../../../lib/shapes.ts';
import { addOauthProviders, checkOauthProviders, verifyOauthProviders } from '../new-oauth-providers.ts';
import { newCredentialSentence } from '../sentences.ts';
import { OauthProviderParamsShape, OauthProviderParamsV1Shape } from '../shapes/credentials.ts';
import { UserReader, UserStore } from '../store/users.ts';
import { requireOwnOrFresh } from '../token-binding.ts';

const FIELD = 'parameters.oauthProviders';
const SECRETS = ['oauthProviders.*.oidcToken'];

export const createOauthProviders = defineActivity({
  name: 'create_oauth_providers',
  type: 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
  resultKey: 'createOauthProvidersResultV2',
  summary:
    'Let a user log in by OpenID tokens of an issuer. oidcClaims alone are taken for further client ids of somebody whom a token proves.',
  waitsOutside: true,
  bodyLimit: 512 * 1024,
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'CREATE' },
  credentials: 'mints',
  // The user's row is held; a new identity changes no decision that is being taken.
  lock: 'shared',
  parameters: Type.Object({ userId: IdShape, oauthProviders: listShape(OauthProviderParamsShape, 1) }),
  secrets: SECRETS,
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS',
      Type.Object({ userId: IdShape, oauthProviders: listShape(OauthProviderParamsV1Shape, 1) }),
      (parameters) => parameters,
      { secrets: SECRETS },
    ),
  ],
  sentence: ({ userId, oauthProviders }, context) =>
    newCredentialSentence(
      context,
      userId,
      oauthProviders.map(({ providerName }) => providerName),
      'login',
    ),
  result: Type.Object({ providerIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  check: ({ oauthProviders }) => checkOauthProviders(oauthProviders, FIELD),
  describe: ({ read, actor }, { userId }) => read(UserReader).get(actor.organizationId, userId),
  prepare: (context, { oauthProviders }) => verifyOauthProviders(context, oauthProviders, FIELD),
  async execute(context, { userId }, verified) {
    const { store, actor, nowMs } = context;
    const { organizationId } = actor;
    await store(UserStore).lock(organizationId, userId, nowMs);
    const place = { organizationId, rootId: treeRoot(actor.organization) };
    await requireOwnOrFresh(context, place.rootId, verified);
    const added = await addOauthProviders(context, place, userId as UserId, verified);
    return { providerIds: added.map(({ id }) => id) };
  },
});
