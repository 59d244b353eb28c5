import { KeyringError } from '@custos/keyring';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { beforeEach, describe, expect, test } from 'vitest';
import { FakeSolana, readWire, SOLANA_CHAIN } from '../../../../test/chain/fake-solana.ts';
import { messageOf, payment, RECEIVER, type TestTransaction, wireOf } from '../../../../test/chain/solana-transfer.ts';
import { fakeStores } from '../../../../test/harness/fake-stores.ts';
import { randomId } from '../../../lib/ids.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { SignerGone } from '../../send/errors.ts';
import type { Send, SendAttempt, SendProgress, SolanaSendRequest } from '../../send/model.ts';
import { Sends } from '../../send/sends.ts';
import type { Since } from '../../send/since.ts';
import type { SolanaParts } from './parts.ts';
import { solanaStep } from './step.ts';

const NOW = 1_700_000_000_000;
const NO_BLOCKHASH = '1'.repeat(32);
const OPERATOR = 3;

const secretOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const addressOf = (fill: number): string => base58.encode(ed25519.getPublicKey(secretOf(fill)));
const secrets = new Map([1, 2, OPERATOR, 4].map((fill) => [addressOf(fill), secretOf(fill)]));
const [ALICE, BOB, PAYER, STRANGER] = [1, 2, OPERATOR, 4].map(addressOf) as [string, string, string, string];

let chain: FakeSolana;
let nowMs: number;
let sign: SolanaParts['sign'];
let missingSince: Map<string, Since>;
/** What the database holds. */
let stored: Send;
let isLost: boolean;
/** The hashes of other sends. */
let taken: Set<string>;

beforeEach(() => {
  chain = new FakeSolana();
  nowMs = NOW;
  sign = async (_send, address, payload) => ed25519.sign(payload, secrets.get(address) as Uint8Array);
  missingSince = new Map();
  isLost = false;
  taken = new Set();
});

function newSend(transaction: TestTransaction, request: Partial<SolanaSendRequest> = {}): Send {
  stored = {
    organizationId: randomId(),
    id: randomId(),
    activityId: randomId(),
    caip2: SOLANA_CHAIN.caip2,
    sender: ALICE,
    lane: ALICE,
    purpose: 'send',
    request: {
      kind: 'solana',
      transaction: wireOf(transaction),
      signers: transaction.signers,
      takesFreshBlockhash: transaction.blockhash === NO_BLOCKHASH,
      isSponsored: false,
      ...request,
    },
    afterId: undefined,
    state: 'INITIALIZED',
    nonce: undefined,
    attempts: [],
    txHash: undefined,
    block: undefined,
    error: undefined,
    isOpen: true,
    createdAtMs: NOW,
    updatedAtMs: NOW,
  };
  return stored;
}

const fresh = (): Send => newSend({ signers: [ALICE], blockhash: NO_BLOCKHASH });
/** With a blockhash of its own. */
const fixed = (blockhash = chain.blockhash): Send => newSend({ signers: [ALICE], blockhash });

/** One step by a process that may die at any of its calls; what it wrote stays. */
async function step(overrides: Partial<SolanaParts> = {}): Promise<SendProgress | undefined> {
  const write = async (progress: SendProgress): Promise<boolean> => {
    if (!isLost) stored = { ...stored, ...progress, updatedAtMs: nowMs };
    return !isLost;
  };
  const parts: SolanaParts = {
    node: chain.node({ ...SOLANA_CHAIN, operatorAddress: PAYER }),
    read: fakeStores([Sends, { hasHash: async (_caip2: string, hash: string) => taken.has(hash) }]),
    sign,
    nowMs,
    elapsedMs: nowMs,
    missingSince,
    save: write,
    ...overrides,
  };
  const progress = await solanaStep(parts, stored);
  if (progress !== undefined) await write(progress);
  return progress;
}

const outcome = () => ({ state: stored.state, isOpen: stored.isOpen });

