// Contexts in the format of policy-cases.json, made from the struct tables.
import fc from 'fast-check';
import { keywordsOf } from '../reference/keywords.ts';
import { type Field, fieldsOf } from '../reference/structs.ts';
import type { Type } from '../reference/types.ts';
import type { Json, JsonObject } from '../reference/values.ts';
import { GOVERNED_ACTIVITIES } from './activities.ts';
import { dynamicMap, withoutAbsent } from './dynamic-values.ts';
import {
  ADDRESSES,
  BARE_HEX_TEXTS,
  CASELESS_TEXTS,
  HEX_TEXTS,
  KEY_TEXTS,
  NUMBERS,
  oneOf,
  SMALL_NUMBERS,
  TEXTS,
} from './pools.ts';

const CREDENTIAL_TYPES = [
  'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  'CREDENTIAL_TYPE_LOGIN',
];

/** Texts by field name, where the general vocabulary would hardly ever meet a literal. */
const TEXTS_BY_FIELD: Readonly<Record<string, readonly string[]>> = {
  tags: ['ops', 'sec', 'SEC'],
  user_id: ['alice', 'bob'],
  instruction_data_hex: CASELESS_TEXTS,
  ref_block_bytes: CASELESS_TEXTS,
  ref_block_hash: CASELESS_TEXTS,
  tx_id: CASELESS_TEXTS,
  discriminator: CASELESS_TEXTS,
  message: CASELESS_TEXTS,
  verifying_key: CASELESS_TEXTS,
  adaptor_public_key: CASELESS_TEXTS,
  receiver_public_key: CASELESS_TEXTS,
  encryption_public_key: CASELESS_TEXTS,
  sender_identity_public_key: CASELESS_TEXTS,
  hiding: CASELESS_TEXTS,
  binding: CASELESS_TEXTS,
  ciphertext: CASELESS_TEXTS,
  refund_signature: CASELESS_TEXTS,
  direct_refund_signature: CASELESS_TEXTS,
  direct_from_cpfp_refund_signature: CASELESS_TEXTS,
  sender_signature: CASELESS_TEXTS,
};

/** Which optional fields each kind of Tron contract has. */
const TRON_CONTRACT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  TransferContract: ['to_address', 'amount'],
  TriggerSmartContract: ['contract_address', 'call_value', 'data', 'call_token_value', 'token_id'],
  DelegateResource: ['resource', 'balance', 'receiver_address', 'lock', 'lock_period'],
  UnDelegateResource: ['resource', 'balance', 'receiver_address'],
  FreezeBalanceV2: ['frozen_balance', 'resource'],
  UnfreezeBalanceV2: ['unfreeze_balance', 'resource'],
  AccountPermissionUpdate: ['owner', 'witness', 'actives'],
};

const BARE_HEX_FIELDS = new Set(['operations', 'script_pubkey', 'TronContract.data']);

const stringMap = fc.dictionary(oneOf(['kind', 'env', 'mint']), oneOf(TEXTS), { noNullPrototype: true });

/** A context for condition, MFA condition and scope: of the keywords in use most are there, any may be missing. */
export function conditionContexts(expression: string): fc.Arbitrary<JsonObject> {
  const entries = [...keywordsOf('condition')]
    .filter(([name]) => expression.includes(name))
    .map(([name, type]): [string, fc.Arbitrary<Json | undefined>] => [
      name,
      fc.option(name === 'activity' ? activities(expression) : value(type, name, ''), { nil: undefined, freq: 12 }),
    ]);
  return fc.record(Object.fromEntries(entries)).map(withoutAbsent);
}

/** A context for consensus: up to three distinct approvers, each with one or two credentials. */
export function consensusContexts(): fc.Arbitrary<JsonObject> {
  const userIds = fc.uniqueArray(oneOf(['alice', 'bob', 'carol', 'dave']), { minLength: 1, maxLength: 3 });
  return userIds.chain((ids) =>
    fc.record(
      {
        approvers: fc.tuple(...ids.map((id) => struct('User').map((user): Json => ({ ...user, id })))),
        credentials: fc
          .tuple(...ids.map((id) => fc.array(credentialOf(id), { minLength: 1, maxLength: 2 })))
          .map((lists): Json => lists.flat()),
      },
      { noNullPrototype: true },
    ),
  );
}

function credentialOf(userId: string): fc.Arbitrary<Json> {
  return fc
    .tuple(struct('Credential'), oneOf(CREDENTIAL_TYPES))
    .map(([credential, type]) => ({ ...credential, user_id: userId, type }));
}

