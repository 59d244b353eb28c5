import { secp256k1 } from '@noble/curves/secp256k1.js';
import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, type Hex, maxUint256, parseAbi, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import type { SignerAccount } from '../signable.ts';
import { assetMovements, needsOwnContracts, type ParsedTransaction, readTransaction } from '../transactions.ts';
import { evmMovements, maySpeakOfWrappers, NO_CONTRACTS, type OwnContracts } from './call-movements.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const SELF = account.address.toLowerCase() as Hex;
const TOKEN = `0x${'ab'.repeat(20)}` as const;
const TO = `0x${'cd'.repeat(20)}` as const;
const WRAPPER = `0x${'ee'.repeat(20)}` as const;
const BATCH = `0x${'ba'.repeat(20)}` as const;
const ZERO = `0x${'00'.repeat(32)}` as const;
const OWN: OwnContracts = {
  wrappers: [{ chainReference: '1', wrapperAddress: WRAPPER, assetAddress: TOKEN }],
  batchContracts: [{ chainReference: '1', address: BATCH }],
};
const ON_CHAIN = { chain: 'eip155', chainReference: '1' } as const;

const read = (data: Hex, to: string = TOKEN, own = NO_CONTRACTS, chainId = 1n) =>
  evmMovements(chainId, SELF, { to, value: 0n, data }, own);
const call = (signature: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi([`function ${signature}` as string]), args } as never);
const amounts = (data: Hex, to?: string, own?: OwnContracts, chainId?: bigint) =>
  read(data, to, own, chainId).transfers.map(({ assetReference, amount }) => [assetReference, amount]);