describe('the first step', () => {
  test('signs, stores and hands over, in this order', async () => {
    const send = fresh();
    const seen: string[] = [];
    chain.onBroadcast = (_transaction, take) => {
      seen.push(stored.state);
      expect(stored.attempts).toMatchObject([{ signedAtMs: NOW }]);
      return take();
    };
    expect(await step()).toBeUndefined();
    expect(seen).toEqual(['BROADCASTING']);
    const [handed] = chain.handed;
    expect(handed?.blockhash).toBe(chain.blockhash);
    expect(handed?.message).toEqual(messageOf({ signers: [ALICE], blockhash: chain.blockhash }));
    expect(stored).toMatchObject({ id: send.id, txHash: handed?.signature, nonce: undefined, block: undefined });
    expect(stored.attempts).toMatchObject([{ hash: handed?.signature, lastValidBlockHeight: chain.height + 150 }]);
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
  });

  test('leaves a blockhash alone that came with the transaction', async () => {
    const blockhash = chain.blockhash;
    fixed(blockhash);
    chain.grow(20);
    await step();
    expect(chain.handed.map((handed) => handed.blockhash)).toEqual([blockhash]);
    expect(stored.attempts[0]).not.toHaveProperty('lastValidBlockHeight');
  });

  test('signs with every key, and keeps the signatures that there are', async () => {
    const unsigned = { signers: [STRANGER, ALICE, BOB], blockhash: chain.blockhash };
    const signature = ed25519.sign(messageOf(unsigned), secrets.get(STRANGER) as Uint8Array);
    newSend({ ...unsigned, signatures: { [STRANGER]: signature } }, { signers: [ALICE, BOB] });
    await step();
    expect(chain.handed).toMatchObject([{ signers: [STRANGER, ALICE, BOB], signature: base58.encode(signature) }]);
  });

  test('a version 0 message too', async () => {
    newSend({ signers: [ALICE], blockhash: NO_BLOCKHASH, version: 0 });
    await step();
    expect(chain.handed[0]?.message).toEqual(messageOf({ signers: [ALICE], blockhash: chain.blockhash, version: 0 }));
  });

  test('the operator signs as the payer of a sponsored one', async () => {
    const instructions = [payment(ALICE, RECEIVER, 7)];
    const by: string[] = [];
    const transaction = { signers: [PAYER, ALICE], blockhash: NO_BLOCKHASH, instructions };
    newSend(transaction, { signers: [ALICE], isSponsored: true });
    await step({
      sign: (send, address, payload) => {
        by.push(address);
        return sign(send, address, payload);
      },
    });
    expect(by).toEqual([PAYER, ALICE]);
    expect(chain.handed).toMatchObject([{ signers: [PAYER, ALICE] }]);
  });

  describe('the operator signs a blockhash that came with a transaction', () => {
    const sponsored = (blockhash: string) => {
      const instructions = [payment(ALICE, RECEIVER, 7)];
      newSend({ signers: [PAYER, ALICE], blockhash, instructions }, { signers: [ALICE], isSponsored: true });
    };

    test('when it is of this chain', async () => {
      sponsored(chain.blockhash);
      await step();
      expect(chain.handed).toMatchObject([{ signers: [PAYER, ALICE], blockhash: chain.blockhash }]);
    });

    test('not when it is of another one, however long that is waited for', async () => {
      const elsewhere = new FakeSolana();
      elsewhere.grow(5000);
      sponsored(elsewhere.blockhash);
      sign = () => Promise.reject(new Error('nothing may be signed'));
      expect(await step()).toBeUndefined();
      expect(stored).toMatchObject({ state: 'INITIALIZED', attempts: [], txHash: undefined });
      nowMs += SOLANA_CHAIN.sendWithinSeconds * 1000 + 1;
      await step();
      expect(stored).toMatchObject({ state: 'FAILED', isOpen: false, attempts: [], txHash: undefined });
      expect(stored.error?.message).toMatch('called its blockhash valid');
      // Whose own fee it is may sign what they like.
      nowMs = NOW;
      fixed(elsewhere.blockhash);
      sign = async (_send, address, payload) => ed25519.sign(payload, secrets.get(address) as Uint8Array);
      await step();
      expect(stored.attempts).toHaveLength(1);
    });

    test('as soon as the node knows it', async () => {
      const ahead = new FakeSolana();
      ahead.grow(3);
      sponsored(ahead.blockhash);
      expect(await step()).toBeUndefined();
      expect(outcome()).toEqual({ state: 'INITIALIZED', isOpen: true });
      chain.grow(3);
      await step();
      expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
    });
  });

  test('another operator than the one that was to pay does not', async () => {
    newSend({ signers: [PAYER, ALICE], blockhash: NO_BLOCKHASH }, { signers: [ALICE], isSponsored: true });
    await step({ node: chain.node({ ...SOLANA_CHAIN, operatorAddress: BOB }) });
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.error?.message).toMatch('operator');
    expect(chain.handed).toEqual([]);
  });

  test('a second equal payment waits for the next blockhash', async () => {
    fresh();
    await step();
    const [first] = chain.handed;
    taken.add(first?.signature ?? '');
    fresh();
    expect(await step()).toBeUndefined();
    expect(outcome()).toEqual({ state: 'INITIALIZED', isOpen: true });
    expect(chain.handed).toHaveLength(1);
    chain.grow(1);
    await step();
    expect(stored.state).toBe('BROADCASTING');
    expect(new Set(chain.handed.map(({ signature }) => signature)).size).toBe(2);
  });

  test('the very same transaction is handed over as often as it is asked for', async () => {
    fixed();
    await step();
    const hash = stored.txHash;
    taken.add(hash ?? '');
    fixed();
    await step();
    expect(stored).toMatchObject({ state: 'BROADCASTING', txHash: hash });
  });

  test('who has lost the lane hands nothing over', async () => {
    fresh();
    isLost = true;
    expect(await step()).toBeUndefined();
    expect(chain.handed).toEqual([]);
    isLost = false;
    await step();
    expect(chain.handed).toHaveLength(1);
  });

  test('a node that is away is asked again, until it is too late', async () => {
    fresh();
    chain.isDown = true;
    await expect(step()).rejects.toThrow(NodeError);
    expect(outcome()).toEqual({ state: 'INITIALIZED', isOpen: true });
    nowMs += SOLANA_CHAIN.sendWithinSeconds * 1000;
    await expect(step()).rejects.toThrow(NodeError);
    nowMs += 1;
    chain.isDown = false;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.error?.message).toMatch('within 3600 seconds');
    expect(chain.handed).toEqual([]);
  });

  test.each([
    ['a key that is gone', new SignerGone('the key is gone'), 'the key is gone'],
    ['a key that does not open', new KeyringError('NOT_OPENED', 'no'), 'the key does not open'],
  ])('%s fails it', async (_name, error, message) => {
    fresh();
    sign = () => Promise.reject(error);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.error).toEqual({ message });
  });

  test('a keyring that is away does not', async () => {
    fresh();
    const away = new KeyringError('UNAVAILABLE', 'away');
    await expect(step({ sign: () => Promise.reject(away) })).rejects.toBe(away);
    expect(outcome()).toEqual({ state: 'INITIALIZED', isOpen: true });
    await step();
    expect(chain.handed).toHaveLength(1);
  });

  test('a signature of another key is not sent', async () => {
    fresh();
    sign = async (_send, _address, payload) => ed25519.sign(payload, secretOf(9));
    await expect(step()).rejects.toThrow('assertion failed');
    expect(outcome()).toEqual({ state: 'INITIALIZED', isOpen: true });
    expect(chain.handed).toEqual([]);
  });
});

