import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe } from 'vitest';
import { testFieldTable } from '../../../test/chain/field-table.ts';
import { readTransaction } from '../transactions.ts';
import type { TronContract } from './contract.ts';
import { TRON_FIELDS } from './field-table.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const SECRET = new Uint8Array(32).fill(0x11);
const OWNER = `41${hexOf(keccak_256(secp256k1.getPublicKey(SECRET, false).subarray(1)).subarray(12))}`;
const A = `41${'ab'.repeat(20)}`;
const B = `41${'cd'.repeat(20)}`;

const account = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(SECRET, true),
  address: '',
  addressFormat: 'ADDRESS_FORMAT_TRON',
} as const;
const signer = { account, addresses: [account] };

// An independent encoder in terms of hex.
const byte = (value: number): string => value.toString(16).padStart(2, '0');
const varint = (value: bigint): string => {
  const low = Number(value & 0x7fn);
  return value < 0x80n ? byte(low) : byte(low | 0x80) + varint(value >> 7n);
};
const int = (field: number, value: number): string => varint(BigInt(field) << 3n) + varint(BigInt(value));
const blob = (field: number, hex: string): string =>
  varint((BigInt(field) << 3n) | 2n) + varint(BigInt(hex.length / 2)) + hex;
const text = (field: number, value: string): string => blob(field, hexOf(Buffer.from(value)));

/** A field as it is, and as something else. */
type Pair = readonly [string, string];
type Type = TronContract['type'];
type FieldsOf<T extends Type> = Exclude<keyof Extract<TronContract, { readonly type: T }>, 'type' | 'permissionId'>;

const ints = (field: number, before = 1, after = 2): Pair => [int(field, before), int(field, after)];
const address = (field: number): Pair => [blob(field, A), blob(field, B)];
const owner = (field = 1): Pair => [blob(field, OWNER), blob(field, B)];

/** A permission with all its fields, and for each of them the permission with another. */
function permission(field: number): { readonly base: string; readonly changed: Readonly<Record<string, string>> } {
  const keyWith = (key: string): string => blob(7, key);
  const parts: Readonly<Record<string, Pair>> = {
    type: ints(1),
    id: ints(2),
    permissionName: [text(3, 'a'), text(3, 'b')],
    threshold: ints(4),
    parentId: ints(5),
    operations: [blob(6, '01'), blob(6, '02')],
    'keys.address': [keyWith(blob(1, A) + int(2, 1)), keyWith(blob(1, B) + int(2, 1))],
    'keys.weight': ['', keyWith(blob(1, A) + int(2, 3))],
  };
  const encode = (changed?: string): string =>
    blob(
      field,
      Object.entries(parts)
        .map(([name, [before, after]]) => (name === changed ? after : before))
        .join(''),
    );
  return {
    base: encode(),
    changed: Object.fromEntries(Object.keys(parts).map((name) => [name, encode(name)])),
  };
}

const CONTRACTS: { readonly [T in Type]: { readonly number: number; readonly fields: Record<FieldsOf<T>, Pair> } } = {
  TransferContract: { number: 1, fields: { ownerAddress: owner(), toAddress: address(2), amount: ints(3) } },
  TransferAssetContract: {
    number: 2,
    fields: {
      assetName: [text(1, '1000001'), text(1, '1000002')],
      ownerAddress: owner(2),
      // Only to the owner itself makes a difference to what leaves.
      toAddress: [blob(3, A), blob(3, OWNER)],
      amount: ints(4),
    },
  },
  TriggerSmartContract: {
    number: 31,
    fields: {
      ownerAddress: owner(),
      contractAddress: address(2),
      callValue: ints(3),
      data: [blob(4, 'a9059cbb'), blob(4, '095ea7b3')],
      callTokenValue: ints(5),
      tokenId: ints(6),
    },
  },
  FreezeBalanceV2Contract: { number: 54, fields: { ownerAddress: owner(), frozenBalance: ints(2), resource: ints(3) } },
  UnfreezeBalanceV2Contract: {
    number: 55,
    fields: { ownerAddress: owner(), unfreezeBalance: ints(2), resource: ints(3) },
  },
  DelegateResourceContract: {
    number: 57,
    fields: {
      ownerAddress: owner(),
      resource: ints(2),
      balance: ints(3),
      receiverAddress: address(4),
      lock: [int(5, 1), ''],
      lockPeriod: ints(6),
    },
  },
  UnDelegateResourceContract: {
    number: 58,
    fields: { ownerAddress: owner(), resource: ints(2), balance: ints(3), receiverAddress: address(4) },
  },
  AccountPermissionUpdateContract: {
    number: 46,
    fields: {
      ownerAddress: owner(),
      owner: [permission(2).base, ''],
      witness: [permission(3).base, ''],
      actives: [permission(4).base, ''],
    },
  },
};

