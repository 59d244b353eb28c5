import { setTimeout as pause } from 'node:timers/promises';
import { parseTransaction } from 'viem';
import { describe, expect, test } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import { databasesOf } from '../../../test/harness/databases.ts';
import { FROM, sendsOn } from '../../../test/harness/sends.ts';
import type { Hex } from '../../chains/nodes/node.ts';

describe.each(databasesOf(import.meta.url))('fees of sends on %s', (kind) => {
  const world = sendsOn(kind);
  const { attempted, call, insert, read, reached, rounds, start } = world;

  test('a stuck one is replaced at its nonce for more, and whichever lands is told', async () => {
    world.chain.isMiningAtOnce = false;
    const id = await insert();
    const fixed = await insert({ fee: String(3n * world.chain.baseFee) });
    const first = start();
    await reached(fixed, 'BROADCASTING');
    // A round under way may have asked what to pay before the price rises, and look at the time after it has passed.
    await first.stop();
    const before = (await read(id)).attempts[0];
    world.chain.baseFee *= 4n;
    world.chain.mine();
    world.nowMs += CHAIN.replaceAfterSeconds * 1000;
    start();
    await attempted(id, 2);
    world.chain.mine();
    const after = await reached(id, 'INCLUDED');
    expect(after.attempts[0]).toEqual(before);
    expect(after.txHash).toBe(after.attempts[1]?.hash);
    const fees = after.attempts.map(({ raw }) => parseTransaction(raw as Hex).maxFeePerGas ?? 0n);
    expect(fees[1]).toBeGreaterThanOrEqual(2n * world.chain.baseFee);
    expect(after.attempts.map(({ raw }) => parseTransaction(raw as Hex).nonce ?? 0)).toEqual([0, 0]);
    // The fee that its caller fixed is kept, so that it waits.
    world.nowMs += CHAIN.replaceAfterSeconds * 1000;
    world.chain.mine();
    await pause(4 * CHAIN.pollMs);
    expect(await read(fixed)).toMatchObject({ state: 'BROADCASTING', attempts: [expect.anything()] });
    // Somebody may replace it by hand.
    const byHand = await insert({ nonce: 1, fee: String(9n * world.chain.baseFee) });
    await reached(byHand, 'BROADCASTING');
    world.chain.mine();
    await reached(byHand, 'INCLUDED');
    // Many blocks may come within a second.
    world.chain.mine(20);
    await rounds(3);
    expect((await read(fixed)).state).toBe('BROADCASTING');
    // To another node its nonce is free.
    world.chain.countElsewhere = 1;
    world.nowMs += 30_000;
    await rounds(3);
    expect((await read(fixed)).state).toBe('BROADCASTING');
    world.chain.countElsewhere = undefined;
    const given = await reached(fixed, 'FAILED');
    expect(given.error?.message).toContain('took its nonce 1');
    expect(world.chain.landed(FROM)).toHaveLength(2);
  });

  test('what a node advises to pay has a limit', async () => {
    world.chain.baseFee = 900n * 10n ** 9n;
    const id = await insert();
    start({ maxFeePerGas: 1000n * 10n ** 9n });
    const { attempts } = await reached(id, 'INCLUDED');
    expect(parseTransaction(attempts[0]?.raw as Hex).maxFeePerGas).toBe(1000n * 10n ** 9n);
    world.chain.baseFee = 1100n * 10n ** 9n;
    const stuck = await insert();
    await reached(stuck, 'BROADCASTING');
    world.nowMs += CHAIN.replaceAfterSeconds * 1000;
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
    const honest = await insert(fixed(100n * world.chain.baseFee, 4n * world.chain.baseFee));
    const greedy = await insert(fixed(100n * world.chain.baseFee, 6n * world.chain.baseFee));
    start();
    await reached(honest, 'INCLUDED');
    const refused = await reached(greedy, 'FAILED');
    expect(refused).toMatchObject({ attempts: [], isOpen: false });
    expect(refused.error?.message).toBe(
      'it would pay 7000000000 wei a unit of gas, more than three times the 2000000001 that nodes of the chain advise; ask again with a lower maxPriorityFeePerGas',
    );
  });

  test('one that is stuck is raised up to three times what nodes advise, and no further', async () => {
    world.chain.isMiningAtOnce = false;
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'BROADCASTING');
    for (let count = 2; count <= 5; count += 1) {
      world.nowMs += CHAIN.replaceAfterSeconds * 1000;
      await attempted(id, count);
    }
    world.nowMs += CHAIN.replaceAfterSeconds * 1000;
    await rounds(4);
    const { attempts } = await read(id);
    const fees = attempts.map(
      ({ raw }) => Number(parseTransaction(raw as Hex).maxFeePerGas) / Number(world.chain.baseFee),
    );
    expect(fees.map((fee) => Math.round(fee * 10) / 10)).toEqual([2, 2.5, 3.1, 3.9, 4.9]);
  });
});