describe('a refusal', () => {
  const refusal = {
    kind: 'refused',
    rpcCode: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    err: { InstructionError: [0, { Custom: 1 }] },
    logs: ['Program 11111111111111111111111111111111 invoke [1]', 'Transfer: insufficient lamports 0, need 49'],
  } as const;

  test('of what was never handed over before is a failure, with what the node said', async () => {
    fresh();
    chain.onBroadcast = () => refusal;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    expect(stored.error).toEqual({
      message: `the node refused it: ${refusal.message}`,
      solana: {
        source: 'rpc',
        rpcCode: -32002,
        rpcMessage: refusal.message,
        transactionErrorJson: '{"InstructionError":[0,{"Custom":1}]}',
        logs: refusal.logs,
      },
    });
  });

  test('by a node that passes it on all the same is found out', async () => {
    fresh();
    chain.onBroadcast = () => refusal;
    await step();
    const { hash, raw } = stored.attempts[0] as SendAttempt;
    chain.onBroadcast = undefined;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    // It is not handed over again: whoever heard of the failure may have paid in another way.
    expect(chain.handed).toEqual([]);
    chain.broadcast(raw);
    await step();
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(stored.txHash).toBe(hash);
    expect(stored.error).toBeUndefined();
  });

  test('is looked for until the time of its blockhash is over, and for a while', async () => {
    fresh();
    chain.onBroadcast = () => refusal;
    await step();
    chain.grow(200);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    chain.grow(200);
    nowMs += 30_000;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.error?.message).toBe(`the node refused it: ${refusal.message}`);
    expect(chain.handed).toEqual([]);
  });

  test('is told in a bounded number of lines', async () => {
    fresh();
    chain.onBroadcast = () => ({ ...refusal, logs: Array.from({ length: 1000 }, () => 'x'.repeat(100)) });
    await step();
    expect(stored.error?.solana?.logs).toHaveLength(100);
  });

  test('of what may be out is none: its status decides', async () => {
    fresh();
    chain.onBroadcast = () => ({ kind: 'uncertain', message: 'timed out' });
    await step();
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
    chain.onBroadcast = () => refusal;
    expect(await step()).toBeUndefined();
    chain.onBroadcast = undefined;
    await step();
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
  });

  test('for a blockhash that we have just been given is a matter of time', async () => {
    fresh();
    chain.onBroadcast = () => ({ ...refusal, err: 'BlockhashNotFound' });
    expect(await step()).toBeUndefined();
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
    chain.onBroadcast = undefined;
    await step();
    expect(chain.handed).toHaveLength(1);
  });

  test('for a blockhash that came with the transaction is a failure', async () => {
    fixed();
    chain.grow(151);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    expect(stored.error?.solana?.transactionErrorJson).toBe('"BlockhashNotFound"');
  });
});

