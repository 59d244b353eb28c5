import { setTimeout as pause } from 'node:timers/promises';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { encodeErrorResult, keccak256, numberToHex, parseAbi, parseTransaction, toBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CHAIN, FakeChain } from '../../../test/chain/fake-chain.ts';
import { DATABASES } from '../../../test/harness/databases.ts';
import { builderOf, NOW, organization, Place } from '../../../test/storage/place.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import { randomId, type SendId } from '../../lib/ids.ts';
import type { EvmNode, Hex, Nodes } from '../../nodes/node.ts';
import type { Storage } from '../../storage/storage.ts';
import { ContractInterfaceStore } from '../policies/store/contract-interfaces.ts';
import { WebhookStore } from '../webhooks/store/webhooks.ts';
import { SendDispatcher } from './dispatcher.ts';
import { foreignLane, type Send } from './model.ts';
import { type SendSigner, SignerGone } from './signer.ts';
import { SendReader, SendStore } from './store/sends.ts';

const SECRET = new Uint8Array(32).fill(7);
const account = privateKeyToAccount(`0x${Buffer.from(SECRET).toString('hex')}`);
const FROM = account.address.toLowerCase();
const TO = `0x${'ab'.repeat(20)}`;
const OPERATOR_SECRET = new Uint8Array(32).fill(8);
const OPERATOR = privateKeyToAccount(`0x${Buffer.from(OPERATOR_SECRET).toString('hex')}`).address.toLowerCase();
const BATCH = `0x${'ba'.repeat(20)}`;
/** Of a parent that wants to hear of everything that is sent. */
const ENDPOINT = {
  ...{ name: 'Sends', url: 'https://hooks.example/', isActive: true, isFeature: false },
  subscriptions: [{ eventType: 'SEND_TRANSACTION_STATUS_UPDATES', isActive: true }],
  ...{ createdAtMs: NOW, updatedAtMs: NOW },
} as const;
const LANE = { caip2: CHAIN.caip2, lane: FROM };

function signWith(secret: Uint8Array, payload: Uint8Array) {
  const bytes = secp256k1.sign(payload, secret, { prehash: false, format: 'recovered' });
  return { r: bytes.subarray(1, 33), s: bytes.subarray(33), v: bytes[0] as 0 | 1 };
}

