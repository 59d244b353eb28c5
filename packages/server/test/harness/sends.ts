import { setTimeout as pause } from 'node:timers/promises';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect } from 'vitest';
import type { EvmNode, Nodes } from '../../src/chains/nodes/node.ts';
import { SignerGone } from '../../src/chains/send/errors.ts';
import type { Send } from '../../src/chains/send/model.ts';
import type { SendSigner } from '../../src/chains/send/signer.ts';
import type { ChainSettings } from '../../src/chains/settings.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { SendDispatcher } from '../../src/domains/sends/dispatcher.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { randomId, type SendId } from '../../src/lib/ids.ts';
import type { RestorationFacts } from '../../src/storage/fence.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { CHAIN, FakeChain } from '../chain/fake-chain.ts';
import { NOW, organization, Place } from '../storage/place.ts';
import type { DatabaseKind } from './databases.ts';

const SECRET = new Uint8Array(32).fill(7);
export const account = privateKeyToAccount(`0x${Buffer.from(SECRET).toString('hex')}`);
export const FROM = account.address.toLowerCase();
export const TO = `0x${'ab'.repeat(20)}`;
export const OPERATOR_SECRET = new Uint8Array(32).fill(8);
export const OPERATOR = privateKeyToAccount(`0x${Buffer.from(OPERATOR_SECRET).toString('hex')}`).address.toLowerCase();
export const BATCH = `0x${'ba'.repeat(20)}`;
/** Of a parent that wants to hear of everything that is sent. */
export const ENDPOINT = {
  ...{ name: 'Sends', url: 'https://hooks.example/', isActive: true, isFeature: false, includesDescription: false },
  subscriptions: [{ eventType: 'SEND_TRANSACTION_STATUS_UPDATES', isActive: true }],
  ...{ createdAtMs: NOW, updatedAtMs: NOW },
} as const;
export const LANE = { caip2: CHAIN.caip2, lane: FROM };

function signWith(secret: Uint8Array, payload: Uint8Array) {
  const bytes = secp256k1.sign(payload, secret, { prehash: false, format: 'recovered' });
  return { r: bytes.subarray(1, 33), s: bytes.subarray(33), v: bytes[0] as 0 | 1 };
}

/** When something holds that no event tells of; looked at as often as the dispatcher looks. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}

/**
 * One organization, one fake chain and any number of dispatchers over a real database, made anew for each test of the
 * suite that calls this. What tests change is in what it answers with.
 */
export function sendsOn(kind: DatabaseKind, restorations: readonly RestorationFacts[] = []) {
  const home = organization();
  let place: Place;
  let listeners: (() => void)[];
  let storage: Storage;

  beforeEach(async () => {
    place = await Place.create(kind);
    storage = await place.open(8, restorations);
    storage.integrity.load([{ generation: 1, bytes: Buffer.alloc(32, 7) }], { isRequired: true });
    await storage.write((store) => store(OrganizationStore).insert(home));
    Object.assign(world, { chain: new FakeChain(), nowMs: NOW, isKeyGone: false, running: [], seen: [] });
    listeners = [];
  });
  afterEach(async () => {
    await Promise.all(world.running.map((dispatcher) => dispatcher.stop()));
    await place[Symbol.asyncDispose]();
  });

  const signer: SendSigner = {
    sign: async (_organizationId, address, _scheme, payloads) => {
      if (world.isKeyGone) throw new SignerGone('the key is gone');
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
      heads: (caip2) => nodes.evm(caip2).heads(),
      evm: () => node ?? world.chain.node(configured),
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
      clock: () => world.nowMs,
      elapsed: () => world.nowMs + performance.now(),
      newId: randomId,
      observe: {
        send: ({ id, txHash }, state) => {
          world.seen.push({ id, state, txHash });
          for (const listener of listeners.splice(0)) listener();
        },
        unavailable: () => {},
      },
    });
    world.running.push(dispatcher);
    dispatcher.start();
    return dispatcher;
  }

  const call = (to = TO, data = '0x') => ({ to, value: '1', data });

  /** The operator pays for it. */
  const sponsored = (batchNonce: string) => ({
    lane: OPERATOR,
    request: { kind: 'ethereum' as const, calls: [call()], sponsored: { batchNonce } },
  });

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
      createdAtMs: world.nowMs,
      updatedAtMs: world.nowMs,
      ...extra,
      nonce: undefined,
    };
    await storage.write((store) => store(SendStore).insert(send));
    return send.id;
  }

  const read = (id: SendId): Promise<Send> => storage.read(SendReader).get(home.id, id);

  /** When the dispatcher has said so of the send, `times` times. */
  async function reached(id: SendId, state: Send['state'], times = 1): Promise<Send> {
    while (world.seen.filter((one) => one.id === id && one.state === state).length < times) {
      await new Promise<void>((resolve) => listeners.push(resolve));
    }
    const send = await read(id);
    if (state === 'BROADCASTING') await handedOver(send);
    return send;
  }

  /** When it was signed so many times, and its node has the last one: a block that is made before then lacks it. */
  async function attempted(id: SendId, count: number): Promise<void> {
    await until(async () => (await read(id)).attempts.length === count);
    await handedOver(await read(id));
  }

  /** What is signed is stored before a node has it. Some nodes of tests take nothing, so this does not wait for ever. */
  async function handedOver({ attempts }: Send): Promise<void> {
    const hash = attempts.at(-1)?.hash;
    const { pool, blocks } = world.chain;
    const isThere = () => [...pool.values(), ...blocks.flatMap(({ mined }) => mined)].some((one) => one.hash === hash);
    for (let time = 0; time < 100 && !isThere(); time += 1) await pause(10);
  }

  /** When nodes were asked so many times more what became of something. */
  async function rounds(count: number): Promise<void> {
    const wanted = world.chain.looks + count + 1;
    await until(() => world.chain.looks >= wanted);
  }

  const world = {
    ...{ home, start, call, sponsored, insert, read, reached, attempted, rounds },
    /** As another program would. */
    run: (statement: string): Promise<void> => place.run(statement),
    get place(): Place {
      return place;
    },
    chain: new FakeChain(),
    nowMs: NOW,
    isKeyGone: false,
    running: [] as SendDispatcher[],
    seen: [] as { readonly id: string; readonly state: string; readonly txHash: string | undefined }[],
    get storage(): Storage {
      return storage;
    },
  };
  return world;
}
