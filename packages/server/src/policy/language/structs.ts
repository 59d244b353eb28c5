// One table for the checker, the evaluator and the TypeScript types of the facts, so that they cannot disagree. Longer
// than a file should be for that reason.

import type { DynamicValue } from '../evaluate/values.ts';
import {
  ADDRESS,
  ANY,
  BOOL,
  type Field,
  type FieldTable,
  HEX,
  INT,
  KEY,
  type ListType,
  LOOSE_NUMBER,
  listOf,
  type MapType,
  mapOf,
  type Presence,
  type ScalarType,
  STRING,
  type StructType,
  TIMESTAMP,
  type Type,
  UINT,
} from './types.ts';

const field = <T extends Type, P extends Presence>(type: T, presence: P): Field<T, P> => ({ type, presence });

/** Present whenever its struct is (protocol/policy-facts 4). */
const has = <T extends Type>(type: T) => field(type, 'always');
const may = <T extends Type>(type: T) => field(type, 'optional');
/** A namespace that some requests have and others do not. */
const keyword = <T extends Type>(type: T) => field(type, 'keyword');
const parameter = <T extends Type>(type: T) => field(type, 'parameter');
/** Reads as '' or 0, or as a struct of such fields, when absent: how Spark writes what was not set. */
const defaulted = <T extends Type>(type: T) => field(type, 'defaulted');

const NO_ALIASES: ReadonlyMap<string, string> = new Map();

const struct = <const F extends FieldTable>(
  name: string,
  fields: F,
  aliases: ReadonlyMap<string, string> = NO_ALIASES,
): StructType<F> => ({ kind: 'struct', name, fields, aliases });

export const USER = struct('User', {
  id: has(STRING),
  tags: has(listOf(STRING)),
  email: has(STRING),
  alias: has(STRING),
});

export const CREDENTIAL = struct('Credential', {
  id: has(STRING),
  user_id: has(STRING),
  type: has(STRING),
  credential_id: has(STRING),
  public_key: has(KEY),
});

const WALLET = struct('Wallet', {
  id: has(STRING),
  imported: has(BOOL),
  exported: has(BOOL),
  label: has(STRING),
});

const WALLET_ACCOUNT = struct('WalletAccount', {
  address: has(ADDRESS),
  path_indexes: has(listOf(INT)),
  path_hardened: has(listOf(BOOL)),
});

const PRIVATE_KEY = struct('PrivateKey', {
  id: has(STRING),
  tags: has(listOf(STRING)),
  imported: has(BOOL),
  exported: has(BOOL),
  label: has(STRING),
});

const SECRET = struct('Secret', {
  id: has(STRING),
  name: has(STRING),
  static_properties: has(mapOf(STRING)),
});

const ETHEREUM_TRANSACTION = struct(
  'EthereumTransaction',
  {
    from: has(HEX),
    to: has(HEX),
    data: has(HEX),
    value: has(INT),
    gas: has(INT),
    gas_price: has(INT),
    chain_id: has(INT),
    nonce: has(INT),
    max_fee_per_gas: has(INT),
    max_priority_fee_per_gas: has(INT),
    max_fee_per_blob_gas: has(INT),
    type: has(STRING),
    function_name: has(STRING),
    function_signature: has(HEX),
    contract_call_args: may(mapOf(ANY)),
  },
  new Map([['gasPrice', 'gas_price']]),
);

const EIP712_DOMAIN = struct('Eip712Domain', {
  name: may(STRING),
  version: may(STRING),
  chain_id: may(UINT),
  verifying_contract: may(HEX),
});

const EIP712_TYPED_DATA = struct('Eip712TypedData', {
  primary_type: has(STRING),
  domain: has(EIP712_DOMAIN),
  message: has(mapOf(ANY)),
});

const EIP7702_AUTHORIZATION = struct('Eip7702Authorization', {
  address: has(HEX),
  chain_id: has(LOOSE_NUMBER),
  nonce: has(LOOSE_NUMBER),
});

const SOLANA_ACCOUNT = struct('Account', {
  account_key: has(STRING),
  signer: has(BOOL),
  writable: has(BOOL),
});

const ADDRESS_TABLE_LOOKUP = struct('AddressTableLookup', {
  address_table_key: has(STRING),
  writable_indexes: has(listOf(INT)),
  readonly_indexes: has(listOf(INT)),
});

