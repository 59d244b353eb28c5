// protocol/policy-facts 4 and the parameters of protocol/policy-facts 2, in the notation of parseType. A `?` marks a
// field that may be absent although its struct is there. A field without a type there is a string.
import { parseType, type Type } from './types.ts';

type Fields = Readonly<Record<string, string>>;

const ACCOUNTS: Readonly<Record<string, Fields>> = {
  User: { id: 'string', tags: 'list<string>', email: 'string', alias: 'string' },
  Credential: { id: 'string', user_id: 'string', type: 'string', credential_id: 'string', public_key: 'key' },
  Activity: { type: 'string', kind: 'string', resource: 'string', action: 'string', params: 'Params' },
  Wallet: { id: 'string', imported: 'bool', exported: 'bool', label: 'string' },
  WalletAccount: { address: 'address', path_indexes: 'list<int>', path_hardened: 'list<bool>' },
  PrivateKey: { id: 'string', tags: 'list<string>', imported: 'bool', exported: 'bool', label: 'string' },
  Secret: { static_properties: 'map<string>', id: 'string', name: 'string' },
  Time: { now: 'timestamp' },
};

/** Every name that some activity exposes; which activity does is a matter of the context. */
const PARAMS: Readonly<Record<string, Fields>> = {
  Params: {
    hash_function: 'string?',
    encoding: 'string?',
    type: 'string?',
    user_ids: 'list<string>?',
    user_id: 'string?',
    api_key_ids: 'list<string>?',
    target_public_key: 'key?',
    wallet_id: 'string?',
    otp_length: 'int?',
    session_profile_id: 'string?',
    endpoint_id: 'string?',
    sign_with: 'string?',
    signatures: 'list<SparkSignatureRequest>?',
    transfer: 'SparkTransferPackage?',
    claim: 'SparkClaimPackage?',
    lightning_receive: 'SparkLightningReceivePackage?',
    vault_address: 'hex?',
    chain_caip2: 'string?',
    client_fee_bps: 'int?',
    client_fee_wallet: 'hex?',
    wrapper_address: 'hex?',
    assets: 'uint?',
    sponsor: 'bool?',
    amount_value: 'string?',
    deposits_disabled: 'bool?',
  },
};

const ETHEREUM: Readonly<Record<string, Fields>> = {
  EthNamespace: { tx: 'EthereumTransaction?', eip_712: 'Eip712TypedData?', eip_7702_authorization: 'Eip7702Auth?' },
  EthereumTransaction: {
    from: 'hex',
    to: 'hex',
    data: 'hex',
    value: 'int',
    gas: 'int',
    gas_price: 'int',
    gasPrice: 'int',
    chain_id: 'int',
    nonce: 'int',
    max_fee_per_gas: 'int',
    max_priority_fee_per_gas: 'int',
    max_fee_per_blob_gas: 'int',
    type: 'string',
    function_name: 'string',
    function_signature: 'hex',
    contract_call_args: 'map<any>?',
  },
  Eip712TypedData: { primary_type: 'string', domain: 'Eip712Domain', message: 'map<any>' },
  Eip712Domain: { name: 'string?', version: 'string?', chain_id: 'uint?', verifying_contract: 'hex?' },
  Eip7702Auth: { address: 'hex', chain_id: 'loose', nonce: 'loose' },
};

const SOLANA: Readonly<Record<string, Fields>> = {
  SolanaNamespace: { tx: 'SolanaTransaction?' },
  SolanaTransaction: {
    account_keys: 'list<string>',
    program_keys: 'list<string>',
    instructions: 'list<Instruction>',
    transfers: 'list<Transfer>',
    spl_transfers: 'list<SPLTransfer>',
    recent_blockhash: 'string',
    address_table_lookups: 'list<AddressTableLookup>',
  },
  Instruction: {
    program_key: 'string',
    accounts: 'list<Account>',
    instruction_data_hex: 'string',
    address_table_lookups: 'list<AddressTableLookup>',
    parsed_instruction_data: 'SolanaParsedInstructionData?',
  },
  Account: { account_key: 'string', signer: 'bool', writable: 'bool' },
  AddressTableLookup: { address_table_key: 'string', writable_indexes: 'list<int>', readonly_indexes: 'list<int>' },
  Transfer: { from: 'string', to: 'string', amount: 'int' },
  SPLTransfer: {
    from: 'string',
    to: 'string',
    amount: 'int',
    owner: 'string',
    signers: 'list<string>',
    token_mint: 'string',
  },
  SolanaParsedInstructionData: {
    instruction_name: 'string',
    discriminator: 'string',
    named_accounts: 'map<string>',
    named_account: 'map<string>',
    program_call_args: 'map<any>',
  },
};

