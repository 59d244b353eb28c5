import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SOLANA_CHAIN } from '../chain/fake-solana.ts';
import { SolanaServer } from '../chain/solana-server.ts';
import { messageOf, payment, RECEIVER, type TestTransaction, wireOf } from '../chain/solana-transfer.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { account, aName, COMPLETED, importKey, newWallet, outcome, solana } from './fixtures/wallets.ts';

const { caip2 } = SOLANA_CHAIN;
const NO_BLOCKHASH = '1'.repeat(32);
const V1 = { type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION' };
const DONE = [200, COMPLETED];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];

const operatorSecret = randomBytes(32);
const OPERATOR = base58.encode(ed25519.getPublicKey(operatorSecret));

describe.each(databasesOf(import.meta.url))('Solana sends on %s', (database) => {
  let server: SolanaServer;
  let place: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    server = await SolanaServer.start();
    const chains = { ...server.settings({ operatorAddress: OPERATOR }), 'solana:devnet': { rpcUrls: [server.url] } };
    place = await openTestApp(database, { CUSTOS_CHAINS: JSON.stringify(chains) });
    place.app.sends.start();
  });
  afterAll(async () => {
    await place.app.sends.stop();
    await place[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  // Of its own, so that no test sees rules of another.
  beforeEach(async () => {
    root = await createSubOrganization(place.root, aName('sub'));
    server.chain.landsAs = 'finalized';
    server.chain.onBroadcast = undefined;
    server.chain.isDown = false;
  });

  const newAddress = async (client = root) => (await newWallet(client, [solana()])).addresses[0] as string;

  const parametersOf = (transaction: TestTransaction, extra: object = {}) => ({
    unsignedTransaction: wireOf({ blockhash: NO_BLOCKHASH, ...transaction }),
    signWiths: transaction.signers,
    caip2,
    ...extra,
  });
  const submit = (transaction: TestTransaction, extra: object = {}, client = root) =>
    client.submit('sol_send_transaction', parametersOf(transaction, extra));

  async function sent(transaction: TestTransaction, extra: object = {}): Promise<string> {
    return (await root.run('sol_send_transaction', parametersOf(transaction, extra))).sendTransactionStatusId;
  }

  const statusOf = async (sendTransactionStatusId: string, client = root) =>
    (await client.query('get_send_transaction_status', { sendTransactionStatusId })).body;

  /** The status once it is the wanted one. */
  const becomes = (id: string, txStatus: string) =>
    vi.waitFor(
      async () => {
        const status = await statusOf(id);
        expect(status.txStatus).toBe(txStatus);
        return status;
      },
      { timeout: 10_000, interval: 10 },
    );

  test('a transaction without a blockhash is completed, signed and sent', async () => {
    const from = await newAddress();
    const id = await sent({ signers: [from] });
    const status = await becomes(id, 'INCLUDED');
    const handed = server.chain.handed.filter(({ signers }) => signers[0] === from);
    expect(status).toEqual({ txStatus: 'INCLUDED', solana: { signature: handed[0]?.signature } });
    expect(handed[0]?.message).toEqual(messageOf({ signers: [from], blockhash: server.chain.blockhash }));
    expect(handed).toHaveLength(1);
  });

  test('accounts of wallets and private keys sign together, beside a stranger', async () => {
    const own = [await newAddress(), await newAddress()];
    const { addresses } = await importKey(root, 'ED25519', randomBytes(32).toString('hex'), ['SOLANA']);
    const signers = [...own, addresses[0]?.address ?? ''];
    await becomes(await sent({ signers }), 'INCLUDED');
    const secret = randomBytes(32);
    const stranger = base58.encode(ed25519.getPublicKey(secret));
    const shared = { signers: [stranger, ...signers], blockhash: server.chain.blockhash };
    const signatures = { [stranger]: ed25519.sign(messageOf(shared), secret) };
    const id = await sent({ ...shared, signatures }, { signWiths: signers });
    await becomes(id, 'INCLUDED');
    expect(server.chain.handed.at(-1)?.signers).toEqual(shared.signers);
  });

  test('equal payments that come together are sent one by one', async () => {
    const from = await newAddress();
    const before = server.chain.handed.length;
    const ids = await Promise.all([1, 2, 3].map(() => sent({ signers: [from] })));
    // Nothing but the blockhash tells them apart, and there is a new one with each block only.
    await vi.waitFor(
      async () => {
        server.chain.grow(1);
        const states = await Promise.all(ids.map(async (id) => (await statusOf(id)).txStatus));
        expect(states).toEqual(['INCLUDED', 'INCLUDED', 'INCLUDED']);
      },
      { timeout: 10_000, interval: 20 },
    );
    const signatures = server.chain.handed.slice(before).map(({ signature }) => signature);
    expect(new Set(signatures).size).toBe(3);
    expect(signatures).toHaveLength(3);
  });

  test('nodes that are away are waited for, and nothing is sent twice', async () => {
    const from = await newAddress();
    server.chain.isDown = true;
    const id = await sent({ signers: [from] });
    expect(await statusOf(id)).toEqual({ txStatus: 'INITIALIZED', solana: {} });
    server.chain.isDown = false;
    await becomes(id, 'INCLUDED');
    expect(server.chain.handed.filter(({ signers }) => signers[0] === from)).toHaveLength(1);
  });

  test('a limit on each wallet counts what every one of them pays', async () => {
    const wallets = await Promise.all([newWallet(root, [solana()]), newWallet(root, [solana()])]);
    const [first = '', second = ''] = wallets.map(({ addresses }) => addresses[0]);
    const member = await createUser(root, 'member');
    await root.run('create_policy', {
      policyName: aName('policy'),
      effect: 'EFFECT_ALLOW',
      consensus: 'true',
      condition: "activity.kind == 'SOL_SEND_TRANSACTION'",
      notes: '',
    });
    await root.run('create_velocity_control', {
      name: aName('control'),
      identifier: aName('control'),
      dataSource: { chainAssetTransfer: { definition: [{ caip19: `${caip2}/slip44:501`, decimals: '0' }] } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '10',
        window: { infinite: {} },
        groupBy: { wallet: {} },
      },
    });
    const exceeded = [403, 'VELOCITY_EXCEEDED'];
    const pay = (signers: readonly string[], lamports: number) =>
      submit({ signers, lamports }, {}, member).then(outcome);
    expect(await pay([first, second], 6)).toEqual(DONE);
    expect(await pay([first], 5)).toEqual(exceeded);
    expect(await pay([second], 5)).toEqual(exceeded);
    expect(await pay([first], 4)).toEqual(DONE);
    // Neither counts what was refused for the other.
    expect(await pay([first, second], 1)).toEqual(exceeded);
    expect(await pay([second], 4)).toEqual(DONE);
  });

  test('several people may have to agree before anything is sent', async () => {
    const from = await newAddress();
    const second = await createUser(root, 'second');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const { body } = await submit({ signers: [from] });
    expect(body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(server.chain.handed.some(({ signers }) => signers[0] === from)).toBe(false);
    const done = await second.submit('approve_activity', { fingerprint: body.activity.fingerprint });
    expect(outcome(done)).toEqual(DONE);
    const { result } = (await root.query('get_activity', { activityId: body.activity.id })).body.activity;
    await becomes(result.solSendTransactionResultV2.sendTransactionStatusId, 'INCLUDED');
  });

  test('the older version takes base64 and hex, and a blockhash beside the transaction', async () => {
    const from = await newAddress();
    const recentBlockhash = server.chain.blockhash;
    const hex = wireOf({ signers: [from], lamports: 1 });
    const ids: string[] = [];
    for (const [unsignedTransaction, lamports] of [
      [hex, 1],
      [Buffer.from(wireOf({ signers: [from], lamports: 2 }), 'hex').toString('base64'), 2],
    ] as const) {
      const parameters = { unsignedTransaction, signWith: from, caip2, recentBlockhash };
      const { body } = await root.submit('sol_send_transaction', parameters, V1);
      ids.push(body.activity.result.solSendTransactionResult.sendTransactionStatusId);
      await becomes(ids.at(-1) ?? '', 'INCLUDED');
      const message = messageOf({ signers: [from], lamports, blockhash: recentBlockhash });
      expect(server.chain.handed.at(-1)).toMatchObject({ message, blockhash: recentBlockhash });
    }
    const base64 = Buffer.from(hex, 'hex').toString('base64');
    expect(outcome(await submit({ signers: [from] }, { unsignedTransaction: base64 }))).toEqual([
      400,
      'INVALID_TRANSACTION',
    ]);
  });

  test('a simulation that fails is told as the node tells it', async () => {
    const from = await newAddress();
    const logs = ['Program 11111111111111111111111111111111 invoke [1]', 'Transfer: insufficient lamports'];
    const message = 'Transaction simulation failed: custom program error: 0x1';
    const err = { InstructionError: [0, { Custom: 1 }] };
    server.chain.onBroadcast = () => ({ kind: 'refused', rpcCode: -32002, message, err, logs });
    const { txError, error } = await becomes(await sent({ signers: [from] }), 'FAILED');
    expect(txError).toBe(`the node refused it: ${message}`);
    expect(error).toEqual({
      message: txError,
      solana: {
        source: 'rpc',
        rpcCode: -32002,
        rpcMessage: message,
        transactionErrorJson: JSON.stringify(err),
        logs,
      },
    });
  });

  test('what is in a block is followed until it is final', async () => {
    const from = await newAddress();
    server.chain.landsAs = 'confirmed';
    const id = await sent({ signers: [from] });
    const {
      solana: { signature },
    } = await becomes(id, 'INCLUDED');
    server.chain.landed.delete(signature);
    server.chain.landsAs = undefined;
    await becomes(id, 'BROADCASTING');
    server.chain.land(signature, 'finalized', { InsufficientFundsForFee: {} });
    const { error, solana: after } = await becomes(id, 'FAILED');
    expect(after).toEqual({ signature });
    expect(error.solana).toEqual({
      source: 'chain',
      transactionErrorJson: '{"InsufficientFundsForFee":{}}',
      logs: ['Program log: hello'],
      unitsConsumed: '150',
    });
  });

  test('a policy sees the transaction, and every wallet that signs it', async () => {
    const wallets = await Promise.all([newWallet(root, [solana()]), newWallet(root, [solana()])]);
    const [first = '', second = ''] = wallets.map(({ addresses }) => addresses[0]);
    const member = await createUser(root, 'member');
    await root.run('create_policy', {
      policyName: aName('policy'),
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${member.userId}')`,
      condition: `activity.kind == 'SOL_SEND_TRANSACTION' && wallet.id == '${wallets[0]?.walletId}' && solana.tx.transfers.all(t, t.amount <= 10)`,
      notes: '',
    });
    const pay = (signers: readonly string[], lamports: number, extra = {}) =>
      submit({ signers, lamports }, extra, member).then(outcome);
    expect(await pay([first], 10)).toEqual(DONE);
    expect(await pay([first], 11)).toEqual(DENIED);
    expect(await pay([second], 10)).toEqual(DENIED);
    // Who may use one of the wallets may not use both.
    expect(await pay([first, second], 10)).toEqual(DENIED);
    expect(await pay([second, first], 10)).toEqual(DENIED);
    // The blockhash that is judged is the one that is sent.
    await root.run('create_policy', {
      policyName: aName('policy'),
      effect: 'EFFECT_DENY',
      condition: `solana.tx.recent_blockhash == '${base58.encode(new Uint8Array(32).fill(0xbb))}'`,
      notes: '',
    });
    const other = { recentBlockhash: base58.encode(new Uint8Array(32).fill(0xbb)) };
    expect(await pay([first], 9)).toEqual(DONE);
    expect(await pay([first], 9, other)).toEqual(DENIED);
  });

  describe('refuses', () => {
    test('chains that are not configured, or of another kind', async () => {
      const signers = [await newAddress()];
      expect(outcome(await submit({ signers }, { caip2: 'solana:devnet' }))).toEqual(DONE);
      expect(
        outcome(await submit({ signers }, { caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' })),
      ).toEqual(DONE);
      const missing = await submit({ signers }, { caip2: 'solana:mainnet' });
      expect(outcome(missing)).toEqual([400, 'CHAIN_NOT_CONFIGURED']);
      expect(missing.body.message).toMatch('CUSTOS_CHAINS');
      for (const other of ['eip155:1', 'solana', 'solana:', '']) {
        expect(outcome(await submit({ signers }, { caip2: other }))).toEqual([400, 'REQUEST_INVALID']);
      }
    });

    test('keys of others, ids, and keys that are none of Solana', async () => {
      const from = await newAddress();
      expect(outcome(await submit({ signers: [from] }))).toEqual(DONE);
      const other = await createSubOrganization(place.root, aName('sub'));
      const foreign = await newAddress(other);
      expect(outcome(await submit({ signers: [foreign] }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await submit({ signers: [from] }, {}, other))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      const { accounts } = (await root.query('list_wallet_accounts')).body;
      const byId = { signWiths: [accounts[0].walletAccountId] };
      expect(outcome(await submit({ signers: [from] }, byId))).toEqual([400, 'REQUEST_INVALID']);
      const sui = (await newWallet(root, [account('ED25519', "m/44'/501'/0'/0'", 'SUI')])).addresses[0];
      expect(outcome(await submit({ signers: [from] }, { signWiths: [sui] }))).toEqual([400, 'REQUEST_INVALID']);
      expect(outcome(await submit({ signers: [from] }, { signWiths: [from, from] }))).toEqual([400, 'REQUEST_INVALID']);
    });

    test('what others have to sign first, and what nobody sponsors', async () => {
      const [from, second] = [await newAddress(), await newAddress()];
      const both = { signers: [from, second], blockhash: server.chain.blockhash };
      expect(outcome(await submit(both))).toEqual(DONE);
      const alone = await submit(both, { signWiths: [from] });
      expect(outcome(alone)).toEqual([400, 'INVALID_TRANSACTION']);
      expect(alone.body.message).toMatch(`needs the signature of ${second}`);
      const unset = await submit({ signers: [from] }, { sponsor: true, caip2: 'solana:devnet' });
      expect(outcome(unset)).toEqual([400, 'SPONSORSHIP_NOT_CONFIGURED']);
    });

    test('statuses to other organizations', async () => {
      const id = await sent({ signers: [await newAddress()] });
      expect((await statusOf(id)).txStatus).toBeDefined();
      const other = await createSubOrganization(place.root, aName('sub'));
      expect((await statusOf(id, other)).errorCode).toBe('RESOURCE_NOT_FOUND');
    });
  });

  test('an operator without a key pays for nothing', async () => {
    const from = await newAddress();
    const transaction = { signers: [OPERATOR, from], instructions: [payment(from, RECEIVER, 1)] };
    const refused = await submit(transaction, { signWiths: [from], sponsor: true });
    expect(outcome(refused)).toEqual([400, 'SPONSORSHIP_NOT_CONFIGURED']);
    expect(refused.body.message).toMatch('custos chains import-key');
  });
});
