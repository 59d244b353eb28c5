import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { type Hex, keccak256, parseTransaction, toBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Nodes } from '../../src/chains/nodes/node.ts';
import type { Send } from '../../src/chains/send/model.ts';
import type { SendSigner } from '../../src/chains/send/signer.ts';
import type { ChainSettings } from '../../src/chains/settings.ts';
import { chains as chainsOf } from '../../src/config/chains.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { SendDispatcher } from '../../src/domains/sends/dispatcher.ts';
import { createSendSigner } from '../../src/domains/sends/signer.ts';
import { minuteOf } from '../../src/domains/sends/sponsorship-model.ts';
import { OperatorKeyStore } from '../../src/domains/sends/store/operator-keys.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { SponsorshipReader, SponsorshipStore } from '../../src/domains/sends/store/sponsorship.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { type OrganizationId, randomId, type SendId } from '../../src/lib/ids.ts';
import { FakeChain, CHAIN as PLAIN } from '../chain/fake-chain.ts';
import { FakeSolana, SOLANA_CHAIN } from '../chain/fake-solana.ts';
import { payment, RECEIVER, wireOf } from '../chain/solana-transfer.ts';
import { newWallet } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { builderOf, withOrganization } from '../storage/place.ts';

// What the operator pays for sponsored sends, and where it stops paying.

const secretOf = (byte: number) => new Uint8Array(32).fill(byte);
const addressOf = (secret: Uint8Array) =>
  privateKeyToAccount(`0x${Buffer.from(secret).toString('hex')}`).address.toLowerCase();
const FROM = addressOf(secretOf(7));
/** Of the service, as it is configured; tests that do without its operations have one each. */
const OPERATOR = addressOf(secretOf(8));
const SOLANA_OPERATOR = base58.encode(ed25519.getPublicKey(secretOf(8)));
const BATCH = `0x${'ba'.repeat(20)}`;
const TO = `0x${'ab'.repeat(20)}`;
const NONCE_USED = keccak256(toBytes('NonceUsed(uint256)'));

const SPONSORING = { batchContract: BATCH, operatorAddress: OPERATOR };
const EMPTY = { kind: 'ethereum', calls: [{ to: TO, value: '0', data: '0x' }] } as const;
const priced = (caip2: string, price: string): ReadonlyMap<string, string> => new Map([[`${caip2}/slip44:60`, price]]);
const CHAIN: ChainSettings = { ...PLAIN, ...SPONSORING, prices: priced(PLAIN.caip2, '2000') };
/** Beside the first one, in the same dollars. */
const OTHER: ChainSettings = {
  ...CHAIN,
  caip2: 'eip155:31338',
  reference: '31338',
  prices: priced('eip155:31338', '2000'),
};
const SOLANA: ChainSettings = { ...SOLANA_CHAIN, operatorAddress: SOLANA_OPERATOR };

