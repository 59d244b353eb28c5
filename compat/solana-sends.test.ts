// Transactions that @solana/web3.js built are sent through the SDK by the running service, to a node of the tests that
// speaks a validator's JSON-RPC. What arrives there is what that library signs itself.
import { randomBytes } from 'node:crypto';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../packages/server/src/config/config.ts';
import { importOperatorKey } from '../packages/server/src/keyring-admin/import-operator-key.ts';
import { SolanaServer } from '../packages/server/test/chain/solana-server.ts';
import { importKey } from '../packages/server/test/flows/fixtures/wallets.ts';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, errorCodeOf, refusal } from './sdk.ts';

const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const caip2 = 'solana:devnet';
/** Thirty-two zero bytes: the service sets a fresh one. */
const NO_BLOCKHASH = PublicKey.default.toBase58();

// A signed transfer of 49 lamports, from the tests of @solana/web3.js; the sender's seed is 32 times 8.
const RECORDED =
  'AVuErQHaXv0SG0/PchunfxHKt8wMRfMZzqV0tkC5qO6owYxWU2v871AoWywGoFQr4z+q/7mE8lIufNl/kxj+nQ0BAAEDE5j2LG0aRXxRumpLXz29' +
  'L2n8qTIWIY3ImX5Ba9F9k8r9Q5/Mtmcn8onFxt47xKj+XdXXd3C8j/FcPu7csUrz/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAxJrn' +
  'dgN4IFTxep3s6kO0ROug7bEsbx0xxuDkqEvwUusBAgIAAQwCAAAAMQAAAAAAAAA=';

const [alice, bob, recorded] = [
  Keypair.generate(),
  Keypair.generate(),
  Keypair.fromSeed(new Uint8Array(32).fill(8)),
] as const;
const operator = Keypair.generate();
const receiver = Keypair.generate().publicKey;
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();

let node: SolanaServer;
let service: TestServer;
let sdk: TurnkeyApiClient;

beforeAll(async () => {
  node = await SolanaServer.start(DEVNET);
  const chains = node.settings({ operatorAddress: addressOf(operator) });
  service = await TestServer.start({ env: { CUSTOS_CHAINS: JSON.stringify(chains) } });
  sdk = connect(service.baseUrl, service.credentials);
  const root = TestClient.root(service.credentials, service.baseUrl);
  for (const { secretKey } of [alice, bob, recorded]) {
    await importKey(root, 'ED25519', Buffer.from(secretKey.subarray(0, 32)).toString('hex'), ['SOLANA']);
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
});
beforeEach(() => {
  node.chain.landsAs = 'finalized';
  node.onCall = undefined;
});

const pay = (from: Keypair, lamports = 1000): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: receiver, lamports });

function legacy(instructions: readonly TransactionInstruction[], payer = alice, blockhash = NO_BLOCKHASH): Transaction {
  return new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(...instructions);
}

const unsigned = (transaction: Transaction | VersionedTransaction): string =>
  Buffer.from(
    transaction instanceof VersionedTransaction
      ? transaction.serialize()
      : transaction.serialize({ requireAllSignatures: false }),
  ).toString('hex');

async function sent(
  transaction: Transaction | VersionedTransaction,
  signers: readonly Keypair[] = [alice],
  more: { sponsor?: boolean; recentBlockhash?: string } = {},
): Promise<string> {
  const { sendTransactionStatusId } = await sdk.solSendTransaction({
    unsignedTransaction: unsigned(transaction),
    signWiths: signers.map(addressOf),
    caip2,
    ...more,
  });
  return sendTransactionStatusId;
}

const becomes = (sendTransactionStatusId: string, txStatus = 'INCLUDED') =>
  vi.waitFor(
    async () => {
      const status = await sdk.getSendTransactionStatus({ sendTransactionStatusId });
      expect(status.txStatus).toBe(txStatus);
      return status;
    },
    { timeout: 20_000, interval: 20 },
  );

/** What the node was handed under this signature. */
const handed = (signature: string | undefined): Buffer[] =>
  node.chain.handed.filter((one) => one.signature === signature).map(({ raw }) => Buffer.from(raw));

