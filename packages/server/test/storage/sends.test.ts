import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foreignLane, type Send, type SendLane, type SendProgress } from '../../src/chains/send/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { LaneStore } from '../../src/domains/sends/store/lanes.ts';
import { OPEN_LENGTH_MAX, SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { SettlementStore } from '../../src/domains/sends/store/settlement.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, Place, withOrganization } from './place.ts';

const CHAIN = 'eip155:31337';
const LANE = `0x${'ab'.repeat(20)}`;
const OTHER = `0x${'cd'.repeat(20)}`;

describe.each(DATABASES)('sends on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let organizationId: Send['organizationId'];

  beforeEach(async () => {
    place = await Place.create(kind);
    storage = await place.open();
    organizationId = (await withOrganization(storage)).id;
  });
  afterEach(() => place[Symbol.asyncDispose]());

  const ofLength = (length: number): Send['request'] => ({ kind: 'ethereum-raw', raw: 'x'.repeat(length) });
  const attempt = (nonce: number, length = 2): Send['attempts'][number] => ({
    hash: '0x01',
    raw: 'x'.repeat(length),
    nonce,
    signedAtMs: NOW,
  });

  async function insert(extra: Partial<Send> = {}): Promise<Send> {
    const send: Send = {
      organizationId,
      id: randomId(),
      activityId: randomId(),
      caip2: CHAIN,
      sender: LANE,
      lane: LANE,
      purpose: 'send',
      request: ofLength(10),
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
      ...extra,
    };
    await storage.write((store) => store(SendStore).insert(send));
    return send;
  }

  const open = (limit = 100) => storage.read(SendReader).open(CHAIN, LANE, limit);
  const openShared = (limit: number, held: ReadonlyMap<string, number> = new Map()) =>
    storage.read(SendReader).open(CHAIN, LANE, limit, { held });

  test('of what gave its nonce on, a send that is not genuine is passed over where others share the lane', async () => {
    storage.integrity.load([{ generation: 1, bytes: Buffer.alloc(32, 7) }], { isRequired: true });
    const gaveOn = { state: 'FAILED', attempts: [attempt(7)] } as const;
    const [first, forged, last] = [await insert(gaveOn), await insert(gaveOn), await insert(gaveOn)];
    await place.run(`UPDATE chain_send SET attempts = 'no JSON "nonce"' WHERE id = '${forged.id}'`);
    const refusedAt = (isShared: boolean) => storage.read(SendReader).refusedAt(CHAIN, LANE, 7, isShared);
    expect((await refusedAt(true))?.id).toBe(last.id);
    await place.run(`UPDATE chain_send SET attempts = '[{"nonce":99999999999999999999}]' WHERE id = '${last.id}'`);
    expect((await refusedAt(true))?.id).toBe(first.id);
    await expect(refusedAt(false)).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
  });

  test('what is open is read whole, in the order in which it came, of any organization', async () => {
    const block = { number: 7, hash: '0x07', timestamp: 1, fee: '2' };
    const elsewhere = (await withOrganization(storage)).id;
    const sends = [
      await insert({ state: 'INCLUDED', nonce: 1, attempts: [attempt(1)], txHash: '0x01', block }),
      await insert({ organizationId: elsewhere }),
      await insert({ state: 'FAILED', error: { message: 'no' }, attempts: [attempt(2)] }),
      await insert({ state: 'BROADCASTING', nonce: 3, attempts: [attempt(3)], txHash: '0x01' }),
      await insert({ afterId: randomId() }),
    ];
    await insert({ isOpen: false });
    await insert({ lane: OTHER });
    await insert({ caip2: 'eip155:1' });
    expect(await open()).toEqual(sends);
    expect(await storage.read(SendReader).open(CHAIN, 'nobody', 100)).toEqual([]);
  });

  test('of each kind so many are read', async () => {
    const states = ['INCLUDED', 'INITIALIZED', 'FAILED', 'BROADCASTING', 'INITIALIZED', 'FAILED'] as const;
    const sends: Send[] = [];
    for (const state of states) sends.push(await insert({ state }));
    expect(await open(1)).toEqual([sends[0], sends[1], sends[3]]);
    expect(await open(2)).toEqual([sends[0], sends[1], sends[2], sends[3], sends[4]]);
  });

  test('of each kind as much is read as fits into memory, and the first in any case', async () => {
    const [half, whole] = [OPEN_LENGTH_MAX / 2, OPEN_LENGTH_MAX];
    const waiting = [await insert({ request: ofLength(half) }), await insert({ request: ofLength(1000) })];
    // It does not fit any more, and what is behind it keeps its place.
    await insert({ request: ofLength(half) });
    await insert();
    const replaced = { state: 'BROADCASTING', attempts: [attempt(1, half), attempt(1, half)] } as const;
    const sent = await insert(replaced);
    await insert({ state: 'BROADCASTING' });
    const failed = await insert({ state: 'FAILED', error: { message: 'x'.repeat(whole) } });
    await insert({ state: 'INCLUDED' });
    expect((await open()).map(({ id }) => id)).toEqual([...waiting, sent, failed].map(({ id }) => id));
  });

  test('of what waits each organization has its turn, however much another one has before it', async () => {
    const large = ofLength(OPEN_LENGTH_MAX / 2 + 1);
    const flood: Send[] = [];
    for (let count = 0; count < 4; count += 1) flood.push(await insert({ request: large }));
    const elsewhere = (await withOrganization(storage)).id;
    const others = [await insert({ organizationId: elsewhere }), await insert({ organizationId: elsewhere })];
    const ids = async (limit: number) => (await openShared(limit)).map(({ id }) => id);
    const [first, second] = flood as [Send, Send];
    // A lane that one account has to itself keeps its order.
    expect((await open(2)).map(({ id }) => id)).toEqual([first.id]);
    expect(await ids(1)).toEqual([first.id]);
    expect(await ids(2)).toEqual([first.id, others[0]?.id]);
    // The second ones come after all first ones, in their order; this one does not fit any more.
    expect(await ids(100)).toEqual([first.id, others[0]?.id]);
    await storage.write((store) => store(SendStore).delete(second));
    await storage.write((store) => store(SendStore).delete(first));
    expect(await ids(100)).toEqual([flood[2]?.id, others[0]?.id]);
  });

  test('what is held up is read behind what is not', async () => {
    const flood: Send[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { id } = await withOrganization(storage);
      flood.push(await insert({ organizationId: id, request: ofLength(OPEN_LENGTH_MAX / 2 + 1) }));
    }
    const last = await insert();
    const ids = async (limit: number, held: readonly Send[]) => {
      const noted = new Map(held.map(({ id }) => [id as string, NOW]));
      return (await openShared(limit, noted)).map(({ id }) => id);
    };
    expect(await ids(3, [])).toEqual([flood[0]?.id]);
    expect(await ids(3, flood.slice(0, 2))).toEqual([flood[2]?.id]);
    expect(await ids(3, flood)).toEqual([flood[0]?.id, last.id]);
  });

  test('an owner gives all its lanes back at once, and no others', async () => {
    await insert();
    await insert({ lane: OTHER });
    const claim = (lane: string, owner: string) =>
      storage.write((store) => store(LaneStore).claimLane(CHAIN, lane, owner, NOW, NOW + 1000));
    expect([await claim(LANE, 'me'), await claim(OTHER, 'another')]).not.toContain(undefined);
    await storage.write((store) => store(LaneStore).releaseOwner('me', NOW));
    expect(await claim(OTHER, 'next')).toBeUndefined();
    expect(await claim(LANE, 'next')).toBeDefined();
  });

  test('who writes is told whether the lane is lost or the send is gone', async () => {
    const send = await insert();
    const sent = { state: 'BROADCASTING', nonce: 1, attempts: [attempt(1)], txHash: '0x01' } as const;
    const progress = { ...sent, block: undefined, error: undefined, isOpen: true };
    const lane = await storage.write((store) => store(LaneStore).claimLane(CHAIN, LANE, 'me', NOW, NOW + 1));
    if (lane === undefined) throw new Error('the lane is not free');
    const write = (one = lane) => storage.write((store) => store(SendStore).progress(one, send, progress, NOW));
    expect(await write()).toBe('written');
    expect(await write({ ...lane, epoch: lane.epoch - 1 })).toBe('lane-lost');
    await storage.write((store) => store(SendStore).delete(send));
    expect(await write()).toBe('send-gone');
  });

  describe('who has read a send', () => {
    const BEGUN: SendProgress = {
      state: 'BROADCASTING',
      nonce: 1,
      attempts: [attempt(1)],
      txHash: '0x01',
      block: undefined,
      error: undefined,
      isOpen: true,
    };
    let lane: SendLane;
    const progress = (read: Send, next: SendProgress, nowMs = NOW) =>
      storage.write((store) => store(SendStore).progress(lane, read, next, nowMs));
    const stored = (id: string) => storage.read(SendReader).get(organizationId, id);

    /** A send of a lane that this test has. */
    async function claimed(extra: Partial<Send> = {}): Promise<Send> {
      const send = await insert(extra);
      const found = await storage.write((store) => store(LaneStore).claimLane(CHAIN, LANE, 'me', NOW, NOW + 1));
      if (found === undefined) throw new Error('the lane is not free');
      lane = found;
      return send;
    }

    test('writes nothing once it has changed, and goes on from what was written', async () => {
      const read = await claimed();
      expect(await progress(read, BEGUN)).toBe('written');
      const begun = { ...read, ...BEGUN };
      expect(await stored(read.id)).toEqual(begun);
      // As a copy of a waiting send would: signed once more, at the next nonce.
      const again: SendProgress = { ...BEGUN, nonce: 2, attempts: [attempt(2)], txHash: '0x02' };
      expect(await progress(read, again)).toBe('send-changed');
      expect(await stored(read.id)).toEqual(begun);
      const block = { number: 7, hash: '0x07', timestamp: 1, fee: '2' };
      expect(await progress(begun, { ...BEGUN, state: 'INCLUDED', block })).toBe('written');
      expect(await progress(begun, { ...BEGUN, state: 'FAILED' })).toBe('send-changed');
      expect(await stored(read.id)).toEqual({ ...begun, state: 'INCLUDED', block });
    });

    const BLOCK = { number: 7, hash: '0x07', timestamp: 1, fee: '2' };
    const CHANGES: readonly [string, Partial<SendProgress>][] = [
      ['state', { state: 'FAILED' }],
      ['nonce', { nonce: undefined }],
      ['number of attempts', { attempts: [attempt(1), attempt(1)] }],
      ['last attempt', { attempts: [{ ...attempt(1), hash: '0x02' }] }],
      ['hash', { txHash: '0x02' }],
      ['block', { block: BLOCK }],
      ['error', { error: { message: 'no' } }],
      ['time', {}],
    ];
    test.each(CHANGES)('writes nothing if only its %s has changed', async (what, change) => {
      const read = await claimed(BEGUN);
      const settle = () =>
        storage.write((store) => store(SettlementStore).settle(read, { ...BEGUN, isOpen: false }, NOW, NOW));
      const nowMs = what === 'time' ? NOW + 1 : NOW;
      expect(await progress(read, { ...BEGUN, ...change }, nowMs)).toBe('written');
      expect(await progress(read, { ...BEGUN, isOpen: false })).toBe('send-changed');
      expect(await settle()).toBe(false);
      expect(await stored(read.id)).toEqual({ ...read, ...change, updatedAtMs: nowMs });
    });

    test('writes once, if two of them write at the same time', async () => {
      const read = await claimed();
      const both = await Promise.all([1, 2].map((nonce) => progress(read, { ...BEGUN, nonce })));
      expect(both.sort()).toEqual(['send-changed', 'written']);
    });
  });

  describe('of an organization that is erased', () => {
    const signed = { state: 'BROADCASTING', nonce: 3, attempts: [attempt(3)], txHash: '0x01' } as const;
    const block = { number: 7, hash: '0x07', timestamp: 1, fee: '2' };

    test('what the operator has signed stays while it is open, and nothing else', async () => {
      const kept = [
        await insert({ ...signed, sender: OTHER }),
        await insert({ ...signed, sender: OTHER, state: 'INCLUDED', block }),
        await insert({ ...signed, sender: OTHER, state: 'FAILED', nonce: undefined }),
        await insert({ ...signed, purpose: 'earn-deploy' }),
      ];
      const gone = [
        await insert({ sender: OTHER }),
        await insert({ ...signed, sender: OTHER, state: 'INCLUDED', block, isOpen: false }),
        await insert(signed),
        await insert({ ...signed, lane: foreignLane(organizationId, LANE), purpose: 'raw' }),
      ];
      const sends = storage.read(SendReader);
      for (const { id } of [...kept, ...gone]) expect((await sends.get(organizationId, id)).id).toBe(id);
      const blocks = { from: 0, to: 100 };
      expect(await sends.included(organizationId, CHAIN, OTHER, blocks, 9)).toHaveLength(2);
      await storage.write((store) => store(OrganizationStore).erase(organizationId, NOW));
      expect(await open()).toEqual(kept);
      expect(await sends.takenNonces(CHAIN, LANE)).toEqual(new Set([3]));
      expect(await storage.read(SendReader).open(CHAIN, foreignLane(organizationId, LANE), 9)).toEqual([]);
      // Its parent may still ask.
      for (const { id } of [...kept, ...gone]) expect(await sends.find(organizationId, id)).toBeUndefined();
      expect(await sends.included(organizationId, CHAIN, OTHER, blocks, 9)).toEqual([]);
    });
  });

  test('nonces that are taken: by a transaction, and by an authorization in it', async () => {
    await insert({ state: 'BROADCASTING', nonce: 5, attempts: [attempt(4), attempt(4)] });
    await insert({ state: 'INCLUDED', nonce: 6, attempts: [attempt(6)] });
    await insert({ state: 'BROADCASTING', nonce: 8, attempts: [] });
    // Its nonce was given on, it is settled, or it is in another lane.
    await insert({ state: 'FAILED', attempts: [attempt(10)] });
    await insert({ state: 'INCLUDED', nonce: 11, attempts: [attempt(11)], isOpen: false });
    await insert({ state: 'BROADCASTING', nonce: 12, attempts: [attempt(12)], lane: OTHER });
    const taken = await storage.read(SendReader).takenNonces(CHAIN, LANE);
    expect([...taken].sort()).toEqual([4, 5, 6, 8]);
    expect(await storage.read(SendReader).takenNonces('eip155:1', LANE)).toEqual(new Set());
  });

  test('whether a send with some hash has its nonce still', async () => {
    const sends = storage.read(SendReader);
    await insert({ state: 'FAILED', attempts: [attempt(1)], txHash: '0x01' });
    expect(await sends.hasHash(CHAIN, '0x01')).toBe(true);
    expect(await sends.isTaken(CHAIN, '0x01')).toBe(false);
    await insert({ state: 'INCLUDED', nonce: 1, attempts: [attempt(1)], txHash: '0x01', isOpen: false });
    expect(await sends.isTaken(CHAIN, '0x01')).toBe(true);
    expect(await sends.isTaken(CHAIN, '0x02')).toBe(false);
    expect(await sends.isTaken('eip155:1', '0x01')).toBe(false);
  });

  test('what is on its way, by its senders', async () => {
    await insert({ state: 'BROADCASTING' });
    await insert({ state: 'BROADCASTING' });
    await insert({ state: 'BROADCASTING', sender: OTHER });
    await insert({ state: 'BROADCASTING', isOpen: false, sender: 'settled' });
    await insert({ state: 'BROADCASTING', lane: OTHER, sender: 'elsewhere' });
    for (const state of ['INITIALIZED', 'INCLUDED', 'FAILED'] as const) await insert({ state, sender: state });
    expect(await storage.read(SendReader).onTheWay(CHAIN, LANE)).toEqual(
      new Map([
        [LANE, 2],
        [OTHER, 1],
      ]),
    );
    expect(await storage.read(SendReader).onTheWay('eip155:1', LANE)).toEqual(new Map());
  });
});
