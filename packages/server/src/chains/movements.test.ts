import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, erc20Abi, type Hex, serializeTransaction, type TransactionSerializable } from 'viem';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { mayBe, parseCaip19 } from './caip19.ts';
import { ethereumAddress } from './ethereum/address.ts';
import type { SignerAccount } from './signable.ts';
import { assetMovements, type ParsedTransaction, readTransaction } from './transactions.ts';

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

describe('what an Ethereum transaction moves', () => {
  const SELF = `0x${accountHex}` as const;
  const TOKEN = `0x${'ab'.repeat(20)}` as const;
  const TO = `0x${'cd'.repeat(20)}` as const;
  const ETH = 'eip155:10/slip44:60';
  const ERC20 = `eip155:10/erc20:${TOKEN}`;
  const parsed = (tx: Partial<TransactionSerializable>) =>
    readTransaction(
      'TRANSACTION_TYPE_ETHEREUM',
      serializeTransaction({ type: 'eip1559', chainId: 10, to: TOKEN, ...tx } as TransactionSerializable),
      signedBy('ADDRESS_FORMAT_ETHEREUM'),
    );
  const transfer = (to: Hex, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  const from = (sender: Hex, to: Hex, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [sender, to, amount] });

  test('the address of a key', () => {
    expect(ethereumAddress(publicKey)).toBe(SELF);
  });

  test('its value, on its chain', () => {
    const one = parsed({ to: TO, value: 5n });
    expect(assetMovements(one).transfers).toEqual([
      { chain: 'eip155', chainReference: '10', kind: 'slip44', assetReference: '60', amount: 5n },
    ]);
    expect(moved(one, ETH)).toEqual([5n]);
    expect(moved(one, 'eip155:10/slip44:614')).toEqual([5n]);
    expect(moved(one, 'eip155:1/slip44:60')).toEqual([]);
    expect(moved(parsed({ to: SELF, value: 5n }), ETH)).toEqual([]);
    const creation = { type: 'eip1559', chainId: 10, value: 5n, data: transfer(TO, 1n) } as const;
    const created = readTransaction(
      'TRANSACTION_TYPE_ETHEREUM',
      serializeTransaction(creation),
      signedBy('ADDRESS_FORMAT_ETHEREUM'),
    );
    expect(assetMovements(created).transfers).toMatchObject([{ kind: 'slip44', amount: 5n }]);
  });

  test('without replay protection, on any chain', () => {
    const tx = { type: 'legacy', gasPrice: 1n, to: TO, value: 5n } as const;
    const one = readTransaction(
      'TRANSACTION_TYPE_ETHEREUM',
      serializeTransaction(tx),
      signedBy('ADDRESS_FORMAT_ETHEREUM'),
    );
    expect(moved(one, 'eip155:1/slip44:60')).toEqual([5n]);
    expect(moved(one, 'eip155:10/slip44:60')).toEqual([5n]);
  });

  test.each<[string, Hex, bigint[]]>([
    ['transfer', transfer(TO, 7n), [7n]],
    ['transfer to itself', transfer(SELF, 7n), []],
    ['transferFrom itself', from(SELF, TO, 7n), [7n]],
    ['transferFrom another', from(TO, TOKEN, 7n), []],
    ['transferFrom itself to itself', from(SELF, SELF, 7n), []],
    ['approve', encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [TO, 7n] }), [7n]],
    ['approve itself', encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [SELF, 7n] }), []],
    ['transfer with more behind it', `${transfer(TO, 7n)}ffff`, [7n]],
    ['transfer with dirty padding', transfer(TO, 7n).replace('00cd', 'ffcd') as Hex, [7n]],
    ['transfer that ends in the amount', transfer(TO, 0x700n).slice(0, -2) as Hex, [0x700n]],
    ['transferFrom with dirty padding', from(SELF, TO, 7n).replace(`00${accountHex}`, `ff${accountHex}`) as Hex, [7n]],
    ['a selector alone', '0xa9059cbb', []],
    ['nothing', '0x', []],
  ])('%s', (_, data, amounts) => {
    const one = parsed({ data });
    expect(moved(one, ERC20)).toEqual(amounts);
    expect(moved(one, ERC20.toUpperCase().replace('EIP155', 'eip155').replace('ERC20:0X', 'erc20:0x'))).toEqual(
      amounts,
    );
    expect(moved(one, `eip155:10/erc20:${TO}`)).toEqual([]);
  });

  test('every call of a Tempo transaction', () => {
    const envelope = TxEnvelopeTempo.from({
      chainId: 10,
      calls: [
        { to: TOKEN, data: transfer(TO, 7n) },
        { to: TO, value: 3n },
        { to: TOKEN, data: transfer(TO, 8n) },
      ],
      gas: 1n,
      maxFeePerGas: 1n,
      nonce: 0n,
    });
    const one = readTransaction(
      'TRANSACTION_TYPE_TEMPO',
      TxEnvelopeTempo.serialize(envelope),
      signedBy('ADDRESS_FORMAT_ETHEREUM'),
    );
    expect(moved(one, ERC20)).toEqual([7n, 8n]);
    expect(moved(one, ETH)).toEqual([3n]);
  });
});

describe('a text of CAIP-19', () => {
  test('is read into its parts', () => {
    expect(parseCaip19('eip155:8453/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')).toEqual({
      chain: 'eip155',
      chainReference: '8453',
      kind: 'erc20',
      assetReference: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    });
  });

  test.each([
    '',
    'eip155:1',
    'eip155:1/slip44',
    'eip155:01/slip44:60',
    'eip155:x/slip44:60',
    'eip155:1/slip44:x',
    'eip155:1/erc20:0x12',
    'eip155:1/erc721:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    'eip155:1/erc20:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48/5',
    'eip155:1/token:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:60',
    'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:abc',
    'tron:x/slip44:60',
    'tron:x/trc20:TPswDDCAWhJAZGdHPidFg5nEf8TkNToDX2',
    'bip122:000000000019d6689c085ae165831e93/slip44:2',
    'cosmos:cosmoshub-3/slip44:118',
  ])('%j is refused, since a limit on it would never apply', (text) => {
    expect(() => parseCaip19(text)).toThrow(ApiError);
  });
});
