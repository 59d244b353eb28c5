import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe } from 'vitest';
import { testFieldTable } from '../../../test/chain/field-table.ts';
import type { EthereumTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import { readTransaction } from '../transactions.ts';
import { ETHEREUM_FIELDS } from './field-table.ts';
import { hexItem, uintItem } from './fields.ts';
import { decodeRlp, encodeRlp, type RlpItem } from './rlp.ts';
import {
  type EthereumTransaction,
  type EthereumTransactionType,
  type SignedAuthorization,
  serializeEthereumTransaction,
} from './transaction.ts';

const SECRET = new Uint8Array(32).fill(0x11);
const STRANGER = new Uint8Array(32).fill(0x22);
const A = `0x${'aa'.repeat(20)}`;
const B = `0x${'bb'.repeat(20)}`;
const blob = (fill: string): string => `0x01${fill.repeat(31)}`;

const account = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(SECRET, true),
  address: '',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;

/** EIP-7702. */
function authorization(secret: Uint8Array): SignedAuthorization {
  const entry = { chainId: 1n, address: B, nonce: 0n };
  const digest = keccak_256(Buffer.concat([Uint8Array.of(5), encodeRlp([uintItem(1n), hexItem(B), uintItem(0n)])]));
  const bytes = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
  const uint = (part: Uint8Array): bigint => BigInt(`0x${Buffer.from(part).toString('hex')}`);
  return { ...entry, yParity: BigInt(bytes[0] ?? 0), r: uint(bytes.subarray(1, 33)), s: uint(bytes.subarray(33)) };
}

const COMMON = {
  chainId: 1n,
  nonce: 1n,
  to: A,
  value: 5n,
  data: '0x12345678',
  selector: '0x12345678',
  gas: 21_000n,
  gasPrice: 7n,
  maxFeePerGas: 7n,
  maxPriorityFeePerGas: 3n,
  maxFeePerBlobGas: 0n,
  accessList: [],
  blobVersionedHashes: [],
  authorizationList: [],
} as const;

const BASES: Readonly<Record<EthereumTransactionType, EthereumTransaction>> = {
  LEGACY: { ...COMMON, type: 'LEGACY' },
  TYPE_1: { ...COMMON, type: 'TYPE_1' },
  TYPE_2: { ...COMMON, type: 'TYPE_2' },
  TYPE_3: { ...COMMON, type: 'TYPE_3', maxFeePerBlobGas: 2n, blobVersionedHashes: [blob('01')] },
  TYPE_4: { ...COMMON, type: 'TYPE_4', authorizationList: [authorization(STRANGER)] },
};

const FEE: Partial<EthereumTransaction> = { gasPrice: 9n, maxFeePerGas: 9n };

const CHANGES: Readonly<Record<keyof EthereumTransaction, Partial<EthereumTransaction>>> = {
  type: { type: 'TYPE_2' },
  chainId: { chainId: 2n },
  nonce: { nonce: 2n },
  to: { to: B },
  value: { value: 6n },
  data: { data: '0x1234567800' },
  selector: {},
  gas: { gas: 22_000n },
  gasPrice: FEE,
  maxFeePerGas: FEE,
  maxPriorityFeePerGas: { maxPriorityFeePerGas: 4n },
  maxFeePerBlobGas: { maxFeePerBlobGas: 3n },
  accessList: { accessList: [{ address: B, storageKeys: [] }] },
  blobVersionedHashes: { blobVersionedHashes: [blob('01'), blob('02')] },
  authorizationList: { authorizationList: [authorization(SECRET)] },
};

const signer = { account, addresses: [account] };
const read = (hex: string) => readTransaction('TRANSACTION_TYPE_ETHEREUM', hex, signer);

/** The transaction with one more field at its end than its type has. */
function withMore(tx: EthereumTransaction): string {
  const bytes = Buffer.from(serializeEthereumTransaction(tx), 'hex');
  const start = tx.type === 'LEGACY' ? 0 : 1;
  const fields = decodeRlp(bytes.subarray(start)) as readonly RlpItem[];
  return Buffer.concat([bytes.subarray(0, start), encodeRlp([...fields, []])]).toString('hex');
}

const { value: _value, ...withoutValue } = ETHEREUM_FIELDS.TYPE_2;
// @ts-expect-error: a field without an entry does not compile.
withoutValue satisfies FieldTable<EthereumTransaction, EthereumTransactionFacts>;

describe.each(Object.entries(ETHEREUM_FIELDS))('who sees the fields of a transaction of %s', (kind, table) => {
  const base = BASES[kind as EthereumTransactionType];
  const hasOnePrice = kind === 'LEGACY' || kind === 'TYPE_1';
  const changes = {
    ...CHANGES,
    ...(hasOnePrice && { maxPriorityFeePerGas: FEE }),
    ...(kind === 'TYPE_2' && { type: { type: 'TYPE_1' } as const }),
  };
  testFieldTable(
    table,
    { type: 'TRANSACTION_TYPE_ETHEREUM', unsigned: serializeEthereumTransaction(base), signer },
    Object.fromEntries(
      Object.entries(table).flatMap(([name, rule]) => {
        if ('derivedFrom' in rule) return [];
        const change = changes[name as keyof EthereumTransaction];
        const changed = 'absent' in rule ? withMore(base) : serializeEthereumTransaction({ ...base, ...change });
        return [[name, () => read(changed)]];
      }),
    ),
  );
});