describe('a process that dies', () => {
  const dies = () => {
    throw new Error('killed');
  };

  test('after storing and before handing over: the next one hands the same bytes over', async () => {
    fresh();
    const node = chain.node({ ...SOLANA_CHAIN, operatorAddress: PAYER });
    await expect(step({ node: { ...node, broadcast: async () => dies() } })).rejects.toThrow('killed');
    expect(chain.handed).toEqual([]);
    const [attempt] = stored.attempts;
    chain.grow(10);
    await step();
    expect(chain.handed.map(({ signature }) => signature)).toEqual([attempt?.hash]);
    expect(stored.attempts).toEqual([attempt]);
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
  });

  test('after handing over and before it heard: nothing is signed again', async () => {
    fresh();
    chain.onBroadcast = (_transaction, take) => {
      take();
      return dies();
    };
    await expect(step()).rejects.toThrow('killed');
    chain.onBroadcast = undefined;
    await step({ sign: () => Promise.reject(new Error('nothing may be signed')) });
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(chain.handed).toHaveLength(1);
  });

  test('before storing: the next one begins anew', async () => {
    fresh();
    await expect(step({ save: async () => dies() })).rejects.toThrow('killed');
    expect(stored.attempts).toEqual([]);
    chain.grow(1);
    await step();
    expect(chain.handed.map(({ blockhash }) => blockhash)).toEqual([chain.blockhash]);
  });

  test('and whose successor comes after the blockhash: it failed, and nothing was sent', async () => {
    fresh();
    const node = chain.node({ ...SOLANA_CHAIN, operatorAddress: PAYER });
    await expect(step({ node: { ...node, broadcast: async () => dies() } })).rejects.toThrow('killed');
    chain.grow(1000);
    await step();
    expect(stored.state).toBe('BROADCASTING');
    chain.grow(1);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    expect(stored.error).toEqual({
      message: expect.stringMatching('blockhash expired'),
      solana: { source: 'expiry' },
    });
    expect(chain.handed).toEqual([]);
  });

  test('and whose successor comes after the blockhash: it landed long ago', async () => {
    fresh();
    await step();
    chain.grow(1000);
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(chain.handed).toHaveLength(1);
  });
});

describe('on its way', () => {
  test('the same bytes are handed over until a status is seen', async () => {
    fresh();
    chain.landsAs = undefined;
    for (let round = 0; round < 4; round += 1) await step();
    expect(chain.handed).toHaveLength(4);
    expect(new Set(chain.handed.map(({ signature }) => signature)).size).toBe(1);
    chain.land(stored.txHash ?? '', 'processed');
    expect(await step()).toBeUndefined();
    expect(chain.handed).toHaveLength(4);
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
  });

  test('it is included when it is confirmed, and settled when it is final', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    await step();
    nowMs += 5000;
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: true });
    const block = { number: chain.height, hash: String(chain.height), timestamp: (NOW + 5000) / 1000, fee: '5000' };
    expect(stored.block).toEqual(block);
    nowMs += 5000;
    expect(await step()).toBeUndefined();
    (chain.landed.get(stored.txHash ?? '') as { level: string }).level = 'finalized';
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(stored.block).toEqual(block);
  });

  test('a node without history tells no fee, and that is all', async () => {
    fresh();
    chain.keepsDetails = false;
    await step();
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(stored.block?.fee).toBe('');
  });

  test('a fork that is given up puts it on its way again', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    await step();
    await step();
    expect(stored.state).toBe('INCLUDED');
    const before = stored.txHash;
    chain.landed.clear();
    chain.grow(1);
    await step();
    expect(stored).toMatchObject({ state: 'BROADCASTING', isOpen: true, block: undefined, txHash: before });
    await step();
    await step();
    expect(stored).toMatchObject({ state: 'INCLUDED', txHash: before, block: { number: chain.height } });
    expect(chain.handed).toHaveLength(2);
  });

  test.each([
    ['fresh', fresh, 150 + 32],
    ['its own', () => fixed(), 300],
  ])('what was confirmed stays so for a node that has forgotten it: blockhash %s', async (_name, make, blocks) => {
    make();
    chain.landsAs = 'confirmed';
    await step();
    await step();
    const { block } = stored;
    chain.landed.clear();
    chain.grow(blocks + 1);
    await step();
    expect(stored).toMatchObject({ state: 'INCLUDED', isOpen: false, block });
  });

  test('on another fork it may be in another slot', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    await step();
    await step();
    const first = stored.block?.number ?? 0;
    chain.grow(3);
    chain.land(stored.txHash ?? '', 'confirmed');
    await step();
    expect(stored).toMatchObject({ state: 'INCLUDED', isOpen: true, block: { number: first + 3 } });
  });
});