describe('calls of a token', () => {
  const signature = [27, ZERO, ZERO] as const;
  test.each<[string, readonly unknown[], bigint[]]>([
    ['transfer(address,uint256)', [TO, 7n], [7n]],
    ['approve(address,uint256)', [TO, 7n], [7n]],
    ['approve(address,uint256)', [TO, maxUint256], [maxUint256]],
    ['approve(address,uint256)', [TO, 0n], []],
    ['increaseAllowance(address,uint256)', [TO, 7n], [7n]],
    ['increaseApproval(address,uint256)', [TO, 7n], [7n]],
    ['decreaseAllowance(address,uint256)', [TO, 7n], []],
    ['permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', [SELF, TO, 7n, 1n, ...signature], [7n]],
    ['permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', [TO, SELF, 7n, 1n, ...signature], []],
    [
      'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
      [SELF, TO, 7n, 1n, true, ...signature],
      [maxUint256],
    ],
    ['permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)', [SELF, TO, 7n, 1n, false, ...signature], []],
    [
      'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      [SELF, TO, 7n, 1n, 2n, ZERO, ...signature],
      [7n],
    ],
    [
      'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
      [SELF, TO, 7n, 1n, 2n, ZERO, '0x'],
      [7n],
    ],
    [
      'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      [SELF, TO, 7n, 1n, 2n, ZERO, ...signature],
      [7n],
    ],
    [
      'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
      [SELF, TO, 7n, 1n, 2n, ZERO, '0x'],
      [7n],
    ],
    ['permit(address,address,uint256,uint256,bytes)', [SELF, TO, 7n, 1n, '0x'], [7n]],
    ['permit(address,address,uint256,uint256,bytes)', [TO, SELF, 7n, 1n, '0x'], []],
    ['push(address,uint256)', [TO, 7n], [7n]],
    ['push(address,uint256)', [SELF, 7n], []],
    ['move(address,address,uint256)', [SELF, TO, 7n], [7n]],
    ['move(address,address,uint256)', [TO, SELF, 7n], []],
    ['transfer(address,uint256,bytes)', [TO, 7n, '0x'], [7n]],
    ['transfer(address,uint256,bytes,string)', [TO, 7n, '0x', ''], [7n]],
    ['transferAndCall(address,uint256)', [TO, 7n], [7n]],
    ['transferAndCall(address,uint256,bytes)', [TO, 7n, '0x'], [7n]],
    ['transferFromAndCall(address,address,uint256,bytes)', [SELF, TO, 7n, '0x'], [7n]],
    ['approveAndCall(address,uint256)', [TO, 7n], [7n]],
    ['increaseApprovalAndCall(address,uint256,bytes)', [TO, 7n, '0x'], [7n]],
    ['operatorSend(address,address,uint256,bytes,bytes)', [SELF, TO, 7n, '0x', '0x'], [7n]],
    ['operatorSend(address,address,uint256,bytes,bytes)', [TO, TOKEN, 7n, '0x', '0x'], []],
    ['burn(uint256,bytes)', [7n, '0x'], [7n]],
    ['operatorBurn(address,uint256,bytes,bytes)', [SELF, 7n, '0x', '0x'], [7n]],
    ['operatorBurn(address,uint256,bytes,bytes)', [TO, 7n, '0x', '0x'], []],
    ['sendFrom(address,uint16,bytes,uint256,address,address,bytes)', [SELF, 1, TO, 7n, SELF, SELF, '0x'], [7n]],
    ['sendFrom(address,uint16,bytes32,uint256,(address,address,bytes))', [SELF, 1, ZERO, 7n, [SELF, SELF, '0x']], [7n]],
    [
      'sendAndCall(address,uint16,bytes32,uint256,bytes,uint64,(address,address,bytes))',
      [SELF, 1, ZERO, 7n, '0x', 1n, [SELF, SELF, '0x']],
      [7n],
    ],
    ['transferFromAndCall(address,address,uint256)', [SELF, TO, 7n], [7n]],
    ['approveAndCall(address,uint256,bytes)', [TO, 7n, '0x'], [7n]],
    ['send(address,uint256,bytes)', [TO, 7n, '0x'], [7n]],
    ['transferWithMemo(address,uint256,bytes32)', [TO, 7n, ZERO], [7n]],
    ['transferWithMemo(address,uint256,bytes32)', [SELF, 7n, ZERO], []],
    ['transferFromWithMemo(address,address,uint256,bytes32)', [SELF, TO, 7n, ZERO], [7n]],
    ['transferFromWithMemo(address,address,uint256,bytes32)', [TO, SELF, 7n, ZERO], []],
    ['burn(uint256)', [7n], [7n]],
    ['burnWithMemo(uint256,bytes32)', [7n, ZERO], [7n]],
    ['burnFrom(address,uint256)', [SELF, 7n], [7n]],
    ['burnFrom(address,uint256)', [TO, 7n], []],
    ['burn(address,uint256)', [SELF, 7n], [7n]],
    ['burn(address,uint256)', [TO, 7n], []],
    ['distributeReward(uint256)', [7n], [7n]],
    ['withdraw(uint256)', [7n], [7n]],
    ['withdrawTo(address,uint256)', [TO, 7n], [7n]],
    ['withdrawFrom(address,address,uint256)', [SELF, TO, 7n], [7n]],
    ['withdrawFrom(address,address,uint256)', [TO, SELF, 7n], []],
    ['redeem(uint256,address,address)', [7n, TO, SELF], [7n]],
    ['redeem(uint256,address,address)', [7n, TO, TO], []],
    ['redeem(uint256)', [7n], [7n]],
    ['unwrap(uint256)', [7n], [7n]],
  ])('%s (case %#)', (signature, args, expected) => {
    expect(amounts(call(signature, args))).toEqual(expected.map((amount) => [TOKEN, amount]));
  });

  const REACH = [{ ...ON_CHAIN, kind: 'erc20', assetReference: TOKEN }];
  test.each<[string, readonly unknown[]]>([
    ['authorizeOperator(address)', [TO]],
    ['withdraw(uint256,address,address)', [7n, TO, SELF]],
    ['transferShares(address,uint256)', [TO, 7n]],
    ['transferSharesFrom(address,address,uint256)', [SELF, TO, 7n]],
    ['redeemUnderlying(uint256)', [7n]],
    [
      'send((uint32,bytes32,uint256,uint256,bytes,bytes,bytes),(uint256,uint256),address)',
      [[1, ZERO, 7n, 7n, '0x', '0x', '0x'], [1n, 0n], SELF],
    ],
  ])('%s takes an amount of the token that it does not name', (signature, args) => {
    const { transfers, uncounted } = read(call(signature, args));
    expect(transfers).toEqual([]);
    expect(uncounted).toMatchObject([{ certainty: 'known', reach: REACH }]);
  });

  test.each<[string, readonly unknown[]]>([
    ['authorizeOperator(address)', [SELF]],
    ['withdraw(uint256,address,address)', [7n, SELF, TO]],
    ['transferShares(address,uint256)', [SELF, 7n]],
    ['transferSharesFrom(address,address,uint256)', [TO, SELF, 7n]],
  ])('%s of others, or to oneself, takes nothing', (signature, args) => {
    expect(read(call(signature, args))).toMatchObject({
      transfers: [],
      uncounted: [{ certainty: 'unknown', reach: REACH }],
    });
  });

  test('one that takes nothing says whose it is, one that is not known says nothing', () => {
    expect(read(call('approve(address,uint256)', [TO, 0n])).uncounted).toEqual([
      {
        name: `the call 0x095ea7b3 of ${TOKEN}`,
        certainty: 'unknown',
        reach: [{ ...ON_CHAIN, kind: 'erc20', assetReference: TOKEN }],
      },
    ]);
    expect(read(call('transfer(address,uint256)', [TO, 1n])).uncounted).toEqual([]);
    const unknown = (data: Hex, to?: string) => read(data, to).uncounted;
    expect(unknown('0xdeadbeef')).toEqual([
      { name: `the call 0xdeadbeef of ${TOKEN}`, certainty: 'unknown', reach: [] },
    ]);
    expect(unknown('0x01')).toMatchObject([{ certainty: 'unknown', reach: [] }]);
    expect(unknown('0xdeadbeef', SELF)).toMatchObject([{ certainty: 'unknown', reach: [] }]);
    expect(unknown('0x6001', '')).toMatchObject([{ name: 'the contract creation', certainty: 'unknown' }]);
    expect(unknown('0x')).toEqual([]);
  });
});

