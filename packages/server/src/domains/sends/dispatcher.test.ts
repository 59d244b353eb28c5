import { setTimeout as pause } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test, vi } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import { DATABASES } from '../../../test/harness/databases.ts';
import { FROM, LANE, OPERATOR, OPERATOR_SECRET, sendsOn, TO, until } from '../../../test/harness/sends.ts';
import { NOW } from '../../../test/storage/place.ts';
import type { EvmNode, Hex } from '../../chains/nodes/node.ts';
import { foreignLane } from '../../chains/send/model.ts';
import type { SendId } from '../../lib/ids.ts';
import { LaneReader } from './store/lanes.ts';
import { SendReader } from './store/sends.ts';

describe.each(DATABASES)('sends on %s', (kind) => {
  const world = sendsOn(kind);
  const { call, home, insert, read, reached, rounds, start } = world;

  test('many at once land in their order, with neither gap nor double, and are let go when they are deep', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => insert()));
    start();
    const sends = await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    const landed = world.chain.landed(FROM);
    expect(landed.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 40 }, (_, index) => index));
    const inOrder = [...sends].sort((one, other) => (one.id < other.id ? -1 : 1));
    expect(landed.map(({ hash }) => hash)).toEqual(inOrder.map(({ txHash }) => txHash));
    expect(inOrder[0]).toMatchObject({
      block: { number: 1, fee: String(21_000n * world.chain.baseFee) },
      error: undefined,
    });
    world.chain.mine(13);
    await until(async () => (await world.storage.read(SendReader).open(CHAIN.caip2, FROM, 1)).length === 0);
    await until(
      async () => (await world.storage.read(LaneReader).freeLanes([CHAIN.caip2], world.nowMs + 60_000, 9)).length === 0,
    );
    // The lane opens again for the next.
    await reached(await insert(), 'INCLUDED');
    expect(world.chain.landed(FROM)).toHaveLength(41);
  });

  const DEPLOYMENT = { lane: OPERATOR, sender: OPERATOR, purpose: 'earn-deploy' } as const;
  test.each([
    ['its own lane', FROM, {}],
    ['a lane that organizations share', OPERATOR, DEPLOYMENT],
  ])('in %s a send is sent once, even if a round reads it three times', async (_lane, payer, extra) => {
    const { open } = SendReader.prototype;
    const copying = vi.spyOn(SendReader.prototype, 'open').mockImplementation(async function (
      this: SendReader,
      ...asked
    ) {
      return (await open.apply(this, asked)).flatMap((send) => [send, send, send]);
    });
    try {
      const id = await insert(extra);
      start({ operatorAddress: OPERATOR, pollMs: 10 });
      await reached(id, 'INCLUDED');
      await rounds(2);
      expect(world.chain.landed(payer)).toHaveLength(1);
      expect(new Set(world.chain.handed)).toEqual(new Set([(await read(id)).txHash]));
      await reached(await insert(extra), 'INCLUDED');
      expect(world.chain.landed(payer).map(({ nonce }) => nonce)).toEqual([0, 1]);
      expect(new Set(world.chain.handed).size).toBe(2);
    } finally {
      await Promise.all(world.running.map((dispatcher) => dispatcher.stop()));
      copying.mockRestore();
    }
  });

  test('what was stored and never handed over goes out later, byte for byte', async () => {
    world.chain.onBroadcast = async () => ({ kind: 'uncertain', message: 'cut off' });
    const id = await insert();
    const first = start();
    const before = await reached(id, 'BROADCASTING');
    await first.stop();
    expect(world.chain.landed(FROM)).toEqual([]);
    world.chain.onBroadcast = undefined;
    start();
    const after = await reached(id, 'INCLUDED');
    expect(after.attempts).toEqual(before.attempts);
    expect(world.chain.landed(FROM).map(({ hash }) => hash)).toEqual([before.txHash]);
  });

  test('what was handed over when the process died is found, not sent again', async () => {
    world.chain.isMiningAtOnce = false;
    const id = await insert();
    const first = start();
    const { txHash } = await reached(id, 'BROADCASTING');
    await until(() => world.chain.pool.size === 1);
    await first.stop();
    world.chain.mine();
    const handed = world.chain.handed.length;
    start();
    expect(await reached(id, 'INCLUDED')).toMatchObject({ txHash, nonce: 0 });
    expect(world.chain.handed).toHaveLength(handed);
    expect(world.chain.landed(FROM)).toHaveLength(1);
  });

  test('a node that took it without answering does not make it two', async () => {
    world.chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'uncertain', message: 'timed out' };
    };
    const ids = [await insert(), await insert()];
    start();
    await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    expect(world.chain.landed(FROM).map(({ nonce }) => nonce)).toEqual([0, 1]);
  });

  test('while the node is away they wait, and after their time they fail unsent', async () => {
    world.chain.isDown = true;
    const id = await insert();
    start({ sendWithinSeconds: 60 });
    await pause(3 * CHAIN.pollMs);
    expect((await read(id)).state).toBe('INITIALIZED');
    world.chain.isDown = false;
    await reached(id, 'INCLUDED');
    world.chain.isDown = true;
    const late = await insert();
    world.nowMs += 61_000;
    expect((await reached(late, 'FAILED')).error?.message).toContain('nothing was sent');
    world.chain.isDown = false;
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 1 });
    expect(world.chain.landed(FROM)).toHaveLength(2);
  });

  test('one behind another begins when that one is included, and fails with it', async () => {
    const bad = `0x${'04'.repeat(20)}`;
    world.chain.reverting.set(bad, { data: '0x', onlyInBlocks: true });
    const first = await insert();
    const second = await insert({ afterId: first });
    const third = await insert({ request: { kind: 'ethereum', calls: [call(bad)] } });
    const fourth = await insert({ afterId: third });
    start();
    await reached(second, 'INCLUDED');
    expect((await reached(fourth, 'FAILED')).error?.message).toContain('the transaction before it failed');
    expect((await read(fourth)).attempts).toEqual([]);
    expect(world.chain.landed(FROM)).toHaveLength(3);
  });

  test('sends that keep coming do not keep it from looking after those that are out', async () => {
    world.chain.isMiningAtOnce = false;
    const id = await insert();
    const dispatcher = start();
    await reached(id, 'BROADCASTING');
    world.chain.mine();
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
        ...{ maxFeePerGas: 2n * world.chain.baseFee, maxPriorityFeePerGas: 1n },
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

  test('a key that is gone ends it', async () => {
    world.isKeyGone = true;
    const id = await insert();
    start();
    expect(await reached(id, 'FAILED')).toMatchObject({ attempts: [], error: { message: 'the key is gone' } });
  });

  test('who lost the lane writes nothing any more', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const slow: EvmNode = {
      ...world.chain.node(),
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
    world.nowMs += 60_000;
    start();
    await reached(id, 'INCLUDED');
    release();
    await world.running[0]?.stop();
    expect(world.chain.landed(FROM)).toHaveLength(1);
    expect(new Set(world.chain.handed).size).toBe(1);
  });

  test('two processes share one address without taking a nonce twice', async () => {
    start();
    start();
    const ids = await Promise.all(Array.from({ length: 30 }, () => insert()));
    for (const dispatcher of world.running) dispatcher.wake([LANE]);
    await Promise.all(ids.map((id) => reached(id, 'INCLUDED')));
    expect(world.chain.landed(FROM).map(({ nonce }) => nonce)).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });
});