interface Raw {
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly expiration: string;
  readonly timestamp: string;
  readonly data: string;
  readonly feeLimit: string;
  readonly permissionId: number;
}

const RAW: Raw = {
  refBlockBytes: blob(1, '02a2'),
  refBlockHash: blob(4, 'e216e254e43ee108'),
  expiration: int(8, 1000),
  data: blob(10, '01'),
  timestamp: int(14, 900),
  feeLimit: int(18, 5),
  permissionId: 2,
};

function encode(type: Type, value: string, raw: Partial<Raw> = {}): string {
  const { refBlockBytes, refBlockHash, expiration, data, timestamp, feeLimit, permissionId } = { ...RAW, ...raw };
  const any = text(1, `type.googleapis.com/protocol.${type}`) + blob(2, value);
  const contract = blob(11, int(1, CONTRACTS[type].number) + blob(2, any) + int(5, permissionId));
  return refBlockBytes + refBlockHash + expiration + data + contract + timestamp + feeLimit;
}

const read = (unsigned: string) => readTransaction('TRANSACTION_TYPE_TRON', unsigned, signer);

describe.each(Object.keys(TRON_FIELDS) as Type[])('who sees the fields of a %s of Tron', (type) => {
  const fields = Object.entries<Pair>(CONTRACTS[type].fields);
  const valueWith = (name: string, other: string): string =>
    fields.map(([field, [before]]) => (field === name ? other : before)).join('');
  const base = valueWith('', '');
  const change = (raw: Partial<Raw>) => () => read(encode(type, base, raw));
  const other: Type = type === 'TransferContract' ? 'FreezeBalanceV2Contract' : 'TransferContract';
  const otherValue = Object.values<Pair>(CONTRACTS[other].fields).map(([before]) => before);

  const ofContract = fields.flatMap(([name, [, after]]): [string, () => ReturnType<typeof read>][] => {
    const permissions = { owner: 2, witness: 3, actives: 4 };
    if (!(name in permissions)) return [[`contract.${name}`, () => read(encode(type, valueWith(name, after)))]];
    const { changed } = permission(permissions[name as keyof typeof permissions]);
    return Object.entries(changed).map(([part, hex]) => [
      `contract.${name}.${part}`,
      () => read(encode(type, valueWith(name, hex))),
    ]);
  });

  testFieldTable(
    TRON_FIELDS[type],
    { type: 'TRANSACTION_TYPE_TRON', unsigned: encode(type, base), signer },
    {
      refBlockBytes: change({ refBlockBytes: blob(1, '02a3') }),
      refBlockHash: change({ refBlockHash: blob(4, 'e216e254e43ee109') }),
      expiration: change({ expiration: int(8, 1001) }),
      timestamp: change({ timestamp: int(14, 901) }),
      data: change({ data: blob(10, '02') }),
      feeLimit: change({ feeLimit: int(18, 6) }),
      'contract.type': () => read(encode(other, otherValue.join(''))),
      'contract.permissionId': change({ permissionId: 3 }),
      ...Object.fromEntries(ofContract),
    },
  );
});