describe('a failure in a block', () => {
  const err = { InstructionError: [0, { Custom: 1 }] };

  test('is told when it is final', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    chain.errorInBlock = err;
    await step();
    expect(await step()).toBeUndefined();
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
    chain.land(stored.txHash ?? '', 'finalized');
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.block?.number).toBe(chain.height);
    expect(stored.error).toEqual({
      message: `the transaction failed in its block: ${JSON.stringify(err)}`,
      solana: {
        source: 'chain',
        transactionErrorJson: JSON.stringify(err),
        logs: ['Program log: hello'],
        unitsConsumed: '150',
      },
    });
  });

  test('on a fork that is given up is none', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    chain.errorInBlock = err;
    await step();
    await step();
    chain.errorInBlock = undefined;
    chain.land(stored.txHash ?? '', 'finalized');
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    expect(stored.error).toBeUndefined();
  });

  test('after it was included on another fork takes that back', async () => {
    fresh();
    chain.landsAs = 'confirmed';
    await step();
    await step();
    expect(stored.state).toBe('INCLUDED');
    chain.land(stored.txHash ?? '', 'confirmed', err);
    await step();
    expect(stored).toMatchObject({ state: 'BROADCASTING', isOpen: true, block: undefined });
    chain.land(stored.txHash ?? '', 'finalized', err);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
  });
});

