import { keccak256, numberToHex, toBytes } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import { DATABASES } from '../../../test/harness/databases.ts';
import { BATCH, ENDPOINT, FROM, OPERATOR, sendsOn, TO, until } from '../../../test/harness/sends.ts';
import { builderOf, organization } from '../../../test/storage/place.ts';
import type { Hex } from '../../chains/nodes/node.ts';
import type { Send } from '../../chains/send/model.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import { randomId, type SendId } from '../../lib/ids.ts';
import { WebhookStore } from '../webhooks/store/webhooks.ts';

describe.each(DATABASES)('sponsored sends on %s', (kind) => {
  const world = sendsOn(kind);
  const { call, home, insert, read, reached, rounds, sponsored, start } = world;

  test('a sponsored one counts when the account says that it ran, and not by its receipt alone', async () => {
    world.chain.codes.set(BATCH, '0x01');
    const settings = { batchContract: BATCH, operatorAddress: OPERATOR };
    start(settings);
    const idle = await reached(await insert(sponsored('5')), 'FAILED');
    expect(idle).toMatchObject({ error: { message: expect.stringContaining('did nothing') }, block: { number: 1 } });
    const place = { blockNumber: 2n, blockHash: '0x', transactionHash: '0x', logIndex: 0, data: '0x' } as const;
    const topics = [keccak256(toBytes('NonceUsed(uint256)')), numberToHex(6n, { size: 32 })];
    world.chain.logs.set(FROM, [{ ...place, address: FROM as Hex, topics }]);
    await reached(await insert(sponsored('6')), 'INCLUDED');
    // The log of another number is not its own.
    await reached(await insert(sponsored('7')), 'FAILED');
    expect(world.chain.landed(OPERATOR)).toHaveLength(3);
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
    const isSeen = (id: SendId, state: Send['state']) => world.seen.some((one) => one.id === id && one.state === state);

    /** Accounts say that they ran all of these batches. */
    function ran(...nonces: bigint[]): void {
      const place = { blockNumber: 2n, blockHash: '0x', transactionHash: '0x', logIndex: 0, data: '0x' } as const;
      const used = keccak256(toBytes('NonceUsed(uint256)'));
      const logs = nonces.map((nonce) => ({
        ...place,
        address: FROM as Hex,
        topics: [used, numberToHex(nonce, { size: 32 })],
      }));
      world.chain.logs.set(FROM, logs);
    }

    beforeEach(() => {
      world.chain.codes.set(BATCH, '0x01');
    });

    test('those whose account is not ready keep nobody from being sent, and fail after a minute', async () => {
      const elsewhere = organization();
      await world.storage.write((store) => store(OrganizationStore).insert(elsewhere));
      const data = `0x${'ab'.repeat(128 * 1024)}`;
      const large = (batchNonce: string) => {
        const request = { ...sponsored(batchNonce).request, calls: [call(TO, data)] };
        return { lane: OPERATOR, request };
      };
      ran(1n);
      start(settings);
      await reached(await insert(large('1')), 'INCLUDED');
      // One of the account's own, far ahead: nothing can be authorized beside it.
      const ahead = await insert({ nonce: 50, fee: String(3n * world.chain.baseFee) });
      await reached(ahead, 'BROADCASTING');
      const flood = await Promise.all(Array.from({ length: 9 }, (_, index) => insert(large(String(index + 2)))));
      await rounds(2);
      const others = [await insert({ ...deployment, organizationId: elsewhere.id }), await insert(deployment)];
      await until(() => others.every((id) => isSeen(id, 'INCLUDED')));
      world.nowMs += 40_000;
      await rounds(3);
      for (const id of flood) expect((await read(id)).state).toBe('INITIALIZED');
      world.nowMs += 20_000;
      const failed = await Promise.all(flood.map((id) => reached(id, 'FAILED')));
      for (const send of failed) {
        expect(send).toMatchObject({ attempts: [], isOpen: false });
        expect(send.error?.message).toContain('transactions of its own on their way');
        expect(send.error?.message).toContain('nothing was sent');
      }
    });

    test('one that is erased while it is begun does not stop the others', async () => {
      const gone = child();
      await world.storage.write((store) => store(OrganizationStore).insert(gone));
      ran(1n, 2n);
      let whileEstimating = async (): Promise<void> => {};
      const node = world.chain.node({ ...CHAIN, ...settings });
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
        if (!isErased) await world.storage.write((store) => store(OrganizationStore).erase(gone.id, world.nowMs));
        isErased = true;
      };
      const second = await insert({ ...sponsored('2'), organizationId: gone.id });
      await until(() => isErased);
      // The clock stands still: a lane that is given up without a word would not be free again.
      await reached(await insert(deployment), 'INCLUDED');
      expect(isSeen(second, 'BROADCASTING')).toBe(false);
      expect(world.chain.landed(OPERATOR)).toHaveLength(2);
    });

    test('one whose organization is erased is replaced and followed for the others, and then forgotten', async () => {
      const gone = child();
      const endpoint = { id: randomId<'webhook-endpoint'>(), organizationId: home.id, ...ENDPOINT };
      await world.storage.write(async (store) => {
        await store(OrganizationStore).insert(gone);
        await store(WebhookStore).insertEndpoint(endpoint);
      });
      world.chain.isMiningAtOnce = false;
      ran(1n);
      start({ ...settings, pollMs: 10 });
      const first = await insert({ ...sponsored('1'), organizationId: gone.id });
      await until(() => isSeen(first, 'BROADCASTING'));
      const behind = await insert(deployment);
      expect(await reached(behind, 'BROADCASTING')).toMatchObject({ nonce: 1 });
      await world.storage.write((store) => store(OrganizationStore).erase(gone.id, world.nowMs));
      const rows = () =>
        world.storage.write((store) =>
          builderOf(store).selectFrom('chain_send').selectAll().where('organization_id', '=', gone.id).execute(),
        );
      const attempts = async (): Promise<number> => JSON.parse((await rows())[0]?.attempts ?? '[]').length;
      world.chain.baseFee *= 4n;
      world.nowMs += CHAIN.replaceAfterSeconds * 1000;
      await until(async () => (await attempts()) === 2);
      // The node has it too: what it had before cannot be in a block any more, and nobody makes another one.
      const { baseFee } = world.chain;
      await until(() => [...world.chain.pool.values()].some((one) => one.nonce === 0 && one.maxFeePerGas >= baseFee));
      world.chain.mine();
      await until(() => isSeen(first, 'INCLUDED'));
      // The next one has its turn.
      await until(() => [...world.chain.pool.values()].some(({ maxFeePerGas }) => maxFeePerGas >= world.chain.baseFee));
      // The block is undone, and it is there still to be handed over again.
      world.chain.reorganise(1, false);
      await until(() => world.chain.pool.size === 2);
      world.chain.mine();
      await reached(behind, 'INCLUDED');
      expect(await rows()).toHaveLength(1);
      world.chain.mine(13);
      await until(async () => (await rows()).length === 0);
      // The parent has heard that it was on its way, and nothing since.
      const events = await world.storage.write((store) =>
        builderOf(store).selectFrom('webhook_event').selectAll().execute(),
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
    world.chain.codes.set(BATCH, '0x01');
    const dear = await reached(await insert(sponsored('2')), 'FAILED');
    expect(dear).toMatchObject({ attempts: [], error: { message: expect.stringContaining('the operator pays for') } });
  });
});
