import { encodeErrorResult, keccak256, parseAbi, parseTransaction } from 'viem';
import { describe, expect, test, vi } from 'vitest';
import { databasesOf } from '../../../test/harness/databases.ts';
import { account, FROM, sendsOn, TO, until } from '../../../test/harness/sends.ts';
import { NOW } from '../../../test/storage/place.ts';
import type { Hex } from '../../chains/nodes/node.ts';
import { randomId, type SendId } from '../../lib/ids.ts';
import { ContractInterfaceStore } from '../policies/store/contract-interfaces.ts';

describe.each(databasesOf(import.meta.url))('refusals and nonces of sends on %s', (kind) => {
  const world = sendsOn(kind);
  const { call, home, insert, read, reached, rounds, start } = world;

  test('a refusal is told with its reason and takes no nonce', async () => {
    const refused = (text: string): Hex =>
      encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] });
    const estimated = `0x${'01'.repeat(20)}`;
    const inBlock = `0x${'02'.repeat(20)}`;
    const custom = `0x${'03'.repeat(20)}`;
    world.chain.reverting.set(estimated, { data: refused('not today'), onlyInBlocks: false });
    world.chain.reverting.set(inBlock, { data: refused('too late'), onlyInBlocks: true });
    const abi = parseAbi(['error TooMuch(uint256 asked, uint256 left)', 'function f()']);
    world.chain.reverting.set(custom, {
      data: encodeErrorResult({ abi, errorName: 'TooMuch', args: [5n, 3n] }),
      onlyInBlocks: false,
    });
    await world.storage.write((store) =>
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
    world.chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    const id = await insert();
    start({ pollMs: 10 });
    const failed = await reached(id, 'FAILED');
    expect(failed).toMatchObject({ nonce: undefined, error: { message: 'the node refused it: insufficient funds' } });
    world.chain.onBroadcast = undefined;
    const next = await insert({ fee: String(3n * world.chain.baseFee) });
    expect(await reached(next, 'INCLUDED')).toMatchObject({ nonce: 0 });
    // It is let go when it has not turned up.
    await rounds(1);
    world.chain.mine(13);
    await rounds(2);
    expect((await read(id)).isOpen).toBe(true);
    world.nowMs += 30_000;
    await until(async () => !(await read(id)).isOpen);
  });

  test('the same payment again after a refusal is the same transaction, and only the second send has made it', async () => {
    world.chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    const id = await insert();
    start({ pollMs: 10 });
    const refused = await reached(id, 'FAILED');
    world.chain.onBroadcast = undefined;
    const again = await insert();
    expect((await reached(again, 'INCLUDED')).txHash).toBe(refused.txHash);
    await until(async () => !(await read(id)).isOpen);
    expect(await read(id)).toMatchObject({ state: 'FAILED', error: refused.error });
  });

  test('one that a node refused is not let go while another node has it', async () => {
    world.chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    world.chain.receiptOf = () => undefined;
    world.chain.hasWitnesses = true;
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'FAILED');
    await rounds(1);
    world.nowMs += 3_600_000;
    world.chain.mine(13);
    await rounds(3);
    expect(await read(id)).toMatchObject({ state: 'FAILED', isOpen: true });
    world.chain.receiptOf = undefined;
    await reached(id, 'INCLUDED');
  });

  test('one that was refused, landed and is undone has its nonce again, and lands again', async () => {
    world.chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    const id = await insert();
    start({ pollMs: 10 });
    await reached(id, 'INCLUDED');
    world.chain.onBroadcast = undefined;
    world.chain.isMiningAtOnce = false;
    world.chain.reorganise(1, false);
    expect(await reached(id, 'BROADCASTING', 2)).toMatchObject({ nonce: 0, isOpen: true });
    await until(() => world.chain.pool.size === 1);
    // It waits for longer than one is watched that failed.
    world.nowMs += 30_000;
    world.chain.mine(0);
    await rounds(3);
    expect(await read(id)).toMatchObject({ state: 'BROADCASTING', isOpen: true });
    world.chain.mine();
    await reached(id, 'INCLUDED', 2);
    expect(world.chain.landed(FROM)).toHaveLength(1);
  });

  test('a node that says no and passes it on is found out', async () => {
    world.chain.onBroadcast = async (_raw, take) => {
      await take();
      return { kind: 'refused', message: 'a lie' };
    };
    const id = await insert();
    start();
    await reached(id, 'FAILED');
    expect(await reached(id, 'INCLUDED')).toMatchObject({ error: undefined, block: { number: 1 } });
  });

  describe('a refused re-broadcast leaves a nonce that others wait behind', () => {
    const POOR = { kind: 'refused', message: 'insufficient funds' } as const;
    let ids: SendId[];

    /** Nodes forget a transaction, and will not have it again. */
    function lose(lost: Hex): void {
      world.chain.onBroadcast = async (raw, take) => (keccak256(raw) === lost ? POOR : await take());
      world.chain.pool.delete(lost);
    }

    /** Three that are out; the first one is lost. */
    async function threeOut(isLost = true): Promise<Hex> {
      world.chain.isMiningAtOnce = false;
      ids = [await insert(), await insert(), await insert()];
      start({ pollMs: 10 });
      const [first] = await Promise.all(ids.map((id) => reached(id, 'BROADCASTING')));
      const hash = first?.txHash as Hex;
      await until(() => world.chain.pool.size === 3);
      if (isLost) {
        lose(hash);
        world.nowMs += 15_000;
      }
      return hash;
    }

    test('an empty transaction takes it, and the others land', async () => {
      const hash = await threeOut();
      const failed = await reached(ids[0] as SendId, 'FAILED');
      await until(() => world.chain.pool.size === 3);
      world.chain.mine();
      await Promise.all(ids.slice(1).map((id) => reached(id, 'INCLUDED')));
      expect(failed.error?.message).toBe('the node refused it: insufficient funds');
      const [empty, ...others] = world.chain.landed(FROM);
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
      world.chain.reorganise(1, false);
      await until(() => world.chain.pool.size === 3);
      world.chain.mine();
      await until(async () => ((await read(ids[2] as SendId)).block?.number ?? 0) > 1);
      expect(world.chain.landed(FROM)[0]?.hash).toBe(empty?.hash);
      expect((await read(ids[0] as SendId)).state).toBe('FAILED');
      expect(world.seen.filter(({ id, state }) => id === ids[0] && state === 'BROADCASTING')).toHaveLength(1);
    });

    test('what waits in the lane takes it first', async () => {
      const first = await threeOut(false);
      await world.running[0]?.stop();
      const next = await insert({ fee: String(3n * world.chain.baseFee) });
      lose(first);
      start({ pollMs: 10 });
      await reached(ids[0] as SendId, 'FAILED');
      await until(() => world.chain.pool.size === 3);
      world.chain.mine();
      await Promise.all([...ids.slice(1), next].map((id) => reached(id, 'INCLUDED')));
      expect(world.chain.landed(FROM).map(({ nonce, hash }) => [nonce, hash])).toEqual(
        (await Promise.all([next, ...ids.slice(1)].map(read))).map(({ txHash }, nonce) => [nonce, txHash]),
      );
    });

    test('the empty transaction is not forgotten, if what was refused is in a block that the node has not counted', async () => {
      const lost = await threeOut(false);
      const raw = world.chain.pool.get(lost)?.raw as Hex;
      const count = vi.spyOn(world.chain, 'count');
      world.chain.pool.delete(lost);
      world.chain.onBroadcast = async (bytes, take) => {
        if (keccak256(bytes) !== lost) return world.chain.pool.has(keccak256(bytes)) ? await take() : POOR;
        await world.chain.take(raw);
        world.chain.mine();
        count.mockReturnValue(0);
        return POOR;
      };
      world.nowMs += 15_000;
      await reached(ids[0] as SendId, 'FAILED');
      const landed = await reached(ids[0] as SendId, 'INCLUDED');
      count.mockRestore();
      expect(landed).toMatchObject({ txHash: lost, nonce: undefined, block: { number: 1 } });
      expect(landed.attempts.map(({ isEmpty }) => isEmpty)).toEqual([undefined, true]);
    });

    test('while nodes refuse that too it is tried again, for as long as others wait', async () => {
      await threeOut();
      world.chain.onBroadcast = async () => POOR;
      await until(async () => (await read(ids[0] as SendId)).attempts.length === 2);
      world.chain.mine(20);
      world.nowMs += 30_000;
      await rounds(4);
      world.nowMs += 600_000;
      await rounds(4);
      expect(await read(ids[0] as SendId)).toMatchObject({ state: 'FAILED', isOpen: true });
      world.chain.onBroadcast = undefined;
      world.nowMs += 15_000;
      await until(() => world.chain.pool.size >= 3);
      world.chain.mine();
      await Promise.all(ids.slice(1).map((id) => reached(id, 'INCLUDED')));
      expect(world.chain.landed(FROM)[0]).toMatchObject({ nonce: 0, to: FROM });
    });
  });

  test('a refusal that the one who stored it did not hear frees the nonce later', async () => {
    world.chain.onBroadcast = async () => ({ kind: 'uncertain', message: 'cut off' });
    const id = await insert();
    const first = start();
    await reached(id, 'BROADCASTING');
    await first.stop();
    world.chain.onBroadcast = async () => ({ kind: 'refused', message: 'insufficient funds' });
    start();
    expect(await reached(id, 'FAILED')).toMatchObject({ nonce: undefined, isOpen: true });
    world.chain.onBroadcast = undefined;
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 0 });
  });

  test('somebody else uses the key meanwhile: our next nonce is behind theirs', async () => {
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: 31337, nonce: 0, to: TO as Hex, gas: 21_000n },
      ...{ maxFeePerGas: 2n * world.chain.baseFee, maxPriorityFeePerGas: 1n },
    });
    await world.chain.take(raw);
    const id = await insert();
    start();
    expect(await reached(id, 'INCLUDED')).toMatchObject({ nonce: 1 });
  });

  test('a nonce that is fixed far ahead waits, and the others fill the gap', async () => {
    const ahead = await insert({ nonce: 2, fee: String(3n * world.chain.baseFee) });
    start();
    await reached(ahead, 'BROADCASTING');
    const [first, second] = [await insert(), await insert()];
    expect(await reached(first, 'INCLUDED')).toMatchObject({ nonce: 0 });
    expect(await reached(second, 'INCLUDED')).toMatchObject({ nonce: 1 });
    await reached(ahead, 'INCLUDED');
    expect(await reached(await insert(), 'INCLUDED')).toMatchObject({ nonce: 3 });
  });
});