describe('a blockhash that expires', () => {
  beforeEach(() => {
    chain.landsAs = undefined;
  });

  test('fails the send when the finalized chain is past it, and has grown since', async () => {
    fresh();
    await step();
    // Past the height at the head, but what is not finalized could still be undone.
    chain.grow(150 + 32);
    expect(await step()).toBeUndefined();
    chain.grow(1);
    expect(await step()).toBeUndefined();
    // The same height again is the same look again.
    expect(await step()).toBeUndefined();
    chain.grow(1);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    expect(stored.error?.message).toMatch('blockhash expired');
  });

  /** Sent, and called expired. */
  async function expired(): Promise<void> {
    fresh();
    await step();
    chain.grow(500);
    await step();
    chain.grow(1);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
  }

  test('ends the send after it was looked for during many blocks, and for some time', async () => {
    await expired();
    chain.grow(150);
    expect(await step()).toBeUndefined();
    nowMs += 29_999;
    expect(await step()).toBeUndefined();
    nowMs += 1;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
  });

  test('ends the send on a chain that stands still too', async () => {
    await expired();
    nowMs += 599_999;
    expect(await step()).toBeUndefined();
    nowMs += 1;
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
  });

  test('is taken back when the transaction turns up all the same', async () => {
    await expired();
    const { txHash, attempts } = stored;
    chain.land(txHash ?? '', 'confirmed');
    await step();
    expect(stored).toMatchObject({ state: 'INCLUDED', isOpen: true, error: undefined, txHash, attempts });
  });

  test('is no other failure before that is final', async () => {
    await expired();
    chain.land(stored.txHash ?? '', 'confirmed', { InsufficientFundsForFee: {} });
    expect(await step()).toBeUndefined();
    chain.land(stored.txHash ?? '', 'finalized', { InsufficientFundsForFee: {} });
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: false });
    expect(stored.error?.solana?.source).toBe('chain');
  });

  test('has nothing signed or handed over again, whatever nodes say then', async () => {
    await expired();
    const { attempts } = stored;
    const handed = chain.handed.length;
    sign = () => Promise.reject(new Error('nothing may be signed'));
    // Nodes that are behind: the old blockhash looks good again.
    chain.grow(-500);
    for (let round = 0; round < 3; round += 1) {
      chain.grow(1);
      expect(await step()).toBeUndefined();
    }
    chain.grow(800);
    await step();
    nowMs += 30_000;
    await step();
    expect(stored).toMatchObject({ state: 'FAILED', isOpen: false, attempts });
    expect(chain.handed).toHaveLength(handed);
  });

  describe('with several nodes', () => {
    let other: FakeSolana;
    beforeEach(() => {
      other = new FakeSolana();
      chain.others.push(other);
    });

    /** Two looks by which the first node alone would have it expired. */
    async function looks(): Promise<void> {
      chain.grow(500);
      await step();
      chain.grow(1);
      await step();
    }

    test('is not believed while another one is behind, however often it is looked at', async () => {
      fresh();
      await step();
      await looks();
      // At the last height at which a block could take it, as far as it is finalized.
      other.grow(150 + 32);
      await looks();
      expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
      other.grow(1);
      await looks();
      expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    });

    test('is not believed while another one calls it valid', async () => {
      fresh();
      await step();
      other.grow(5000);
      other.isValid = () => true;
      await looks();
      expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
      other.isValid = () => false;
      await looks();
      expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    });

    test('is believed without those that are away', async () => {
      fresh();
      await step();
      other.isDown = true;
      await looks();
      expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
    });

    test('is not believed where another one has the transaction', async () => {
      fresh();
      await step();
      other.land(stored.txHash ?? '', 'finalized');
      chain.grow(500);
      await step();
      expect(stored).toMatchObject({ state: 'INCLUDED', isOpen: false, block: { number: other.height } });
    });

    test('is taken back when another one has the transaction later', async () => {
      fresh();
      await step();
      other.height += 5000;
      await looks();
      expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
      other.land(stored.txHash ?? '', 'confirmed');
      await step();
      expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: true });
    });

    test('is undecided while nodes contradict each other', async () => {
      const third = new FakeSolana();
      chain.others.push(third);
      fresh();
      await step();
      other.land(stored.txHash ?? '', 'finalized');
      third.land(stored.txHash ?? '', 'finalized', { InsufficientFundsForFee: {} });
      await looks();
      expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
      // What is deeper counts for more.
      third.land(stored.txHash ?? '', 'confirmed', { InsufficientFundsForFee: {} });
      await step();
      expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
    });
  });

  test('is not believed of a node that still calls it valid', async () => {
    fresh();
    await step();
    chain.grow(500);
    const node = { ...chain.node(), isBlockhashValid: async () => true };
    for (let round = 0; round < 3; round += 1) {
      chain.grow(1);
      expect(await step({ node })).toBeUndefined();
    }
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
  });

  test('does not fail what turns up at the second look', async () => {
    fresh();
    await step();
    chain.grow(500);
    expect(await step()).toBeUndefined();
    chain.land(stored.txHash ?? '', 'finalized');
    chain.grow(1);
    await step();
    expect(outcome()).toEqual({ state: 'INCLUDED', isOpen: false });
  });

  test('that came with the transaction is given as many blocks as one may have', async () => {
    fixed();
    await step();
    chain.grow(10);
    expect(await step()).toBeUndefined();
    chain.grow(141);
    const finalized = chain.height - 32;
    await step();
    expect(stored.attempts).toMatchObject([{ lastValidBlockHeight: finalized + 150 }]);
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
    chain.grow(150);
    expect(await step()).toBeUndefined();
    chain.grow(1);
    expect(await step()).toBeUndefined();
    chain.grow(1);
    await step();
    expect(outcome()).toEqual({ state: 'FAILED', isOpen: true });
  });

  test('while nodes are away nothing is decided', async () => {
    fresh();
    await step();
    chain.grow(1000);
    chain.isDown = true;
    await expect(step()).rejects.toThrow(NodeError);
    expect(outcome()).toEqual({ state: 'BROADCASTING', isOpen: true });
  });
});

test('what the fake chain takes is checked: a wrong signature is not', () => {
  const wire = Buffer.from(wireOf({ signers: [ALICE] }), 'hex');
  expect(() => readWire(wire)).toThrow('signature 0 is wrong');
});
