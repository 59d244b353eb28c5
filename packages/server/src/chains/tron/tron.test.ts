import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import type { SignerAccount } from '../signable.ts';
import { parseTron, signableTron } from './tron.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const base58 = (hex: string): string => createBase58check(sha256).encode(bytesOf(hex));

// An independent encoder in terms of hex.
const varint = (value: bigint): string => {
  const low = Number(value & 0x7fn);
  return value < 0x80n ? byte(low) : byte(low | 0x80) + varint(value >> 7n);
};
const byte = (value: number): string => value.toString(16).padStart(2, '0');
const int = (field: number, value: bigint | number): string => varint(BigInt(field) << 3n) + varint(BigInt(value));
const blob = (field: number, hex: string): string =>
  varint((BigInt(field) << 3n) | 2n) + varint(BigInt(hex.length / 2)) + hex;
const text = (field: number, value: string): string => blob(field, hexOf(Buffer.from(value)));

const secret = new Uint8Array(32).fill(0x11);
const publicKey = secp256k1.getPublicKey(secret, true);
const OWNER = `41${hexOf(keccak_256(secp256k1.getPublicKey(secret, false).subarray(1)).subarray(12))}`;
const OTHER = `41${'ab'.repeat(20)}`;

interface Parts {
  readonly type?: number;
  readonly name?: string;
  readonly value?: string;
  readonly contractExtra?: string;
  readonly extra?: string;
  readonly contracts?: number;
}

const TRANSFER = blob(1, OWNER) + blob(2, OTHER) + int(3, 1_000_000);

function raw(parts: Parts = {}): string {
  const {
    type = 1,
    name = 'TransferContract',
    value = TRANSFER,
    contractExtra = '',
    extra = '',
    contracts = 1,
  } = parts;
  const any = text(1, `type.googleapis.com/protocol.${name}`) + blob(2, value);
  const contract = blob(11, (type === 0 ? '' : int(1, type)) + blob(2, any) + contractExtra);
  return (
    blob(1, '02a2') +
    blob(4, 'e216e254e43ee108') +
    int(8, 1571898861000) +
    contract.repeat(contracts) +
    int(14, 1571898802704) +
    extra
  );
}

const signer: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey,
  address: base58(OWNER),
  addressFormat: 'ADDRESS_FORMAT_TRON',
};

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('INVALID_TRANSACTION');
    return (error as ApiError).message;
  }
  throw new Error('it was accepted');
}

// Answers of nodes, as the documentation of TRON's HTTP API and other public sources show them.
const PUBLISHED_TRANSFER = {
  txid: 'c558bd35978267d8999baf6148703cbc94786f3f2e22893637588ca05437d7f0',
  hex:
    '0a02193b2208aaecd88e4e0e752840e098909f9b305a68080112640a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f' +
    '6c2e5472616e73666572436f6e747261637412330a154198927ffb9f554dc4a453c64b2e553a02d6df514b121541d0b69631440f0a494bb5' +
    '1f7eee68ff5c593c00f01880ade20470b4d58c9f9b30',
};
const PUBLISHED_TRIGGER = {
  txid: 'c70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08',
  hex:
    '0a028ad92208eaef69105495eb1540f09fc0cfcd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f' +
    '636f6c2e54726967676572536d617274436f6e747261637412740a1541495511a493d8c362be4267224e6d81013a6862ee121541eca9bc82' +
    '8a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a0000' +
    '0000000000000000000000000000000000000000000000000000000000017090cbbccfcd33900180c2d72f',
};
const PUBLISHED_PERMISSIONS =
  '0a02848a2208305274c7f1f088da40889accf0e5325aea01082e12e5010a3c747970652e676f6f676c65617069732e636f6d2f70726f746f63' +
  '6f6c2e4163636f756e745065726d697373696f6e557064617465436f6e747261637412a4010a1541fd49eda0f23ff7ec1d03b52c3a45991c24' +
  'cd440e12241a056f776e657220013a190a1541fd49eda0f23ff7ec1d03b52c3a45991c24cd440e1001226508021a0761637469766530200232' +
  '207fff1fc0037e00000000000000000000000000000000000000000000000000003a190a1541fd49eda0f23ff7ec1d03b52c3a45991c24cd44' +
  '0e10013a190a154198927ffb9f554dc4a453c64b2e553a02d6df514b100170c0cac8f0e532';

