import type { ActivityId, OrganizationId, UserId, VelocityControlId, VoteId } from '../lib/ids.ts';
import type { IpAllowlist, MfaPolicy, MfaRequirement, Policy, SessionProfile, VelocityControl } from './model.ts';

// The rules that decisions follow. The domains that own the tables provide each.

export abstract class Policies {
  abstract all(organizationId: OrganizationId): Promise<Policy[]>;
}

/** What the policies said when one vote was judged. */
export interface VoteEvaluation {
  readonly activityId: ActivityId;
  readonly voteId: VoteId;
  /** As the decision gave it. */
  readonly evaluations: unknown;
  readonly createdAtMs: number;
}

export abstract class Evaluations {
  abstract evaluations(organizationId: OrganizationId, activityId: string): Promise<VoteEvaluation[]>;
}

export abstract class NewEvaluations {
  static readonly writes = true;

  abstract insertEvaluation(organizationId: OrganizationId, evaluation: VoteEvaluation): Promise<void>;
}

export abstract class Allowlists {
  abstract allowlists(organizationId: OrganizationId): Promise<IpAllowlist[]>;
}

/** The amounts that count against one control in one group. */
export interface VelocityGroup {
  readonly controlId: VelocityControlId;
  readonly groupKey: string;
}

export abstract class VelocityControls {
  abstract all(organizationId: OrganizationId): Promise<VelocityControl[]>;
  /** What the group has used since a moment, that moment excluded; undefined for the whole past. */
  abstract used(organizationId: OrganizationId, group: VelocityGroup, sinceMs: number | undefined): Promise<bigint>;
}

export abstract class VelocityCounts {
  static readonly writes = true;

  /** Makes everyone else who counts against the control wait until this transaction ends. */
  abstract lock(organizationId: OrganizationId, controlId: VelocityControlId): Promise<boolean>;
  /** Counts an amount; the caller holds the lock. */
  abstract add(
    organizationId: OrganizationId,
    group: VelocityGroup,
    entry: { readonly id: string; readonly activityId: ActivityId; readonly amount: bigint; readonly atMs: number },
  ): Promise<void>;
}

export abstract class MfaPolicies {
  /** In the order in which they are asked: lower first, of equals the older one. */
  abstract ofUser(organizationId: OrganizationId, userId: string): Promise<MfaPolicy[]>;
  /** What users have to prove, and have proven, for one activity. */
  abstract requirements(organizationId: OrganizationId, activityId: string): Promise<MfaRequirement[]>;
}

export abstract class MfaRequirements {
  static readonly writes = true;

  /** Writes what a user has proven so far; the frozen policy and its steps never change. */
  abstract putRequirement(organizationId: OrganizationId, requirement: MfaRequirement): Promise<void>;
}

export abstract class SessionProfiles {
  abstract find(rootId: OrganizationId, profileId: string): Promise<SessionProfile | undefined>;
}

/** Clients of the tree at OAuth 2.0 providers. */
export abstract class OauthClients {
  abstract allCredentials(rootId: OrganizationId): Promise<readonly { readonly clientId: string }[]>;
}

/** What the sign-up proxy of a tree may do, as far as others have to know. */
export interface TreeProxy {
  readonly enabled: boolean;
  /** The user that the proxy acts as; undefined until there is one. */
  readonly identity: { readonly userId: UserId; readonly publicKey: string } | undefined;
  readonly settings: {
    readonly oidcIssuers: readonly string[];
    readonly allowedAuthMethods: readonly string[];
    readonly socialLinkingClientIds: readonly string[];
    readonly emailAuthTemplateId?: string | undefined;
    readonly walletKitSettings?: Readonly<Record<string, unknown>> | undefined;
  };
}

export abstract class TreeTrust {
  abstract ofOrganization(rootId: OrganizationId): Promise<TreeProxy | undefined>;
}
