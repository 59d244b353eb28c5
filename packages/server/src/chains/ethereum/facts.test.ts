import { secp256k1 } from '@noble/curves/secp256k1.js';
import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, parseAbi, serializeTransaction, type TransactionSerializable } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { compileExpression, evaluate, type Namespaces } from '../../policy/index.ts';
import { checkContractInterface } from '../contract-interface.ts';
import { payloadNamespaces } from '../payload-facts.ts';
import type { SignerAccount } from '../signable.ts';
import { interfacesNeeded, readTransaction, transactionNamespaces } from '../transactions.ts';
import { newHashBudget } from './eip712-types.ts';

const KEY = `0x${'46'.repeat(32)}` as const;
const WALLET = privateKeyToAccount(KEY);
const account: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(Buffer.from(KEY.slice(2), 'hex')),
  address: WALLET.address,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const signer = { account, addresses: [account] };
const TO = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const ABI = parseAbi(['function transfer(address dst, uint256 wad) returns (bool)', 'function move(int256 delta)']);
const uploaded = checkContractInterface('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', TO, JSON.stringify(ABI));
const transfer = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [TO, 1_000n] });

/** Without a type it is one of EIP-1559. */
const serialise = (tx: TransactionSerializable): string =>
  serializeTransaction({ type: 'eip1559', ...tx } as TransactionSerializable);

const ethereum = (tx: TransactionSerializable, interfaces = [uploaded]) =>
  transactionNamespaces(readTransaction('TRANSACTION_TYPE_ETHEREUM', serialise(tx), signer), interfaces);

function judge(text: string, facts: Namespaces): boolean | string {
  const compiled = compileExpression('condition', text);
  if (!compiled.ok) return compiled.error.code;
  const result = evaluate(compiled.expression, facts);
  return result.ok ? result.value : result.error.code;
}

const common = { chainId: 8453, nonce: 3, to: TO, value: 7n, data: transfer, gas: 21_000n } as const;