function value(type: Type, fieldName: string, structName: string): fc.Arbitrary<Json> {
  switch (type.kind) {
    case 'bool':
      return fc.boolean();
    case 'int':
      return integer([...NUMBERS.filter((number) => number < 2n ** 127n && number >= -(2n ** 127n))], [2n ** 127n]);
    case 'uint':
      return integer(NUMBERS.filter((number) => number >= 0n));
    case 'loose':
      return integer(SMALL_NUMBERS);
    case 'string':
      return oneOf(TEXTS_BY_FIELD[fieldName] ?? TEXTS);
    case 'hex':
      return oneOf(isBareHex(structName, fieldName) ? BARE_HEX_TEXTS : HEX_TEXTS);
    case 'key':
      return oneOf(KEY_TEXTS);
    case 'address':
      return oneOf([...ADDRESSES, 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'tb1qa']);
    case 'list':
      return fc.array(
        type.element.kind === 'int' ? oneOf(SMALL_NUMBERS).map(Number) : value(type.element, fieldName, ''),
        { maxLength: 3 },
      );
    case 'map':
      return type.element.kind === 'any' ? dynamicMap() : stringMap;
    case 'struct':
      return struct(type.name);
    default:
      throw new Error(`no context carries a ${type.kind}`);
  }
}

const isBareHex = (structName: string, fieldName: string): boolean =>
  BARE_HEX_FIELDS.has(fieldName) || BARE_HEX_FIELDS.has(`${structName}.${fieldName}`);

/** Mostly small numbers, now and then a large one, rarely one that cannot be read; as JSON numbers or as decimals. */
function integer(readable: readonly bigint[], unreadable: readonly bigint[] = []): fc.Arbitrary<Json> {
  const number = fc.oneof(
    { weight: 20, arbitrary: oneOf(SMALL_NUMBERS) },
    { weight: 10, arbitrary: oneOf(readable) },
    { weight: 2, arbitrary: oneOf(unreadable.length === 0 ? readable : unreadable) },
  );
  return fc.tuple(number, fc.boolean()).map(([value, asText]) => {
    const isSafe = value <= 2n ** 53n - 1n && value >= -(2n ** 53n) + 1n;
    return asText || !isSafe ? String(value) : Number(value);
  });
}

const structs = new Map<string, fc.Arbitrary<JsonObject>>();

function struct(name: string): fc.Arbitrary<JsonObject> {
  const arbitrary = structs.get(name) ?? buildStruct(name);
  structs.set(name, arbitrary);
  return arbitrary;
}

function buildStruct(name: string): fc.Arbitrary<JsonObject> {
  if (name === 'TronContract') return tronContract();
  const fields = [...fieldsOf(name).values()];
  return record(name, fields, (field) => !field.optional).map(withEqualAliases);
}

function record(
  name: string,
  fields: readonly Field[],
  isRequired: (field: Field) => boolean,
): fc.Arbitrary<JsonObject> {
  const entries = fields.map((field): [string, fc.Arbitrary<Json | undefined>] => {
    const arbitrary = value(field.type, field.name, name);
    return [field.name, isRequired(field) ? arbitrary : fc.option(arbitrary, { nil: undefined, freq: 6 })];
  });
  return fc.record(Object.fromEntries(entries)).map(withoutAbsent);
}

/** A field that has two spellings is carried under both, whichever an implementation reads. */
function withEqualAliases(object: JsonObject): JsonObject {
  const { gas_price: gasPrice, named_accounts: namedAccounts } = object;
  return {
    ...object,
    ...(gasPrice === undefined ? {} : { gasPrice }),
    ...(namedAccounts === undefined ? {} : { named_account: namedAccounts }),
  };
}

/** An activity of the table with exactly the parameters that it exposes; mostly one that exposes what is in use. */
function activities(expression: string): fc.Arbitrary<JsonObject> {
  const fitting = GOVERNED_ACTIVITIES.filter(({ params }) =>
    params.some((name) => expression.includes(`params.${name}`)),
  );
  return fc
    .oneof(
      { weight: 4, arbitrary: oneOf(fitting.length === 0 ? GOVERNED_ACTIVITIES : fitting) },
      { weight: 1, arbitrary: oneOf(GOVERNED_ACTIVITIES) },
    )
    .chain(({ params, ...facts }) => {
      const fields = params.map((name) => fieldsOf('Params').get(name)!);
      return record('Params', fields, () => true).map((values) => ({ ...facts, params: values }));
    });
}

function tronContract(): fc.Arbitrary<JsonObject> {
  return oneOf(Object.entries(TRON_CONTRACT_FIELDS)).chain(([type, optionalFields]) => {
    const fields = [...fieldsOf('TronContract').values()].filter(
      ({ name, optional }) => !optional || optionalFields.includes(name),
    );
    return record('TronContract', fields, () => true).map((values) => ({ ...values, type }));
  });
}
