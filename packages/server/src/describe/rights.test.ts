import { KeyAuthorization, TxEnvelopeTempo } from 'ox/tempo';
import { describe, expect, test } from 'vitest';
import {
  contextOf,
  describeRequest,
  SPENDER,
  STRANGER,
  SUPPLIER,
  TREASURY,
  USDC,
} from '../../test/fixtures/sentences.ts';
import type { TronContractFields } from '../chains/tron/contract.ts';
import type { TronTransaction } from '../chains/tron/tron.ts';
import { tronSentence } from './chains/tron.ts';
import { toDescription } from './description.ts';
import type { SignerRecord } from './names.ts';

// Who gets a right over an account is told by name (protocol/activities 8.2).

const linesOf = (told: ReturnType<typeof toDescription>) =>
  told.fields.map(({ label, value, note }) => {
    const text = value
      .map((part) => part.text)
      .join('')
      .replaceAll('\u00a0', ' ');
    return `${label}: ${text}${note === undefined ? '' : ` (${note})`}`;
  });

describe('Tempo', () => {
  const sign = (more: object) =>
    describeRequest('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: TREASURY,
      type: 'TRANSACTION_TYPE_TEMPO',
      unsignedTransaction: TxEnvelopeTempo.serialize(
        TxEnvelopeTempo.from({
          ...{ chainId: 4217, gas: 1n, maxFeePerGas: 1n, nonce: 0n, calls: [{ to: SUPPLIER as `0x${string}` }] },
          ...more,
        }),
      ),
    });
  const signature = { r: 1n, s: 1n, yParity: 0 } as const;

  test('a key that may act for the account, with its limits', () => {
    const keyAuthorization = KeyAuthorization.from(
      {
        ...{ chainId: 4217n, type: 'p256', address: SPENDER, expiry: 1_800_000_000 },
        limits: [{ token: USDC, limit: 77n }],
      } as never,
      { signature: { type: 'secp256k1', signature } as never },
    );
    const told = sign({ keyAuthorization });
    expect(told.risk).toBe('DANGER');
    expect(told.text).toMatch(/ It also lets the key 0x111111…\w{6} act for the account\.$/);
    const lines = linesOf(told);
    expect(lines[0]?.toLowerCase()).toMatch(`key: ${SPENDER} (p-256, on `);
    expect(lines).toContain('Key, until: 15 January 2027');
    expect(lines.find((line) => line.startsWith('Key, may spend'))).toMatch(/: 77 of the smallest unit of /);
    expect(lines.some((line) => line.startsWith('Key authorization: 0x'))).toBe(true);
  });

  test('more calls than are told', () => {
    const call = { to: SUPPLIER, data: '0x' };
    expect(sign({ calls: new Array(150).fill(call) }).risk).not.toBe('UNREADABLE');
    const told = sign({ calls: new Array(1_001).fill(call) });
    expect(told.marks).toContainEqual({ risk: 'UNREADABLE', text: 'more than 1,000 calls' });
  });

  test('code that an account borrows', () => {
    const told = sign({
      authorizationList: [{ address: STRANGER, chainId: 4217, nonce: 3n, signature: { type: 'secp256k1', signature } }],
    });
    expect(told.risk).toBe('DANGER');
    expect(told.text).toMatch(/ It also lets the code of 0x9\S+ act for the account\.$/);
    expect(linesOf(told)[0]).toMatch(/^Code 1: 0x9\S+ \(borrowed on .*, at nonce 3 of an account\)$/);
  });
});

describe('Tron', () => {
  const OWN = 'TZ4UXDV5ZhNW7fb2AMSbgfAEZ7hWsnYS2g';
  const OTHER = 'TPswDDCAWhJAZGdHPidFg5nEf8TkNToDX1';
  const sign = (contract: TronContractFields) => {
    const signer: SignerRecord = {
      ...{ name: 'Tills', address: OWN, publicKey: '', addressFormat: 'ADDRESS_FORMAT_TRON' },
      curve: 'CURVE_SECP256K1',
    };
    const transaction = {
      ...{ refBlockBytes: '', refBlockHash: '', data: '', feeLimit: 0n, txid: '00' },
      contract: [{ ...contract, ownerAddress: OWN, permissionId: 0 }],
    } as unknown as TronTransaction;
    const sentence = tronSentence(contextOf({ known: { signer: { [OWN]: signer } } }), transaction, '', OWN);
    const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2';
    return toDescription({ type, operation: undefined, parameters: {} }, sentence, true);
  };
  const permission = { id: 0, parentId: 0, operations: '' };

  test('keys, weights and thresholds of a change of permissions', () => {
    const told = sign({
      type: 'AccountPermissionUpdateContract',
      owner: {
        ...{ ...permission, type: 'Owner', permissionName: 'owner', threshold: 2n },
        keys: [
          { address: OWN, weight: 1n },
          { address: OTHER, weight: 2n },
        ],
      },
      actives: [
        {
          ...{ ...permission, type: 'Active', permissionName: 'daily', threshold: 1n, operations: '7fff' },
          keys: [{ address: OTHER, weight: 1n }],
        },
      ],
    });
    expect(told.risk).toBe('DANGER');
    expect(told.text).toBe(
      'Change who controls Tills on Tron: Tills and TPswDD…NToDX1 can then act for it, each permission by its own keys.',
    );
    expect(linesOf(told)).toEqual(
      expect.arrayContaining([
        'Owner permission: owner (needs a weight of 2)',
        `Owner, key: ${OWN} (weight 1 of 2, Tills)`,
        `Owner, key: ${OTHER} (weight 2 of 2)`,
        'Active permission: daily (needs a weight of 1)',
        'Active, operations: 7fff',
        `Active, key: ${OTHER} (weight 1 of 1)`,
      ]),
    );
  });

  test('the lock of resources that are lent', () => {
    const lend = (lock: boolean, lockPeriod: bigint) =>
      sign({
        ...{ type: 'DelegateResourceContract', resource: 'ENERGY', balance: 5_000_000n },
        ...{ receiverAddress: OTHER, lock, lockPeriod },
      } as const);
    const locked = lend(true, 86_400n);
    expect(locked.text).toMatch(/ on Tron, locked for 86,400 blocks\.$/);
    expect(linesOf(locked)).toEqual(
      expect.arrayContaining([`To: ${OTHER}`, 'Amount: 5 TRX', 'Lock: 86,400 blocks (a block takes three seconds)']),
    );
    expect(lend(true, 0n).text).toContain('locked for three days');
    expect(lend(false, 0n).text).not.toContain('locked');
  });
});