describe('Earn wrappers', () => {
  const approve = (spender: Hex) => call('approve(address,uint256)', [spender, 7n]);
  const SIGNATURES: Readonly<Record<string, string>> = {
    deposit: 'deposit(uint256,address)',
    mint: 'mint(uint256,address)',
    withdraw: 'withdraw(uint256,address,address)',
    redeem: 'redeem(uint256,address,address)',
    redeemAll: 'redeemAll(address)',
  };
  const wrapped = (name: string, args: readonly unknown[]): Hex => call(SIGNATURES[name] ?? '', args);

  test('an approval to one does not count, on its own chain', () => {
    expect(amounts(approve(WRAPPER), TOKEN, OWN)).toEqual([]);
    expect(amounts(call('increaseAllowance(address,uint256)', [WRAPPER, 7n]), TOKEN, OWN)).toEqual([]);
    expect(amounts(approve(TO), TOKEN, OWN)).toEqual([[TOKEN, 7n]]);
    expect(amounts(approve(WRAPPER), TOKEN)).toEqual([[TOKEN, 7n]]);
    expect(amounts(approve(WRAPPER), TOKEN, OWN, 10n)).toEqual([[TOKEN, 7n]]);
    expect(amounts(approve(WRAPPER), TOKEN, OWN, 0n)).toEqual([[TOKEN, 7n]]);
    // A transfer to it is one.
    expect(amounts(call('transfer(address,uint256)', [WRAPPER, 7n]), TOKEN, OWN)).toEqual([[TOKEN, 7n]]);
  });

  test('what one takes counts, and what it pays to others', () => {
    expect(amounts(wrapped('deposit', [7n, SELF]), WRAPPER, OWN)).toEqual([[TOKEN, 7n]]);
    expect(amounts(wrapped('deposit', [7n, TO]), WRAPPER, OWN)).toEqual([[TOKEN, 7n]]);
    expect(amounts(wrapped('withdraw', [7n, TO, SELF]), WRAPPER, OWN)).toEqual([[TOKEN, 7n]]);
    expect(amounts(wrapped('withdraw', [7n, SELF, SELF]), WRAPPER, OWN)).toEqual([]);
    expect(amounts(wrapped('withdraw', [7n, TO, TO]), WRAPPER, OWN)).toEqual([]);
    expect(amounts(call('transfer(address,uint256)', [TO, 7n]), WRAPPER, OWN)).toEqual([[WRAPPER, 7n]]);
    // A payment to others uses up shares, whose number it does not name.
    expect(read(wrapped('withdraw', [7n, TO, SELF]), WRAPPER, OWN).uncounted).toMatchObject([
      { certainty: 'known', reach: [{ assetReference: WRAPPER }] },
    ]);
  });

  test.each<[string, readonly unknown[], number]>([
    ['mint', [7n, SELF], 1],
    ['redeem', [7n, TO, SELF], 1],
    ['redeem', [7n, SELF, SELF], 0],
    ['redeem', [7n, TO, TO], 0],
    ['redeemAll', [TO], 1],
    ['redeemAll', [SELF], 0],
  ])('%s has no amount (case %#)', (name, args, count) => {
    const { transfers, uncounted } = read(wrapped(name, args), WRAPPER, OWN);
    expect(transfers).toEqual([]);
    const assets = name === 'mint' ? [TOKEN] : [TOKEN, WRAPPER];
    const reach = assets.map((assetReference) => ({ ...ON_CHAIN, kind: 'erc20', assetReference }));
    const part = { certainty: 'known', reach };
    expect(uncounted).toMatchObject(Array.from({ length: count }, () => part));
  });

  test('are looked for only where a call may speak of one', () => {
    expect(maySpeakOfWrappers({ data: approve(TO) })).toBe(true);
    expect(maySpeakOfWrappers({ data: wrapped('deposit', [7n, SELF]) })).toBe(true);
    expect(maySpeakOfWrappers({ data: call('transfer(address,uint256)', [TO, 7n]) })).toBe(false);
    expect(maySpeakOfWrappers({ data: '0x' })).toBe(false);
  });
});

