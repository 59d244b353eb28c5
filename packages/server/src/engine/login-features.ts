import type { OtpType } from '../core/contact.ts';
import { type Organization, treeRoot } from '../core/model.ts';
import { type TreeProxy, TreeTrust } from '../core/rules.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { ApiError } from '../lib/errors.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { DescribeContext } from './define.ts';

/** A way to log in that organizations turn on (protocol/organizations 2.3). */
interface LoginFeature {
  /** Any of them turns it on; the first is its name today. */
  readonly names: readonly [string, ...string[]];
  /** What a sign-up proxy calls it, if it may use it. */
  readonly proxyMethod?: string;
}

export const CODE_FEATURES: Readonly<Record<OtpType, LoginFeature>> = {
  OTP_TYPE_EMAIL: { names: ['FEATURE_NAME_OTP_EMAIL_AUTH'], proxyMethod: 'email' },
  OTP_TYPE_SMS: { names: ['FEATURE_NAME_SMS_AUTH'], proxyMethod: 'sms' },
};
export const EMAIL_AUTH_FEATURE: LoginFeature = { names: ['FEATURE_NAME_EMAIL_AUTH'] };
export const EMAIL_RECOVERY_FEATURE: LoginFeature = {
  names: ['FEATURE_NAME_EMAIL_RECOVERY', 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'],
};

/**
 * Both the organization and its parent must have it on. What the sign-up proxy may do is said by its configuration
 * instead of its organization's feature (protocol/login 2.4); a sub-organization can still turn it off for itself.
 */
export async function requireFeature({ read, actor }: DescribeContext, feature: LoginFeature): Promise<void> {
  const { organization, organizationId, homeId, userId } = actor;
  const rootId = treeRoot(organization);
  if (organizationId !== rootId && !(await isOn(read, organizationId, feature))) throw disabled(feature);
  const proxy = await read(TreeTrust).ofOrganization(rootId);
  if (proxy?.identity === undefined || proxy.identity.userId !== userId || homeId !== rootId) {
    if (!(await isOn(read, rootId, feature))) throw disabled(feature);
    return;
  }
  if (!isAllowedToProxy(proxy, feature)) {
    throw new ApiError('AUTH_METHOD_DISALLOWED', 'the sign-up proxy is not configured for this authentication method');
  }
}

/** Only the organization where somebody is logged in: who sent the code was asked when it was sent. */
export async function requireOwnFeature({ read, actor }: DescribeContext, feature: LoginFeature): Promise<void> {
  if (!(await isOn(read, actor.organizationId, feature))) throw disabled(feature);
}

/**
 * Whether somebody other than these users can send a code with which users of the organization log in: a user of the
 * parent or of the organization itself, or the sign-up proxy. Nobody can ask for the code without a credential.
 */
export async function isCodeLoginOpen(
  read: ReadStores,
  organization: Organization,
  type: OtpType,
  hasOtherSender: () => Promise<boolean>,
): Promise<boolean> {
  const feature = CODE_FEATURES[type];
  if (!(await isOn(read, organization.id, feature))) return false;
  const rootId = treeRoot(organization);
  const proxy = await read(TreeTrust).ofOrganization(rootId);
  if (proxy?.identity !== undefined && isAllowedToProxy(proxy, feature)) return true;
  return organization.id === rootId ? await hasOtherSender() : await isOn(read, rootId, feature);
}

const isAllowedToProxy = ({ enabled, settings }: TreeProxy, { proxyMethod }: LoginFeature): boolean =>
  enabled && proxyMethod !== undefined && settings.allowedAuthMethods.includes(proxyMethod);

async function isOn(read: ReadStores, organizationId: OrganizationId, { names }: LoginFeature): Promise<boolean> {
  const features = await read(OrganizationReader).features(organizationId);
  return features.some(({ name, value }) => names.includes(name) && value !== 'false');
}

const disabled = ({ names: [name] }: LoginFeature): ApiError =>
  new ApiError('FEATURE_DISABLED', `${name} is not on in this organization and its parent`);
