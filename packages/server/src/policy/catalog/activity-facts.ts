import { ACTIVITY_TYPES, type ActivityTypeFacts } from './activity-types.ts';

/** The namespaces that a request may have, as the language writes them. */
export const NAMESPACES = [
  'eth.tx',
  'eth.eip_712',
  'eth.eip_7702_authorization',
  'solana.tx',
  'tron.tx',
  'bitcoin.tx',
  'tempo.tx',
  'wallet',
  'wallet_account',
  'private_key',
  'wallets',
  'secret',
] as const;
export type Namespace = (typeof NAMESPACES)[number];

const LOGIN_PARAMS = ['session_profile_id'];
const RAW_PARAMS = ['hash_function', 'encoding'];
const EXPORT_PARAMS = ['target_public_key'];

/**
 * Which parameters a kind exposes (protocol/policy-facts 2). Where versions differ, the type stands here and wins over
 * its kind.
 */
const PARAMS: Readonly<Record<string, readonly string[]>> = {
  SIGN_RAW_PAYLOAD: RAW_PARAMS,
  SIGN_RAW_PAYLOADS: RAW_PARAMS,
  // For every version: otherwise a DENY that reads it would be passed by sending the older one.
  SIGN_TRANSACTION: ['type'],
  DELETE_USERS: ['user_ids'],
  CREATE_API_KEYS: ['user_id'],
  DELETE_API_KEYS: ['user_id', 'api_key_ids'],
  EXPORT_WALLET: EXPORT_PARAMS,
  EXPORT_WALLET_ACCOUNT: EXPORT_PARAMS,
  EXPORT_PRIVATE_KEY: EXPORT_PARAMS,
  UPDATE_WALLET: ['wallet_id'],
  ACTIVITY_TYPE_INIT_OTP_AUTH_V2: ['otp_length'],
  ACTIVITY_TYPE_INIT_OTP_AUTH_V3: ['otp_length'],
  OTP_LOGIN: LOGIN_PARAMS,
  STAMP_LOGIN: LOGIN_PARAMS,
  OAUTH_LOGIN: LOGIN_PARAMS,
  UPDATE_WEBHOOK_ENDPOINT: ['endpoint_id'],
  DELETE_WEBHOOK_ENDPOINT: ['endpoint_id'],
  REPLAY_WEBHOOK_DELIVERY: ['endpoint_id'],
  TEST_WEBHOOK_ENDPOINT: ['endpoint_id'],
  SPARK_SIGN_FROST: ['sign_with', 'signatures'],
  SPARK_PREPARE_TRANSFER: ['sign_with', 'transfer'],
  SPARK_CLAIM_TRANSFER: ['sign_with', 'claim'],
  SPARK_PREPARE_LIGHTNING_RECEIVE: ['sign_with', 'lightning_receive'],
  EARN_DEPLOY_WRAPPER: ['vault_address', 'chain_caip2', 'client_fee_bps', 'client_fee_wallet'],
  EARN_DEPOSIT: ['wrapper_address', 'sign_with', 'assets', 'chain_caip2', 'sponsor'],
  EARN_WITHDRAW: ['wrapper_address', 'sign_with', 'amount_value', 'chain_caip2', 'sponsor'],
  EARN_SET_WRAPPER_STATE: ['wrapper_address', 'deposits_disabled'],
  CLAIM_EARN_FEES: ['wrapper_address'],
};

export const paramsOf = (type: string, kind: string): readonly string[] => PARAMS[type] ?? PARAMS[kind] ?? [];

/** Namespaces that come together; a request has those of one alternative. */
type Alternatives = readonly (readonly Namespace[])[];

/** The target of a signature or export is a wallet account or a private key, never both (protocol/policy-facts 3.1). */
const SIGNERS: Alternatives = [['wallet', 'wallet_account'], ['private_key']];
const TRANSACTIONS: Alternatives = [['eth.tx'], ['solana.tx'], ['tron.tx'], ['bitcoin.tx'], ['tempo.tx']];
const PAYLOADS: Alternatives = [[], ['eth.eip_712'], ['eth.eip_7702_authorization']];
/** Earn and swap sign inner calls, which may be shown. */
const INNER_CALLS: Alternatives = [['eth.tx'], []];

const both = (first: Alternatives, second: Alternatives): Alternatives =>
  first.flatMap((some) => second.map((others) => [...some, ...others]));

const NAMESPACES_OF: Readonly<Record<string, Alternatives>> = {
  SIGN_TRANSACTION: both(SIGNERS, TRANSACTIONS),
  SIGN_RAW_PAYLOAD: both(SIGNERS, PAYLOADS),
  SIGN_RAW_PAYLOADS: both(SIGNERS, PAYLOADS),
  ETH_SEND_TRANSACTION: both(SIGNERS, [['eth.tx']]),
  // What another signed may be sent too; then there is no key of this organization to tell of.
  ETH_SEND_RAW_TRANSACTION: both([...SIGNERS, []], [['eth.tx']]),
  SOL_SEND_TRANSACTION: both(SIGNERS, [['solana.tx']]),
  SPARK_SIGN_FROST: SIGNERS,
  SPARK_PREPARE_TRANSFER: SIGNERS,
  SPARK_CLAIM_TRANSFER: SIGNERS,
  SPARK_PREPARE_LIGHTNING_RECEIVE: SIGNERS,
  EARN_DEPOSIT: both(SIGNERS, INNER_CALLS),
  EARN_WITHDRAW: both(SIGNERS, INNER_CALLS),
  EARN_CLAIM_REWARDS: both(SIGNERS, INNER_CALLS),
  CLAIM_EARN_FEES: both(SIGNERS, INNER_CALLS),
  EXECUTE_SWAP: both(SIGNERS, INNER_CALLS),
  CLAIM_SWAP_FEES: both(SIGNERS, INNER_CALLS),
  ETH_UNDELEGATE_7702: both(SIGNERS, [['eth.tx'], ['eth.eip_7702_authorization'], []]),
  EXPORT_WALLET: [['wallet']],
  EXPORT_WALLET_ACCOUNT: [['wallet', 'wallet_account']],
  EXPORT_PRIVATE_KEY: [['private_key']],
  DELETE_WALLETS: [['wallets']],
  DELETE_WALLET_ACCOUNTS: [['wallets']],
  CREATE_WALLET_ACCOUNTS: [['wallet']],
  UPDATE_WALLET: [['wallet']],
  EXPORT_SECRETS: [['secret']],
};

export const namespacesOf = (kind: string): Alternatives => NAMESPACES_OF[kind] ?? [[]];

/** Kinds that sign bytes nobody can read: whoever may do this may sign any transaction. */
export const RAW_SIGNING_KINDS: ReadonlySet<string> = new Set(['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS']);

export type GovernedType = Extract<ActivityTypeFacts, { readonly governedBy: 'policy' }>;

/** The types that policies govern, each with a number: the place of its bit in a set of types. */
export const GOVERNED_TYPES: readonly GovernedType[] = ACTIVITY_TYPES.filter((row) => row.governedBy === 'policy');
