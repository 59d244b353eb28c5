import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check } from '@scure/base';
import { encodeFunctionData, erc20Abi } from 'viem';
import { describe, expect, test } from 'vitest';
import { compileExpression, evaluate, type Namespaces } from '../../policy/index.ts';
import { mayBe, parseCaip19 } from '../caip19.ts';
import type { SignerAccount } from '../signable.ts';
import { assetMovements, type ParsedTransaction, readTransaction, transactionNamespaces } from '../transactions.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const secret = new Uint8Array(32).fill(0x11);
const publicKey = secp256k1.getPublicKey(secret, true);
const accountHex = hexOf(keccak_256(secp256k1.getPublicKey(secret, false).subarray(1)).subarray(12));

const account = (addressFormat: string): SignerAccount => ({
  curve: 'CURVE_SECP256K1',
  publicKey,
  address: '',
  addressFormat,
});
const signedBy = (...formats: string[]) => ({
  account: account(formats[0] ?? 'ADDRESS_FORMAT_COMPRESSED'),
  addresses: formats.map(account),
});

function moved(parsed: ParsedTransaction, caip19: string): bigint[] {
  const asset = parseCaip19(caip19);
  return assetMovements(parsed).transfers.flatMap((one) => (mayBe(one, asset) ? [one.amount] : []));
}

function judge(text: string, facts: Namespaces): boolean | string {
  const compiled = compileExpression('condition', text);
  if (!compiled.ok) return compiled.error.code;
  const result = evaluate(compiled.expression, facts);
  return result.ok ? result.value : result.error.code;
}