describe('published transactions', () => {
  test('a transfer', () => {
    expect(parseTron(PUBLISHED_TRANSFER.hex)).toEqual({
      refBlockBytes: '193b',
      refBlockHash: 'aaecd88e4e0e7528',
      expiration: 1656580476000n,
      timestamp: 1656580418228n,
      data: '',
      feeLimit: 0n,
      contract: [
        {
          type: 'TransferContract',
          ownerAddress: 'TPswDDCAWhJAZGdHPidFg5nEf8TkNToDX1',
          toAddress: 'TUznHJfHe6gdYY7gvWmf6bNZHuPHDZtowf',
          amount: 10_000_000n,
          permissionId: 0,
        },
      ],
      txid: PUBLISHED_TRANSFER.txid,
    });
  });

  test('a call of a contract', () => {
    const parsed = parseTron(`0x${PUBLISHED_TRIGGER.hex}`);
    expect(parsed.txid).toBe(PUBLISHED_TRIGGER.txid);
    expect(parsed.feeLimit).toBe(100_000_000n);
    expect(parsed.contract[0]).toEqual({
      type: 'TriggerSmartContract',
      ownerAddress: base58('41495511a493d8c362be4267224e6d81013a6862ee'),
      contractAddress: base58('41eca9bc828a3005b9a3b909f2cc5c2a54794de05f'),
      callValue: 0n,
      data: `a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a${'1'.padStart(64, '0')}`,
      callTokenValue: 0n,
      tokenId: 0n,
      permissionId: 0,
    });
  });

  test('an update of permissions', () => {
    const own = 'TZ4UXDV5ZhNW7fb2AMSbgfAEZ7hWsnYS2g';
    expect(parseTron(PUBLISHED_PERMISSIONS).contract[0]).toEqual({
      type: 'AccountPermissionUpdateContract',
      ownerAddress: own,
      permissionId: 0,
      owner: {
        type: 'Owner',
        id: 0,
        permissionName: 'owner',
        threshold: 1n,
        parentId: 0,
        operations: '',
        keys: [{ address: own, weight: 1n }],
      },
      actives: [
        {
          type: 'Active',
          id: 0,
          permissionName: 'active0',
          threshold: 2n,
          parentId: 0,
          operations: `7fff1fc0037e${'00'.repeat(26)}`,
          keys: [
            { address: own, weight: 1n },
            { address: 'TPswDDCAWhJAZGdHPidFg5nEf8TkNToDX1', weight: 1n },
          ],
        },
      ],
    });
  });
});

describe('other contracts', () => {
  const contract = (parts: Parts) => parseTron(raw(parts)).contract[0];
  const owner = { ownerAddress: base58(OWNER), permissionId: 0 };

  test('tokens of TRC-10, with a permission id and a memo', () => {
    const value = text(1, '1000001') + blob(2, OWNER) + blob(3, OTHER) + int(4, 5);
    const parts = { type: 2, name: 'TransferAssetContract', value, contractExtra: int(5, 2), extra: text(10, 'hi') };
    expect(contract(parts)).toEqual({
      type: 'TransferAssetContract',
      ownerAddress: base58(OWNER),
      toAddress: base58(OTHER),
      assetName: '1000001',
      amount: 5n,
      permissionId: 2,
    });
    expect(parseTron(raw(parts)).data).toBe('6869');
  });

  test('staking and delegation', () => {
    const stake = blob(1, OWNER) + int(2, 9);
    expect(contract({ type: 54, name: 'FreezeBalanceV2Contract', value: stake + int(3, 1) })).toEqual({
      type: 'FreezeBalanceV2Contract',
      frozenBalance: 9n,
      resource: 'ENERGY',
      ...owner,
    });
    expect(contract({ type: 55, name: 'UnfreezeBalanceV2Contract', value: stake })).toEqual({
      type: 'UnfreezeBalanceV2Contract',
      unfreezeBalance: 9n,
      resource: 'BANDWIDTH',
      ...owner,
    });
    const lend = blob(1, OWNER) + int(2, 1) + int(3, 7) + blob(4, OTHER);
    const lent = { resource: 'ENERGY', balance: 7n, receiverAddress: base58(OTHER), ...owner };
    expect(contract({ type: 57, name: 'DelegateResourceContract', value: lend + int(5, 1) + int(6, 86400) })).toEqual({
      type: 'DelegateResourceContract',
      ...lent,
      lock: true,
      lockPeriod: 86400n,
    });
    expect(contract({ type: 58, name: 'UnDelegateResourceContract', value: lend })).toEqual({
      type: 'UnDelegateResourceContract',
      ...lent,
    });
  });
});