const SOLANA_PARSED_INSTRUCTION_DATA = struct(
  'SolanaParsedInstructionData',
  {
    instruction_name: has(STRING),
    discriminator: has(HEX),
    named_accounts: has(mapOf(STRING)),
    program_call_args: has(mapOf(ANY)),
  },
  new Map([['named_account', 'named_accounts']]),
);

const SOLANA_INSTRUCTION = struct('Instruction', {
  program_key: has(STRING),
  accounts: has(listOf(SOLANA_ACCOUNT)),
  instruction_data_hex: has(HEX),
  address_table_lookups: has(listOf(ADDRESS_TABLE_LOOKUP)),
  parsed_instruction_data: may(SOLANA_PARSED_INSTRUCTION_DATA),
});

const SOLANA_TRANSFER = struct('Transfer', {
  from: has(STRING),
  to: has(STRING),
  amount: has(INT),
});

const SPL_TRANSFER = struct('SPLTransfer', {
  from: has(STRING),
  to: has(STRING),
  amount: has(INT),
  owner: has(STRING),
  signers: has(listOf(STRING)),
  token_mint: has(STRING),
});

const SOLANA_TRANSACTION = struct('SolanaTransaction', {
  account_keys: has(listOf(STRING)),
  program_keys: has(listOf(STRING)),
  instructions: has(listOf(SOLANA_INSTRUCTION)),
  transfers: has(listOf(SOLANA_TRANSFER)),
  spl_transfers: has(listOf(SPL_TRANSFER)),
  recent_blockhash: has(STRING),
  address_table_lookups: has(listOf(ADDRESS_TABLE_LOOKUP)),
});

const TRON_KEY = struct('TronKey', {
  address: has(STRING),
  weight: has(INT),
});

const TRON_PERMISSION = struct('TronPermission', {
  type: has(STRING),
  id: has(INT),
  permission_name: has(STRING),
  threshold: has(INT),
  parent_id: has(INT),
  operations: has(HEX),
  keys: has(listOf(TRON_KEY)),
});

const TRON_CONTRACT = struct('TronContract', {
  type: has(STRING),
  permission_id: has(INT),
  owner_address: has(STRING),
  to_address: may(STRING),
  amount: may(INT),
  contract_address: may(STRING),
  call_value: may(INT),
  data: may(HEX),
  call_token_value: may(INT),
  token_id: may(INT),
  resource: may(STRING),
  balance: may(INT),
  receiver_address: may(STRING),
  lock: may(BOOL),
  lock_period: may(INT),
  frozen_balance: may(INT),
  unfreeze_balance: may(INT),
  owner: may(TRON_PERMISSION),
  witness: may(TRON_PERMISSION),
  actives: may(listOf(TRON_PERMISSION)),
});

const TRON_TRANSACTION = struct('TronTransaction', {
  ref_block_bytes: has(HEX),
  ref_block_hash: has(HEX),
  expiration: has(INT),
  timestamp: has(INT),
  data: has(STRING),
  fee_limit: has(INT),
  contract: has(listOf(TRON_CONTRACT)),
});

const BITCOIN_TX_INPUT = struct('BitcoinTxInput', {
  tx_id: has(HEX),
  vout: has(INT),
  sequence: has(INT),
});

const BITCOIN_TX_OUTPUT = struct('BitcoinTxOutput', {
  value: has(INT),
  script_pubkey: has(HEX),
  address: has(STRING),
  address_type: has(STRING),
});

const BITCOIN_TX_LOCKTIME = struct('BitcoinTxLocktime', {
  amount: has(INT),
  type: has(STRING),
});

const BITCOIN_TRANSACTION = struct('BitcoinTransaction', {
  version: has(STRING),
  inputs: has(listOf(BITCOIN_TX_INPUT)),
  outputs: has(listOf(BITCOIN_TX_OUTPUT)),
  locktime: has(BITCOIN_TX_LOCKTIME),
  fee: has(INT),
});

const TEMPO_CALL = struct('TempoCall', {
  to: has(HEX),
  input: has(HEX),
  function_signature: has(HEX),
});

const TEMPO_TRANSACTION = struct('TempoTransaction', {
  chain_id: has(INT),
  from: has(HEX),
  nonce: has(INT),
  gas_limit: has(INT),
  max_fee_per_gas: has(INT),
  max_priority_fee_per_gas: has(INT),
  fee_token: has(HEX),
  valid_before: has(INT),
  valid_after: has(INT),
  calls: has(listOf(TEMPO_CALL)),
});

