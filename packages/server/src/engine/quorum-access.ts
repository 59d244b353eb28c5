import { allowedOrigins } from '../authn/webauthn-origins.ts';
import { checkOrigin } from '../authn/webauthn-stamp.ts';
import type { Config } from '../config/config.ts';
import { wayOf } from '../config/message-ways.ts';
import type { OtpType } from '../core/contact.ts';
import { Credentials, Identities, Users } from '../core/directory.ts';
import type { MemberRecord } from '../core/model.ts';
import { type Organization, treeRoot } from '../core/model.ts';
import { OrganizationReader, OrganizationStore } from '../core/store/organizations.ts';
import { ApiError } from '../lib/errors.ts';
import type { OrganizationId, UserId } from '../lib/ids.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import { isCodeLoginOpen } from './login-features.ts';
import { isLastingKey, KEPT_KEY_TYPES, LASTING_DAYS, LASTING_MS } from './rules/lasting-key.ts';

/** How many members a refusal names. */
const NAMED_MAX = 10;

interface Circumstances {
  readonly organizationId: OrganizationId;
  /** Users whose approval counted, the proposer among them. */
  readonly approvers: readonly UserId[];
  readonly config: Config;
  readonly nowMs: number;
}

/** Which members of the root quorum have no way in. */
interface Access {
  readonly organization: Organization;
  readonly withoutWayIn: readonly UserId[];
}

const canAct = ({ organization, withoutWayIn }: Access): boolean =>
  organization.rootUserIds.length - withoutWayIn.length >= organization.rootThreshold;

/**
 * Runs what holds the organization alone, and undoes it where it takes the last lasting ways in from the root quorum, by
 * whatever means (docs/decisions/0004-quorum-lockout.md). The caller's transaction or savepoint ends with the error.
 */
export async function keepingQuorumAccess<T>(
  store: Stores,
  circumstances: Circumstances,
  run: () => Promise<T>,
): Promise<T> {
  const { organizationId, approvers } = circumstances;
  const before = await store(OrganizationStore).get(organizationId);
  const { rootUserIds } = before;
  if (rootUserIds.length > 1 && rootUserIds.every((userId) => approvers.includes(userId))) return await run();
  const forMs = await standardOf(store, before, circumstances);
  const result = await run();
  if (forMs === undefined) return result;
  const organization = await store(OrganizationStore).get(organizationId);
  if (organization.deletedAtMs !== undefined) return result;
  const after = await accessOf(store, organization, circumstances, forMs);
  if (!canAct(after)) throw lockout(after);
  return result;
}

/** How long ways in have to last here. A quorum that has only keys about to expire keeps at least those. */
async function standardOf(
  store: ReadStores,
  organization: Organization,
  circumstances: Circumstances,
): Promise<number | undefined> {
  for (const forMs of [LASTING_MS, 0]) {
    if (canAct(await accessOf(store, organization, circumstances, forMs))) return forMs;
  }
  return undefined;
}

function lockout({ organization, withoutWayIn }: Access): ApiError {
  const { rootThreshold, rootUserIds } = organization;
  const named = withoutWayIn.slice(0, NAMED_MAX).join(', ');
  const more = withoutWayIn.length > NAMED_MAX ? ` and ${withoutWayIn.length - NAMED_MAX} more` : '';
  const agreement = rootUserIds.length > 1 ? ', or have every member of the root quorum approve this' : '';
  return new ApiError(
    'INVALID_QUORUM',
    `this would leave the root quorum without enough members who can come back: it needs ${rootThreshold}, and ${named}${more} would have no lasting way in. ` +
      `Give them one and try again: add a passkey, an API key without expiry or with at least ${LASTING_DAYS} days left, or an OAuth identity first${agreement}`,
  );
}

async function accessOf(
  store: ReadStores,
  organization: Organization,
  circumstances: Circumstances,
  forMs: number,
): Promise<Access> {
  const members = await store(Users).members(organization.id, organization.rootUserIds);
  const wayIn = waysInOf(store, organization, circumstances, forMs);
  const able = new Set<UserId>();
  for (const member of members) if (await wayIn(member)) able.add(member.id);
  return { organization, withoutWayIn: organization.rootUserIds.filter((userId) => !able.has(userId)) };
}

/** Whether a member has a lasting way in; what costs a query is looked at last, and only where it decides. */
function waysInOf(
  store: ReadStores,
  organization: Organization,
  { config, nowMs }: Circumstances,
  forMs: number,
): (member: MemberRecord) => Promise<boolean> {
  const { id: organizationId } = organization;
  const hasUsablePasskey = async ({ authenticators }: MemberRecord): Promise<boolean> => {
    if (authenticators.length === 0) return false;
    const value = await store(OrganizationReader).feature(treeRoot(organization), 'FEATURE_NAME_WEBAUTHN_ORIGINS');
    const origins = allowedOrigins(value);
    if (origins === null) return true;
    return authenticators.some(({ rpIdHash }) =>
      origins.some((origin) => checkOrigin(origin, rpIdHash, origins) === undefined),
    );
  };
  const hasCodeLogin = async ({ id, user }: MemberRecord): Promise<boolean> => {
    const contacts: [OtpType, 'email' | 'sms', boolean][] = [
      ['OTP_TYPE_EMAIL', 'email', user.email !== undefined && user.emailVerified],
      ['OTP_TYPE_SMS', 'sms', user.phone !== undefined && user.phoneVerified],
    ];
    for (const [type, channel, isVerified] of contacts) {
      // The development inbox is read on the machine itself and has no place in a service that has to last.
      if (!isVerified || wayOf(channel, config) !== 'provider') continue;
      // Policies may keep everybody else from asking for a code, and a quorum of several cannot ask by one member.
      const others = async (): Promise<boolean> => {
        if (organization.rootThreshold > 1) return false;
        const rest = organization.rootUserIds.filter((userId) => userId !== id);
        return await store(Credentials).someHaveLasting(organizationId, rest, KEPT_KEY_TYPES, nowMs + forMs);
      };
      if (await isCodeLoginOpen(store, organization, type, others)) return true;
    }
    return false;
  };
  return async (member) =>
    member.apiKeys.some((key) => isLastingKey(key, nowMs, forMs)) ||
    (await hasUsablePasskey(member)) ||
    (await store(Identities).providersOfUser(organizationId, member.id)).length > 0 ||
    (await hasCodeLogin(member));
}