const TRON: Readonly<Record<string, Fields>> = {
  TronNamespace: { tx: 'TronTransaction?' },
  TronTransaction: {
    ref_block_bytes: 'string',
    ref_block_hash: 'string',
    expiration: 'int',
    timestamp: 'int',
    data: 'string',
    fee_limit: 'int',
    contract: 'list<TronContract>',
  },
  TronContract: {
    type: 'string',
    permission_id: 'int',
    owner_address: 'string',
    to_address: 'string?',
    amount: 'int?',
    contract_address: 'string?',
    call_value: 'int?',
    data: 'hex?',
    call_token_value: 'int?',
    token_id: 'int?',
    resource: 'string?',
    balance: 'int?',
    receiver_address: 'string?',
    lock: 'bool?',
    lock_period: 'int?',
    frozen_balance: 'int?',
    unfreeze_balance: 'int?',
    owner: 'TronPermission?',
    witness: 'TronPermission?',
    actives: 'list<TronPermission>?',
  },
  TronPermission: {
    type: 'string',
    id: 'int',
    permission_name: 'string',
    threshold: 'int',
    parent_id: 'int',
    operations: 'hex',
    keys: 'list<TronKey>',
  },
  TronKey: { address: 'string', weight: 'int' },
};

const BITCOIN_AND_TEMPO: Readonly<Record<string, Fields>> = {
  BitcoinNamespace: { tx: 'BitcoinTransaction?' },
  BitcoinTransaction: {
    version: 'string',
    inputs: 'list<BitcoinTxInput>',
    outputs: 'list<BitcoinTxOutput>',
    locktime: 'BitcoinTxLocktime',
    fee: 'int',
  },
  BitcoinTxInput: { tx_id: 'string', vout: 'int', sequence: 'int' },
  BitcoinTxOutput: { value: 'int', script_pubkey: 'hex', address: 'string', address_type: 'string' },
  BitcoinTxLocktime: { amount: 'int', type: 'string' },
  TempoNamespace: { tx: 'TempoTransaction?' },
  TempoTransaction: {
    chain_id: 'int',
    from: 'hex',
    nonce: 'int',
    gas_limit: 'int',
    max_fee_per_gas: 'int',
    max_priority_fee_per_gas: 'int',
    fee_token: 'hex',
    valid_before: 'int',
    valid_after: 'int',
    calls: 'list<TempoCall>',
  },
  TempoCall: { to: 'hex', input: 'hex', function_signature: 'hex' },
};

const SPARK: Readonly<Record<string, Fields>> = {
  SparkSignatureRequest: {
    derivation: 'SparkKeyDerivation',
    message: 'string',
    verifying_key: 'string',
    operator_commitments: 'list<SparkFrostCommitment>',
    adaptor_public_key: 'string',
  },
  SparkKeyDerivation: { type: 'string', signing_leaf: 'SparkSigningLeaf', static_deposit: 'SparkStaticDeposit' },
  SparkSigningLeaf: { leaf_id: 'string' },
  SparkStaticDeposit: { index: 'int' },
  SparkFrostCommitment: { id: 'string', hiding: 'string', binding: 'string' },
  SparkTransferPackage: {
    transfer_id: 'string',
    leaves: 'list<SparkTransferLeaf>',
    threshold: 'int',
    operator_recipients: 'list<SparkOperatorRecipient>',
    receiver_public_key: 'string',
  },
  SparkTransferLeaf: {
    leaf_id: 'string',
    old_leaf_derivation: 'SparkKeyDerivation',
    new_leaf_derivation: 'SparkKeyDerivation',
    refund_signature: 'string',
    direct_refund_signature: 'string',
    direct_from_cpfp_refund_signature: 'string',
  },
  SparkOperatorRecipient: { operator_id: 'string', encryption_public_key: 'string' },
  SparkClaimPackage: {
    leaves: 'list<SparkClaimLeaf>',
    threshold: 'int',
    operator_recipients: 'list<SparkOperatorRecipient>',
    transfer_id: 'string',
    sender_identity_public_key: 'string',
  },
  SparkClaimLeaf: { leaf_id: 'string', ciphertext: 'string', sender_signature: 'string' },
  SparkLightningReceivePackage: { threshold: 'int', operator_recipients: 'list<SparkOperatorRecipient>' },
};

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly optional: boolean;
}

/** Two spellings of one field: a context may carry either. */
const ALIASES: readonly (readonly [string, string])[] = [
  ['gasPrice', 'gas_price'],
  ['named_account', 'named_accounts'],
];

const STRUCTS = new Map<string, ReadonlyMap<string, Field>>(
  Object.entries({ ...ACCOUNTS, ...PARAMS, ...ETHEREUM, ...SOLANA, ...TRON, ...BITCOIN_AND_TEMPO, ...SPARK }).map(
    ([name, fields]) => [
      name,
      new Map(Object.entries(fields).map(([field, notation]) => [field, read(field, notation)])),
    ],
  ),
);

function read(name: string, notation: string): Field {
  return { name, type: parseType(notation.replace('?', '')), optional: notation.endsWith('?') };
}

export function fieldsOf(structName: string): ReadonlyMap<string, Field> {
  const fields = STRUCTS.get(structName);
  if (fields === undefined) throw new Error(`no struct ${structName}`);
  return fields;
}

/** The names under which a context may carry the field, the name itself first. */
export function spellingsOf(fieldName: string): readonly string[] {
  const aliases = ALIASES.filter((pair) => pair.includes(fieldName)).flat();
  return [fieldName, ...aliases.filter((alias) => alias !== fieldName)];
}

/**
 * The structs of which a request has some fields and not others: keywords such as `eth.tx`, and activity parameters.
 */
export const dependsOnRequest = (structName: string): boolean =>
  structName.endsWith('Namespace') || structName === 'Time' || structName === 'Params';
