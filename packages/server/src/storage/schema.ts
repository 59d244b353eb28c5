/**
 * Rows as both databases hold them: text ids, numbers for times and flags (0 or 1), JSON as text. These are the tables
 * of the kernel; the tables.ts of a domain adds its own.
 */
export interface Schema {
  deployment: InstallationTable;
  organization: OrganizationTable;
  organization_feature: OrganizationFeatureTable;
  tree_entry: TreeEntryTable;
  activity: ActivityTable;
  vote: VoteTable;
  sealed_result: SealedResultTable;
  tombstone: TombstoneTable;
  app_proof: AppProofTable;
  service_key: ServiceKeyTable;
  integrity_key: IntegrityKeyTable;
  rate_window: RateWindowTable;
  used_token: UsedTokenTable;
  accepted_bundle: AcceptedBundleTable;
  restoration: RestorationTable;
}

export interface InstallationTable {
  name: string;
  value: string;
}

export interface OrganizationTable {
  id: string;
  /** Null for a parent organization. */
  parent_id: string | null;
  name: string;
  root_threshold: number;
  /** JSON array of user ids; small by nature and read on every request, so it lives in this row. */
  root_user_ids: string;
  /** Raised by every change that can alter a decision; a decision made on an older version is taken again. */
  authority_version: number;
  /** Raised with every change of policies and of what else limits access. */
  rules_version: number;
  /** JSON: a digest of the marks in each of its sets, by table; without those of which some rows have none yet (docs/decisions/0060). */
  rules_digest: string | null;
  /** The organization's key, wrapped by the keyring's root key. */
  wrapped_key: Uint8Array;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
  /** The restoration of the database that somebody accepted for this organization and its sub-organizations. */
  accepted_restoration: string | null;
}

export interface OrganizationFeatureTable {
  organization_id: string;
  name: string;
  value: string;
}

/** What a parent can find its sub-organizations by, and what must be unique in its tree. */
export interface TreeEntryTable {
  root_id: string;
  kind: string;
  value: string;
  organization_id: string;
  /** The user, credential or organization that the entry stands for. */
  owner_id: string;
  /** Equal to value where (root, kind, value) must be unique, else null. */
  unique_value: string | null;
}

export interface ActivityTable {
  organization_id: string;
  id: string;
  fingerprint: string;
  operation: string;
  type: string;
  status: string;
  proposer_id: string | null;
  /** The organization whose rules decide, where it is the parent of this one. */
  authority_id: string | null;
  /**
   * The intent's parameters with secrets replaced by their digests (protocol/activities 5.2); empty where `body` has
   * them.
   */
  parameters: string;
  /** The parameters with their secrets, sealed by an older version. */
  sealed_parameters: Uint8Array | null;
  /** The signed body with secrets replaced by their digests; null where none was kept, and in older rows. */
  body: string | null;
  /** The signed body with its secrets, sealed; null where the operation has none. */
  sealed_body: Uint8Array | null;
  result: string | null;
  failure: string | null;
  /** Set on a denial, so that the same body from the same user answers the same refusal. */
  denial: string | null;
  /** Whether the request asked for app proofs. */
  wants_proofs: number;
  /** Who could approve it when it was last judged; JSON, null unless approvals are awaited. */
  open_to: string | null;
  /** 1 when some voter had to meet an MFA policy. */
  has_mfa: number;
  /** Start of the current 24 h round of approvals. */
  round_started_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
  /** 1 once somebody besides the proposer voted, or anybody rejected; null or 0 before. */
  voted_on: number | null;
}

export interface VoteTable {
  organization_id: string;
  activity_id: string;
  id: string;
  user_id: string;
  selection: string;
  /** SHA-256 of the signed body; a body counts once per user and activity, for ever (protocol/consensus 2.3). */
  message_digest: string;
  /** Empty where the vote is over the activity's own body. */
  message: string;
  /** The signed body where `message` had to be redacted. */
  sealed_message: Uint8Array | null;
  public_key: string;
  signature: string;
  scheme: string;
  credential_id: string;
  /** What a passkey signature covers besides the body; JSON, null for API keys. */
  webauthn: string | null;
  /** The user as it was when it voted; JSON. */
  user_snapshot: string;
  /** 0 for a later approval by the same user in the same round, which adds only its credential. */
  counts: number;
  /** Start of the round the vote belongs to; older rounds have lapsed. */
  round_started_at_ms: number;
  created_at_ms: number;
  /** The organization of the user; null on votes that were decided before the column came. */
  home_id: string | null;
  /** `api-key`, `passkey` or `attested`; null where an older version did not say. */
  credential_kind: string | null;
  /** The type of the API key or passkey, as policies know it. */
  credential_type: string | null;
  /** The session profile of the key that stamped. */
  session_profile_id: string | null;
  /** Where the vote came from; null on older votes, and where a trusted proxy did not say. */
  source_address: string | null;
}

/** The part of a result that only the credential that proposed may see, for as long as it is good for something. */
export interface SealedResultTable {
  organization_id: string;
  activity_id: string;
  sealed_result: Uint8Array;
  expires_at_ms: number;
  /** When it was shown for the first time. */
  shown_at_ms: number | null;
}

/** Ids of deleted list members, so that a cursor that names one still has its place. */
export interface TombstoneTable {
  organization_id: string;
  id: string;
  /** Why a credential is gone; null for other objects, and for credentials that went before the column came. */
  reason: string | null;
}

export interface AppProofTable {
  organization_id: string;
  activity_id: string;
  position: number;
  scheme: string;
  public_key: string;
  proof_payload: string;
  signature: string;
}

/** The service's own key pairs, one per role; the private halves are sealed. */
export interface ServiceKeyTable {
  role: string;
  key_id: string;
  public_key: string;
  encoding: string;
  sealed_key: Uint8Array;
  created_at_ms: number;
  signs_from_ms: number;
}

/** Keys that rows are marked with, of which the last generation marks; sealed. */
export interface IntegrityKeyTable {
  key_id: string;
  generation: number;
  sealed_key: Uint8Array;
  created_at_ms: number;
}

/** When something that is limited happened lately. */
export interface RateWindowTable {
  organization_id: string;
  name: string;
  /** JSON array of moments and how often it had happened up to each since the one before, oldest first. */
  times: string;
  stale_at_ms: number;
}

/** What a token was used for, so that it is not used for it again. */
export interface UsedTokenTable {
  organization_id: string;
  token_id: string;
  purpose: string;
  activity_id: string;
  expires_at_ms: number;
}

/** A bundle that was encrypted to the service and accepted. */
export interface AcceptedBundleTable {
  /** SHA-256 of its text, as hex. */
  digest: string;
  organization_id: string;
  created_at_ms: number;
}

/** A restore of this database from a backup (docs/decisions/0063). */
export interface RestorationTable {
  id: string;
  backup_id: string;
  /** What happened between these two is not in the database. */
  snapshot_at_ms: number;
  restored_at_ms: number;
  /** 1 where every velocity window counts as full until it has passed the restore. */
  exhausts_windows: number;
  /** Null while the fence is up. */
  accepted_at_ms: number | null;
  /** Who accepted it, as the operator's machine says; null while the fence is up. */
  accepted_by: string | null;
}
