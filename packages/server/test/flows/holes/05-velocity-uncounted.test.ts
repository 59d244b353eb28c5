import { randomUUID } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import { TxEnvelopeTempo } from 'ox/tempo';
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  maxUint256,
  parseAbi,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';
import { signAuthorization } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { custosBatchAbi } from '../../../src/chains/ethereum/contract-artifacts.ts';
import { payment, RECEIVER, type TestInstruction, wireOf } from '../../chain/solana-transfer.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Coin, coin, scriptOf } from '../../harness/bitcoin.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { policyFor } from '../fixtures/access.ts';
import { COMPLETED, ethereum, importKey, newWallet, outcome, PENDING, solana } from '../fixtures/wallets.ts';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SYSTEM = '11111111111111111111111111111111';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const [MINT, ACCOUNT, STRANGER] = [21, 22, 23].map((fill) => base58.encode(new Uint8Array(32).fill(fill))) as [
  string,
  string,
  string,
];
const BTC = 'bip122:000000000019d6689c085ae165831e93/slip44:0';
const SOL = `${SOLANA}/slip44:501`;
const SPL = `${SOLANA}/token:${MINT}`;
const USD = `0x20c0${'00'.repeat(17)}01` as const;
const TIP20 = `eip155:4217/erc20:${USD}`;
const ETH = 'eip155:1/slip44:60';
const USDC = `0x${'a0'.repeat(20)}` as const;
const TO = `0x${'35'.repeat(20)}` as const;
const DONE = [200, COMPLETED];
const EXCEEDED = [403, 'VELOCITY_EXCEEDED'];
const UNCOUNTED = [403, 'VELOCITY_UNCOUNTED'];

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const u32 = (value: number): number[] => [...Buffer.from(new Uint32Array([value]).buffer)];
const u64 = (value: bigint): number[] => [...Buffer.from(new BigUint64Array([value]).buffer)];
const transfer = (amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, amount] });
const approval = (amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [TO, amount] });
const withMemo = (amount: bigint): Hex =>
  encodeFunctionData({
    abi: parseAbi(['function transferWithMemo(address to, uint256 amount, bytes32 memo)']),
    args: [TO, amount, `0x${'00'.repeat(32)}`],
  });

