import Type from 'typebox';
import { allowedOrigins } from '../../../authn/webauthn-origins.ts';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { toWords } from '../../../describe/fields.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { textShape } from '../../../lib/shapes.ts';
import { earnConfigOf } from '../../earn/config.ts';
import { type FeatureName, FeatureNameShape, FeatureShape } from '../../organizations/shapes.ts';
import { prepareProxyKey, turnProxyOff, turnProxyOn } from '../../sign-up-proxy/switch.ts';
import { dropFeatureEndpoint, putFeatureEndpoint } from '../../webhooks/feature-endpoint.ts';
import { WEBHOOK_URL_MAX } from '../../webhooks/shapes.ts';

const VALUE_MAX = 16_384;

export const setOrganizationFeature = defineActivity({
  name: 'set_organization_feature',
  type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  summary: 'Set a feature of the organization. Needs the root quorum.',
  policy: { governedBy: 'root-quorum' },
  // Features open logins by mail, text message and recovery, and name the origins of passkeys.
  credentials: 'redirects',
  parameters: Type.Object({ name: FeatureNameShape, value: textShape(VALUE_MAX) }),
  sentence: ({ name, value }) =>
    lookClosely(
      say`Turn on ${strong(toWords(name.replace(/^FEATURE_NAME_/, '')))}${value === '' ? '' : say` with ${named(value)}`}.`,
      'changes how this organization works',
      'I know what this feature opens.',
    ),
  result: Type.Object({ features: Type.Array(FeatureShape) }),
  check: ({ name, value }) => checkValue(name as FeatureName, value),
  async describe({ actor }, { name }) {
    if (name === 'FEATURE_NAME_AUTH_PROXY' && actor.organization.parentId !== undefined) {
      throw new ApiError('INVALID_FEATURE_VALUE', `${name} is for parent organizations: theirs is the sign-up proxy`);
    }
  },
  async prepare(context, { name, value }) {
    if (name === 'FEATURE_NAME_WEBHOOK' && value !== '') await context.webhooks.checkTarget(value);
    return name === 'FEATURE_NAME_AUTH_PROXY' && isOn(value) ? await prepareProxyKey(context) : undefined;
  },
  async execute(context, { name, value }, proxyKey) {
    const { store, actor } = context;
    if (name === 'FEATURE_NAME_AUTH_PROXY' && !isOn(value)) await turnProxyOff(context);
    if (proxyKey !== undefined) await turnProxyOn(context, proxyKey, value);
    else await store(OrganizationStore).setFeature(actor.organizationId, name, value);
    if (name === 'FEATURE_NAME_WEBHOOK') {
      if (value === '') await dropFeatureEndpoint(store, actor.organizationId);
      else await putFeatureEndpoint(context, value);
    }
    return { features: await store(OrganizationStore).features(actor.organizationId) };
  },
});

/** Any other value of a switch means on, the empty one too (protocol/organizations 2.2). */
const isOn = (value: string): boolean => value !== 'false';

/**
 * What each feature understands (protocol/organizations 2.2); anything else would be a switch that silently does
 * nothing.
 */
function checkValue(name: FeatureName, value: string): void {
  switch (name) {
    case 'FEATURE_NAME_WEBAUTHN_ORIGINS':
      allowedOrigins(value);
      return;
    case 'FEATURE_NAME_WEBHOOK':
      if (value.length > WEBHOOK_URL_MAX) {
        throw new ApiError('INVALID_WEBHOOK_URL', `a URL has at most ${WEBHOOK_URL_MAX} characters`);
      }
      return;
    case 'FEATURE_NAME_SWAP_CONFIG':
      if (value !== '') requireJsonObject(name, value);
      return;
    case 'FEATURE_NAME_EARN_CONFIG':
      earnConfigOf(value);
      return;
    case 'FEATURE_NAME_AUTH_PROXY':
      return;
    case 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY':
    case 'FEATURE_NAME_EMAIL_AUTH':
    case 'FEATURE_NAME_EMAIL_RECOVERY':
    case 'FEATURE_NAME_SMS_AUTH':
    case 'FEATURE_NAME_OTP_EMAIL_AUTH':
    case 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED':
      if (!['', 'true', 'false'].includes(value)) {
        throw new ApiError('INVALID_FEATURE_VALUE', `${name} takes "true", "false" or the empty string (on)`);
      }
      return;
  }
}

function requireJsonObject(name: FeatureName, value: string): void {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return;
  } catch {
    // Falls through to the one answer for both mistakes.
  }
  throw new ApiError('INVALID_FEATURE_VALUE', `${name} takes a JSON object as text`);
}
