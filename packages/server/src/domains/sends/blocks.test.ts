import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import { databasesOf } from '../../../test/harness/databases.ts';
import { FROM, LANE, sendsOn, TO, until } from '../../../test/harness/sends.ts';
import { builderOf } from '../../../test/storage/place.ts';
import type { Hex } from '../../chains/nodes/node.ts';
import type { SendId } from '../../lib/ids.ts';
import { LaneStore } from './store/lanes.ts';

describe.each(databasesOf(import.meta.url))('sends and their blocks on %s', (kind) => {
  const world = sendsOn(kind);
  const { insert, read, reached, rounds, start } = world;

  describe('a node hides what is in a block, so that another transaction seems to have the nonce', () => {
    async function hidden(): Promise<SendId> {
      const id = await insert();
      world.chain.receiptOf = () => undefined;
      start({ pollMs: 10 });
      await until(() => world.chain.landed(FROM).length === 1);
      await rounds(1);
      world.chain.mine(2);
      world.nowMs += 30_000;
      await rounds(2);
      expect((await read(id)).state).toBe('BROADCASTING');
      world.chain.mine();
      return id;
    }

    test('another node has it: nothing is told before they agree', async () => {
      world.chain.hasWitnesses = true;
      const id = await hidden();
      world.nowMs += 3_600_000;
      world.chain.mine(30);
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      world.chain.receiptOf = undefined;
      await reached(id, 'INCLUDED');
    });

    test('there is no other: it is watched for some blocks and some time, and corrected', async () => {
      const id = await hidden();
      await reached(id, 'FAILED');
      world.chain.mine(12);
      world.nowMs += 15_000;
      await rounds(3);
      expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
      world.chain.receiptOf = undefined;
      expect(await reached(id, 'INCLUDED')).toMatchObject({ error: undefined, block: { number: 1 } });
    });

    test('nodes fail when each is asked: nothing is decided on the word of one', async () => {
      world.chain.isEachAway = true;
      const id = await hidden();
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      world.chain.isEachAway = false;
      await reached(id, 'FAILED');
      world.chain.isEachAway = true;
      world.nowMs += 30_000;
      world.chain.mine(12);
      await rounds(3);
      expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
      world.chain.isEachAway = false;
      await until(async () => !(await read(id)).isOpen);
    });

    test('it was seen in between, if not deep enough: what was noted before counts no more', async () => {
      const id = await insert();
      world.chain.receiptOf = () => undefined;
      start({ pollMs: 10, confirmations: 30 });
      await until(() => world.chain.landed(FROM).length === 1);
      await rounds(1);
      world.chain.receiptOf = undefined;
      world.chain.mine(3);
      await rounds(2);
      world.chain.receiptOf = () => undefined;
      world.nowMs += 30_000;
      await rounds(3);
      expect((await read(id)).state).toBe('BROADCASTING');
      world.chain.mine(3);
      world.nowMs += 30_000;
      await reached(id, 'FAILED');
    });

    test.each([
      ['for a moment: what was noted before counts', 30_000, 'FAILED'],
      ['for long: what was noted before counts no more', 5 * 60_000 + 1, 'BROADCASTING'],
    ] as const)('another process had the lane in between, %s', async (_name, awayMs, state) => {
      const id = await insert();
      world.chain.receiptOf = () => undefined;
      const dispatcher = start({ pollMs: 10 });
      await until(() => world.chain.landed(FROM).length === 1);
      await rounds(1);
      const other = await world.storage.write((store) =>
        store(LaneStore).claimLane(CHAIN.caip2, FROM, 'other', world.nowMs + 3_600_000, world.nowMs),
      );
      expect(other).toBeDefined();
      // What it is about to write is refused, so that it takes the lane again.
      world.chain.mine(3);
      world.nowMs += awayMs;
      const epoch = () =>
        world.storage.write((store) =>
          builderOf(store).selectFrom('chain_lane').selectAll().where('lane', '=', FROM).executeTakeFirstOrThrow(),
        );
      await until(async () => {
        dispatcher.wake([LANE]);
        return (await epoch()).epoch > (other?.epoch ?? 0);
      });
      await rounds(3);
      expect((await read(id)).state).toBe(state);
      world.chain.mine(3);
      world.nowMs += 30_000;
      await reached(id, 'FAILED');
    });

    test('it is let go in the end', async () => {
      const id = await hidden();
      await reached(id, 'FAILED');
      world.nowMs += 30_000;
      world.chain.mine(11);
      await rounds(3);
      expect((await read(id)).isOpen).toBe(true);
      world.chain.mine();
      await until(async () => !(await read(id)).isOpen);
      expect((await read(id)).state).toBe('FAILED');
    });
  });

  test('what is in a block is watched until that is final, where the chain tells', async () => {
    world.chain.finalized = 1n;
    world.chain.mine(2);
    const id = await insert();
    start({ pollMs: 10 });
    expect(await reached(id, 'INCLUDED')).toMatchObject({ block: { number: 3 }, isOpen: true });
    world.chain.mine(40);
    world.chain.finalized = 2n;
    await rounds(12);
    expect((await read(id)).isOpen).toBe(true);
    // Nodes that are away, or know no such word, end nothing.
    for (const silence of ['away', undefined] as const) {
      world.chain.finalized = silence;
      await rounds(12);
      expect((await read(id)).isOpen).toBe(true);
    }
    world.chain.finalized = 2n;
    world.chain.isMiningAtOnce = false;
    world.chain.reorganise(41, true);
    await reached(id, 'BROADCASTING', 2);
    world.chain.mine();
    const { block } = await reached(id, 'INCLUDED', 2);
    world.chain.finalized = BigInt(block?.number ?? 0);
    await until(async () => !(await read(id)).isOpen);
  });

  test('two blocks are undone: it is on its way again with the same bytes, and in a block again', async () => {
    const id = await insert();
    start();
    const before = await reached(id, 'INCLUDED');
    world.chain.mine();
    world.chain.isMiningAtOnce = false;
    world.chain.reorganise(2, false);
    const undone = await reached(id, 'BROADCASTING', 2);
    expect(undone).toMatchObject({ block: undefined, isOpen: true });
    await until(() => world.chain.pool.size === 1);
    world.chain.mine();
    const after = await reached(id, 'INCLUDED', 2);
    expect(after.attempts).toEqual(before.attempts);
    expect(after.block?.hash).not.toBe(before.block?.hash);
    expect(world.chain.landed(FROM)).toHaveLength(1);
  });

  test('a lie about a receipt is not believed', async () => {
    world.chain.isMiningAtOnce = false;
    const id = await insert();
    let asked = 0;
    world.chain.receiptOf = (hash, truth) => {
      asked += 1;
      const { number, hash: blockHash } = world.chain.head;
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
    world.chain.receiptOf = (_hash, truth) => {
      asked += 1;
      return truth;
    };
    world.chain.confirmed = false;
    world.chain.mine();
    asked = 0;
    await until(() => asked > 3);
    expect((await read(id)).state).toBe('BROADCASTING');
    world.chain.confirmed = true;
    await reached(id, 'INCLUDED');
    expect(world.chain.landed(FROM)).toHaveLength(1);
  });

  test('it counts as included when it is as deep as the setting wants', async () => {
    const id = await insert();
    start({ confirmations: 3 });
    await until(() => world.chain.landed(FROM).length === 1);
    await pause(3 * CHAIN.pollMs);
    expect((await read(id)).state).toBe('BROADCASTING');
    world.chain.mine(2);
    expect(await reached(id, 'INCLUDED')).toMatchObject({ block: { number: 1 } });
  });
});
