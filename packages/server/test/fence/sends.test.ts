import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Send } from '../../src/chains/send/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { RestorationStore } from '../../src/fence/store.ts';
import { randomId, type SendId } from '../../src/lib/ids.ts';
import { CHAIN } from '../chain/fake-chain.ts';
import { DATABASES } from '../harness/databases.ts';
import { FROM, sendsOn, until } from '../harness/sends.ts';
import { NOW, organization } from '../storage/place.ts';

// Sends of a restored database: nothing is signed, handed over, replaced or followed for an organization that is held.

const RESTORATION = { id: 'a restoration', restoredAtMs: NOW, exhaustsWindows: false, acceptedAtMs: undefined };

describe.each(DATABASES)('sends behind the fence on %s', (kind) => {
  const world = sendsOn(kind, [RESTORATION]);
  const { home, insert, read, reached, start } = world;

  const accept = async (organizationId: string): Promise<void> => {
    await world.storage.write((store) => store(RestorationStore).acceptFor(organizationId, RESTORATION.id));
    world.storage.fence.load([RESTORATION], new Set([organizationId]));
  };
  const acceptAll = (): void => void world.storage.fence.load([{ ...RESTORATION, acceptedAtMs: NOW + 1 }], new Set());

  /** An organization that holds the same key. */
  async function another() {
    const other = organization({ id: randomId() });
    await world.storage.write((store) => store(OrganizationStore).insert(other));
    const find = async (id: SendId): Promise<Send> => await world.storage.read(SendReader).get(other.id, id);
    return { id: other.id, insert: () => insert({ organizationId: other.id }), find };
  }

  test('wait, without a question to a node, and go out once the restore is accepted', async () => {
    const id = await insert();
    const dispatcher = start();
    dispatcher.wake([{ caip2: CHAIN.caip2, lane: FROM }]);
    await pause(2500);
    expect(await read(id)).toMatchObject({ state: 'INITIALIZED', attempts: [] });
    expect([world.chain.looks, world.chain.pool.size, world.chain.landed(FROM).length]).toEqual([0, 0, 0]);
    acceptAll();
    await reached(id, 'INCLUDED');
    expect(world.chain.landed(FROM)).toHaveLength(1);
  });

  test('of others in the same lane go on, in front of however many, and do not close it', async () => {
    const held = await Promise.all(Array.from({ length: 140 }, () => insert()));
    const other = await another();
    await accept(other.id);
    const own = [await other.insert(), await other.insert()];
    start();
    await until(async () => (await Promise.all(own.map(other.find))).every(({ state }) => state === 'INCLUDED'));
    expect(world.chain.landed(FROM).map(({ nonce }) => nonce)).toEqual([0, 1]);
    world.chain.mine(13);
    await until(async () => !(await Promise.all(own.map(other.find))).some(({ isOpen }) => isOpen));
    expect(world.seen.filter(({ id }) => held.includes(id as SendId))).toEqual([]);
    acceptAll();
    await until(async () => world.chain.landed(FROM).length === 142);
    expect(world.chain.landed(FROM).map(({ nonce }) => nonce)).toEqual(
      Array.from({ length: 142 }, (_, index) => index),
    );
  });

  test('that were under way keep their nonces, and are neither handed over again nor replaced', async () => {
    const nobody = { hash: `0x${'99'.repeat(32)}`, raw: '0x02', nonce: 0, signedAtMs: NOW - 3_600_000 };
    const underWay: Send = {
      ...(await read(await insert())),
      id: randomId(),
      ...{ state: 'BROADCASTING', nonce: 0, attempts: [nobody], txHash: nobody.hash },
    };
    await world.storage.write((store) => store(SendStore).insert(underWay));
    const other = await another();
    await accept(other.id);
    world.chain.isMiningAtOnce = false;
    const own = await other.insert();
    start();
    await until(async () => (await other.find(own)).state === 'BROADCASTING');
    await pause(1000);
    const { attempts } = await other.find(own);
    expect(attempts.map(({ nonce }) => nonce)).toEqual([1]);
    expect([...world.chain.pool.values()].map(({ hash }) => hash)).toEqual([attempts[0]?.hash]);
    expect((await world.storage.read(SendReader).get(home.id, underWay.id)).attempts).toEqual([nobody]);
  });
});
