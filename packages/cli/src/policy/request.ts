import type { Namespaces } from '@custos/server/policy';
import {
  type ContractInterface,
  HASH_FUNCTIONS,
  PAYLOAD_ENCODINGS,
  paramsOf,
  payloadNamespaces,
  readTransaction,
  signableOf,
  signingInput,
  TRANSACTION_TYPES,
  transactionNamespaces,
} from '@custos/server/policy-facts';
import type { Governed, Params } from './context.ts';
import { type Cursor, required } from './cursor.ts';
import { findKey, type TestKey, type TestKeys } from './keys.ts';

export interface RequestFacts {
  readonly params: Params;
  readonly elements: readonly Namespaces[];
}

/** What policies see of a request, from the parameters that the service would be sent. */
export function readRequest(
  cursor: Cursor,
  activity: Governed,
  keys: TestKeys,
  interfaces: readonly ContractInterface[],
): RequestFacts {
  switch (activity.kind) {
    case 'SIGN_TRANSACTION':
      return readTransactionRequest(cursor, activity, keys, interfaces);
    case 'SIGN_RAW_PAYLOAD':
    case 'SIGN_RAW_PAYLOADS':
      return readPayloadRequest(cursor, activity, keys);
    default:
      return cursor.fail('only requests to sign are read whole; give "params" and "context" instead');
  }
}

/** The first version of a type names a private key, the later ones any key. */
const keyField = ({ type, kind }: Governed): 'signWith' | 'privateKeyId' =>
  type === `ACTIVITY_TYPE_${kind}` && kind !== 'SIGN_RAW_PAYLOADS' ? 'privateKeyId' : 'signWith';

function readTransactionRequest(
  cursor: Cursor,
  activity: Governed,
  keys: TestKeys,
  interfaces: readonly ContractInterface[],
): RequestFacts {
  const field = keyField(activity);
  const members = cursor.members('the parameters', [field, 'type', 'unsignedTransaction']);
  const type = required(cursor, members, 'type').oneOf('"type"', TRANSACTION_TYPES);
  const unsigned = required(cursor, members, 'unsignedTransaction').text('"unsignedTransaction"');
  const key = readKey(cursor, members[field], field, keys);
  const namespaces = asService(cursor, 'unsignedTransaction', () => {
    // Refuses what does not fit the key, as the service does before it asks a policy.
    signableOf(type, unsigned, key);
    return transactionNamespaces(readTransaction(type, unsigned, key), interfaces);
  });
  return {
    params: paramsOf(activity.type, activity.kind).includes('type') ? { type } : {},
    elements: [{ ...namespaces, ...key.namespaces }],
  };
}

function readPayloadRequest(cursor: Cursor, activity: Governed, keys: TestKeys): RequestFacts {
  const field = keyField(activity);
  const source = activity.kind === 'SIGN_RAW_PAYLOADS' ? 'payloads' : 'payload';
  const members = cursor.members('the parameters', [field, source, 'encoding', 'hashFunction']);
  const encoding = required(cursor, members, 'encoding').oneOf('"encoding"', PAYLOAD_ENCODINGS);
  const hashFunction = required(cursor, members, 'hashFunction').oneOf('"hashFunction"', HASH_FUNCTIONS);
  const key = readKey(cursor, members[field], field, keys);
  const given = required(cursor, members, source);
  const payloads = source === 'payload' ? [given] : given.items('"payloads"');
  if (payloads.length === 0) given.fail('there is nothing to sign');
  const elements = payloads.map((payload): Namespaces => {
    const text = payloadText(payload);
    return asService(payload, undefined, () => {
      signingInput(text, encoding, hashFunction, key.account.curve);
      return { ...payloadNamespaces(encoding, text), ...key.namespaces };
    });
  });
  return { params: { encoding, hash_function: hashFunction }, elements };
}

/** Typed data is a JSON text on the wire, and may stand here as it is. */
function payloadText(cursor: Cursor): string {
  const { value } = cursor;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : cursor.text('a payload');
}

function readKey(owner: Cursor, cursor: Cursor | undefined, field: string, keys: TestKeys): TestKey {
  const named = cursor ?? owner.fail(`${JSON.stringify(field)} is missing`);
  const key = findKey(keys, named.text(`"${field}"`));
  return key ?? named.fail(`"${field}" names no key of "wallets" and "privateKeys"`);
}

/** What the service would refuse is no case for policies. */
function asService<Result>(cursor: Cursor, field: string | undefined, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ApiError') throw error;
    return cursor.fail(`the service would refuse it: ${error.message}`, field === undefined ? [] : [field]);
  }
}
