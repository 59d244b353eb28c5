import type { Generated } from 'kysely';

/** Rows as both databases hold them: text ids, numbers for times and flags (0 or 1), JSON as text. */
export interface Schema {
  deployment: DeploymentTable;
  organization: OrganizationTable;
  organization_feature: OrganizationFeatureTable;
  tree_entry: TreeEntryTable;
  app_user: UserTable;
  api_key: ApiKeyTable;
  authenticator: AuthenticatorTable;
  read_session: ReadSessionTable;
  tag: TagTable;
  user_tag: UserTagTable;
  invitation: InvitationTable;
  auth_proxy_config: AuthProxyConfigTable;
  activity: ActivityTable;
  vote: VoteTable;
  sealed_result: SealedResultTable;
  tombstone: TombstoneTable;
  wallet: WalletTable;
  wallet_account: WalletAccountTable;
  private_key: PrivateKeyTable;
  private_key_address: PrivateKeyAddressTable;
  private_key_tag: PrivateKeyTagTable;
  import_target: ImportTargetTable;
  secret: SecretTable;
  app_proof: AppProofTable;
  service_key: ServiceKeyTable;
  policy: PolicyTable;
  policy_evaluation: PolicyEvaluationTable;
  mfa_policy: MfaPolicyTable;
  mfa_requirement: MfaRequirementTable;
  session_profile: SessionProfileTable;
  ip_allowlist: IpAllowlistTable;
  contract_interface: ContractInterfaceTable;
  velocity_control: VelocityControlTable;
  velocity_entry: VelocityEntryTable;
  outbox_message: OutboxMessageTable;
  email_event: EmailEventTable;
  dev_message: DevMessageTable;
  otp: OtpTable;
  rate_window: RateWindowTable;
  used_token: UsedTokenTable;
  oauth_provider: OauthProviderTable;
  oauth2_credential: Oauth2CredentialTable;
  on_ramp_credential: OnRampCredentialTable;
  on_ramp_transaction: OnRampTransactionTable;
  webhook_endpoint: WebhookEndpointTable;
  webhook_event: WebhookEventTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_lane: WebhookLaneTable;
  tvc_operator: TvcOperatorTable;
  tvc_operator_set: TvcOperatorSetTable;
  tvc_app: TvcAppTable;
  tvc_deployment: TvcDeploymentTable;
  tvc_approval: TvcApprovalTable;
  chain_send: ChainSendTable;
  chain_lane: ChainLaneTable;
  balance_cursor: BalanceCursorTable;
  balance_block: BalanceBlockTable;
  chain_operator_key: ChainOperatorKeyTable;
  earn_wrapper: EarnWrapperTable;
  earn_request: EarnRequestTable;
  accepted_bundle: AcceptedBundleTable;
  gas_usage_config: GasUsageConfigTable;
  sponsored_cost: SponsoredCostTable;
}