const SPARK_KEY_DERIVATION = struct('SparkKeyDerivation', {
  type: defaulted(STRING),
  signing_leaf: defaulted(struct('SparkSigningLeaf', { leaf_id: defaulted(STRING) })),
  static_deposit: defaulted(struct('SparkStaticDeposit', { index: defaulted(INT) })),
});

const SPARK_FROST_COMMITMENT = struct('SparkFrostCommitment', {
  id: defaulted(STRING),
  hiding: defaulted(STRING),
  binding: defaulted(STRING),
});

const SPARK_SIGNATURE_REQUEST = struct('SparkSignatureRequest', {
  derivation: defaulted(SPARK_KEY_DERIVATION),
  message: defaulted(STRING),
  verifying_key: defaulted(STRING),
  operator_commitments: has(listOf(SPARK_FROST_COMMITMENT)),
  adaptor_public_key: defaulted(STRING),
});

const SPARK_OPERATOR_RECIPIENT = struct('SparkOperatorRecipient', {
  operator_id: defaulted(STRING),
  encryption_public_key: defaulted(STRING),
});

const SPARK_TRANSFER_LEAF = struct('SparkTransferLeaf', {
  leaf_id: defaulted(STRING),
  old_leaf_derivation: defaulted(SPARK_KEY_DERIVATION),
  new_leaf_derivation: defaulted(SPARK_KEY_DERIVATION),
  refund_signature: defaulted(STRING),
  direct_refund_signature: defaulted(STRING),
  direct_from_cpfp_refund_signature: defaulted(STRING),
});

const SPARK_TRANSFER_PACKAGE = struct('SparkTransferPackage', {
  transfer_id: defaulted(STRING),
  leaves: has(listOf(SPARK_TRANSFER_LEAF)),
  threshold: defaulted(INT),
  operator_recipients: has(listOf(SPARK_OPERATOR_RECIPIENT)),
  receiver_public_key: defaulted(STRING),
});

const SPARK_CLAIM_LEAF = struct('SparkClaimLeaf', {
  leaf_id: defaulted(STRING),
  ciphertext: defaulted(STRING),
  sender_signature: defaulted(STRING),
});

const SPARK_CLAIM_PACKAGE = struct('SparkClaimPackage', {
  leaves: has(listOf(SPARK_CLAIM_LEAF)),
  threshold: defaulted(INT),
  operator_recipients: has(listOf(SPARK_OPERATOR_RECIPIENT)),
  transfer_id: defaulted(STRING),
  sender_identity_public_key: defaulted(STRING),
});

const SPARK_LIGHTNING_RECEIVE_PACKAGE = struct('SparkLightningReceivePackage', {
  threshold: defaulted(INT),
  operator_recipients: has(listOf(SPARK_OPERATOR_RECIPIENT)),
});

/** Everything that some activity exposes (protocol/policy-facts 2); which one exposes what is in activity-facts.ts. */
export const ACTIVITY_PARAMS = struct('ActivityParams', {
  hash_function: parameter(STRING),
  encoding: parameter(STRING),
  type: parameter(STRING),
  user_ids: parameter(listOf(STRING)),
  user_id: parameter(STRING),
  api_key_ids: parameter(listOf(STRING)),
  target_public_key: parameter(KEY),
  wallet_id: parameter(STRING),
  otp_length: parameter(INT),
  session_profile_id: parameter(STRING),
  endpoint_id: parameter(STRING),
  sign_with: parameter(STRING),
  signatures: parameter(listOf(SPARK_SIGNATURE_REQUEST)),
  transfer: parameter(SPARK_TRANSFER_PACKAGE),
  claim: parameter(SPARK_CLAIM_PACKAGE),
  lightning_receive: parameter(SPARK_LIGHTNING_RECEIVE_PACKAGE),
  vault_address: parameter(HEX),
  chain_caip2: parameter(STRING),
  client_fee_bps: parameter(INT),
  client_fee_wallet: parameter(HEX),
  wrapper_address: parameter(HEX),
  assets: parameter(UINT),
  sponsor: parameter(BOOL),
  amount_value: parameter(STRING),
  deposits_disabled: parameter(BOOL),
});

const ACTIVITY = struct('Activity', {
  type: has(STRING),
  kind: has(STRING),
  resource: has(STRING),
  action: has(STRING),
  params: has(ACTIVITY_PARAMS),
});

