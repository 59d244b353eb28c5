import { readAddress, readList, readUint, UINT64_MAX, UINT256_MAX } from '../../chains/ethereum/fields.ts';
import { decodeRlp, type RlpItem } from '../../chains/ethereum/rlp.ts';
import type { TempoTransaction } from '../../chains/tempo/transaction.ts';
import { ApiError } from '../../lib/errors.ts';
import { chainTitle, evmCaip2 } from '../chain-names.ts';
import type { Field, SentenceContext } from '../sentence.ts';
import { count, listOf, type Piece, say, type TextPart } from '../text.ts';
import { addressPart, dateText } from '../values.ts';
import { cutHex } from './evm-clause.ts';
import { knownName, partyPart } from './parties.ts';
import { endOf } from './typed-values.ts';

// Who may act for an account after a transaction, beside what its calls do.

interface Authorization {
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
}

const chainWords = (chainId: bigint): string => (chainId === 0n ? 'every chain' : chainTitle(evmCaip2(chainId)));

/** EIP-7702: the code that an account borrows. `account` is whose it is, where that is known. */
export function codeField(
  context: SentenceContext,
  { chainId, address, nonce }: Authorization,
  index: number,
  account?: string,
): Field {
  const whose = account === undefined ? 'of an account' : `of ${knownName(context, account) ?? account}`;
  return {
    label: `Code ${index + 1}`,
    value: [{ ...addressPart(address), text: addressPart(address).address ?? address }],
    kind: 'ADDRESS',
    note: `borrowed on ${chainWords(chainId)}, at nonce ${count(nonce)} ${whose}`,
  };
}

interface AccessKey {
  readonly chainId: bigint;
  readonly kind: string;
  readonly address: string;
  /** Seconds. */
  readonly until: bigint | undefined;
  /** Undefined for no limit. */
  readonly limits: readonly { readonly token: string; readonly amount: bigint }[] | undefined;
  readonly hasMore: boolean;
}

const KEY_KINDS = ['secp256k1', 'P-256', 'WebAuthn', 'multisig'];

/** The parser leaves the body of an authorization open, so it may be anything. */
function accessKey(keyAuthorization: string): AccessKey | undefined {
  try {
    const [body] = readList(decodeRlp(Buffer.from(keyAuthorization.slice(2), 'hex')), 'keyAuthorization');
    const [chainId, kind, address, until, limits, ...more] = readList(body, 'keyAuthorization body');
    const number = Number(readUint(kind, 'key type', 255n));
    return {
      chainId: readUint(chainId, 'chainId', UINT64_MAX),
      kind: KEY_KINDS[number] ?? `kind ${number}`,
      address: readAddress(address, 'keyId'),
      until: until === undefined ? undefined : endOf(readUint(until, 'expiry', UINT64_MAX)),
      limits:
        limits instanceof Uint8Array || limits === undefined ? undefined : readList(limits, 'limits').map(limitOf),
      hasMore: more.length > 0,
    };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function limitOf(item: RlpItem): { readonly token: string; readonly amount: bigint } {
  const [token, amount] = readList(item, 'limit');
  return { token: readAddress(token, 'token'), amount: readUint(amount, 'limit', UINT256_MAX) };
}

export interface HandedOver {
  /** `the key 0x… and the code of 0x…`. */
  readonly who: readonly TextPart[];
  readonly fields: readonly Field[];
}

/** Keys and code that a transaction of Tempo lets act for the account; undefined for none. */
export function handedOver(context: SentenceContext, transaction: TempoTransaction): HandedOver | undefined {
  const { chainId, authorizationList, keyAuthorization } = transaction;
  if (authorizationList.length === 0 && keyAuthorization === '') return undefined;
  const caip2 = evmCaip2(chainId);
  const key = keyAuthorization === '' ? undefined : accessKey(keyAuthorization);
  const pieces: Piece[] = authorizationList.map(
    ({ address }) => say`the code of ${partyPart(context, address, caip2)}`,
  );
  if (key !== undefined) pieces.unshift(say`the key ${partyPart(context, key.address, caip2)}`);
  else if (keyAuthorization !== '') pieces.unshift('a key that nobody here can read');
  return {
    who: listOf(pieces),
    fields: [
      ...(key === undefined ? [] : keyFields(context, key, caip2)),
      ...(keyAuthorization === ''
        ? []
        : [{ label: 'Key authorization', value: [{ text: cutHex(keyAuthorization) }], kind: 'BYTES' as const }]),
      ...authorizationList.map((entry, index) => codeField(context, entry, index)),
    ],
  };
}

function keyFields(context: SentenceContext, key: AccessKey, caip2: string): readonly Field[] {
  const date = key.until === undefined ? undefined : dateText(Number(key.until) * 1000);
  const text = (label: string, value: readonly TextPart[]): Field => ({ label, value, kind: 'TEXT' });
  return [
    {
      label: 'Key',
      value: [{ ...addressPart(key.address, caip2), text: addressPart(key.address).address ?? key.address }],
      kind: 'ADDRESS',
      note: `${key.kind}, on ${chainWords(key.chainId)}`,
    },
    text('Key, until', [{ text: date ?? 'without an end' }]),
    ...(key.limits === undefined
      ? [text('Key, may spend', [{ text: 'without a limit' }])]
      : key.limits.map(({ token, amount }) =>
          text('Key, may spend', say`${String(amount)} of the smallest unit of ${partyPart(context, token, caip2)}`),
        )),
    ...(key.hasMore ? [text('Key, more terms', [{ text: 'read the bytes of the authorization' }])] : []),
  ];
}