describe("Tempo's own contracts", () => {
  const at = (prefix: string): Hex => `0x${prefix.padEnd(40, '0')}`;
  test.each<[string, string, string, readonly unknown[]]>([
    ['account keychain', 'aaaaaaaa', 'authorizeAdminKey(address,uint8,bytes32)', [TO, 0, ZERO]],
    ['account keychain', 'aaaaaaaa', 'updateSpendingLimit(address,address,uint256)', [TO, TOKEN, 7n]],
    ['stablecoin exchange', 'dec0', 'place(address,uint128,bool,int16)', [TOKEN, 7n, true, 0]],
    ['fee manager', 'feec', 'burn(address,address,uint256,address)', [TOKEN, TOKEN, 7n, TO]],
    [
      'channel reserve',
      '4d5050',
      'open(address,address,address,uint96,bytes32,address)',
      [TO, TO, TOKEN, 7n, ZERO, TO],
    ],
    ['receive policy guard', 'b10c', 'claim(address,bytes)', [TO, '0x']],
  ])('%s: a call that takes or hands over', (name, prefix, signature, args) => {
    const { transfers, uncounted } = read(call(signature, args), at(prefix));
    expect(transfers).toEqual([]);
    expect(uncounted).toMatchObject([{ certainty: 'known', reach: [ON_CHAIN] }]);
    expect(uncounted[0]?.name).toContain(`Tempo's ${name}`);
  });

  test('calls with an amount count, and harmless ones pass', () => {
    const swap = call('swapExactAmountIn(address,address,uint128,uint128)', [TOKEN, TO, 7n, 1n]);
    expect(amounts(swap, at('dec0'))).toEqual([[TOKEN, 7n]]);
    const most = call('swapExactAmountOut(address,address,uint128,uint128)', [TOKEN, TO, 7n, 9n]);
    expect(amounts(most, at('dec0'))).toEqual([[TOKEN, 9n]]);
    expect(amounts(call('mint(address,address,uint256,address)', [TO, TOKEN, 7n, TO]), at('feec'))).toEqual([
      [TOKEN, 7n],
    ]);
    expect(read(call('revokeKey(address)', [TO]), at('aaaaaaaa'))).toEqual({ transfers: [], uncounted: [] });
    expect(read(call('setUserToken(address)', [TO]), at('feec'))).toEqual({ transfers: [], uncounted: [] });
  });
});