const ETHEREUM = struct('Ethereum', {
  tx: keyword(ETHEREUM_TRANSACTION),
  eip_712: keyword(EIP712_TYPED_DATA),
  eip_7702_authorization: keyword(EIP7702_AUTHORIZATION),
});

/** The keywords of conditions, MFA conditions and session scopes (protocol/policies 1.1). */
export const CONDITION_ROOTS = struct('condition', {
  activity: keyword(ACTIVITY),
  eth: keyword(ETHEREUM),
  solana: keyword(struct('Solana', { tx: keyword(SOLANA_TRANSACTION) })),
  tron: keyword(struct('Tron', { tx: keyword(TRON_TRANSACTION) })),
  bitcoin: keyword(struct('Bitcoin', { tx: keyword(BITCOIN_TRANSACTION) })),
  tempo: keyword(struct('Tempo', { tx: keyword(TEMPO_TRANSACTION) })),
  wallet: keyword(WALLET),
  wallet_account: keyword(WALLET_ACCOUNT),
  private_key: keyword(PRIVATE_KEY),
  wallets: keyword(listOf(WALLET)),
  secret: keyword(SECRET),
});

export const CONSENSUS_ROOTS = struct('consensus', {
  approvers: keyword(listOf(USER)),
  credentials: keyword(listOf(CREDENTIAL)),
});

export const TIME_ROOTS = struct('time', {
  time: keyword(struct('Time', { now: keyword(TIMESTAMP) })),
});

/** The facts that a value of a static type is read from: plain data in the names of the language. */
export type FactsOf<T> =
  T extends ScalarType<infer K>
    ? ScalarFacts<K>
    : T extends ListType<infer E>
      ? readonly FactsOf<E>[]
      : T extends MapType<infer E>
        ? ReadonlyMap<string, FactsOf<E>>
        : T extends StructType<infer F>
          ? StructFacts<F>
          : never;

type ScalarFacts<K> = K extends 'bool'
  ? boolean
  : K extends 'int' | 'uint' | 'looseNumber' | 'timestamp'
    ? bigint
    : K extends 'string' | 'hex' | 'key' | 'address'
      ? string
      : K extends 'any'
        ? DynamicValue
        : never;

type Required<F extends FieldTable> = {
  [Name in keyof F]: F[Name] extends Field<Type, 'always'> ? Name : never;
}[keyof F];

type StructFacts<F extends FieldTable> = {
  readonly [Name in Required<F>]: FactsOf<F[Name]['type']>;
} & {
  readonly [Name in Exclude<keyof F, Required<F>>]?: FactsOf<F[Name]['type']> | undefined;
};

export type PolicyUser = FactsOf<typeof USER>;
export type PolicyCredential = FactsOf<typeof CREDENTIAL>;
export type WalletFacts = FactsOf<typeof WALLET>;
export type WalletAccountFacts = FactsOf<typeof WALLET_ACCOUNT>;
export type PrivateKeyFacts = FactsOf<typeof PRIVATE_KEY>;
export type SecretFacts = FactsOf<typeof SECRET>;
export type EthereumTransactionFacts = FactsOf<typeof ETHEREUM_TRANSACTION>;
export type Eip712Facts = FactsOf<typeof EIP712_TYPED_DATA>;
export type Eip7702AuthorizationFacts = FactsOf<typeof EIP7702_AUTHORIZATION>;
export type SolanaTransactionFacts = FactsOf<typeof SOLANA_TRANSACTION>;
export type TronTransactionFacts = FactsOf<typeof TRON_TRANSACTION>;
export type BitcoinTransactionFacts = FactsOf<typeof BITCOIN_TRANSACTION>;
export type TempoTransactionFacts = FactsOf<typeof TEMPO_TRANSACTION>;
export type ActivityParams = FactsOf<typeof ACTIVITY_PARAMS>;

/** What a condition sees. */
export type ConditionFacts = FactsOf<typeof CONDITION_ROOTS>;
/** What a consensus sees. */
export type ConsensusFacts = FactsOf<typeof CONSENSUS_ROOTS>;
/** What a time expression sees. */
export type TimeFacts = FactsOf<typeof TIME_ROOTS>;
/** The keywords that depend on what is requested. */
export type Namespaces = Omit<ConditionFacts, 'activity'>;