describe('contracts that are not read', () => {
  const refusalOf = (parts: Parts) => {
    const message = refusal(() => parseTron(raw(parts)));
    expect(refusal(() => signableTron(raw(parts), signer))).toBe(message);
    return message;
  };
  const notRead = (type: string | number) =>
    `Tron transactions of contract type ${type} are not signed, because their contents are not read`;

  // Messages as nodes take them, so that nothing but their type can be the reason.
  test.each<[string, number, string]>([
    ['AccountCreateContract', 0, blob(1, OWNER) + blob(2, OTHER)],
    ['VoteWitnessContract', 4, blob(1, OWNER) + blob(2, blob(1, OTHER) + int(2, 1))],
    ['ParticipateAssetIssueContract', 9, blob(1, OWNER) + blob(2, OTHER) + text(3, '1000001') + int(4, 7)],
    ['AccountUpdateContract', 10, text(1, 'me') + blob(2, OWNER)],
    ['FreezeBalanceContract', 11, blob(1, OWNER) + int(2, 9) + int(3, 3)],
    ['WithdrawBalanceContract', 13, blob(1, OWNER)],
    ['SetAccountIdContract', 19, text(1, 'account12') + blob(2, OWNER)],
    ['CreateSmartContract', 30, blob(1, OWNER) + blob(2, blob(1, OWNER) + int(5, 7)) + int(3, 7) + int(4, 1000001)],
    ['ExchangeTransactionContract', 44, blob(1, OWNER) + int(2, 1) + text(3, '_') + int(4, 7) + int(5, 1)],
    ['UpdateBrokerageContract', 49, blob(1, OWNER) + int(2, 20)],
    ['MarketSellAssetContract', 52, blob(1, OWNER) + text(2, '_') + int(3, 7) + text(4, '1000001') + int(5, 1)],
    ['WithdrawExpireUnfreezeContract', 56, blob(1, OWNER)],
    ['CancelAllUnfreezeV2Contract', 59, blob(1, OWNER)],
  ])('%s is refused by name', (name, type, value) => {
    expect(refusalOf({ type, name, value })).toBe(notRead(name));
  });

  test('only eight types are read, whatever the parameter says that it is', () => {
    const read = Array.from({ length: 128 }, (_, type) => type).filter(
      (type) => !/are not read$/.test(refusal(() => parseTron(raw({ type, name: 'None' })))),
    );
    expect(read).toEqual([1, 2, 31, 46, 54, 55, 57, 58]);
    expect(refusalOf({ type: 4 })).toBe(notRead('VoteWitnessContract'));
  });

  test('a type without a name is refused by its number', () => {
    expect(refusalOf({ type: 7 })).toBe(notRead(7));
    expect(refusalOf({ type: 1000 })).toBe(notRead(1000));
    expect(refusalOf({ type: 2 ** 31 - 1 })).toBe(notRead(2 ** 31 - 1));
  });
});

describe('signing', () => {
  test('gives the transaction that nodes take', () => {
    const hex = raw({ extra: int(18, 5) });
    const signable = signableTron(hex, signer);
    expect(signable.transaction).toEqual(parseTron(hex));
    expect(signable.payloads.map(hexOf)).toEqual([createHash('sha256').update(bytesOf(hex)).digest('hex')]);
    const [recovery = 0, ...rs] = secp256k1.sign(signable.payloads[0]!, secret, {
      prehash: false,
      format: 'recovered',
    });
    const r = Uint8Array.from(rs.slice(0, 32));
    const s = Uint8Array.from(rs.slice(32));
    const signed = signable.attach([{ r, s, v: recovery as 0 | 1 }]);
    expect(signed).toBe(blob(1, hex) + blob(2, hexOf(r) + hexOf(s) + byte(recovery)));
    expect(signed).toContain(`1241${hexOf(r)}`);
    const recovered = secp256k1.Signature.fromBytes(bytesOf(byte(recovery) + hexOf(r) + hexOf(s)), 'recovered');
    expect(recovered.recoverPublicKey(signable.payloads[0]!).toBytes(true)).toEqual(publicKey);
  });

  test('is only for the owner', () => {
    const value = blob(1, OTHER) + blob(2, OWNER) + int(3, 1);
    expect(refusal(() => signableTron(raw({ value }), signer))).toMatch(/not the owner_address/);
    expect(refusal(() => signableTron(raw(), { ...signer, curve: 'CURVE_P256' }))).toMatch(/secp256k1/);
  });
});