describe.each(DATABASES)('sends on %s', (kind) => {
  const home = organization();
  let place: Place;
  let storage: Storage;
  let chain: FakeChain;
  let nowMs: number;
  let isKeyGone: boolean;
  let running: SendDispatcher[];
  let seen: { readonly id: string; readonly state: string; readonly txHash: string | undefined }[];
  let listeners: (() => void)[];

  beforeEach(async () => {
    place = await Place.create(kind);
    storage = await place.open();
    await storage.write((store) => store(OrganizationStore).insert(home));
    chain = new FakeChain();
    nowMs = NOW;
    isKeyGone = false;
    running = [];
    seen = [];
    listeners = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((dispatcher) => dispatcher.stop()));
    await place[Symbol.asyncDispose]();
  });

  const signer: SendSigner = {
    sign: async (_organizationId, address, _scheme, payloads) => {
      if (isKeyGone) throw new SignerGone('the key is gone');
      expect(address).toBe(FROM);
      return payloads.map((payload) => signWith(SECRET, payload));
    },
    signAsOperator: async (_caip2, address, _scheme, payloads) => {
      expect(address).toBe(OPERATOR);
      return payloads.map((payload) => signWith(OPERATOR_SECRET, payload));
    },
  };

  function start(settings: Partial<ChainSettings> = {}, node?: EvmNode): SendDispatcher {
    const configured = { ...CHAIN, ...settings };
    const nodes: Nodes = {
      evm: () => node ?? chain.node(configured),
      solana: () => {
        throw new Error('no Solana here');
      },
      close: () => {},
    };
    const dispatcher = new SendDispatcher({
      chains: [configured],
      nodes,
      storage,
      signer,
      webhooks: { wake: () => {} },
      clock: () => nowMs,
      elapsed: () => nowMs + performance.now(),
      newId: randomId,
      observe: {
        send: ({ id, txHash }, state) => {
          seen.push({ id, state, txHash });
          for (const listener of listeners.splice(0)) listener();
        },
        unavailable: () => {},
      },
    });
    running.push(dispatcher);
    dispatcher.start();
    return dispatcher;
  }

  const call = (to = TO, data = '0x') => ({ to, value: '1', data });

  async function insert(
    request: Partial<Send> & { readonly nonce?: number; readonly fee?: string } = {},
  ): Promise<SendId> {
    const { nonce, fee, ...extra } = request;
    const send: Send = {
      organizationId: home.id,
      id: randomId(),
      activityId: randomId(),
      caip2: CHAIN.caip2,
      sender: FROM,
      lane: FROM,
      purpose: 'send',
      request: {
        kind: 'ethereum',
        calls: [call()],
        ...(nonce !== undefined && { nonce }),
        ...(fee !== undefined && { maxFeePerGas: fee, maxPriorityFeePerGas: '1' }),
      },
      afterId: undefined,
      state: 'INITIALIZED',
      attempts: [],
      txHash: undefined,
      block: undefined,
      error: undefined,
      isOpen: true,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      ...extra,
      nonce: undefined,
    };
    await storage.write((store) => store(SendStore).insert(send));
    return send.id;
  }

  const read = (id: SendId): Promise<Send> => storage.read(SendReader).get(home.id, id);

  /** When the dispatcher has said so of the send, `times` times. */
  async function reached(id: SendId, state: Send['state'], times = 1): Promise<Send> {
    while (seen.filter((one) => one.id === id && one.state === state).length < times) {
      await new Promise<void>((resolve) => listeners.push(resolve));
    }
    return await read(id);
  }

  /** When something holds that no event tells of; looked at as often as the dispatcher looks. */
  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) await pause(10);
  }

  /** When nodes were asked so many times more what became of something. */
  async function rounds(count: number): Promise<void> {
    const wanted = chain.looks + count + 1;
    await until(() => chain.looks >= wanted);
  }

  test('many at once land in their order, with neither gap nor double, and are let go when they are deep', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => insert()));
    start();
    const sends = await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    const landed = chain.landed(FROM);
    expect(landed.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 40 }, (_, index) => index));
    const inOrder = [...sends].sort((one, other) => (one.id < other.id ? -1 : 1));
    expect(landed.map(({ hash }) => hash)).toEqual(inOrder.map(({ txHash }) => txHash));
    expect(inOrder[0]).toMatchObject({ block: { number: 1, fee: String(21_000n * chain.baseFee) }, error: undefined });
    chain.mine(13);
    await until(async () => (await storage.read(SendReader).open(CHAIN.caip2, FROM, 1)).length === 0);
    await until(async () => (await storage.read(SendReader).freeLanes([CHAIN.caip2], nowMs + 60_000, 9)).length === 0);
    // The lane opens again for the next.
    await reached(await insert(), 'INCLUDED');
    expect(chain.landed(FROM)).toHaveLength(41);
  });

  test('what was stored and never handed over goes out later, byte for byte', async () => {
    chain.onBroadcast = async () => ({ kind: 'uncertain', message: 'cut off' });
    const id = await insert();
    const first = start();
    const before = await reached(id, 'BROADCASTING');
    await first.stop();
    expect(chain.landed(FROM)).toEqual([]);
    chain.onBroadcast = undefined;
    start();
    const after = await reached(id, 'INCLUDED');
    expect(after.attempts).toEqual(before.attempts);
    expect(chain.landed(FROM).map(({ hash }) => hash)).toEqual([before.txHash]);
  });

  test('what was handed over when the process died is found, not sent again', async () => {
    chain.isMiningAtOnce = false;
    const id = await insert();
    const first = start();
    const { txHash } = await reached(id, 'BROADCASTING');
    await until(() => chain.pool.size === 1);
    await first.stop();
    chain.mine();
    const handed = chain.handed.length;
    start();
    expect(await reached(id, 'INCLUDED')).toMatchObject({ txHash, nonce: 0 });
    expect(chain.handed).toHaveLength(handed);
    expect(chain.landed(FROM)).toHaveLength(1);
  });

  test('a node that took it without answering does not make it two', async () => {
    chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'uncertain', message: 'timed out' };
    };
    const ids = [await insert(), await insert()];
    start();
    await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    expect(chain.landed(FROM).map(({ nonce }) => nonce)).toEqual([0, 1]);
  });

  test('a stuck one is replaced at its nonce for more, and whichever lands is told', async () => {
    chain.isMiningAtOnce = false;
    const id = await insert();
    const fixed = await insert({ fee: String(3n * chain.baseFee) });
    start();
    await reached(fixed, 'BROADCASTING');
    const before = (await read(id)).attempts[0];
    chain.baseFee *= 4n;
    chain.mine();
    nowMs += CHAIN.replaceAfterSeconds * 1000;
    await until(async () => (await read(id)).attempts.length === 2);
    chain.mine();
    const after = await reached(id, 'INCLUDED');
    expect(after.attempts[0]).toEqual(before);
    expect(after.txHash).toBe(after.attempts[1]?.hash);
    const fees = after.attempts.map(({ raw }) => parseTransaction(raw as Hex).maxFeePerGas ?? 0n);
    expect(fees[1]).toBeGreaterThanOrEqual(2n * chain.baseFee);
    expect(after.attempts.map(({ raw }) => parseTransaction(raw as Hex).nonce ?? 0)).toEqual([0, 0]);
    // The fee that its caller fixed is kept, so that it waits.
    nowMs += CHAIN.replaceAfterSeconds * 1000;
    chain.mine();
    await pause(4 * CHAIN.pollMs);
    expect(await read(fixed)).toMatchObject({ state: 'BROADCASTING', attempts: [expect.anything()] });
    // Somebody may replace it by hand.
    const byHand = await insert({ nonce: 1, fee: String(9n * chain.baseFee) });
    await reached(byHand, 'BROADCASTING');
    chain.mine();
    await reached(byHand, 'INCLUDED');
    // Many blocks may come within a second.
    chain.mine(20);
    await rounds(3);
    expect((await read(fixed)).state).toBe('BROADCASTING');
    // To another node its nonce is free.
    chain.countElsewhere = 1;
    nowMs += 30_000;
    await rounds(3);
    expect((await read(fixed)).state).toBe('BROADCASTING');
    chain.countElsewhere = undefined;
    const given = await reached(fixed, 'FAILED');
    expect(given.error?.message).toContain('took its nonce 1');
    expect(chain.landed(FROM)).toHaveLength(2);
  });

  test('a refusal is told with its reason and takes no nonce', async () => {
    const refused = (text: string): Hex =>
      encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] });
    const estimated = `0x${'01'.repeat(20)}`;
    const inBlock = `0x${'02'.repeat(20)}`;
    const custom = `0x${'03'.repeat(20)}`;
    chain.reverting.set(estimated, { data: refused('not today'), onlyInBlocks: false });
    chain.reverting.set(inBlock, { data: refused('too late'), onlyInBlocks: true });
    const abi = parseAbi(['error TooMuch(uint256 asked, uint256 left)', 'function f()']);
    chain.reverting.set(custom, {
      data: encodeErrorResult({ abi, errorName: 'TooMuch', args: [5n, 3n] }),
      onlyInBlocks: false,
    });
    await storage.write((store) =>
      store(ContractInterfaceStore).insert(home.id, {
        id: randomId<'contract-interface'>(),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        address: custom,
        definition: JSON.stringify(abi),
        label: 'c',
        notes: '',
        createdAtMs: NOW,
        updatedAtMs: NOW,
      }),
    );
    const to = (address: string) => ({ request: { kind: 'ethereum' as const, calls: [call(address)] } });
    const ids = [await insert(to(estimated)), await insert(to(custom)), await insert(to(inBlock)), await insert()];
    start();
    const [first, second, third, fourth] = await Promise.all([
      ...ids.slice(0, 3).map((id) => reached(id, 'FAILED')),
      reached(ids[3] as SendId, 'INCLUDED'),
    ]);
    expect(first).toMatchObject({
      nonce: undefined,
      attempts: [],
      isOpen: false,
      error: {
        message: 'execution reverted: not today',
        eth: { revertChain: [{ address: estimated, errorType: 'native', native: { message: 'not today' } }] },
      },
    });
    expect(second?.error?.eth?.revertChain).toMatchObject([
      { errorType: 'custom', custom: { errorName: 'TooMuch', paramsJson: '{"asked":"5","left":"3"}' } },
    ]);
    expect(third).toMatchObject({ nonce: 0, error: { message: 'execution reverted: too late' }, block: { number: 1 } });
    expect(fourth).toMatchObject({ nonce: 1 });
  });

  test('a node that says no frees the nonce', async () => {
    chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    const id = await insert();
    start({ pollMs: 10 });
    const failed = await reached(id, 'FAILED');
    expect(failed).toMatchObject({ nonce: undefined, error: { message: 'the node refused it: insufficient funds' } });
    chain.onBroadcast = undefined;
    const next = await insert({ fee: String(3n * chain.baseFee) });
    expect(await reached(next, 'INCLUDED')).toMatchObject({ nonce: 0 });
    // It is let go when it has not turned up.
    await rounds(1);
    chain.mine(13);
    await rounds(2);
    expect((await read(id)).isOpen).toBe(true);
    nowMs += 30_000;
    await until(async () => !(await read(id)).isOpen);
  });

  test('the same payment again after a refusal is the same transaction, and only the second send has made it', async () => {
    chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    const id = await insert();
    start({ pollMs: 10 });
    const refused = await reached(id, 'FAILED');
    chain.onBroadcast = undefined;
    const again = await insert();
    expect((await reached(again, 'INCLUDED')).txHash).toBe(refused.txHash);
    await until(async () => !(await read(id)).isOpen);
    expect(await read(id)).toMatchObject({ state: 'FAILED', error: refused.error });
  });

  test('one that a node refused is not let go while another node has it', async () => {
    chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    chain.receiptOf = () => undefined;
    chain.hasWitnesses = true;
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'FAILED');
    await rounds(1);
    nowMs += 3_600_000;
    chain.mine(13);
    await rounds(3);
    expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
    chain.receiptOf = undefined;
    await reached(id, 'INCLUDED');
  });

  test('one that was refused, landed and is undone has its nonce again, and lands again', async () => {
    chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'INCLUDED');
    chain.onBroadcast = undefined;
    chain.isMiningAtOnce = false;
    chain.reorganise(1, false);
    expect(await reached(id, 'BROADCASTING', 2)).toMatchObject({ nonce: 0, isOpen: true });
    await until(() => chain.pool.size === 1);
    // It waits for longer than one is watched that failed.
    nowMs += 30_000;
    chain.mine(0);
    await rounds(3);
    expect(await read(id)).toMatchObject({ state: 'BROADCASTING', isOpen: true });
    chain.mine();
    await reached(id, 'INCLUDED', 2);
    expect(chain.landed(FROM)).toHaveLength(1);
  });

  describe('a node hides what is in a block, so that another transaction seems to have the nonce', () => {
    async function hidden(): Promise<SendId> {
      const id = await insert();
      chain.receiptOf = () => undefined;
      start({ pollMs: 10 });
      await until(() => chain.landed(FROM).length === 1);
      await rounds(1);
      chain.mine(2);
      nowMs += 30_000;
      await rounds(2);
      expect((await read(id)).state).toBe('BROADCASTING');
      chain.mine();
      return id;
    }

    test('another node has it: nothing is told before they agree', async () => {
      chain.hasWitnesses = true;
      const id = await hidden();
      nowMs += 3_600_000;
      chain.mine(30);
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      chain.receiptOf = undefined;
      await reached(id, 'INCLUDED');
    });

    test('there is no other: it is watched for some blocks and some time, and corrected', async () => {
      const id = await hidden();
      await reached(id, 'FAILED');
      chain.mine(12);
      nowMs += 15_000;
      await rounds(3);
      expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
      chain.receiptOf = undefined;
      expect(await reached(id, 'INCLUDED')).toMatchObject({ error: undefined, block: { number: 1 } });
    });

    test('nodes fail when each is asked: nothing is decided on the word of one', async () => {
      chain.isEachAway = true;
      const id = await hidden();
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      chain.isEachAway = false;
      await reached(id, 'FAILED');
      chain.isEachAway = true;
      nowMs += 30_000;
      chain.mine(12);
      await rounds(3);
      expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
      chain.isEachAway = false;
      await until(async () => !(await read(id)).isOpen);
    });

    test('it was seen in between, if not deep enough: what was noted before counts no more', async () => {
      const id = await insert();
      chain.receiptOf = () => undefined;
      start({ pollMs: 10, confirmations: 30 });
      await until(() => chain.landed(FROM).length === 1);
      await rounds(1);
      chain.receiptOf = undefined;
      chain.mine(3);
      await rounds(2);
      chain.receiptOf = () => undefined;
      nowMs += 30_000;
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      chain.mine(3);
      nowMs += 30_000;
      await reached(id, 'FAILED');
    });

    test.each([
      ['for a moment: what was noted before counts', 30_000, 'FAILED'],
      ['for long: what was noted before counts no more', 5 * 60_000 + 1, 'BROADCASTING'],
    ] as const)('another process had the lane in between, %s', async (_name, awayMs, state) => {
      const id = await insert();
      chain.receiptOf = () => undefined;
      const dispatcher = start({ pollMs: 10 });
      await until(() => chain.landed(FROM).length === 1);
      await rounds(1);
      const other = await storage.write((store) =>
        store(SendStore).claimLane(CHAIN.caip2, FROM, 'other', nowMs + 3_600_000, nowMs),
      );
      expect(other).toBeDefined();
      // What it is about to write is refused, so that it takes the lane again.
      chain.mine(3);
      nowMs += awayMs;
      const epoch = () =>
        storage.write((store) =>
          builderOf(store).selectFrom('chain_lane').select('epoch').where('lane', '=', FROM).executeTakeFirstOrThrow(),
        );
      await until(async () => {
        dispatcher.wake([LANE]);
        return (await epoch()).epoch > (other?.epoch ?? 0);
      });
      await rounds(3);
      expect((await read(id)).state).toBe(state);
      chain.mine(3);
      nowMs += 30_000;
      await reached(id, 'FAILED');
    });

    test('it is let go in the end', async () => {
      const id = await hidden();
      await reached(id, 'FAILED');
      nowMs += 30_000;
      chain.mine(11);
      await rounds(3);
      expect((await read(id)).isOpen).toBe(true);
      chain.mine();
      await until(async () => !(await read(id)).isOpen);
      expect((await read(id)).state).toBe('FAILED');
    });
  });

  test('a node that says no and passes it on is found out', async () => {
    chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    const id = await insert();
    start();
    await reached(id, 'FAILED');
    expect(await reached(id, 'INCLUDED')).toMatchObject({ error: undefined, block: { number: 1 } });
  });

  test('what a node advises to pay has a limit', async () => {
    chain.baseFee = 900n * 10n ** 9n;
    const id = await insert();
    start({ maxFeePerGas: 1000n * 10n ** 9n });
    const { attempts } = await reached(id, 'INCLUDED');
    expect(parseTransaction(attempts[0]?.raw as Hex).maxFeePerGas).toBe(1000n * 10n ** 9n);
    chain.baseFee = 1100n * 10n ** 9n;
    const stuck = await insert();
    await reached(stuck, 'BROADCASTING');
    nowMs += CHAIN.replaceAfterSeconds * 1000;
    await pause(4 * CHAIN.pollMs);
    expect((await read(stuck)).attempts).toHaveLength(1);
  });

  test('a fee far above what nodes advise is not signed, but a bound that is high costs nothing', async () => {
    const fixed = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
      request: {
        ...{ kind: 'ethereum' as const, calls: [call()] },
        ...{ maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) },
      },
    });
    const honest = await insert(fixed(100n * chain.baseFee, 4n * chain.baseFee));
    const greedy = await insert(fixed(100n * chain.baseFee, 6n * chain.baseFee));
    start();
    await reached(honest, 'INCLUDED');
    const refused = await reached(greedy, 'FAILED');
    expect(refused).toMatchObject({ attempts: [], isOpen: false });
    expect(refused.error?.message).toBe(
      'it would pay 7000000000 wei a unit of gas, more than three times the 2000000001 that nodes of the chain advise; ask again with a lower maxPriorityFeePerGas',
    );
  });

  test('one that is stuck is raised up to three times what nodes advise, and no further', async () => {
    chain.isMiningAtOnce = false;
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'BROADCASTING');
    for (let count = 2; count <= 5; count += 1) {
      nowMs += CHAIN.replaceAfterSeconds * 1000;
      await until(async () => (await read(id)).attempts.length === count);
    }
    nowMs += CHAIN.replaceAfterSeconds * 1000;
    await rounds(4);
    const { attempts } = await read(id);
    const fees = attempts.map(({ raw }) => Number(parseTransaction(raw as Hex).maxFeePerGas) / Number(chain.baseFee));
    expect(fees.map((fee) => Math.round(fee * 10) / 10)).toEqual([2, 2.5, 3.1, 3.9, 4.9]);
  });

  describe('a refused re-broadcast leaves a nonce that others wait behind', () => {
    const POOR = { kind: 'refused', message: 'insufficient funds' } as const;
    let ids: SendId[];

    /** Nodes forget a transaction, and will not have it again. */
    function lose(lost: Hex): void {
      chain.onBroadcast = async (raw, take) => (keccak256(raw) === lost ? POOR : await take());
      chain.pool.delete(lost);
    }

    /** Three that are out; the first one is lost. */
    async function threeOut(isLost = true): Promise<Hex> {
      chain.isMiningAtOnce = false;
      ids = [await insert(), await insert(), await insert()];
      start({ pollMs: 10 });
      const [first] = await Promise.all(ids.map((id) => reached(id, 'BROADCASTING')));
      const hash = first?.txHash as Hex;
      await until(() => chain.pool.size === 3);
      if (isLost) {
        lose(hash);
        nowMs += 15_000;
      }
      return hash;
    }

    test('an empty transaction takes it, and the others land', async () => {
      const hash = await threeOut();
      const failed = await reached(ids[0] as SendId, 'FAILED');
      await until(() => chain.pool.size === 3);
      chain.mine();
      await Promise.all(ids.slice(1).map((id) => reached(id, 'INCLUDED')));
      expect(failed.error?.message).toBe('the node refused it: insufficient funds');
      const [empty, ...others] = chain.landed(FROM);
      expect(empty).toMatchObject({ nonce: 0, to: FROM });
      expect(parseTransaction(empty?.raw as Hex).value ?? 0n).toBe(0n);
      expect(others.map(({ nonce }) => nonce)).toEqual([1, 2]);
      await until(async () => (await read(ids[0] as SendId)).block !== undefined);
      const after = await read(ids[0] as SendId);
      expect(after).toMatchObject({ state: 'FAILED', error: failed.error, nonce: 0, block: { number: 1 } });
      expect(after.attempts.map(({ hash: one, isEmpty }) => [one, isEmpty])).toEqual([
        [hash, undefined],
        [after.txHash, true],
      ]);
      // Its block is undone: nobody asks for what was refused again.
      chain.reorganise(1, false);
      await until(() => chain.pool.size === 3);
      chain.mine();
      await until(async () => ((await read(ids[2] as SendId)).block?.number ?? 0) > 1);
      expect(chain.landed(FROM)[0]?.hash).toBe(empty?.hash);
      expect((await read(ids[0] as SendId)).state).toBe('FAILED');
      expect(seen.filter(({ id, state }) => id === ids[0] && state === 'BROADCASTING')).toHaveLength(1);
    });

    test('what waits in the lane takes it first', async () => {
      const first = await threeOut(false);
      await running[0]?.stop();
      const next = await insert({ fee: String(3n * chain.baseFee) });
      lose(first);
      start({ pollMs: 10 });
      await reached(ids[0] as SendId, 'FAILED');
      await until(() => chain.pool.size === 3);
      chain.mine();
      await Promise.all([...ids.slice(1), next].map((id) => reached(id, 'INCLUDED')));
      expect(chain.landed(FROM).map(({ nonce, hash }) => [nonce, hash])).toEqual(
        (await Promise.all([next, ...ids.slice(1)].map(read))).map(({ txHash }, nonce) => [nonce, txHash]),
      );
    });

    test('while nodes refuse that too it is tried again, for as long as others wait', async () => {
      await threeOut();
      chain.onBroadcast = async () => POOR;
      await until(async () => (await read(ids[0] as SendId)).attempts.length === 2);
      chain.mine(20);
      nowMs += 30_000;
      await rounds(4);
      nowMs += 600_000;
      await rounds(4);
      expect(await read(ids[0] as SendId)).toMatchObject({ state: 'FAILED', isOpen: true });
      chain.onBroadcast = undefined;
      nowMs += 15_000;
      await until(() => chain.pool.size >= 3);
      chain.mine();
      await Promise.all(ids.slice(1).map((id) => reached(id, 'INCLUDED')));
      expect(chain.landed(FROM)[0]).toMatchObject({ nonce: 0, to: FROM });
    });
  });

  test('what is in a block is watched until that is final, where the chain tells', async () => {
    chain.finalized = 1n;
    chain.mine(2);
    const id = await insert();
    start({ pollMs: 10 });
    expect(await reached(id, 'INCLUDED')).toMatchObject({ block: { number: 3 }, isOpen: true });
    chain.mine(40);
    chain.finalized = 2n;
    await rounds(12);
    expect((await read(id)).isOpen).toBe(true);
    // Nodes that are away, or know no such word, end nothing.
    for (const silence of ['away', undefined] as const) {
      chain.finalized = silence;
      await rounds(12);
      expect((await read(id)).isOpen).toBe(true);
    }
    chain.finalized = 2n;
    chain.isMiningAtOnce = false;
    chain.reorganise(41, true);
    await reached(id, 'BROADCASTING', 2);
    chain.mine();
    const { block } = await reached(id, 'INCLUDED', 2);
    chain.finalized = BigInt(block?.number ?? 0);
    await until(async () => !(await read(id)).isOpen);
  });

  test('two blocks are undone: it is on its way again with the same bytes, and in a block again', async () => {
    const id = await insert();
    start();
    const before = await reached(id, 'INCLUDED');
    chain.mine();
    chain.isMiningAtOnce = false;
    chain.reorganise(2, false);
    const undone = await reached(id, 'BROADCASTING', 2);
    expect(undone).toMatchObject({ block: undefined, isOpen: true });
    await until(() => chain.pool.size === 1);
    chain.mine();
    const after = await reached(id, 'INCLUDED', 2);
    expect(after.attempts).toEqual(before.attempts);
    expect(after.block?.hash).not.toBe(before.block?.hash);
    expect(chain.landed(FROM)).toHaveLength(1);
  });

  test('a lie about a receipt is not believed', async () => {
    chain.isMiningAtOnce = false;
    const id = await insert();
    let asked = 0;
    chain.receiptOf = (hash, truth) => {
      asked += 1;
      const { number, hash: blockHash } = chain.head;
      // In the newest block, which does not hold it.
      return (
        truth ?? {
          ...{
            transactionHash: hash,
            blockNumber: number,
            blockHash,
            isSuccess: true,
            gasUsed: 1n,
            effectiveGasPrice: 1n,
          },
          ...{ from: FROM as Hex, to: TO as Hex, contractAddress: undefined, logs: [] },
        }
      );
    };
    start();
    await reached(id, 'BROADCASTING');
    await until(() => asked > 3);
    expect((await read(id)).state).toBe('BROADCASTING');
    // It is there by now, but another node knows nothing of it.
    chain.receiptOf = (_hash, truth) => {
      asked += 1;
      return truth;
    };
    chain.confirmed = false;
    chain.mine();
    asked = 0;
    await until(() => asked > 3);
    expect((await read(id)).state).toBe('BROADCASTING');
    chain.confirmed = true;
    await reached(id, 'INCLUDED');
    expect(chain.landed(FROM)).toHaveLength(1);
  });

  test('it counts as included when it is as deep as the setting wants', async () => {
    const id = await insert();
    start({ confirmations: 3 });
    await until(() => chain.landed(FROM).length === 1);
    await pause(3 * CHAIN.pollMs);
    expect((await read(id)).state).toBe('BROADCASTING');
    chain.mine(2);
    expect(await reached(id, 'INCLUDED')).toMatchObject({ block: { number: 1 } });
  });

  test('while the node is away they wait, and after their time they fail unsent', async () => {
    chain.isDown = true;
    const id = await insert();
    start({ sendWithinSeconds: 60 });
    await pause(3 * CHAIN.pollMs);
    expect((await read(id)).state).toBe('INITIALIZED');
    chain.isDown = false;
    await reached(id, 'INCLUDED');
    chain.isDown = true;
    const late = await insert();
    nowMs += 61_000;
    expect((await reached(late, 'FAILED')).error?.message).toContain('nothing was sent');
    chain.isDown = false;
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 1 });
    expect(chain.landed(FROM)).toHaveLength(2);
  });

  test('one behind another begins when that one is included, and fails with it', async () => {
    const bad = `0x${'04'.repeat(20)}`;
    chain.reverting.set(bad, { data: '0x', onlyInBlocks: true });
    const first = await insert();
    const second = await insert({ afterId: first });
    const third = await insert({ request: { kind: 'ethereum', calls: [call(bad)] } });
    const fourth = await insert({ afterId: third });
    start();
    await reached(second, 'INCLUDED');
    expect((await reached(fourth, 'FAILED')).error?.message).toContain('the transaction before it failed');
    expect((await read(fourth)).attempts).toEqual([]);
    expect(chain.landed(FROM)).toHaveLength(3);
  });

  test('sends that keep coming do not keep it from looking after those that are out', async () => {
    chain.isMiningAtOnce = false;
    const id = await insert();
    const dispatcher = start();
    await reached(id, 'BROADCASTING');
    chain.mine();
    const poking = setInterval(() => dispatcher.wake([LANE]), 5);
    await reached(id, 'INCLUDED');
    clearInterval(poking);
  });

  test('only the lanes that have something new are woken', async () => {
    const lane = foreignLane(home.id, OPERATOR);
    const operator = privateKeyToAccount(`0x${Buffer.from(OPERATOR_SECRET).toString('hex')}`);
    const insertRaw = async (nonce: number): Promise<SendId> => {
      const raw = await operator.signTransaction({
        ...{ type: 'eip1559', chainId: 31337, nonce, to: TO as Hex, gas: 21_000n },
        ...{ maxFeePerGas: 2n * chain.baseFee, maxPriorityFeePerGas: 1n },
      });
      return await insert({ lane, sender: OPERATOR, purpose: 'raw', request: { kind: 'ethereum-raw', raw } });
    };
    const both = [await insert(), await insertRaw(0)];
    const dispatcher = start({ pollMs: 3_600_000 });
    await Promise.all(both.map((id) => reached(id, 'BROADCASTING')));
    const waiting = await insertRaw(1);
    for (let count = 0; count < 3; count += 1) {
      const id = await insert();
      dispatcher.wake([LANE]);
      await reached(id, 'BROADCASTING');
    }
    expect((await read(waiting)).state).toBe('INITIALIZED');
    dispatcher.wake([{ caip2: CHAIN.caip2, lane }]);
    await reached(waiting, 'BROADCASTING');
  });

  test('many that only have to get old do not hide those that wait', async () => {
    const old = { number: 1_000_000, hash: '0x01', timestamp: 0, fee: '0' };
    const attempts = [{ hash: `0x${'0c'.repeat(32)}`, raw: '0x', nonce: 0, signedAtMs: NOW }];
    await Promise.all(Array.from({ length: 140 }, () => insert({ state: 'INCLUDED', block: old, attempts })));
    const id = await insert();
    start();
    await reached(id, 'INCLUDED');
  });

  const sponsored = (batchNonce: string) => ({
    lane: OPERATOR,
    request: { kind: 'ethereum' as const, calls: [call()], sponsored: { batchNonce } },
  });

  test('a sponsored one counts when the account says that it ran, and not by its receipt alone', async () => {
    chain.codes.set(BATCH, '0x01');
    const settings = { batchContract: BATCH, operatorAddress: OPERATOR };
    start(settings);
    const idle = await reached(await insert(sponsored('5')), 'FAILED');
    expect(idle).toMatchObject({ error: { message: expect.stringContaining('did nothing') }, block: { number: 1 } });
    const place = { blockNumber: 2n, blockHash: '0x', transactionHash: '0x', logIndex: 0, data: '0x' } as const;
    const topics = [keccak256(toBytes('NonceUsed(uint256)')), numberToHex(6n, { size: 32 })];
    chain.logs.set(FROM, [{ ...place, address: FROM as Hex, topics }]);
    await reached(await insert(sponsored('6')), 'INCLUDED');
    // The log of another number is not its own.
    await reached(await insert(sponsored('7')), 'FAILED');
    expect(chain.landed(OPERATOR)).toHaveLength(3);
  });

  describe('in the lane of the operator', () => {
    const settings = { batchContract: BATCH, operatorAddress: OPERATOR };
    /** Of anybody, and no account has to be ready for it. */
    const deployment = {
      lane: OPERATOR,
      sender: OPERATOR,
      purpose: 'earn-deploy',
      request: { kind: 'ethereum', calls: [{ to: TO, value: '1', data: '0x' }] },
    } as const;
    const child = () => organization({ parentId: home.id });
    const isSeen = (id: SendId, state: Send['state']) => seen.some((one) => one.id === id && one.state === state);

    /** Accounts say that they ran all of these batches. */
    function ran(...nonces: bigint[]): void {
      const place = { blockNumber: 2n, blockHash: '0x', transactionHash: '0x', logIndex: 0, data: '0x' } as const;
      const used = keccak256(toBytes('NonceUsed(uint256)'));
      const logs = nonces.map((nonce) => ({
        ...place,
        address: FROM as Hex,
        topics: [used, numberToHex(nonce, { size: 32 })],
      }));
      chain.logs.set(FROM, logs);
    }

    beforeEach(() => {
      chain.codes.set(BATCH, '0x01');
    });

    test('those whose account is not ready keep nobody from being sent, and fail after a minute', async () => {
      const elsewhere = organization();
      await storage.write((store) => store(OrganizationStore).insert(elsewhere));
      const data = `0x${'ab'.repeat(128 * 1024)}`;
      const large = (batchNonce: string) => {
        const request = { ...sponsored(batchNonce).request, calls: [call(TO, data)] };
        return { lane: OPERATOR, request };
      };
      ran(1n);
      start(settings);
      await reached(await insert(large('1')), 'INCLUDED');
      // One of the account's own, far ahead: nothing can be authorized beside it.
      const ahead = await insert({ nonce: 50, fee: String(3n * chain.baseFee) });
      await reached(ahead, 'BROADCASTING');
      const flood = await Promise.all(Array.from({ length: 9 }, (_, index) => insert(large(String(index + 2)))));
      await rounds(2);
      const others = [await insert({ ...deployment, organizationId: elsewhere.id }), await insert(deployment)];
      await until(() => others.every((id) => isSeen(id, 'INCLUDED')));
      nowMs += 40_000;
      await rounds(3);
      for (const id of flood) expect((await read(id)).state).toBe('INITIALIZED');
      nowMs += 20_000;
      const failed = await Promise.all(flood.map((id) => reached(id, 'FAILED')));
      for (const send of failed) {
        expect(send).toMatchObject({ attempts: [], isOpen: false });
        expect(send.error?.message).toContain('transactions of its own on their way');
        expect(send.error?.message).toContain('nothing was sent');
      }
    });

    test('one that is erased while it is begun does not stop the others', async () => {
      const gone = child();
      await storage.write((store) => store(OrganizationStore).insert(gone));
      ran(1n, 2n);
      let whileEstimating = async (): Promise<void> => {};
      const node = chain.node({ ...CHAIN, ...settings });
      start(settings, {
        ...node,
        estimateGas: async (asked) => {
          await whileEstimating();
          return await node.estimateGas(asked);
        },
      });
      const first = await insert({ ...sponsored('1'), organizationId: gone.id });
      await until(() => isSeen(first, 'INCLUDED'));
      let isErased = false;
      whileEstimating = async () => {
        if (!isErased) await storage.write((store) => store(OrganizationStore).erase(gone.id, nowMs));
        isErased = true;
      };
      const second = await insert({ ...sponsored('2'), organizationId: gone.id });
      await until(() => isErased);
      // The clock stands still: a lane that is given up without a word would not be free again.
      await reached(await insert(deployment), 'INCLUDED');
      expect(isSeen(second, 'BROADCASTING')).toBe(false);
      expect(chain.landed(OPERATOR)).toHaveLength(2);
    });

    test('one whose organization is erased is replaced and followed for the others, and then forgotten', async () => {
      const gone = child();
      const endpoint = { id: randomId<'webhook-endpoint'>(), organizationId: home.id, ...ENDPOINT };
      await storage.write(async (store) => {
        await store(OrganizationStore).insert(gone);
        await store(WebhookStore).insertEndpoint(endpoint);
      });
      chain.isMiningAtOnce = false;
      ran(1n);
      start({ ...settings, pollMs: 10 });
      const first = await insert({ ...sponsored('1'), organizationId: gone.id });
      await until(() => isSeen(first, 'BROADCASTING'));
      const behind = await insert(deployment);
      expect(await reached(behind, 'BROADCASTING')).toMatchObject({ nonce: 1 });
      await storage.write((store) => store(OrganizationStore).erase(gone.id, nowMs));
      const rows = () =>
        storage.write((store) =>
          builderOf(store).selectFrom('chain_send').selectAll().where('organization_id', '=', gone.id).execute(),
        );
      const attempts = async (): Promise<number> => JSON.parse((await rows())[0]?.attempts ?? '[]').length;
      chain.baseFee *= 4n;
      nowMs += CHAIN.replaceAfterSeconds * 1000;
      await until(async () => (await attempts()) === 2);
      await until(() => chain.pool.size === 2);
      chain.mine();
      await until(() => isSeen(first, 'INCLUDED'));
      // The next one has its turn.
      await until(() => [...chain.pool.values()].some(({ maxFeePerGas }) => maxFeePerGas >= chain.baseFee));
      // The block is undone, and it is there still to be handed over again.
      chain.reorganise(1, false);
      await until(() => chain.pool.size === 2);
      chain.mine();
      await reached(behind, 'INCLUDED');
      expect(await rows()).toHaveLength(1);
      chain.mine(13);
      await until(async () => (await rows()).length === 0);
      // The parent has heard that it was on its way, and nothing since.
      const events = await storage.write((store) =>
        builderOf(store).selectFrom('webhook_event').select('body').execute(),
      );
      const told = events.map(({ body }) => JSON.parse(body).msg);
      const heard = told.filter(({ sendTransactionStatusId }) => sendTransactionStatusId === first);
      expect(heard.map(({ status }) => status)).toEqual(['BROADCASTING']);
      expect(told).toContainEqual(expect.objectContaining({ sendTransactionStatusId: behind, status: 'INCLUDED' }));
      await until(async () => !(await read(behind)).isOpen);
    });
  });

  test('what nobody could run is not sent: no batch contract, too much gas for the operator', async () => {
    start({ batchContract: BATCH, operatorAddress: OPERATOR, sponsoredGasMax: 21_000n });
    const nowhere = await reached(await insert(sponsored('1')), 'FAILED');
    expect(nowhere).toMatchObject({ attempts: [], error: { message: expect.stringContaining('no contract at') } });
    chain.codes.set(BATCH, '0x01');
    const dear = await reached(await insert(sponsored('2')), 'FAILED');
    expect(dear).toMatchObject({ attempts: [], error: { message: expect.stringContaining('the operator pays for') } });
  });

  test('a refusal that the one who stored it did not hear frees the nonce later', async () => {
    chain.onBroadcast = async () => ({ kind: 'uncertain', message: 'cut off' });
    const id = await insert();
    const first = start();
    await reached(id, 'BROADCASTING');
    await first.stop();
    chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    start();
    expect(await reached(id, 'FAILED')).toMatchObject({ nonce: undefined, isOpen: true });
    chain.onBroadcast = undefined;
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 0 });
  });

  test('a key that is gone ends it', async () => {
    isKeyGone = true;
    const id = await insert();
    start();
    expect(await reached(id, 'FAILED')).toMatchObject({ attempts: [], error: { message: 'the key is gone' } });
  });

  test('somebody else uses the key meanwhile: our next nonce is behind theirs', async () => {
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: 31337, nonce: 0, to: TO as Hex, gas: 21_000n },
      ...{ maxFeePerGas: 2n * chain.baseFee, maxPriorityFeePerGas: 1n },
    });
    await chain.take(raw);
    const id = await insert();
    start();
    expect(await reached(id, 'INCLUDED')).toMatchObject({ nonce: 1 });
  });

  test('a nonce that is fixed far ahead waits, and the others fill the gap', async () => {
    const ahead = await insert({ nonce: 2, fee: String(3n * chain.baseFee) });
    start();
    await reached(ahead, 'BROADCASTING');
    const [first, second] = [await insert(), await insert()];
    expect(await reached(first, 'INCLUDED')).toMatchObject({ nonce: 0 });
    expect(await reached(second, 'INCLUDED')).toMatchObject({ nonce: 1 });
    await reached(ahead, 'INCLUDED');
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 3 });
  });

  test('who lost the lane writes nothing any more', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const slow: EvmNode = {
      ...chain.node(),
      estimateGas: async () => {
        isHeld = true;
        await held;
        return { ok: true, gas: 21_000n };
      },
    };
    const id = await insert();
    start({}, slow);
    await until(() => isHeld);
    // The claim is over by the clock of the other, which takes the lane and finishes.
    nowMs += 60_000;
    start();
    await reached(id, 'INCLUDED');
    release();
    await running[0]?.stop();
    expect(chain.landed(FROM)).toHaveLength(1);
    expect(new Set(chain.handed).size).toBe(1);
  });

  test('two processes share one address without taking a nonce twice', async () => {
    start();
    start();
    const ids = await Promise.all(Array.from({ length: 30 }, () => insert()));
    for (const dispatcher of running) dispatcher.wake([LANE]);
    await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    expect(chain.landed(FROM).map(({ nonce }) => nonce)).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });
});