describe('eth.tx of transactions that viem serialised', () => {
  const facts = {
    from: WALLET.address.toLowerCase(),
    to: TO.toLowerCase(),
    data: transfer,
    value: 7n,
    gas: 21_000n,
    chain_id: 8453n,
    nonce: 3n,
    max_fee_per_blob_gas: 0n,
    function_name: 'transfer',
    function_signature: '0xa9059cbb',
    contract_call_args: new Map<string, unknown>([
      ['dst', { kind: 'hex', text: TO.toLowerCase() }],
      ['wad', { kind: 'uint', value: 1_000n }],
    ]),
  };
  const priced = { gas_price: 9n, max_fee_per_gas: 9n, max_priority_fee_per_gas: 9n };
  const capped = { gas_price: 20n, max_fee_per_gas: 20n, max_priority_fee_per_gas: 2n };
  const fees = { maxFeePerGas: 20n, maxPriorityFeePerGas: 2n };

  test.each<[string, TransactionSerializable, object]>([
    ['LEGACY', { ...common, type: 'legacy', gasPrice: 9n }, priced],
    ['TYPE_1', { ...common, type: 'eip2930', gasPrice: 9n }, priced],
    ['TYPE_2', { ...common, type: 'eip1559', ...fees }, capped],
    [
      'TYPE_3',
      { ...common, type: 'eip4844', ...fees, maxFeePerBlobGas: 5n, blobVersionedHashes: [`0x01${'00'.repeat(31)}`] },
      { ...capped, max_fee_per_blob_gas: 5n },
    ],
  ])('%s', (type, tx, differences) => {
    expect(ethereum(tx)).toEqual({ eth: { tx: { ...facts, ...differences, type } } });
  });

  test('TYPE_4', async () => {
    const authorization = { address: TO, chainId: 8453, nonce: 4 } as const;
    const signature = await sign({ hash: `0x${'12'.repeat(32)}`, privateKey: KEY });
    const authorizationList = [{ ...authorization, r: signature.r, s: signature.s, yParity: signature.yParity ?? 0 }];
    const tx = { ...common, type: 'eip7702', ...fees, authorizationList } as const;
    expect(ethereum(tx)).toEqual({ eth: { tx: { ...facts, ...capped, type: 'TYPE_4' } } });
  });

  test('a legacy transaction without a chain, and a contract creation', () => {
    const { chainId: _, to: __, ...rest } = common;
    const tx = ethereum({ ...rest, type: 'legacy', gasPrice: 9n }).eth?.tx;
    expect(tx).toMatchObject({ chain_id: 0n, to: '', function_name: '', function_signature: '' });
    expect(tx).not.toHaveProperty('contract_call_args');
  });

  test('the sender is the key, by whatever address it is named', () => {
    const cosmos = { ...account, address: 'cosmos1xyz', addressFormat: 'ADDRESS_FORMAT_COSMOS' };
    const parsed = readTransaction('TRANSACTION_TYPE_ETHEREUM', serialise(common), {
      account: cosmos,
      addresses: [cosmos],
    });
    expect(transactionNamespaces(parsed).eth?.tx?.from).toBe(WALLET.address.toLowerCase());
  });

  test('another key than secp256k1 has no transaction', () => {
    const other = { ...account, curve: 'CURVE_ED25519', publicKey: new Uint8Array(32).fill(1) } as const;
    const run = () =>
      readTransaction('TRANSACTION_TYPE_ETHEREUM', serialise(common), {
        account: other,
        addresses: [other],
      });
    expect(run).toThrow('only one on CURVE_SECP256K1');
  });

  test('only the interface of the contract that is called is looked up, and only for a call', () => {
    const needed = (tx: TransactionSerializable) =>
      interfacesNeeded(readTransaction('TRANSACTION_TYPE_ETHEREUM', serialise(tx), signer));
    expect(needed(common)).toEqual([{ type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', address: TO.toLowerCase() }]);
    expect(needed({ ...common, data: '0x' })).toEqual([]);
    const { to: _, ...creation } = common;
    expect(needed(creation)).toEqual([]);
  });

  test('policies read it', () => {
    const facts = ethereum(common);
    const delta = encodeFunctionData({ abi: ABI, functionName: 'move', args: [-(2n ** 127n) - 1n] });
    expect(judge(`eth.tx.to == '${TO}' && eth.tx.contract_call_args['dst'] == '${TO}'`, facts)).toBe(true);
    expect(judge("eth.tx.contract_call_args['wad'] <= 1000", facts)).toBe(true);
    expect(judge("eth.tx.contract_call_args['amount'] <= 1000", facts)).toBe('R_MISSING_KEY');
    expect(judge("eth.tx.contract_call_args['wad'] <= 1000", ethereum(common, []))).toBe('R_MISSING_FIELD');
    expect(judge("eth.tx.contract_call_args['delta'] < 0", ethereum({ ...common, data: delta }))).toBe('R_INT_RANGE');
    expect(judge('eth.tx.value > 1', ethereum({ ...common, value: 2n ** 200n }))).toBe('R_INT_RANGE');
  });
});

describe('raw payloads', () => {
  const document = {
    types: {
      Details: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint160' },
        { name: 'drift', type: 'int64' },
      ],
      Permit: [
        { name: 'details', type: 'Details[]' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'salt', type: 'bytes32' },
        { name: 'note', type: 'string' },
        { name: 'final', type: 'bool' },
        { name: 'grid', type: 'uint8[2][]' },
      ],
    },
    primaryType: 'Permit',
    domain: { name: 'Permit2', chainId: '0x1', verifyingContract: TO },
    message: {
      details: [{ token: TO, amount: '1000000000', drift: '-5', ignored: 1 }],
      spender: TO,
      value: 0,
      salt: `0x${'AB'.repeat(32)}`,
      note: '0',
      final: true,
      grid: [['1', 2]],
    },
  };
  const uint = (value: bigint) => ({ kind: 'uint', value });
  const token = { kind: 'hex', text: TO.toLowerCase() };

  test('EIP-712: what is hashed, by its declared type', () => {
    expect(payloadNamespaces('PAYLOAD_ENCODING_EIP712', JSON.stringify(document))).toEqual({
      eth: {
        eip_712: {
          primary_type: 'Permit',
          domain: { name: 'Permit2', chain_id: 1n, verifying_contract: TO.toLowerCase() },
          message: new Map<string, unknown>([
            [
              'details',
              [
                new Map<string, unknown>([
                  ['token', token],
                  ['amount', uint(1_000_000_000n)],
                  ['drift', { kind: 'int', value: -5n }],
                ]),
              ],
            ],
            ['spender', token],
            ['value', uint(0n)],
            ['salt', { kind: 'hex', text: `0x${'ab'.repeat(32)}` }],
            ['note', '0'],
            ['final', true],
            ['grid', [[uint(1n), uint(2n)]]],
          ]),
        },
      },
    });
  });

  test('policies read it', () => {
    const facts = payloadNamespaces('PAYLOAD_ENCODING_EIP712', JSON.stringify(document));
    expect(judge(`eth.eip_712.message['details'].all(d, d['token'] == '${TO}' && d['drift'] < 0)`, facts)).toBe(true);
    expect(judge("eth.eip_712.message['value'] == '0' && eth.eip_712.domain.chain_id == 1", facts)).toBe(true);
    expect(judge("eth.eip_712.message['grid'][0][1] == 2", facts)).toBe(true);
    expect(judge("eth.eip_712.message['details'][0]['ignored'] == 1", facts)).toBe('R_MISSING_KEY');
    expect(judge("eth.eip_712.domain.version == '1'", facts)).toBe('R_MISSING_FIELD');
  });

  test('what all payloads of a request may cost together is bounded', () => {
    const types = { A: [{ name: 'a', type: 'string[]' }] };
    const large = JSON.stringify({ types, primaryType: 'A', message: { a: Array(5_000).fill('') } });
    const budget = newHashBudget();
    expect(() => payloadNamespaces('PAYLOAD_ENCODING_EIP712', large, budget)).not.toThrow();
    expect(() => payloadNamespaces('PAYLOAD_ENCODING_EIP712', large, budget)).toThrow('too many values');
  });

  test('EIP-7702', () => {
    const json = JSON.stringify({ address: TO, chainId: '0x2105', nonce: 7 });
    const facts = payloadNamespaces('PAYLOAD_ENCODING_EIP7702_AUTHORIZATION', json);
    const authorization = { address: TO.toLowerCase(), chain_id: 8453n, nonce: 7n };
    expect(facts).toEqual({ eth: { eip_7702_authorization: authorization } });
    expect(judge("eth.eip_7702_authorization.chain_id == '8453'", facts)).toBe(true);
  });

  test('other encodings have no namespace, and what cannot be signed has no facts', () => {
    expect(payloadNamespaces('PAYLOAD_ENCODING_HEXADECIMAL', 'ab')).toEqual({});
    expect(payloadNamespaces('PAYLOAD_ENCODING_TEXT_UTF8', JSON.stringify(document))).toEqual({});
    expect(() => payloadNamespaces('PAYLOAD_ENCODING_EIP712', '{}')).toThrow('invalid payload encoding');
    expect(() => payloadNamespaces('PAYLOAD_ENCODING_EIP7702_AUTHORIZATION', '{}')).toThrow('invalid payload encoding');
  });
});

test('tempo.tx of a transaction that ox serialised', () => {
  const envelope = TxEnvelopeTempo.from({
    chainId: 42431,
    calls: [{ to: TO, value: 5n, data: '0xA9059CBB00' }, { to: TO, data: '0xa9059c' }, { data: '0x60806040' }],
    gas: 100_000n,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
    nonce: 7n,
    validBefore: 20,
  });
  const serialised = TxEnvelopeTempo.serialize(envelope);
  expect(transactionNamespaces(readTransaction('TRANSACTION_TYPE_TEMPO', serialised, signer))).toEqual({
    tempo: {
      tx: {
        chain_id: 42431n,
        from: WALLET.address.toLowerCase(),
        nonce: 7n,
        gas_limit: 100_000n,
        max_fee_per_gas: 20n,
        max_priority_fee_per_gas: 1n,
        fee_token: '',
        valid_before: 20n,
        valid_after: 0n,
        calls: [
          { to: TO.toLowerCase(), input: '0xa9059cbb00', function_signature: '0xa9059cbb' },
          { to: TO.toLowerCase(), input: '0xa9059c', function_signature: '' },
          { to: '', input: '0x60806040', function_signature: '0x60806040' },
        ],
      },
    },
  });
});