/** In gwei: what the first form of a send may cost (25,200 gas for 2 gwei and a wei), and what is paid for it. */
const RESERVED = 50_401n;
const PAID = 21_000n;
/** In millionths of a dollar. */
const usd = (gwei: bigint): bigint => gwei * 2n;
const API_KEY = {
  name: 'root',
  type: 'CREDENTIAL_TYPE_API_KEY_P256',
  sessionProfileId: undefined,
  expirationSeconds: undefined,
  expiresAtMs: undefined,
  firstUsedAtMs: undefined,
} as const;
const DAY_MS = 24 * 60 * 60 * 1000;

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('the budget of sponsored sends on %s', (kind) => {
  let opened: TestApp;
  let chains: ReadonlyMap<string, FakeChain>;
  let chain: FakeChain;
  let solana: FakeSolana;
  let running: SendDispatcher[];
  let seen: { readonly id: string; readonly state: string }[];
  let listeners: (() => void)[];
  /** In milliseconds, of those who send before the service. */
  let ahead: number;
  /** Pays in this test. A lane that was worked on tomorrow is not free today. */
  let operator: { readonly secret: Uint8Array; readonly address: string };
  /** A tree of its own for each test. */
  let home: TestClient;
  let made: OrganizationId[];
  let parent: OrganizationId;
  let child: OrganizationId;
  let sibling: OrganizationId;

  beforeAll(async () => {
    const settings = { rpcUrls: PLAIN.rpcUrls, ...SPONSORING, prices: { [`${CHAIN.caip2}/slip44:60`]: '2000' } };
    opened = await openTestApp(kind, { CUSTOS_CHAINS: JSON.stringify({ [CHAIN.caip2]: settings }) });
    const key = { address: OPERATOR, publicKey: '', sealedKey: Buffer.alloc(1), createdAtMs: 0 };
    await opened.app.storage.write((store) =>
      store(OperatorKeyStore).insertOperatorKey({ ...key, caip2: CHAIN.caip2 }),
    );
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    chains = new Map([CHAIN, OTHER].map(({ caip2 }) => [caip2, newChain()]));
    chain = chains.get(CHAIN.caip2) as FakeChain;
    solana = new FakeSolana();
    running = [];
    seen = [];
    listeners = [];
    ahead = 0;
    const secret = randomBytes(32);
    operator = { secret, address: addressOf(secret) };
    made = [];
    home = await newParent();
    parent = home.organizationId as OrganizationId;
    [child, sibling] = [await newOrganization(parent), await newOrganization(parent)];
  });
  afterEach(async () => {
    await Promise.all(running.map((dispatcher) => dispatcher.stop()));
    // Whatever is left is nobody's business any more.
    await opened.app.storage.write(async (store) => {
      for (const id of made) await store(OrganizationStore).erase(id, opened.app.clock());
      await builderOf(store).deleteFrom('chain_send').where('organization_id', 'in', made).execute();
    });
  });

  const now = (): number => opened.app.clock() + ahead;

  async function newOrganization(parentId?: OrganizationId): Promise<OrganizationId> {
    const { storage, keyring } = opened.app;
    const id: OrganizationId = randomId();
    await withOrganization(storage, { id, parentId, wrappedKey: await keyring.createOrganizationKey(id) });
    made.push(id);
    return id;
  }

  /** No operation makes a parent, so it is written through the stores. */
  async function newParent(): Promise<TestClient> {
    const { storage, clock } = opened.app;
    const [organizationId, userId, key] = [await newOrganization(), randomId<'user'>(), newKeyPair()];
    const nowMs = clock();
    await storage.write(async (store) => {
      await store(UserStore).insert(
        organizationId,
        [{ id: userId, name: 'Root', email: undefined, phone: undefined }],
        nowMs,
      );
      await store(CredentialStore).insertApiKeys(organizationId, [
        { ...API_KEY, id: randomId(), userId, publicKey: key.publicKey, createdAtMs: nowMs, updatedAtMs: nowMs },
      ]);
      await store(OrganizationStore).setRootQuorum(organizationId, 1, [userId], nowMs);
    });
    return new TestClient(opened.baseUrl, organizationId, key, userId);
  }

  /** Accounts say that they ran what they were given, as the batch contract does. */
  function newChain(): FakeChain {
    const made = new FakeChain();
    made.codes.set(BATCH, '0x01');
    made.receiptOf = (hash, truth) => {
      const mined = made.blocks.flatMap((block) => block.mined).find((one) => one.hash === hash);
      if (truth === undefined || mined === undefined) return truth;
      const { data = '0x' } = parseTransaction(mined.raw);
      const topics = [NONCE_USED, `0x${data.slice(10, 74)}`] as readonly Hex[];
      const place = { blockNumber: 1n, blockHash: truth.blockHash, transactionHash: hash, logIndex: 0 } as const;
      return { ...truth, logs: [{ ...place, address: mined.to, topics, data: '0x' }] };
    };
    return made;
  }

  const secp = (secret: Uint8Array, payload: Uint8Array) => {
    const bytes = secp256k1.sign(payload, secret, { prehash: false, format: 'recovered' });
    return { r: bytes.subarray(1, 33), s: bytes.subarray(33), v: bytes[0] as 0 | 1 };
  };
  const edwards = (secret: Uint8Array, payload: Uint8Array) => {
    const bytes = ed25519.sign(payload, secret);
    return { r: bytes.subarray(0, 32), s: bytes.subarray(32), v: 0 as const };
  };
  /** Of Solana, by address. */
  const senders = new Map<string, Uint8Array>();

  function start(...settings: ChainSettings[]): SendDispatcher {
    const configured = settings.length === 0 ? [CHAIN] : settings;
    const find = (caip2: string) => configured.find((one) => one.caip2 === caip2) as ChainSettings;
    const nodes: Nodes = {
      heads: (caip2) => nodes.evm(caip2).heads(),
      evm: (caip2) => (chains.get(caip2) as FakeChain).node(find(caip2)),
      solana: (caip2) => solana.node(find(caip2)),
      close: () => {},
    };
    const { storage, keyring } = opened.app;
    const real = createSendSigner({ storage, keyring });
    const signer: SendSigner = {
      sign: async (organizationId, address, scheme, payloads) => {
        const secret = senders.get(address);
        if (secret !== undefined) return payloads.map((payload) => edwards(secret, payload));
        if (address === FROM) return payloads.map((payload) => secp(secretOf(7), payload));
        return await real.sign(organizationId, address, scheme, payloads);
      },
      signAsOperator: async (_caip2, address, scheme, payloads) => {
        const secret = address === operator.address ? operator.secret : secretOf(8);
        return payloads.map((payload) => (scheme === 'ecdsa' ? secp : edwards)(secret, payload));
      },
    };
    const dispatcher = new SendDispatcher({
      chains: configured,
      nodes,
      storage,
      signer,
      webhooks: { wake: () => {} },
      clock: now,
      elapsed: now,
      newId: randomId,
      observe: {
        send: ({ id }, state) => {
          seen.push({ id, state });
          for (const listener of listeners.splice(0)) listener();
        },
        unavailable: () => {},
      },
    });
    running.push(dispatcher);
    dispatcher.start();
    return dispatcher;
  }

  async function insert(organizationId: OrganizationId, extra: Partial<Send> = {}): Promise<Send> {
    const nowMs = now();
    const id: SendId = randomId();
    const send: Send = {
      organizationId,
      id,
      activityId: randomId(),
      caip2: CHAIN.caip2,
      sender: FROM,
      lane: operator.address,
      purpose: 'send',
      request: {
        kind: 'ethereum',
        calls: [{ to: TO, value: '1', data: '0x' }],
        sponsored: { batchNonce: String(BigInt(`0x${id.replaceAll('-', '')}`)) },
      },
      afterId: undefined,
      state: 'INITIALIZED',
      nonce: undefined,
      attempts: [],
      txHash: undefined,
      block: undefined,
      error: undefined,
      isOpen: true,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      ...extra,
    };
    await opened.app.storage.write((store) => store(SendStore).insert(send));
    for (const dispatcher of running) dispatcher.wake([send]);
    return send;
  }
  const read = ({ organizationId, id }: Send): Promise<Send> =>
    opened.app.storage.read(SendReader).get(organizationId, id);

  /** When the dispatcher has said so of the send, `times` times. */
  async function reached(send: Send, state: Send['state'], times = 1): Promise<Send> {
    while (seen.filter((one) => one.id === send.id && one.state === state).length < times) {
      await new Promise<void>((resolve) => listeners.push(resolve));
    }
    return await read(send);
  }
  const sent = async (organizationId: OrganizationId, extra: Partial<Send> = {}): Promise<Send> =>
    await reached(await insert(organizationId, extra), 'INCLUDED');
  /** Why it was not sent. */
  async function refused(organizationId: OrganizationId, extra: Partial<Send> = {}): Promise<string> {
    const before = [...chains.values()].flatMap(({ handed }) => handed).length;
    const send = await reached(await insert(organizationId, extra), 'FAILED');
    expect(send).toMatchObject({ attempts: [], txHash: undefined, nonce: undefined, isOpen: false });
    expect([...chains.values()].flatMap(({ handed }) => handed)).toHaveLength(before);
    return send.error?.message ?? '';
  }

  /** Puts what is on its way into a block, once a node has it. */
  async function mine(): Promise<void> {
    while (chain.pool.size === 0) await pause(10);
    chain.mine();
  }

  const native = (id: OrganizationId, caip2 = CHAIN.caip2): Promise<bigint> =>
    opened.app.storage.read(SponsorshipReader).nativeUsage(id, caip2, minuteOf(now()) - 60);
  const dollars = (id: OrganizationId): Promise<bigint> =>
    opened.app.storage.read(SponsorshipReader).usdUsage(id, minuteOf(now()) - 60);

  async function limit(treeLimitUsd: string, subOrganizationLimitUsd: string, isEnabled = true, windowMinutes = 60) {
    const nowMs = now();
    const config = { treeLimitUsd, subOrganizationLimitUsd, isEnabled, windowMinutes };
    const known = { organizationId: parent, id: randomId<'gas-usage-config'>(), createdAtMs: nowMs };
    await opened.app.storage.write((store) =>
      store(SponsorshipStore).putConfig({ ...known, ...config, updatedAtMs: nowMs }),
    );
  }

  describe('what is counted', () => {
    test('the most that a send can cost while it is on its way, then what was paid', async () => {
      chain.isMiningAtOnce = false;
      start();
      const send = await insert(child);
      await reached(send, 'BROADCASTING');
      expect([await native(child), await dollars(child)]).toEqual([RESERVED, usd(RESERVED)]);
      expect([await native(parent), await dollars(parent)]).toEqual([RESERVED, usd(RESERVED)]);
      await mine();
      await reached(send, 'INCLUDED');
      expect([await native(child), await dollars(child)]).toEqual([PAID, usd(PAID)]);
      chain.isMiningAtOnce = true;
      await sent(sibling);
      await sent(parent);
      expect([await native(child), await native(sibling), await native(parent)]).toEqual([PAID, PAID, 3n * PAID]);
    });

    test('more when it is replaced for a higher fee', async () => {
      chain.isMiningAtOnce = false;
      start();
      const send = await insert(child);
      await reached(send, 'BROADCASTING');
      ahead += CHAIN.replaceAfterSeconds * 1000;
      let attempts = send.attempts;
      while (attempts.length < 2) {
        await pause(10);
        ({ attempts } = await read(send));
      }
      const most = BigInt(attempts[1]?.maxCost ?? 0);
      const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(attempts[1]?.raw as Hex);
      expect(most).toBe(gas * maxFeePerGas);
      expect(await native(child)).toBe((most + 10n ** 9n - 1n) / 10n ** 9n);
      expect(await native(child)).toBeGreaterThan(RESERVED);
      expect(await native(parent)).toBe(await native(child));
      await mine();
      await reached(send, 'INCLUDED');
      expect([await native(child), await native(parent)]).toEqual([PAID, PAID]);
    });

    test('again the most while its block is undone', async () => {
      start();
      const send = await sent(child);
      chain.isMiningAtOnce = false;
      chain.reorganise(1, false);
      await reached(send, 'BROADCASTING', 2);
      expect([await native(child), await native(parent)]).toEqual([RESERVED, RESERVED]);
      await mine();
      await reached(send, 'INCLUDED', 2);
      expect([await native(child), await native(parent)]).toEqual([PAID, PAID]);
    });

    /** When it is not looked for any more. */
    async function letGo(send: Send, meanwhile: () => void): Promise<void> {
      while ((await read(send)).isOpen) {
        meanwhile();
        ahead += 30_000;
        await pause(2 * CHAIN.pollMs);
      }
    }

    test('what a node refused until it cannot land any more, and the fee of what failed in a block', async () => {
      chain.onBroadcast = async () => ({ kind: 'refused', message: 'not today' });
      start();
      const turnedDown = await insert(child);
      expect((await reached(turnedDown, 'FAILED')).attempts).toHaveLength(1);
      expect([await native(child), await dollars(parent)]).toEqual([RESERVED, usd(RESERVED)]);
      await letGo(turnedDown, () => chain.mine(13));
      expect([await native(child), await dollars(parent)]).toEqual([0n, 0n]);
      chain.onBroadcast = undefined;
      chain.reverting.set(FROM, { data: '0x', onlyInBlocks: true });
      await reached(await insert(child), 'FAILED');
      expect([await native(child), await dollars(parent)]).toEqual([PAID, usd(PAID)]);
    });

    test('wrappers of Earn, but nothing that the sender pays', async () => {
      start();
      await sent(child, { lane: FROM, request: EMPTY });
      expect(await native(parent)).toBe(0n);
      await sent(child, { sender: operator.address, purpose: 'earn-deploy', request: EMPTY });
      expect([await native(child), await native(parent)]).toEqual([PAID, PAID]);
    });

    test('the tree of a sub-organization that is erased goes on, and nobody hears of what is on its way', async () => {
      start();
      await sent(child);
      chain.isMiningAtOnce = false;
      const send = await insert(child);
      await reached(send, 'BROADCASTING');
      const status = () =>
        home.query('get_send_transaction_status', { organizationId: child, sendTransactionStatusId: send.id });
      expect((await status()).body).toMatchObject({ txStatus: 'BROADCASTING' });
      await opened.app.storage.write((store) => store(OrganizationStore).erase(child, opened.app.clock()));
      expect(await status()).toMatchObject({ status: 404, body: { errorCode: 'RESOURCE_NOT_FOUND' } });
      expect([await native(child), await native(parent)]).toEqual([0n, PAID + RESERVED]);
      await mine();
      while (!seen.some(({ id, state }) => id === send.id && state === 'INCLUDED')) {
        await new Promise<void>((resolve) => listeners.push(resolve));
      }
      expect([await native(child), await native(parent)]).toEqual([0n, 2n * PAID]);
      const left = await opened.app.storage.write((store) =>
        builderOf(store).selectFrom('sponsored_cost').selectAll().where('organization_id', '=', child).execute(),
      );
      expect(left).toEqual([]);
    });
  });

  describe('the limit of the operator', () => {
    const daily = (gwei: bigint): ChainSettings => ({ ...CHAIN, sponsoredPerDay: { most: gwei, of: 'tree' } });

    test('holds for a tree together, and for each tree by itself', async () => {
      start(daily(PAID + RESERVED));
      await sent(child);
      await sent(sibling);
      const message = await refused(parent);
      expect(message).toBe(
        `not sent: the operator pays at most 0.000071401 of the native asset of ${CHAIN.caip2} for an organization with its sub-organizations in 24 hours (sponsoredPerDay in CUSTOS_CHAINS); 0.000042 is used, and it may cost 0.000050401`,
      );
      // It has failed and costs nothing, and what the sender pays is not asked about.
      expect(await native(parent)).toBe(2n * PAID);
      await sent(child, { lane: FROM, request: EMPTY });
      const stranger = await newOrganization();
      await sent(stranger);
      expect([await native(stranger), await native(parent)]).toEqual([PAID, 2n * PAID]);
    });

    test('is over a day later', async () => {
      start(daily(RESERVED));
      await sent(child);
      expect(await refused(child)).toContain('sponsoredPerDay');
      ahead += DAY_MS - 60_000;
      expect(await refused(child)).toContain('sponsoredPerDay');
      ahead += 120_000;
      await sent(child);
    });

    test('is for what sub-organizations ask for unless it is set, and outlives them', async () => {
      const [unset] = [...chainsOf(JSON.stringify({ [CHAIN.caip2]: { rpcUrls: PLAIN.rpcUrls } })).values()];
      expect(unset?.sponsoredPerDay).toEqual({ most: 50_000_000n, of: 'sub-organizations' });
      start({ ...CHAIN, sponsoredPerDay: { most: PAID + RESERVED, of: 'sub-organizations' } });
      const deployment = { sender: operator.address, purpose: 'earn-deploy', request: EMPTY } as const;
      // What the parent asks for is neither refused nor counted.
      for (let count = 0; count < 3; count += 1) await sent(parent);
      await sent(parent, deployment);
      await sent(child);
      await sent(sibling);
      expect(await refused(child)).toBe(
        `not sent: the operator pays at most 0.000071401 of the native asset of ${CHAIN.caip2} for the sub-organizations of an organization in 24 hours (sponsoredPerDay in CUSTOS_CHAINS); less is left than the 0.000050401 that it may cost`,
      );
      await sent(parent);
      // Whoever deletes one and signs up again gets nothing back.
      await opened.app.storage.write((store) => store(OrganizationStore).erase(sibling, opened.app.clock()));
      expect(await refused(await newOrganization(parent))).toContain('sponsoredPerDay');
      ahead += DAY_MS + 60_000;
      await sent(child);
    });

    test('of nothing pays for nothing', async () => {
      start(daily(0n));
      expect(await refused(child)).toContain('at most 0 of');
    });

    test('holds for wrappers of Earn', async () => {
      const deployment = { sender: operator.address, purpose: 'earn-deploy', request: EMPTY } as const;
      // Twice the estimate: 42,000 gas.
      start(daily(90_000n));
      await sent(parent, deployment);
      expect(await refused(parent, deployment)).toContain('sponsoredPerDay');
    });

    test('counts what nodes of Solana refused for as long as its sender could have it land', async () => {
      const secret = randomBytes(32);
      const sender = base58.encode(ed25519.getPublicKey(secret));
      senders.set(sender, secret);
      const sponsored = (lamports: number): Partial<Send> => {
        const instructions = [payment(sender, RECEIVER, lamports)];
        const blockhash = solana.blockhash;
        const transaction = wireOf({ signers: [SOLANA_OPERATOR, sender], instructions, blockhash });
        const request = { kind: 'solana', transaction, signers: [sender], takesFreshBlockhash: false } as const;
        return { caip2: SOLANA.caip2, sender, lane: sender, request: { ...request, isSponsored: true } };
      };
      const began = minuteOf(now());
      const used = () => opened.app.storage.read(SponsorshipReader).nativeUsage(parent, SOLANA.caip2, began);
      start({ ...SOLANA, sponsoredPerDay: { most: 35_000n, of: 'tree' } });
      await sent(child, sponsored(1));
      expect(await used()).toBe(5000n);
      const err = { InstructionError: [0, { Custom: 1 }] };
      solana.onBroadcast = () => ({ kind: 'refused', rpcCode: -32002, message: 'simulation failed', err, logs: [] });
      const turnedDown: Send[] = [];
      for (const lamports of [2, 3, 4]) {
        const send = await reached(await insert(child, sponsored(lamports)), 'FAILED');
        // Whoever reads it can complete the transaction.
        expect(send).toMatchObject({ isOpen: true, txHash: expect.any(String) });
        turnedDown.push(send);
      }
      expect(await used()).toBe(35_000n);
      const { attempts, error } = await reached(await insert(child, sponsored(5)), 'FAILED');
      expect(attempts).toEqual([]);
      expect(error?.message).toContain('sponsoredPerDay');
      // One lands, as its sender would have it, and pays its fee. The others expire.
      solana.land(turnedDown[0]?.txHash ?? '', 'finalized', err);
      while ((await Promise.all(turnedDown.map(read))).some(({ isOpen }) => isOpen)) {
        solana.grow(200);
        ahead += 30_000;
        await pause(2 * SOLANA.pollMs);
      }
      expect(await used()).toBe(10_000n);
    });

    test('is exact for Solana, where each sender is a lane', async () => {
      solana.landsAs = undefined;
      start({ ...SOLANA, sponsoredPerDay: { most: 35_000n, of: 'tree' } });
      const sends = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const secret = randomBytes(32);
          const sender = base58.encode(ed25519.getPublicKey(secret));
          senders.set(sender, secret);
          const instructions = [payment(sender, RECEIVER, 1)];
          const transaction = wireOf({ signers: [SOLANA_OPERATOR, sender], instructions, blockhash: '1'.repeat(32) });
          const request = { kind: 'solana', transaction, signers: [sender], takesFreshBlockhash: true } as const;
          return await insert(index % 2 === 0 ? child : sibling, {
            ...{ caip2: SOLANA.caip2, sender, lane: sender, request: { ...request, isSponsored: true } },
          });
        }),
      );
      while (seen.length < sends.length) await new Promise<void>((resolve) => listeners.push(resolve));
      const states = seen.map(({ state }) => state).sort();
      expect(states).toEqual([...Array(3).fill('BROADCASTING'), ...Array(5).fill('FAILED')]);
      expect(new Set(solana.handed.map(({ signature }) => signature)).size).toBe(3);
      expect(await native(parent, SOLANA.caip2)).toBe(30_000n);
      // They land, and what they have left is there for others.
      for (const { signature } of solana.handed) solana.land(signature, 'finalized');
      while (seen.filter(({ state }) => state === 'INCLUDED').length < 3) {
        await new Promise<void>((resolve) => listeners.push(resolve));
      }
      expect(await native(parent, SOLANA.caip2)).toBe(15_000n);
      expect(await native(child, SOLANA.caip2)).toBe(15_000n - (await native(sibling, SOLANA.caip2)));
    });
  });

  describe('the limits of an organization', () => {
    test('hold for each sub-organization, not for the parent and not for others', async () => {
      await limit('100', '0.150000');
      start();
      await sent(child);
      await sent(child);
      expect(await refused(child)).toBe(
        'not sent: sponsored sends of the sub-organization (subOrgWindowLimitUsd) may cost 0.15 US dollars in 60 minutes; 0.084 is used, and it may cost 0.100802',
      );
      await sent(sibling);
      for (let count = 0; count < 3; count += 1) await sent(parent);
    });

    test('hold for all of them together', async () => {
      await limit('0.15', '100');
      start();
      await sent(child);
      await sent(sibling);
      const limited =
        'not sent: sponsored sends of the organization with its sub-organizations (orgWindowLimitUsd) may cost 0.15 US dollars in 60 minutes';
      expect(await refused(parent)).toBe(`${limited}; 0.084 is used, and it may cost 0.100802`);
      // What others of the tree have used is none of their business.
      for (const id of [child, sibling]) {
        expect(await refused(id)).toBe(`${limited}; less is left than the 0.100802 that it may cost`);
      }
    });

    test('end with their window, and with another configuration', async () => {
      await limit('0.12', '0.12', true, 5);
      start();
      await sent(child);
      expect(await refused(child)).toContain('orgWindowLimitUsd');
      await limit('0.12', '0.12', false, 5);
      await sent(child);
      await limit('0.12', '0.12', true, 5);
      expect(await refused(child)).toContain('orgWindowLimitUsd');
      ahead += 6 * 60_000;
      await sent(child);
    });

    test('of nothing let nothing through, whatever it costs', async () => {
      await limit('0', '100');
      start({ ...CHAIN, prices: priced(CHAIN.caip2, '0') });
      expect(await refused(child)).toContain('may cost 0 US dollars');
      await limit('100', '0');
      expect(await refused(child)).toContain('subOrgWindowLimitUsd');
      await sent(parent);
    });

    test('need a price, and say so', async () => {
      const { caip2 } = CHAIN;
      await limit('100', '100', false);
      start({ ...CHAIN, prices: new Map() });
      await sent(child);
      expect([await native(child), await dollars(child)]).toEqual([PAID, 0n]);
      await limit('100', '100');
      expect(await refused(child)).toBe(
        `not sent: sponsored sends of the organization have a limit in US dollars, and the native asset of ${caip2} has no price: prices in CUSTOS_CHAINS`,
      );
    });

    test('are kept however many come at once, on several chains and by several processes', async () => {
      for (const one of chains.values()) one.isMiningAtOnce = false;
      const most = 5n;
      await limit(`0.${String(usd(RESERVED) * most).padStart(6, '0')}`, '100');
      const ids = [parent, child, sibling];
      const sends = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          insert(ids[index % 3] as OrganizationId, { caip2: (index % 2 === 0 ? CHAIN : OTHER).caip2 }),
        ),
      );
      start(CHAIN, OTHER);
      start(CHAIN, OTHER);
      while (seen.length < sends.length) await new Promise<void>((resolve) => listeners.push(resolve));
      const states = seen.map(({ state }) => state);
      expect(states.filter((state) => state === 'BROADCASTING')).toHaveLength(Number(most));
      expect(states.filter((state) => state === 'FAILED')).toHaveLength(24 - Number(most));
      expect(await dollars(parent)).toBe(usd(RESERVED) * most);
      const parts = await Promise.all([dollars(child), dollars(sibling)]);
      expect(parts.reduce((sum, part) => sum + part)).toBeLessThanOrEqual(usd(RESERVED) * most);
    });
  });

  describe('the operations', () => {
    const config = (extra: object = {}) => ({
      orgWindowLimitUsd: '100.50',
      subOrgWindowLimitUsd: '2',
      windowDurationMinutes: '720',
      ...extra,
    });
    const usage = async (client: TestClient) => (await client.query('get_gas_usage')).body;
    const submit = (client: TestClient, parameters: object) => client.submit('upsert_gas_usage_config', parameters);

    test('a parent sets limits, changes them, and everybody of the tree is told', async () => {
      const sub = await createSubOrganization(home, 'Sub');
      const untouched = { windowDurationMinutes: 1440, windowLimitUsd: '', usageUsd: '0' };
      expect([await usage(home), await usage(sub)]).toEqual([untouched, untouched]);
      const first = await submit(home, config());
      expect(first.body.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { upsertGasUsageConfigIntent: config() },
        result: { upsertGasUsageConfigResult: { gasUsageConfigId: expect.any(String) } },
      });
      expect(await usage(home)).toEqual({
        windowDurationMinutes: 720,
        windowLimitUsd: '100.50',
        usageUsd: '0',
      });
      expect(await usage(sub)).toEqual({ windowDurationMinutes: 720, windowLimitUsd: '2', usageUsd: '0' });
      const second = await submit(
        home,
        config({ orgWindowLimitUsd: '7', enabled: false, solanaConfig: { rentPrefundEnabled: false } }),
      );
      expect(second.body.activity.result).toEqual(first.body.activity.result);
      expect(await usage(home)).toEqual({ windowDurationMinutes: 720, windowLimitUsd: '', usageUsd: '0' });
      await submit(home, config({ enabled: true, windowDurationMinutes: 43_200 }));
      expect(await usage(sub)).toEqual({ windowDurationMinutes: 43_200, windowLimitUsd: '2', usageUsd: '0' });
    });

    test('a sponsored send beyond the limit is accepted, fails, and says why', async () => {
      const sub = await createSubOrganization(home, 'Sub');
      const other = await createSubOrganization(home, 'Other');
      const { address } = await newWallet(sub, 'Wallet');
      await submit(home, config({ subOrgWindowLimitUsd: '0.12' }));
      start();
      const body = { from: address, caip2: CHAIN.caip2, calls: [{ to: TO, value: '5' }], sponsor: true };
      const send = async () => {
        const { sendTransactionStatusId } = await sub.run('eth_send_transaction', body);
        running[0]?.wake([{ caip2: CHAIN.caip2, lane: operator.address }]);
        return sendTransactionStatusId as SendId;
      };
      const organizationId = sub.organizationId as OrganizationId;
      const [first, second] = [await send(), await send()];
      await reached({ organizationId, id: first } as Send, 'INCLUDED');
      await reached({ organizationId, id: second } as Send, 'FAILED');
      const status = await sub.query('get_send_transaction_status', { sendTransactionStatusId: second });
      expect(status.body).toMatchObject({ txStatus: 'FAILED' });
      expect(status.body.txError).toContain('subOrgWindowLimitUsd');
      expect(await usage(sub)).toEqual({ windowDurationMinutes: 720, windowLimitUsd: '0.12', usageUsd: '0.042' });
      expect((await usage(home)).usageUsd).toBe('0.042');
      // A parent may look at its own, and nobody at a sibling's.
      const asked = { organizationId: sub.organizationId };
      expect((await home.query('get_gas_usage', asked)).body).toEqual(await usage(sub));
      expect((await usage(other)).usageUsd).toBe('0');
      expect((await other.query('get_gas_usage', asked)).status).toBe(401);
    });

    test('a sub-organization sets none, and neither does whom no policy allows it', async () => {
      const sub = await createSubOrganization(home, 'Sub');
      const refusal = await submit(sub, config());
      expect(refusal).toMatchObject({ status: 400, body: { errorCode: 'INVALID_ACTIVITY_CALLER' } });
      expect(refusal.body.message).toContain('its parent organization can');
      const member = await createUser(home, 'Member');
      const before = await usage(home);
      expect(await submit(member, config({ orgWindowLimitUsd: '9' }))).toMatchObject({ status: 403 });
      expect(await usage(home)).toEqual(before);
      await home.run('create_policy', {
        policyName: 'Gas',
        effect: 'EFFECT_ALLOW',
        consensus: `approvers.any(user, user.id == '${member.userId}')`,
        condition: "activity.resource == 'SPONSORSHIP' && activity.action == 'UPDATE'",
        notes: '',
      });
      expect(await submit(member, config({ orgWindowLimitUsd: '9' }))).toMatchObject({ status: 200 });
      expect(await usage(home)).toMatchObject({ windowLimitUsd: '9' });
    });

    const WRONG: readonly [string, object, string][] = [
      ['no limit', { orgWindowLimitUsd: undefined }, 'orgWindowLimitUsd'],
      ['a limit below zero', { orgWindowLimitUsd: '-1' }, 'orgWindowLimitUsd'],
      ['a limit in words', { subOrgWindowLimitUsd: 'ten' }, 'subOrgWindowLimitUsd'],
      ['a limit with an exponent', { subOrgWindowLimitUsd: '1e3' }, 'subOrgWindowLimitUsd'],
      ['a limit with a zero in front', { orgWindowLimitUsd: '01' }, 'orgWindowLimitUsd'],
      ['a limit that ends with its point', { orgWindowLimitUsd: '1.' }, 'orgWindowLimitUsd'],
      ['a limit finer than is counted', { orgWindowLimitUsd: '0.0000001' }, 'orgWindowLimitUsd'],
      ['a limit of a billion', { orgWindowLimitUsd: '1000000000' }, 'orgWindowLimitUsd'],
      ['a limit as a number', { orgWindowLimitUsd: 5 }, 'orgWindowLimitUsd'],
      ['no window', { windowDurationMinutes: '0' }, 'windowDurationMinutes'],
      ['a window beyond thirty days', { windowDurationMinutes: '43201' }, 'windowDurationMinutes'],
      ['half a minute', { windowDurationMinutes: '0.5' }, 'windowDurationMinutes'],
      ['a window below zero', { windowDurationMinutes: '-5' }, 'windowDurationMinutes'],
      ['a switch in words', { enabled: 'yes' }, 'enabled'],
      ['a list in place of settings', { solanaConfig: [] }, 'solanaConfig'],
    ];
    test.each(WRONG)('refuses %s, and names the field', async (_name, extra, field) => {
      expect((await submit(home, config())).status).toBe(200);
      const answer = await submit(home, config(extra));
      expect(answer).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
      expect(answer.body.message).toContain(`parameters.${field}`);
    });

    test('rent on Solana is not paid, and nobody is made to believe it', async () => {
      const answer = await submit(home, config({ solanaConfig: { rentPrefundEnabled: true } }));
      expect(answer).toMatchObject({ status: 501, body: { errorCode: 'UNIMPLEMENTED' } });
      expect(answer.body.message).toContain('parameters.solanaConfig.rentPrefundEnabled');
    });
  });
});