describe('tron.tx', () => {
  // An independent encoder in terms of hex.
  const byte = (value: number): string => value.toString(16).padStart(2, '0');
  const varint = (value: bigint): string => {
    const low = Number(value & 0x7fn);
    return value < 0x80n ? byte(low) : byte(low | 0x80) + varint(value >> 7n);
  };
  const int = (field: number, value: bigint | number): string => varint(BigInt(field) << 3n) + varint(BigInt(value));
  const blob = (field: number, hex: string): string =>
    varint((BigInt(field) << 3n) | 2n) + varint(BigInt(hex.length / 2)) + hex;
  const text = (field: number, value: string): string => blob(field, hexOf(Buffer.from(value)));
  const base58 = (hex: string): string => createBase58check(sha256).encode(Buffer.from(hex, 'hex'));

  const OWNER = `41${accountHex}`;
  const OTHER = `41${'ab'.repeat(20)}`;
  const TOKEN = `41${'cd'.repeat(20)}`;
  const header = {
    ref_block_bytes: '02a2',
    ref_block_hash: 'e216e254e43ee108',
    expiration: 1571898861000n,
    timestamp: 1571898802704n,
  };

  function parsed(type: number, name: string, value: string, extra = ''): ParsedTransaction {
    const any = text(1, `type.googleapis.com/protocol.${name}`) + blob(2, value);
    const contract = blob(11, int(1, type) + blob(2, any) + int(5, 2));
    const raw =
      blob(1, '02a2') +
      blob(4, 'e216e254e43ee108') +
      int(8, 1571898861000) +
      extra +
      contract +
      int(14, 1571898802704) +
      int(18, 9);
    return readTransaction('TRANSACTION_TYPE_TRON', raw, signedBy('ADDRESS_FORMAT_TRON'));
  }
  const contractOf = (one: ParsedTransaction) => transactionNamespaces(one).tron?.tx?.contract[0];
  const common = { permission_id: 2n, owner_address: base58(OWNER) };

  test('a transfer with a memo', () => {
    const one = parsed(1, 'TransferContract', blob(1, OWNER) + blob(2, OTHER) + int(3, 100), text(10, 'hi'));
    const contract = { ...common, type: 'TransferContract', to_address: base58(OTHER), amount: 100n };
    expect(transactionNamespaces(one)).toEqual({
      tron: { tx: { ...header, data: '6869', fee_limit: 9n, contract: [contract] } },
    });
    expect(moved(one, 'tron:0x2b6653dc/slip44:195')).toEqual([100n]);
    expect(
      moved(parsed(1, 'TransferContract', blob(1, OWNER) + blob(2, OWNER) + int(3, 100)), 'tron:x/slip44:195'),
    ).toEqual([]);
  });

  test('a call of a token', () => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [`0x${OTHER.slice(2)}`, 5n],
    }).slice(2);
    const call = (input: string) =>
      parsed(
        31,
        'TriggerSmartContract',
        blob(1, OWNER) + blob(2, TOKEN) + int(3, 1) + blob(4, input) + int(5, 2) + int(6, 1000001),
      );
    expect(contractOf(call(data))).toEqual({
      ...common,
      type: 'TriggerSmartContract',
      contract_address: base58(TOKEN),
      call_value: 1n,
      data,
      call_token_value: 2n,
      token_id: 1000001n,
    });
    const one = call(data);
    expect(moved(one, 'tron:728126428/slip44:195')).toEqual([1n]);
    expect(moved(one, 'tron:728126428/trc10:1000001')).toEqual([2n]);
    expect(moved(one, `tron:728126428/trc20:${base58(TOKEN)}`)).toEqual([5n]);
    expect(moved(one, `tron:728126428/trc20:${TOKEN}`)).toEqual([5n]);
    expect(moved(one, `tron:728126428/trc20:0x${TOKEN.slice(2)}`)).toEqual([5n]);
    expect(moved(one, `tron:728126428/trc20:${base58(OTHER)}`)).toEqual([]);
    // Wallets of this chain write its prefix into the padding.
    expect(moved(call(data.replace('00ab', '41ab')), `tron:x/trc20:${base58(TOKEN)}`)).toEqual([5n]);
    // An approval counts as its amount; what is not known says nothing, nor does a call without data.
    const approval = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [`0x${OTHER.slice(2)}`, 9n],
    }).slice(2);
    expect(moved(call(approval), `tron:x/trc20:${base58(TOKEN)}`)).toEqual([9n]);
    expect(assetMovements(call(approval)).uncounted).toEqual([]);
    expect(assetMovements(call('deadbeef')).uncounted).toEqual([
      { name: `the call 0xdeadbeef of ${base58(TOKEN)}`, certainty: 'unknown', reach: [] },
    ]);
    expect(assetMovements(parsed(31, 'TriggerSmartContract', blob(1, OWNER) + blob(2, TOKEN))).uncounted).toEqual([]);
  });

  test('an amount of another token does not pass for one of TRX', () => {
    const one = parsed(2, 'TransferAssetContract', text(1, '1000001') + blob(2, OWNER) + blob(3, OTHER) + int(4, 7));
    expect(contractOf(one)).toEqual({ ...common, type: 'TransferAssetContract' });
    expect(moved(one, 'tron:x/trc10:1000001')).toEqual([7n]);
    expect(moved(one, 'tron:x/slip44:195')).toEqual([]);
  });

  test.each<[string, number, string, object]>([
    ['FreezeBalanceV2Contract', 54, int(2, 5) + int(3, 1), { frozen_balance: 5n, resource: 'ENERGY' }],
    ['UnfreezeBalanceV2Contract', 55, int(2, 5), { unfreeze_balance: 5n, resource: 'BANDWIDTH' }],
    [
      'DelegateResourceContract',
      57,
      int(2, 1) + int(3, 5) + blob(4, OTHER) + int(5, 1) + int(6, 8),
      { resource: 'ENERGY', balance: 5n, receiver_address: base58(OTHER), lock: true, lock_period: 8n },
    ],
    [
      'UnDelegateResourceContract',
      58,
      int(3, 5) + blob(4, OTHER),
      { resource: 'BANDWIDTH', balance: 5n, receiver_address: base58(OTHER) },
    ],
    [
      'AccountPermissionUpdateContract',
      46,
      blob(2, text(3, 'owner') + int(4, 2) + blob(7, blob(1, OTHER) + int(2, 1))) +
        blob(4, int(1, 2) + int(2, 2) + text(3, 'act') + int(4, 1) + int(5, 0) + blob(6, '7fff')),
      {
        owner: {
          type: 'Owner',
          id: 0n,
          permission_name: 'owner',
          threshold: 2n,
          parent_id: 0n,
          operations: '',
          keys: [{ address: base58(OTHER), weight: 1n }],
        },
        actives: [
          {
            type: 'Active',
            id: 2n,
            permission_name: 'act',
            threshold: 1n,
            parent_id: 0n,
            operations: '7fff',
            keys: [],
          },
        ],
      },
    ],
  ])('%s', (name, type, value, fields) => {
    const one = parsed(type, name, blob(1, OWNER) + value);
    // What is frozen or lent stays the account's own; its permissions are what holds everything.
    const given = { name, certainty: 'known', reach: [{ chain: 'tron', chainReference: undefined }] };
    expect(assetMovements(one)).toEqual({
      transfers: [],
      uncounted: name === 'AccountPermissionUpdateContract' ? [given] : [],
    });
    expect(contractOf(one)).toEqual({ ...common, type: name, ...fields });
  });

  test('a transfer of TRC-10 has a type and an owner and no other field', () => {
    const value = text(1, '1000001') + blob(2, OWNER) + blob(3, OTHER) + int(4, 7);
    const facts = transactionNamespaces(parsed(2, 'TransferAssetContract', value));
    expect(facts.tron?.tx?.contract).toEqual([{ ...common, type: 'TransferAssetContract' }]);
    expect(judge("tron.tx.contract[0].type == 'TransferAssetContract'", facts)).toBe(true);
    expect(judge(`tron.tx.contract.all(c, c.owner_address == '${base58(OWNER)}')`, facts)).toBe(true);
    const fields = [
      'to_address',
      'amount',
      'contract_address',
      'call_value',
      'data',
      'call_token_value',
      'token_id',
      'resource',
      'balance',
      'receiver_address',
      'lock',
      'lock_period',
      'frozen_balance',
      'unfreeze_balance',
    ];
    const literals: Readonly<Record<string, string>> = { lock: 'true' };
    for (const field of fields) {
      const literal = literals[field] ?? (/address|data|resource/.test(field) ? "''" : '0');
      // Nothing short-circuits: testing the type first does not help.
      const condition = `tron.tx.contract.any(c, c.type == 'TransferContract' && c.${field} == ${literal})`;
      expect(judge(condition, facts), field).toBe('R_MISSING_FIELD');
    }
    for (const condition of ['owner.id == 0', 'witness.id == 0', 'actives.count() == 0']) {
      expect(judge(`tron.tx.contract[0].${condition}`, facts), condition).toBe('R_MISSING_FIELD');
    }
  });

  test('contracts that are not read have no facts', () => {
    const vote = blob(1, OWNER) + blob(2, blob(1, OTHER) + int(2, 1));
    expect(() => parsed(4, 'VoteWitnessContract', vote)).toThrow(/VoteWitnessContract are not signed/);
    const create = blob(1, OWNER) + blob(2, blob(1, OWNER) + int(5, 7)) + int(3, 7) + int(4, 1000001);
    expect(() => parsed(30, 'CreateSmartContract', create)).toThrow(/CreateSmartContract are not signed/);
  });
});