describe('authorizations', () => {
  const signer: SignerAccount = {
    curve: 'CURVE_SECP256K1',
    publicKey: secp256k1.getPublicKey(new Uint8Array(32).fill(0x11), true),
    address: '',
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  };
  async function carrying(by: typeof account, address: Hex, chainId = 1): Promise<ParsedTransaction> {
    const authorization = await by.signAuthorization({ address, chainId, nonce: 3 });
    const tx = { type: 'eip7702', chainId: 1, to: TO, authorizationList: [authorization] } as const;
    return readTransaction('TRANSACTION_TYPE_ETHEREUM', serializeTransaction(tx), {
      account: signer,
      addresses: [signer],
    });
  }
  const parts = async (parsed: Promise<ParsedTransaction>, own = OWN) => assetMovements(await parsed, own).uncounted;

  test('of the account itself give it away, on the chain that they name', async () => {
    const given = { name: 'authorizationList entry 0', certainty: 'known', reach: [ON_CHAIN] };
    expect(await parts(carrying(account, TO))).toEqual([given]);
    expect(await parts(carrying(account, TO, 0))).toEqual([
      { ...given, reach: [{ chain: 'eip155', chainReference: undefined }] },
    ]);
    expect(await parts(carrying(account, BATCH), NO_CONTRACTS)).toEqual([given]);
    expect(await parts(carrying(account, BATCH, 0))).toHaveLength(1);
    expect(needsOwnContracts(await carrying(account, TO))).toBe(true);
  });

  test('of others, to code of ours, or that take one back do not', async () => {
    expect(await parts(carrying(stranger, TO))).toEqual([]);
    expect(await parts(carrying(account, BATCH))).toEqual([]);
    expect(await parts(carrying(account, `0x${'00'.repeat(20)}`))).toEqual([]);
  });

  test('of Tempo, and its new keys', async () => {
    const tempo = (extra: object): ParsedTransaction => {
      const calls = [{ to: TO }];
      const envelope = TxEnvelopeTempo.from({
        chainId: 1,
        calls,
        gas: 1n,
        maxFeePerGas: 1n,
        nonce: 0n,
        ...extra,
      } as never);
      return readTransaction('TRANSACTION_TYPE_TEMPO', TxEnvelopeTempo.serialize(envelope), {
        account: signer,
        addresses: [signer],
      });
    };
    const entry = async (by: typeof account) => {
      const { r, s, yParity } = await by.signAuthorization({ address: TO, chainId: 1, nonce: 3 });
      const signature = { r: BigInt(r), s: BigInt(s), yParity };
      return { address: TO, chainId: 1, nonce: 3n, signature: { type: 'secp256k1', signature } };
    };
    const given = { certainty: 'known', reach: [ON_CHAIN] };
    const list = [await entry(stranger), await entry(account)];
    expect(assetMovements(tempo({ authorizationList: list })).uncounted).toEqual([
      { name: 'authorizationList entry 1', ...given },
    ]);
    const p256 = {
      ...(await entry(stranger)),
      signature: {
        type: 'p256',
        prehash: false,
        publicKey: { prefix: 4, x: 1n, y: 2n },
        signature: { r: 1n, s: 1n, yParity: 0 },
      },
    };
    expect(assetMovements(tempo({ authorizationList: [p256] })).uncounted).toHaveLength(1);
    const signature = { type: 'secp256k1', signature: { r: 1n, s: 1n, yParity: 0 } };
    const keyAuthorization = { address: TO, chainId: 1n, type: 'secp256k1', signature };
    expect(assetMovements(tempo({ keyAuthorization })).uncounted).toEqual([{ name: 'keyAuthorization', ...given }]);
  });
});