describe('what is not raw data', () => {
  const zeroField = byte(0);
  const permission = text(3, 'owner') + int(4, 1) + blob(7, blob(1, OWNER) + int(2, 1));
  const permissions = (owner: string) =>
    raw({ type: 46, name: 'AccountPermissionUpdateContract', value: blob(1, OWNER) + blob(2, owner) });

  test('what the cases below differ from', () => {
    expect(parseTron(permissions(permission)).contract[0].type).toBe('AccountPermissionUpdateContract');
  });

  const cases: Record<string, string> = {
    'no bytes': '',
    'a whole transaction': blob(1, raw()),
    'no contract': raw({ contracts: 0 }),
    'two contracts': raw({ contracts: 2 }),
    'a parameter of another type': raw({ name: 'TriggerSmartContract' }),
    'a type twice': raw({ contractExtra: int(1, 1) }),
    'an amount twice': raw({ value: TRANSFER + int(3, 1) }),
    'an amount as bytes': raw({ value: blob(1, OWNER) + blob(2, OTHER) + blob(3, '01') }),
    'a negative amount': raw({ value: blob(1, OWNER) + blob(2, OTHER) + int(3, 2n ** 64n - 1n) }),
    'no receiver': raw({ value: blob(1, OWNER) + int(3, 1) }),
    'an address of another network': raw({ value: blob(1, OWNER) + blob(2, `a0${'ab'.repeat(20)}`) + int(3, 1) }),
    'a short address': raw({ value: blob(1, OWNER) + blob(2, OTHER.slice(0, 40)) + int(3, 1) }),
    'a number in a longer form': raw({ extra: '900180808000' }),
    'a number of more than 64 bits': raw({ extra: `${varint(144n)}ffffffffffffffffff02` }),
    'an endless number': raw({ extra: `${varint(144n)}ffffffffffffffffffffff01` }),
    'a group': raw({ extra: byte((19 << 3) | 3) }),
    'field zero': raw({ extra: `${zeroField}00` }),
    'a length past the end': raw({ extra: `${byte((10 << 3) | 2)}05ff` }),
    'a cut': raw().slice(0, -2),
    'a field that no raw data has': raw({ extra: int(99, 1) }),
    'a field of raw data that nodes do not use': raw({ extra: blob(12, 'ff') }),
    'an unknown field of four bytes': raw({ extra: `${varint(805n)}01020304` }),
    'an unknown field of the contract': raw({ contractExtra: blob(4, 'aa') }),
    'an unknown field of a transfer': raw({ value: TRANSFER + int(4, 1) }),
    'an unknown field of a permission': permissions(permission + int(8, 1)),
    'an unknown field of a key of a permission': permissions(permission + blob(7, blob(1, OWNER) + int(3, 1))),
    'an unknown resource': raw({ type: 54, name: 'FreezeBalanceV2Contract', value: blob(1, OWNER) + int(3, 9) }),
    'a flag that is neither': raw({
      type: 57,
      name: 'DelegateResourceContract',
      value: blob(1, OWNER) + blob(4, OTHER) + int(5, 2),
    }),
    'an asset name that is no text': raw({
      type: 2,
      name: 'TransferAssetContract',
      value: blob(1, 'ff') + blob(2, OWNER) + blob(3, OTHER),
    }),
    'more than nodes take': raw({ extra: blob(10, '00'.repeat(500 * 1024)) }),
  };
  test.each(Object.entries(cases))('%s', (_, hex) => {
    expect(refusal(() => parseTron(hex))).toMatch(/^failed to parse transaction: /);
  });
});

describe('arbitrary bytes', () => {
  const check = (bytes: Uint8Array): void => {
    try {
      const { contract, txid } = parseTron(hexOf(bytes));
      expect(contract[0].ownerAddress).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
      expect(txid).toBe(createHash('sha256').update(bytes).digest('hex'));
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
    }
  };

  test('give a transaction or an error of the API', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), check));
  });

  test('so do valid transactions with a few bytes changed or cut', () => {
    const valid = [PUBLISHED_TRANSFER.hex, PUBLISHED_TRIGGER.hex, PUBLISHED_PERMISSIONS].map(bytesOf);
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...valid), edits, fc.nat(3), (original, changes, cut) => {
        const bytes = Uint8Array.from(original);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        check(bytes.subarray(0, bytes.length - cut));
      }),
      { numRuns: 500 },
    );
  });
});
