import {
  type KindFacts,
  type OwnAccount,
  POLICY_RESOURCES,
  type PolicyAction,
  type PolicyResource,
} from './kind-facts.ts';
import { ROOT_QUORUM_TYPES, SERVED_KINDS } from './served-kinds.ts';
import { UNSERVED_KINDS } from './unserved-kinds.ts';

/** How an activity type is decided: by policies, by the root quorum alone, or not here at all. */
export type ActivityTypeFacts =
  | {
      readonly governedBy: 'policy';
      readonly type: string;
      readonly kind: string;
      readonly resource: PolicyResource;
      readonly action: PolicyAction;
    }
  | { readonly governedBy: 'rootQuorum' | 'none'; readonly type: string };

/** Votes have rules of their own, and the operator makes parent organizations. */
const UNGOVERNED_TYPES = [
  'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  'ACTIVITY_TYPE_REJECT_ACTIVITY',
  'ACTIVITY_TYPE_CREATE_ORGANIZATION',
  'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2',
] as const;

const versionedTypes = (kind: string, versions: number): string[] => [
  `ACTIVITY_TYPE_${kind}`,
  ...Array.from({ length: versions - 1 }, (_, index) => `ACTIVITY_TYPE_${kind}_V${index + 2}`),
];

/** Every governed kind, by resource. What operations have is written from them by `npm run generate`. */
export const KINDS: readonly KindFacts[] = POLICY_RESOURCES.flatMap((resource) =>
  [...UNSERVED_KINDS, ...SERVED_KINDS].filter((facts) => facts.resource === resource),
);

/** All activity types, the governed ones first. */
export const ACTIVITY_TYPES: readonly ActivityTypeFacts[] = [
  ...KINDS.flatMap(({ kind, resource, action, versions }) =>
    versionedTypes(kind, versions).map((type) => ({ governedBy: 'policy' as const, type, kind, resource, action })),
  ),
  // Policies can neither grant nor shorten these.
  ...ROOT_QUORUM_TYPES.map((type) => ({ governedBy: 'rootQuorum' as const, type })),
  ...UNGOVERNED_TYPES.map((type) => ({ governedBy: 'none' as const, type })),
];

const BY_TYPE: ReadonlyMap<string, ActivityTypeFacts> = new Map(ACTIVITY_TYPES.map((row) => [row.type, row]));

/** How policies see an activity type; undefined for one that is in no table. */
export const activityType = (type: string): ActivityTypeFacts | undefined => BY_TYPE.get(type);

const OWN_ACCOUNT: ReadonlyMap<string, OwnAccount> = new Map(
  KINDS.flatMap(({ kind, ownAccount }) => (ownAccount === undefined ? [] : [[kind, ownAccount] as const])),
);

/**
 * Whether, and with which credential, users may do it to their own account without a policy (protocol/policies 8.3,
 * step 7).
 */
export const ownAccountRule = (kind: string): OwnAccount | undefined => OWN_ACCOUNT.get(kind);

/** The credential that was made for a recovery. */
export const RECOVERY_CREDENTIAL_TYPE = 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';