describe.each(databasesOf(import.meta.url))('velocity controls meet what they cannot count, on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  /** A wallet and a user who may sign anything with it, up to 10 of the smallest unit of an asset. */
  async function limited(caip19: string, extra: object = {}) {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const user = await createUser(root, 'spender');
    await policyFor(root, user);
    const { addresses } = await newWallet(root, [ethereum(), solana()]);
    const name = `control ${randomUUID()}`;
    const { velocityControlId } = await root.run('create_velocity_control', {
      name,
      identifier: randomUUID(),
      dataSource: { chainAssetTransfer: { definition: [{ caip19, decimals: '0' }] } },
      aggregation: upTo('10'),
      ...extra,
    });
    return { root, user, name, velocityControlId, evm: addresses[0] as Hex, sol: addresses[1] as string };
  }
  type Limited = Awaited<ReturnType<typeof limited>>;
  const upTo = (threshold: string, groupBy: object = { wallet: {} }) => ({
    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
    threshold,
    window: { infinite: {} },
    groupBy,
  });

  const signed = (client: TestClient, signWith: string, type: string, unsignedTransaction: string) =>
    client.submit('sign_transaction', { signWith, type: `TRANSACTION_TYPE_${type}`, unsignedTransaction });
  const onSolana = ({ user, sol }: Limited, ...instructions: readonly TestInstruction[]) =>
    signed(user, sol, 'SOLANA', wireOf({ signers: [sol], instructions }));
  const onTempo = ({ user, evm }: Limited, calls: readonly object[], extra: object = {}) => {
    const envelope = TxEnvelopeTempo.from({
      chainId: 4217,
      calls,
      gas: 1n,
      maxFeePerGas: 1n,
      nonce: 0n,
      ...extra,
    } as never);
    return signed(user, evm, 'TEMPO', TxEnvelopeTempo.serialize(envelope));
  };
  const onEthereum = ({ user, evm }: Limited, tx: Partial<TransactionSerializable>) =>
    signed(
      user,
      evm,
      'ETHEREUM',
      serializeTransaction({ type: 'eip1559', chainId: 1, ...tx } as TransactionSerializable),
    );

  function expectRefused(answer: Answer, { name, velocityControlId }: Limited, what: string): void {
    expect(outcome(answer)).toEqual(UNCOUNTED);
    expect(answer.body.message).toContain(name);
    expect(answer.body.message).toContain(velocityControlId);
    expect(answer.body.message).toContain(what);
    expect(answer.body.message).toContain('root quorum');
  }

  describe('Solana', () => {
    const spl = (owner: string, amount: bigint): TestInstruction => ({
      program: TOKEN_PROGRAM,
      accounts: [ACCOUNT, MINT, RECEIVER, owner],
      data: [12, ...u64(amount), 6],
    });
    const setAuthority = (owner: string): TestInstruction => ({
      program: TOKEN_PROGRAM,
      accounts: [ACCOUNT, owner],
      data: [6, 2, 1, ...base58.decode(STRANGER)],
    });

    test('SetAuthority of a token account is refused while a control covers the token', async () => {
      const place = await limited(SPL);
      expect(outcome(await onSolana(place, spl(place.sol, 4n)))).toEqual(DONE);
      expect(outcome(await onSolana(place, spl(place.sol, 7n)))).toEqual(EXCEEDED);
      expectRefused(await onSolana(place, setAuthority(place.sol)), place, 'Token SetAuthority');
      // Nothing of it was counted, and what is honest goes on.
      expect(outcome(await onSolana(place, spl(place.sol, 6n)))).toEqual(DONE);
      // Another asset passes.
      expect(outcome(await onSolana(place, payment(place.sol, RECEIVER, 50)))).toEqual(DONE);
    });

    test('lamports of accounts that the wallet governs are refused while a control covers them', async () => {
      const place = await limited(SOL);
      const { sol } = place;
      expect(outcome(await onSolana(place, payment(sol, RECEIVER, 4)))).toEqual(DONE);
      expect(outcome(await onSolana(place, payment(sol, RECEIVER, 7)))).toEqual(EXCEEDED);
      const withdrawal = (to: string): TestInstruction => ({
        program: SYSTEM,
        accounts: [ACCOUNT, to, STRANGER, MINT, sol],
        data: [...u32(5), ...u64(1_000_000n)],
      });
      expectRefused(await onSolana(place, withdrawal(RECEIVER)), place, 'System WithdrawNonceAccount');
      const assign = { program: SYSTEM, accounts: [sol], data: [...u32(1), ...base58.decode(STRANGER)] };
      expectRefused(await onSolana(place, assign), place, 'System Assign');
      const close = { program: TOKEN_PROGRAM, accounts: [ACCOUNT, RECEIVER, sol], data: [9] };
      expectRefused(await onSolana(place, close), place, 'Token CloseAccount');
      // What comes back to the wallet is no loss.
      expect(outcome(await onSolana(place, withdrawal(sol)))).toEqual(DONE);
      expect(outcome(await onSolana(place, { ...close, accounts: [ACCOUNT, sol, sol] }))).toEqual(DONE);
      expect(outcome(await onSolana(place, payment(sol, RECEIVER, 6)))).toEqual(DONE);
    });

    test('a batch of the Token program counts, and is refused, by what is in it', async () => {
      const place = await limited(SPL);
      const batch = (...inner: readonly TestInstruction[]): TestInstruction => ({
        program: TOKEN_PROGRAM,
        accounts: inner.flatMap(({ accounts }) => accounts),
        data: [255, ...inner.flatMap(({ accounts, data }) => [accounts.length, data.length, ...data])],
      });
      expect(outcome(await onSolana(place, batch(spl(place.sol, 3n), spl(place.sol, 2n))))).toEqual(DONE);
      expect(outcome(await onSolana(place, batch(spl(place.sol, 3n), spl(place.sol, 3n))))).toEqual(EXCEEDED);
      expectRefused(
        await onSolana(place, batch(spl(place.sol, 1n), setAuthority(place.sol))),
        place,
        'Token SetAuthority',
      );
    });

    test('an approval counts as its amount', async () => {
      const place = await limited(SPL);
      const approve = (amount: bigint): TestInstruction => ({
        program: TOKEN_PROGRAM,
        accounts: [ACCOUNT, MINT, RECEIVER, place.sol],
        data: [13, ...u64(amount), 6],
      });
      expect(outcome(await onSolana(place, approve(10n)))).toEqual(DONE);
      expect(outcome(await onSolana(place, spl(place.sol, 1n)))).toEqual(EXCEEDED);
    });

    test('the highest fee counts for the wallet that pays it, if refuseUncounted is set', async () => {
      const aggregation = upTo('12000');
      const open = await limited(SOL, { aggregation });
      const strict = await limited(SOL, { refuseUncounted: true, aggregation });
      const price = (lamports: bigint): TestInstruction => ({
        program: 'ComputeBudget111111111111111111111111111111',
        accounts: [],
        data: [3, ...u64(lamports * 1_000_000n)],
      });
      const pay = (place: Limited, ...more: readonly TestInstruction[]) =>
        onSolana(place, payment(place.sol, RECEIVER, 1000), ...more);
      expect(outcome(await pay(open, price(1_000_000_000n)))).toEqual(DONE);
      expect(outcome(await pay(strict, price(1_000_000_000n)))).toEqual(EXCEEDED);
      expect(outcome(await pay(strict))).toEqual(DONE);
      expect(outcome(await pay(strict))).toEqual(DONE);
      expect(outcome(await pay(strict))).toEqual(EXCEEDED);
      // Somebody else is the first account, who pays.
      const sponsored = (place: Limited) =>
        signed(
          place.user,
          place.sol,
          'SOLANA',
          wireOf({
            signers: [STRANGER, place.sol],
            instructions: [price(1n), { program: SYSTEM, accounts: [place.sol], data: u32(4) }],
          }),
        );
      expect(outcome(await sponsored(strict))).toEqual(DONE);
    });

    test('unknown programs pass, unless refuseUncounted is set', async () => {
      const unknown = (sol: string): TestInstruction => ({ program: STRANGER, accounts: [sol, ACCOUNT], data: [7] });
      const open = await limited(SOL);
      expect(outcome(await onSolana(open, unknown(open.sol)))).toEqual(DONE);
      const strict = await limited(SOL, { refuseUncounted: true, aggregation: upTo('20000') });
      expect(outcome(await onSolana(strict, payment(strict.sol, RECEIVER, 1)))).toEqual(DONE);
      expectRefused(await onSolana(strict, unknown(strict.sol)), strict, STRANGER);
      expectRefused(await onSolana(strict, spl(strict.sol, 1n)), strict, `token:${MINT}`);
    });
  });

  test('a change output of a Bitcoin transaction is subtracted from one signature only', async () => {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const user = await createUser(root, 'spender');
    await policyFor(root, user);
    const secret = new Uint8Array(32).fill(7);
    const publicKey = hexOf(secp256k1.getPublicKey(secret));
    const formats = ['BITCOIN_MAINNET_P2WPKH', 'BITCOIN_MAINNET_P2PKH'];
    const { privateKeyId } = await importKey(root, 'SECP256K1', hexOf(secret), formats);
    await root.run('create_velocity_control', {
      name: 'coins',
      identifier: randomUUID(),
      dataSource: { chainAssetTransfer: { definition: [{ caip19: BTC, decimals: '0' }] } },
      aggregation: upTo('1000', { organization: {} }),
    });
    const segwit = coin('P2WPKH', publicKey, 100_000n);
    const legacy = coin('P2PKH', publicKey, 100_000n);
    const stranger = scriptOf('P2WPKH', hexOf(secp256k1.getPublicKey(new Uint8Array(32).fill(4))));
    const psbt = (coins: readonly Coin[], outputs: readonly [Uint8Array, bigint][]): string => {
      const tx = new Transaction();
      for (const { txid, index, previous } of coins) tx.addInput({ txid, index, nonWitnessUtxo: previous });
      for (const [script, amount] of outputs) tx.addOutput({ script, amount });
      return hexOf(tx.toPSBT(0));
    };
    const sign = (unsigned: string) => signed(user, privateKeyId, 'BITCOIN', unsigned);
    const half = ({ body }: Answer): string => body.activity.result.signTransactionResult.signedTransaction;

    // What comes back to the address that signs does not count, in one call or in two.
    const honest = psbt(
      [segwit, legacy],
      [
        [segwit.script, 99_900n],
        [legacy.script, 99_900n],
        [stranger, 100n],
      ],
    );
    const begun = await sign(honest);
    expect(outcome(begun)).toEqual(DONE);
    expect(outcome(await sign(half(begun)))).toEqual(DONE);
    expect(outcome(await sign(psbt([segwit], [[stranger, 95_000n]])))).toEqual(EXCEEDED);

    // The change is worth as much as one of the inputs: it is subtracted where its address signs, and nowhere else.
    const theft = (change: Coin): string =>
      psbt(
        [segwit, legacy],
        [
          [change.script, 100_000n],
          [stranger, 95_000n],
        ],
      );
    const first = await sign(theft(segwit));
    expect(outcome(first)).toEqual(DONE);
    expect(outcome(await sign(half(first)))).toEqual(EXCEEDED);
    expect(outcome(await sign(theft(legacy)))).toEqual(EXCEEDED);
  });

  describe('Tempo', () => {
    test('the highest fee counts in its token, if refuseUncounted is set', async () => {
      const [open, strict] = [await limited(TIP20), await limited(TIP20, { refuseUncounted: true })];
      const calls = [{ to: USD, data: transfer(4n) }];
      const fee = { gas: 7n, maxFeePerGas: 10n ** 12n };
      expect(outcome(await onTempo(open, calls, fee))).toEqual(DONE);
      expect(outcome(await onTempo(strict, calls, fee))).toEqual(EXCEEDED);
      expect(outcome(await onTempo(strict, calls, { ...fee, feeToken: USD }))).toEqual(EXCEEDED);
      expect(outcome(await onTempo(strict, calls, { ...fee, gas: 2n }))).toEqual(DONE);
      // 6 so far. Another token pays, or somebody else.
      const other = `0x20c0${'00'.repeat(17)}02`;
      expect(outcome(await onTempo(strict, [{ to: USD, data: transfer(1n) }], { ...fee, feeToken: other }))).toEqual(
        DONE,
      );
      expect(
        outcome(await onTempo(strict, [{ to: USD, data: transfer(1n) }], { ...fee, feePayerSignature: null })),
      ).toEqual(DONE);
    });

    const run = (...data: readonly Hex[]): Hex =>
      encodeFunctionData({
        abi: custosBatchAbi,
        functionName: 'run',
        args: [data.map((one) => ({ to: USD, value: 0n, data: one }))],
      });

    test('a batch that an account runs on itself counts by what is in it', async () => {
      const place = await limited(TIP20);
      expect(outcome(await onTempo(place, [{ to: USD, data: transfer(4n) }]))).toEqual(DONE);
      expect(outcome(await onTempo(place, [{ to: place.evm, data: run(transfer(3n), transfer(4n)) }]))).toEqual(
        EXCEEDED,
      );
      expect(outcome(await onTempo(place, [{ to: place.evm, data: run(transfer(3n), withMemo(3n)) }]))).toEqual(DONE);
      expect(outcome(await onTempo(place, [{ to: USD, data: withMemo(1n) }]))).toEqual(EXCEEDED);
    });

    test('a new key or a new delegate of the account is refused', async () => {
      const place = await limited(TIP20);
      const calls = [{ to: USD, data: transfer(1n) }];
      expect(outcome(await onTempo(place, calls))).toEqual(DONE);
      const signature = { r: 1n, s: 1n, yParity: 0 };
      const keyAuthorization = {
        address: TO,
        chainId: 4217n,
        type: 'secp256k1',
        signature: { type: 'secp256k1', signature },
      };
      expectRefused(await onTempo(place, calls, { keyAuthorization }), place, 'keyAuthorization');
      const keychain = `0xaaaaaaaa${'00'.repeat(16)}` as const;
      expectRefused(
        await onTempo(place, [{ to: keychain, data: `0x12345678${'00'.repeat(64)}` }]),
        place,
        'account keychain',
      );
    });
  });

  describe('Ethereum', () => {
    test('an authorization of the account in the list of a transaction is refused', async () => {
      const secret = `0x${randomUUID().replaceAll('-', '').repeat(2)}` as const;
      const place = await limited(ETH, {});
      const { root, user } = place;
      const { privateKeyId } = await importKey(root, 'SECP256K1', secret.slice(2), ['ETHEREUM']);
      const control = await root.run('create_velocity_control', {
        name: 'of the organization',
        identifier: randomUUID(),
        dataSource: { chainAssetTransfer: { definition: [{ caip19: ETH, decimals: '0' }] } },
        aggregation: {
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
          operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
          threshold: '10',
          window: { infinite: {} },
          groupBy: { organization: {} },
        },
      });
      const carries = async (signer: Hex, address: Hex) => {
        const authorization = await signAuthorization({ privateKey: signer, chainId: 1, nonce: 0, address });
        const tx = { type: 'eip7702', chainId: 1, to: TO, value: 1n, authorizationList: [authorization] } as const;
        return await signed(user, privateKeyId, 'ETHEREUM', serializeTransaction(tx));
      };
      // Of somebody else, or taken back.
      expect(outcome(await carries(`0x${'77'.repeat(32)}`, TO))).toEqual(DONE);
      expect(outcome(await carries(secret, `0x${'00'.repeat(20)}`))).toEqual(DONE);
      expectRefused(
        await carries(secret, TO),
        { ...place, name: 'of the organization', ...control },
        'authorizationList entry 0',
      );
    });

    test('an authorization that is signed as a payload is refused, unless it takes one back', async () => {
      const place = await limited(ETH);
      const authorize = (address: Hex, chainId: number) =>
        place.user.submit('sign_raw_payload', {
          signWith: place.evm,
          payload: JSON.stringify({ address, chainId, nonce: 0 }),
          encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
      expect(outcome(await authorize(`0x${'00'.repeat(20)}`, 1))).toEqual(DONE);
      expect(outcome(await authorize(TO, 10))).toEqual(DONE);
      expectRefused(await authorize(TO, 1), place, 'EIP-7702 authorization');
      expectRefused(await authorize(TO, 0), place, 'EIP-7702 authorization');
    });

    test('an approval counts as its amount', async () => {
      const place = await limited(`eip155:1/erc20:${USDC}`);
      expect(outcome(await onEthereum(place, { to: USDC, data: approval(4n) }))).toEqual(DONE);
      expect(outcome(await onEthereum(place, { to: USDC, data: approval(maxUint256) }))).toEqual(EXCEEDED);
      expect(outcome(await onEthereum(place, { to: USDC, data: transfer(6n) }))).toEqual(DONE);
      expect(outcome(await onEthereum(place, { to: USDC, data: approval(0n) }))).toEqual(DONE);
      expect(outcome(await onEthereum(place, { to: USDC, data: transfer(1n) }))).toEqual(EXCEEDED);
    });

    const big = 10n ** 30n;
    const CALLS: Readonly<Record<string, readonly [string, (from: Hex) => readonly unknown[]]>> = {
      push: ['push(address,uint256)', () => [TO, big]],
      move: ['move(address,address,uint256)', (from) => [from, TO, big]],
      redeem: ['redeem(uint256,address,address)', (from) => [big, TO, from]],
      operatorSend: ['operatorSend(address,address,uint256,bytes,bytes)', (from) => [from, TO, big, '0x', '0x']],
      burn: ['burn(uint256,bytes)', () => [big, '0x']],
      permit: ['permit(address,address,uint256,uint256,bytes)', (from) => [from, TO, big, big, '0x']],
      withdraw: ['withdraw(uint256,address,address)', (from) => [big, TO, from]],
      transferShares: ['transferShares(address,uint256)', () => [TO, big]],
      authorizeOperator: ['authorizeOperator(address)', () => [TO]],
    };
    const UNNAMED: ReadonlySet<string> = new Set(['withdraw', 'transferShares', 'authorizeOperator']);

    test('calls of a token that are not of ERC-20 count, or are refused', async () => {
      const place = await limited(`eip155:1/erc20:${USDC}`);
      expect(outcome(await onEthereum(place, { to: USDC, data: transfer(1n) }))).toEqual(DONE);
      for (const [name, [signature, args]] of Object.entries(CALLS)) {
        const abi = parseAbi([`function ${signature}` as string]);
        const data = encodeFunctionData({ abi, args: args(place.evm) } as never);
        const answer = await onEthereum(place, { to: USDC, data });
        if (UNNAMED.has(name)) expectRefused(answer, place, USDC);
        else expect([name, ...outcome(answer)]).toEqual([name, ...EXCEEDED]);
        // Another token passes.
        expect(outcome(await onEthereum(place, { to: TO, data }))).toEqual(DONE);
      }
      expect(outcome(await onEthereum(place, { to: USDC, data: '0xdeadbeef' }))).toEqual(DONE);
      expect(outcome(await onEthereum(place, { to: USDC, data: transfer(9n) }))).toEqual(DONE);
    });

    test('the highest fee counts, if refuseUncounted is set', async () => {
      const aggregation = upTo('100000');
      const open = await limited(ETH, { aggregation });
      const strict = await limited(ETH, { refuseUncounted: true, aggregation });
      const gas = { gas: 21_000n, maxPriorityFeePerGas: 1n };
      const tip = { ...gas, to: TO, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n, value: 0n };
      expect(outcome(await onEthereum(open, tip))).toEqual(DONE);
      expect(outcome(await onEthereum(strict, tip))).toEqual(EXCEEDED);
      // 63,000 of 100,000, and a payment.
      expect(outcome(await onEthereum(strict, { ...gas, to: TO, maxFeePerGas: 3n, value: 16_000n }))).toEqual(DONE);
      expect(outcome(await onEthereum(strict, { ...gas, to: strict.evm, maxFeePerGas: 2n }))).toEqual(EXCEEDED);
      expect(outcome(await onEthereum(strict, { ...gas, to: strict.evm, maxFeePerGas: 1n }))).toEqual(DONE);
      expect(outcome(await onEthereum(strict, { to: TO, value: 1n }))).toEqual(EXCEEDED);
    });

    test('what nobody can decode passes, unless refuseUncounted is set', async () => {
      const unknown = { to: TO, data: '0xdeadbeef' } as const;
      const raw = ({ user, evm }: Limited, payload: string, encoding = 'HEXADECIMAL', hashFunction = 'KECCAK256') =>
        user.submit('sign_raw_payload', {
          signWith: evm,
          payload,
          encoding: `PAYLOAD_ENCODING_${encoding}`,
          hashFunction: `HASH_FUNCTION_${hashFunction}`,
        });
      const typed = JSON.stringify({
        types: { Permit: [{ name: 'value', type: 'uint256' }] },
        primaryType: 'Permit',
        domain: {},
        message: { value: '5' },
      });
      const open = await limited(ETH);
      const strict = await limited(ETH, { refuseUncounted: true });
      for (const place of [open, strict]) expect(outcome(await onEthereum(place, { to: TO, value: 1n }))).toEqual(DONE);
      const attempts: readonly [string, (place: Limited) => Promise<Answer>][] = [
        ['0xdeadbeef', (place) => onEthereum(place, unknown)],
        ['contract creation', (place) => onEthereum(place, { data: '0x6001' })],
        [`erc20:${USDC}`, (place) => onEthereum(place, { to: USDC, data: transfer(1n) })],
        ['raw payload', (place) => raw(place, '0xab')],
        ['raw payload', (place) => raw(place, 'text', 'TEXT_UTF8')],
        ['typed data', (place) => raw(place, typed, 'EIP712', 'NO_OP')],
        [
          'raw payload',
          ({ user, evm }) =>
            user.submit('sign_raw_payloads', {
              signWith: evm,
              payloads: ['0xab'],
              encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
              hashFunction: 'HASH_FUNCTION_KECCAK256',
            }),
        ],
      ];
      for (const [what, attempt] of attempts) {
        expect(outcome(await attempt(open))).toEqual(DONE);
        expectRefused(await attempt(strict), strict, what);
      }
      // The root quorum stands above.
      expect(outcome(await raw({ ...strict, user: strict.root }, '0xab'))).toEqual(DONE);
    });
  });

  test('a vote that would complete what is refused leaves it open for the root quorum', async () => {
    const place = await limited(SPL);
    const { root, user, sol } = place;
    const second = await createUser(root, 'second');
    const both = [user, second].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    const { policies } = (await root.query('list_policies')).body;
    for (const { policyId } of policies) await root.run('delete_policy', { policyId });
    await policyFor(root, user, { consensus: both });
    const propose = (data: readonly number[]) =>
      onSolana(place, { program: TOKEN_PROGRAM, accounts: [ACCOUNT, sol], data });
    const vote = (client: TestClient, { body }: Answer) =>
      client.submit('approve_activity', { fingerprint: body.activity.fingerprint });
    const harmless = await propose([5]);
    expect(outcome(harmless)).toEqual([200, PENDING]);
    expect(outcome(await vote(second, harmless))).toEqual(DONE);
    const handsOver = await propose([6, 2, 0]);
    expect(outcome(handsOver)).toEqual([200, PENDING]);
    expectRefused(await vote(second, handsOver), place, 'Token SetAuthority');
    const { activity } = (await root.query('get_activity', { activityId: handsOver.body.activity.id })).body;
    expect(activity.status).toBe(PENDING);
    expect(outcome(await vote(root, handsOver))).toEqual(DONE);
  });

  test('controls show whether they refuse what is not counted', async () => {
    const { root, velocityControlId } = await limited(ETH, { refuseUncounted: true });
    const { root: other, velocityControlId: plainId } = await limited(ETH);
    const found = async (client: TestClient, id: string) =>
      (await client.query('get_velocity_control', { velocityControlId: id })).body.velocityControl;
    expect(await found(root, velocityControlId)).toMatchObject({ refuseUncounted: true });
    expect(await found(other, plainId)).not.toHaveProperty('refuseUncounted');
    const { velocityControls } = (await root.query('list_velocity_controls')).body;
    expect(velocityControls).toMatchObject([{ refuseUncounted: true }]);
    const answer = await root.submit('create_velocity_control', {
      name: 'count',
      identifier: randomUUID(),
      dataSource: { activityExecution: {} },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '10',
        window: { infinite: {} },
        groupBy: { organization: {} },
      },
      refuseUncounted: true,
    });
    expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
    expect(answer.body.message).toContain('refuseUncounted');
  });

  test('simulate_activity tells what would be refused', async () => {
    const { root, user, sol, velocityControlId } = await limited(SPL);
    const instructions = [{ program: TOKEN_PROGRAM, accounts: [ACCOUNT, sol], data: [6, 2, 0] }];
    const parameters = {
      signWith: sol,
      type: 'TRANSACTION_TYPE_SOLANA',
      unsignedTransaction: wireOf({ signers: [sol], instructions }),
    };
    const { simulation } = (
      await root.query('simulate_activity', {
        request: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters },
        submitterUserId: user.userId,
      })
    ).body;
    expect(simulation.status).toBe('REFUSED');
    expect(simulation.velocity).toMatchObject([
      { velocityControlId, satisfied: false, uncounted: expect.stringContaining('Token SetAuthority') },
    ]);
  });
});