export interface DeploymentTable {
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
  /** The organization's key, wrapped by the keyring's root key. */
  wrapped_key: Uint8Array;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
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

export interface UserTable {
  organization_id: string;
  id: string;
  name: string;
  email: string | null;
  /** Lower-case form that uniqueness and look-ups compare. */
  email_key: string | null;
  email_verified: number;
  phone: string | null;
  phone_verified: number;
  /** Raised by every change to the user, its credentials or its tags. */
  revision: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ApiKeyTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  type: string;
  public_key: string;
  session_profile_id: string | null;
  expiration_seconds: number | null;
  expires_at_ms: number | null;
  /** Null until the key has stamped a request (protocol/stamps 7.2). */
  first_used_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface AuthenticatorTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  credential_id: string;
  public_key: Uint8Array;
  rp_id_hash: Uint8Array;
  aaguid: string;
  attestation_type: string;
  transports: string;
  sign_count: number;
  first_used_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ReadSessionTable {
  organization_id: string;
  token_hash: string;
  user_id: string;
  expires_at_ms: number;
}

export interface TagTable {
  organization_id: string;
  id: string;
  type: string;
  name: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface UserTagTable {
  organization_id: string;
  user_id: string;
  tag_id: string;
}

export interface InvitationTable {
  organization_id: string;
  id: string;
  receiver_user_name: string;
  receiver_email: string;
  receiver_user_tags: string;
  access_type: string;
  status: string;
  sender_user_id: string;
  /** Null for what was made before there were links. */
  secret_hash: Uint8Array | null;
  expires_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface AuthProxyConfigTable {
  organization_id: string;
  id: string;
  /** The user that the proxy acts as, and the key that it stamps with; null until the service has made them. */
  user_id: string | null;
  public_key: string | null;
  sealed_key: Uint8Array | null;
  enabled: number;
  /** JSON. */
  settings: string;
  created_at_ms: number;
  updated_at_ms: number;
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

export interface WalletTable {
  organization_id: string;
  id: string;
  name: string;
  /** Entropy, language and passphrase, sealed by the keyring. */
  sealed_seed: Uint8Array;
  exported: number;
  imported: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface WalletAccountTable {
  organization_id: string;
  id: string;
  wallet_id: string;
  name: string | null;
  curve: string;
  path: string;
  /** The path that is really derived; two spellings of it are one account. */
  path_key: string;
  address_format: string;
  address: string;
  /** What look-ups compare: lower case where the chain ignores case. */
  address_key: string;
  public_key: string;
  exported: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface PrivateKeyTable {
  organization_id: string;
  id: string;
  name: string;
  curve: string;
  public_key: string;
  sealed_key: Uint8Array;
  exported: number;
  imported: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface PrivateKeyAddressTable {
  organization_id: string;
  private_key_id: string;
  address_format: string;
  /** Its place among the formats that were asked for. */
  position: number;
  address: string;
  address_key: string;
}

export interface PrivateKeyTagTable {
  organization_id: string;
  private_key_id: string;
  tag_id: string;
}

/** A one-time key that an import is encrypted to. */
export interface ImportTargetTable {
  organization_id: string;
  id: string;
  user_id: string;
  kind: string;
  target_public_key: string;
  sealed_target: Uint8Array;
  expires_at_ms: number;
}

export interface SecretTable {
  organization_id: string;
  id: string;
  name: string | null;
  sealed_secret: Uint8Array;
  static_properties: string;
  created_at_ms: number;
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

/** Expressions as their author wrote them; empty counts as true. */
export interface PolicyTable {
  organization_id: string;
  id: string;
  name: string;
  effect: string;
  condition: string;
  consensus: string;
  time: string;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What each policy said when a vote was judged; JSON. */
export interface PolicyEvaluationTable {
  organization_id: string;
  activity_id: string;
  vote_id: string;
  evaluations: string;
  created_at_ms: number;
}

export interface MfaPolicyTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  condition: string;
  /** JSON: for each step the methods of which any one suffices. */
  steps: string;
  position: number;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** The MFA policy that a user has to meet for an activity, frozen when it began to apply. */
export interface MfaRequirementTable {
  organization_id: string;
  activity_id: string;
  user_id: string;
  mfa_policy_id: string;
  steps: string;
  /** JSON: the proofs credited so far, one per step. */
  proofs: string;
  satisfied_at_ms: number | null;
  created_at_ms: number;
}

export interface SessionProfileTable {
  organization_id: string;
  id: string;
  name: string;
  scope: string;
  expiration_seconds: number | null;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** The organization's list has an empty public key. */
export interface IpAllowlistTable {
  organization_id: string;
  public_key: string;
  enabled: number;
  on_evaluation_error: string;
  rules: string;
  updated_at_ms: number;
}

export interface ContractInterfaceTable {
  organization_id: string;
  id: string;
  type: string;
  address: string;
  address_key: string;
  definition: string;
  label: string;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface VelocityControlTable {
  organization_id: string;
  id: string;
  name: string;
  identifier: string;
  data_source: string;
  aggregation: string;
  refuse_uncounted: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/**
 * One amount that counts against a control; `total` is the running sum of its group, so a window needs two rows only.
 */
export interface VelocityEntryTable {
  organization_id: string;
  control_id: string;
  group_key: string;
  id: string;
  activity_id: string;
  amount: string;
  total: string;
  created_at_ms: number;
}

/** A mail or text message that waits to be sent. */
export interface OutboxMessageTable {
  organization_id: string;
  id: string;
  channel: string;
  /** Recipient, sender and content. */
  sealed_message: Uint8Array;
  /** Null where it stays useful. */
  not_after_ms: number | null;
  /** How often handing it over has failed. */
  attempts: number;
  next_attempt_at_ms: number;
  /** Until when one process has it; 0 for nobody. */
  claimed_until_ms: number;
  created_at_ms: number;
}

export interface EmailEventTable {
  organization_id: string;
  id: string;
  /** The Message-ID of the mail, without its brackets. */
  message_id: string;
  event_type: string;
  from_address: string;
  to_address: string;
  /** Lower-case form that look-ups compare. */
  address_key: string;
  /** JSON. */
  details: string;
  created_at_ms: number;
}

/** The development inbox: what would have been sent. */
export interface DevMessageTable {
  organization_id: string;
  id: string;
  sealed_message: Uint8Array;
  created_at_ms: number;
}

/** A one-time code; of it only a keyed hash is kept, sealed together with the key that attempts are encrypted to. */
export interface OtpTable {
  organization_id: string;
  id: string;
  type: string;
  contact: string;
  /** The contact in the one spelling that limits and look-ups compare. */
  contact_key: string;
  /** The user that the code was made for; null where it proves a contact only. */
  user_id: string | null;
  /** 1 where attempts come encrypted, 0 where they come as text. */
  is_encrypted: number;
  sealed_otp: Uint8Array;
  attempts_left: number;
  expires_at_ms: number;
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

export interface OauthProviderTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  issuer: string;
  audience: string;
  subject: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface Oauth2CredentialTable {
  organization_id: string;
  id: string;
  provider: string;
  client_id: string;
  /** As it was submitted, which is what queries show. */
  encrypted_client_secret: string;
  sealed_secret: Uint8Array;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface OnRampCredentialTable {
  organization_id: string;
  id: string;
  provider: string;
  project_id: string | null;
  publishable_api_key: string;
  /** As they were submitted, which is what queries show. */
  encrypted_secret_api_key: string;
  encrypted_private_api_key: string | null;
  sealed_secret_key: Uint8Array;
  sealed_private_key: Uint8Array | null;
  is_sandbox: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface OnRampTransactionTable {
  organization_id: string;
  id: string;
  credential_id: string;
  provider: string;
  is_sandbox: number;
  status: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface WebhookEndpointTable {
  organization_id: string;
  id: string;
  name: string;
  url: string;
  is_active: number;
  is_feature: number;
  /** JSON. */
  subscriptions: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Something that happened, as one organization is told of it. */
export interface WebhookEventTable {
  organization_id: string;
  id: string;
  event_type: string;
  about_id: string;
  /** What is signed and sent. */
  body: string;
  /** So that nobody need read it to know. */
  body_length: number;
  /** When its retention began: when it was made, or a delivery of it replayed. */
  kept_since_ms: number;
  created_at_ms: number;
}

export interface WebhookDeliveryTable {
  /** Given by the database: the order in which an endpoint is told. */
  seq: Generated<number>;
  organization_id: string;
  id: string;
  endpoint_id: string;
  event_id: string;
  state: string;
  failures: number;
  /** JSON array, the newest last. */
  attempts: string;
  /** 0 until the first attempt. */
  next_attempt_at_ms: number;
  round_started_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Who works on the deliveries of an endpoint; one process at a time, so that they keep their order. */
export interface WebhookLaneTable {
  endpoint_id: string;
  organization_id: string;
  /** Empty for nobody. */
  owner: string;
  claimed_until_ms: number;
  /** Until when the endpoint is left alone after failures. */
  resting_until_ms: number;
  failures: number;
  /** 1 when the endpoint was deleted and its deliveries are still there. */
  is_gone: number;
}

/** Somebody who approves manifests or holds a share of a quorum key. */
export interface TvcOperatorTable {
  organization_id: string;
  id: string;
  name: string;
  sign_public_key: string;
  /** Null for an operator of whom only a signing key is known. */
  encrypt_public_key: string | null;
  key_source: string;
  created_at_ms: number;
}

/** Never changed once it is made. */
export interface TvcOperatorSetTable {
  organization_id: string;
  id: string;
  name: string;
  threshold: number;
  /** JSON array of operator ids; fifty at most. */
  operator_ids: string;
  /** SHA-256 of the members in one order, so that the same set is not made twice. */
  members_digest: string;
  created_at_ms: number;
}

export interface TvcAppTable {
  organization_id: string;
  id: string;
  name: string;
  quorum_public_key: string;
  manifest_set_id: string;
  share_set_id: string;
  enable_egress: number;
  enable_debug_mode: number;
  live_deployment_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
}

export interface TvcDeploymentTable {
  organization_id: string;
  id: string;
  app_id: string;
  manifest_id: string;
  /** What operators sign: canonical JSON that says all about the deployment. */
  manifest: string;
  /** As it was submitted: encrypted, and not to us. */
  encrypted_pull_secret: string | null;
  /** As the manifest says. */
  replicas: number;
  /** When the approvals became enough. */
  approved_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
}

export interface TvcApprovalTable {
  organization_id: string;
  id: string;
  deployment_id: string;
  operator_id: string;
  /** r and s, 64 bytes. */
  signature: Uint8Array;
  created_at_ms: number;
}

/** A bundle that was encrypted to the service and accepted. */
export interface AcceptedBundleTable {
  /** SHA-256 of its text, as hex. */
  digest: string;
  organization_id: string;
  created_at_ms: number;
}

/** A transaction that is sent to a chain. */
export interface ChainSendTable {
  organization_id: string;
  id: string;
  activity_id: string;
  caip2: string;
  sender: string;
  lane: string;
  purpose: string;
  /** JSON. */
  request: string;
  after_id: string | null;
  state: string;
  nonce: number | null;
  /** JSON. */
  attempts: string;
  tx_hash: string | null;
  block_number: number | null;
  /** JSON. */
  block: string | null;
  /** JSON. */
  error: string | null;
  is_open: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Which process works on the sends of one paying address. */
export interface ChainLaneTable {
  caip2: string;
  lane: string;
  is_active: number;
  /** Raised with every send that comes in. */
  version: number;
  owner: string;
  /** Raised with every claim. */
  epoch: number;
  claimed_until_ms: number;
}

/** How far a chain is watched. */
export interface BalanceCursorTable {
  caip2: string;
  level: string;
  number: number;
  hash: string;
  /** Raised with every block that the chain has undone. */
  turn: number;
  owner: string;
  claimed_until_ms: number;
}

/** A block that was told of and may still be undone. */
export interface BalanceBlockTable {
  caip2: string;
  level: string;
  number: number;
  hash: string;
  /** JSON. */
  told: string;
}

export interface ChainOperatorKeyTable {
  caip2: string;
  address: string;
  public_key: string;
  sealed_key: Uint8Array;
  created_at_ms: number;
}

export interface EarnWrapperTable {
  organization_id: string;
  caip2: string;
  wrapper_address: string;
  splitter_address: string;
  vault_address: string;
  provider: string;
  asset_address: string;
  asset_symbol: string;
  asset_decimals: number;
  client_fee_bps: number;
  client_fee_wallet: string;
  service_fee_bps: number;
  service_fee_wallet: string | null;
  deposits_disabled: number;
  deploy_request_id: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface EarnRequestTable {
  organization_id: string;
  id: string;
  kind: string;
  caip2: string;
  wrapper_address: string;
  wallet_address: string;
  amount: string;
  send_id: string | null;
  created_at_ms: number;
}

export interface GasUsageConfigTable {
  organization_id: string;
  id: string;
  tree_limit_usd: string;
  sub_organization_limit_usd: string;
  window_minutes: number;
  is_enabled: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface SponsoredCostTable {
  /** A sub-organization, or a parent for its whole tree. */
  organization_id: string;
  caip2: string;
  /** Since 1970, in which sends were first signed. */
  minute: number;
  /** In billionths of the native asset. */
  native_cost: number;
  /** In millionths of a US dollar. */
  usd_micros: number;
  /** The part of `native_cost` that sub-organizations asked for; in a parent's row only. */
  sub_organizations_cost: number;
}