describe('what arrives at the node', () => {
  test('is a legacy transaction with a fresh blockhash', async () => {
    const transaction = legacy([pay(alice)]);
    const { solana } = await becomes(await sent(transaction));
    const [raw, ...more] = handed(solana?.signature);
    expect(more).toEqual([]);
    const arrived = Transaction.from(raw as Buffer);
    expect(arrived.verifySignatures()).toBe(true);
    expect(arrived.recentBlockhash).toBe(node.chain.blockhash);
    const local = legacy([pay(alice)], alice, node.chain.blockhash);
    local.sign(alice);
    expect(raw).toEqual(local.serialize());
  });

  test('is a version 0 transaction with a look-up table and the blockhash that it came with', async () => {
    const table = new AddressLookupTableAccount({
      key: Keypair.generate().publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [receiver],
      },
    });
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: alice.publicKey,
        recentBlockhash: node.chain.blockhash,
        instructions: [pay(alice), pay(bob)],
      }).compileToV0Message([table]),
    );
    const id = await sent(transaction, [bob, alice]);
    transaction.sign([alice, bob]);
    const { solana } = await becomes(id);
    expect(handed(solana?.signature)).toEqual([Buffer.from(transaction.serialize())]);
  });

  test('is the recorded transaction, byte for byte', async () => {
    const known = Transaction.from(Buffer.from(RECORDED, 'base64'));
    // Its blockhash is long gone: the node takes it all the same.
    node.chain.onBroadcast = (transaction, take) => {
      const outcome = take();
      if (transaction === RECORDED) node.chain.land(node.chain.handed.at(-1)?.signature ?? '', 'finalized');
      return transaction === RECORDED ? { kind: 'accepted' } : outcome;
    };
    const copy = Transaction.from(Buffer.from(RECORDED, 'base64'));
    copy.signatures = copy.signatures.map(({ publicKey }) => ({ publicKey, signature: null }));
    const { solana } = await becomes(await sent(copy, [recorded]));
    node.chain.onBroadcast = undefined;
    expect(handed(solana?.signature)).toEqual([known.serialize()]);
  });

  test('has the signatures of others that it came with', async () => {
    const other = Keypair.generate();
    const transaction = legacy([pay(other), pay(alice)], other, node.chain.blockhash);
    const lacking = await refusal(sent(transaction));
    expect(errorCodeOf(lacking)).toBe('INVALID_TRANSACTION');
    expect(lacking.message).toMatch(`needs the signature of ${addressOf(other)}`);
    transaction.partialSign(other);
    const id = await sent(transaction);
    transaction.partialSign(alice);
    const { solana } = await becomes(id);
    expect(handed(solana?.signature)).toEqual([transaction.serialize()]);
  });

  test('is each of many that are sent at once, once', async () => {
    const amounts = Array.from({ length: 40 }, (_amount, index) => 5000 + index);
    const before = node.chain.handed.length;
    const ids = await Promise.all(amounts.map((lamports) => sent(legacy([pay(alice, lamports)]))));
    await vi.waitFor(() => expect(node.chain.handed.length).toBeGreaterThanOrEqual(before + amounts.length), {
      timeout: 20_000,
      interval: 50,
    });
    for (const id of ids) await becomes(id);
    const arrived = node.chain.handed.slice(before).map(({ raw }) => {
      const [instruction] = Transaction.from(Buffer.from(raw)).instructions;
      return Number(Buffer.from(instruction?.data ?? []).readBigUInt64LE(4));
    });
    expect(arrived.sort()).toEqual(amounts);
  });
});

describe('a sponsored transaction', () => {
  beforeAll(async () => {
    const text = Buffer.from(Buffer.from(operator.secretKey.subarray(0, 32)).toString('hex'));
    await importOperatorKey(readConfig(service.environment), { caip2, readText: async () => text });
  });

  let lamports = 70;

  test('is paid for by the operator', async () => {
    const { solana } = await becomes(await sent(legacy([pay(alice, lamports)], operator), [alice], { sponsor: true }));
    const [raw] = handed(solana?.signature);
    const arrived = Transaction.from(raw as Buffer);
    expect(arrived.verifySignatures()).toBe(true);
    expect(arrived.feePayer?.toBase58()).toBe(addressOf(operator));
  });

  test.each([
    ['takes from the operator', [pay(operator)], 'uses the account of the sponsor'],
    [
      'costs the operator much',
      [pay(alice), ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10n ** 9n })],
      'more than is sponsored',
    ],
  ] as const)('that %s is refused', async (_name, instructions, reason) => {
    lamports += 1;
    await becomes(await sent(legacy([pay(alice, lamports)], operator), [alice], { sponsor: true }));
    const withOwn = [...instructions, pay(alice, lamports)];
    const error = await refusal(sent(legacy(withOwn, operator), [alice], { sponsor: true }));
    expect(errorCodeOf(error)).toBe('INVALID_TRANSACTION');
    expect(error.message).toMatch(reason);
  });
});

describe('a service that is killed', () => {
  test.each([
    ['before the node has it', false],
    ['before it hears that the node has it', true],
  ])('%s finds it again, and sends nothing else', async (_name, isTaken) => {
    const before = node.chain.handed.length;
    let accepted = (): void => {};
    const isAccepted = new Promise<void>((resolve) => {
      accepted = resolve;
    });
    const killed = new Promise<void>((resolve, reject) => {
      node.onCall = ({ method }, answer) => {
        if (method !== 'sendTransaction') return answer();
        node.onCall = undefined;
        if (isTaken) answer();
        // It waits for the answer while it is killed, once the caller has the id.
        return isAccepted.then(() => service.kill()).then(resolve, reject) as Promise<undefined>;
      };
    });
    const id = await sent(legacy([pay(alice, 9000 + Number(isTaken))]));
    accepted();
    await killed;
    node.chain.grow(5);
    await service.start();
    sdk = connect(service.baseUrl, service.credentials);
    const { solana } = await becomes(id);
    const arrived = node.chain.handed.slice(before).map(({ signature }) => signature);
    expect(new Set(arrived)).toEqual(new Set([solana?.signature]));
    expect(node.chain.landed.has(solana?.signature ?? '')).toBe(true);
  });
});

test('a chain that is not configured is named', async () => {
  const parameters = { unsignedTransaction: unsigned(legacy([pay(alice)])), signWiths: [addressOf(alice)] };
  expect((await sdk.solSendTransaction({ ...parameters, caip2 })).sendTransactionStatusId).toBeTruthy();
  const error = await refusal(sdk.solSendTransaction({ ...parameters, caip2: 'solana:mainnet' }));
  expect(errorCodeOf(error)).toBe('CHAIN_NOT_CONFIGURED');
  expect(error.message).toMatch('CUSTOS_CHAINS');
});

test('what the node of the tests takes is signed', () => {
  const transaction = legacy([pay(alice, 1)], alice, node.chain.blockhash);
  transaction.sign(alice);
  const raw = transaction.serialize();
  expect(node.chain.take(raw.toString('base64'))).toEqual({ kind: 'accepted' });
  raw.set(randomBytes(8), 1);
  expect(() => node.chain.take(raw.toString('base64'))).toThrow('signature 0 is wrong');
});
