import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Send, SendBlock, SendPurpose } from '../../src/chains/send/model.ts';
import type { EarnRequest, EarnWrapper } from '../../src/domains/earn/model.ts';
import { EarnReader, EarnStore } from '../../src/domains/earn/store.ts';
import { SendStore } from '../../src/domains/sends/store/sends.ts';
import type { OrganizationId, SendId } from '../../src/lib/ids.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { codeOf, NOW, Place, withOrganization } from './place.ts';

const CHAIN = 'eip155:1';
const WALLET = `0x${'0a'.repeat(20)}`;
const WRAPPER = `0x${'0b'.repeat(20)}`;

describe.each(DATABASES)('Earn in storage on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let organizationId: OrganizationId;

  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
  });
  beforeEach(async () => {
    organizationId = (await withOrganization(storage)).id;
  });
  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
  });

  const wrapperOf = (extra: Partial<EarnWrapper> = {}): EarnWrapper => ({
    organizationId,
    caip2: CHAIN,
    wrapperAddress: WRAPPER,
    splitterAddress: `0x${'0c'.repeat(20)}`,
    vaultAddress: `0x${'0d'.repeat(20)}`,
    provider: 'EARN_PROVIDER_AAVE',
    assetAddress: `0x${'0e'.repeat(20)}`,
    assetSymbol: 'USDC',
    assetDecimals: 6,
    clientFeeBps: 100,
    clientFeeWallet: WALLET,
    serviceFeeBps: 50,
    serviceFeeWallet: `0x${'0f'.repeat(20)}`,
    depositsDisabled: false,
    deployRequestId: randomId(),
    createdAtMs: NOW,
    updatedAtMs: NOW,
    ...extra,
  });
  const insert = async (extra: Partial<EarnWrapper> = {}): Promise<EarnWrapper> => {
    const wrapper = wrapperOf(extra);
    await storage.write((store) => store(EarnStore).insertWrapper(wrapper));
    return wrapper;
  };

  test('a wrapper is read as it was written, by its own organization', async () => {
    const wrapper = await insert();
    const elsewhere = await insert({ caip2: 'eip155:10', serviceFeeWallet: undefined });
    const earn = storage.read(EarnReader);
    expect(await earn.wrappersAt(organizationId, WRAPPER)).toEqual([wrapper, elsewhere]);
    expect(await earn.findWrapper(organizationId, CHAIN, WRAPPER)).toEqual(wrapper);
    expect(await earn.wrappers(organizationId)).toEqual([wrapper, elsewhere]);
    expect(await earn.wrappersAt(randomId(), WRAPPER)).toEqual([]);
    await storage.write((store) => store(EarnStore).setDepositsDisabled(wrapper, true, NOW + 1));
    const requestId = randomId<'earn-request'>();
    await storage.write((store) => store(EarnStore).setDeployRequest(elsewhere, requestId, NOW + 2));
    expect(await earn.wrappers(organizationId)).toEqual([
      { ...wrapper, depositsDisabled: true, updatedAtMs: NOW + 1 },
      { ...elsewhere, deployRequestId: requestId, updatedAtMs: NOW + 2 },
    ]);
  });

  /** Waits until some transaction on PostgreSQL waits for a lock; the embedded database does one after the other. */
  async function untilSomebodyWaits(): Promise<void> {
    if (place.databaseUrl === undefined) return;
    const client = new pg.Client({ connectionString: place.databaseUrl });
    await client.connect();
    try {
      await vi.waitFor(
        async () => {
          const { rows } = await client.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          expect(rows).toHaveLength(1);
        },
        { timeout: 10_000, interval: 5 },
      );
    } finally {
      await client.end();
    }
  }

  test('who holds a wrapper has its state to the end, and others may hold it too', async () => {
    const wrapper = await insert();
    const order: string[] = [];
    let switched: Promise<void> | undefined;
    await storage.write(async (store) => {
      expect(await store(EarnStore).holdWrapper(wrapper)).toEqual(wrapper);
      switched = storage
        .write((other) => other(EarnStore).setDepositsDisabled(wrapper, true, NOW + 1))
        .then(() => {
          order.push('switched');
        });
      await untilSomebodyWaits();
      expect(await store(EarnStore).holdWrapper(wrapper)).toEqual(wrapper);
      order.push('held');
    });
    await switched;
    expect(order).toEqual(['held', 'switched']);
    const held = await storage.write((store) => store(EarnStore).holdWrapper(wrapper));
    expect(held).toMatchObject({ depositsDisabled: true });
    expect(
      await storage.write((store) => store(EarnStore).holdWrapper(wrapperOf({ caip2: 'eip155:2' }))),
    ).toBeUndefined();
  });

  const insertRequest = async (
    request: Pick<EarnRequest, 'kind' | 'amount'> & Partial<EarnRequest>,
    state: Send['state'] = 'INCLUDED',
    block: Send['block'] = undefined,
    txHash: Send['txHash'] = undefined,
  ): Promise<EarnRequest> => {
    const sendId: SendId = randomId();
    const made: EarnRequest = {
      organizationId,
      id: randomId(),
      caip2: CHAIN,
      wrapperAddress: WRAPPER,
      walletAddress: WALLET,
      sendId,
      createdAtMs: NOW,
      ...request,
    };
    const send: Send = {
      organizationId: made.organizationId,
      id: sendId,
      activityId: randomId(),
      caip2: CHAIN,
      sender: WALLET,
      lane: WALLET,
      purpose: `earn-${request.kind}` as SendPurpose,
      request: { kind: 'ethereum', calls: [] },
      afterId: undefined,
      state,
      nonce: undefined,
      attempts: [],
      txHash,
      block,
      error: undefined,
      isOpen: false,
      createdAtMs: NOW,
      updatedAtMs: NOW,
    };
    await storage.write(async (store) => {
      await store(SendStore).insert(send);
      await store(EarnStore).insertRequest(made);
    });
    return made;
  };

  test('a request is read by its kind and organization', async () => {
    const request = await insertRequest({ kind: 'deposit', amount: '5' });
    const earn = storage.read(EarnReader);
    expect(await earn.getRequest(organizationId, 'deposit', request.id)).toEqual(request);
    expect(await codeOf(earn.getRequest(organizationId, 'withdraw', request.id))).toBe('RESOURCE_NOT_FOUND');
    expect(await codeOf(earn.getRequest(randomId(), 'deposit', request.id))).toBe('RESOURCE_NOT_FOUND');
  });

  const totals = (...ids: OrganizationId[]) => storage.read(EarnReader).totals(ids, WALLET);

  test('totals are of what is in blocks, and go on when everything was taken out', async () => {
    const most = String(2n ** 256n - 1n);
    await insertRequest({ kind: 'deposit', amount: most });
    await insertRequest({ kind: 'deposit', amount: '7' });
    await insertRequest({ kind: 'deposit', amount: '1000' }, 'BROADCASTING');
    await insertRequest({ kind: 'withdraw', amount: '2' });
    await insertRequest({ kind: 'withdraw', amount: '1000' }, 'FAILED');
    await insertRequest({ kind: 'claim', amount: '' });
    await insertRequest({ kind: 'deposit', amount: '3', wrapperAddress: `0x${'1b'.repeat(20)}` });
    await insertRequest({ kind: 'deposit', amount: '4', walletAddress: `0x${'1a'.repeat(20)}` });
    const own = { caip2: CHAIN, wrapperAddress: WRAPPER, unread: [] };
    const other = { ...own, wrapperAddress: `0x${'1b'.repeat(20)}`, deposited: 3n, withdrawn: 0n };
    expect(await totals(organizationId)).toEqual([{ ...own, deposited: BigInt(most) + 7n, withdrawn: 2n }, other]);
    await insertRequest({ kind: 'withdraw', amount: 'MAX' }, 'BROADCASTING');
    await insertRequest({ kind: 'withdraw', amount: 'MAX' }, 'INCLUDED', block({ withdrawn: '40' }));
    await insertRequest({ kind: 'deposit', amount: '9' });
    expect(await totals(organizationId)).toEqual([{ ...own, deposited: BigInt(most) + 16n, withdrawn: 42n }, other]);
  });

  test('a withdrawal of everything whose amount nobody noted is named by its transaction', async () => {
    await insertRequest({ kind: 'deposit', amount: '7' });
    await insertRequest({ kind: 'withdraw', amount: 'MAX' }, 'INCLUDED', block({}), '0x12');
    await insertRequest({ kind: 'withdraw', amount: 'MAX' }, 'INCLUDED', undefined);
    const [found] = await totals(organizationId);
    expect(found).toMatchObject({ deposited: 7n, withdrawn: 0n, unread: ['0x12', ''] });
  });

  test('totals are of the organizations that are named', async () => {
    const other = (await withOrganization(storage)).id;
    await insertRequest({ kind: 'deposit', amount: '7' });
    await insertRequest({ kind: 'deposit', amount: '5', organizationId: other });
    const depositedOf = async (...ids: OrganizationId[]) => (await totals(...ids)).map(({ deposited }) => deposited);
    expect(await depositedOf(organizationId)).toEqual([7n]);
    expect(await depositedOf(other)).toEqual([5n]);
    expect(await depositedOf(organizationId, other)).toEqual([12n]);
    expect(await depositedOf()).toEqual([]);
  });
});

const block = (extra: Partial<SendBlock>): SendBlock => ({
  number: 10,
  hash: `0x${'b1'.repeat(32)}`,
  timestamp: 0,
  fee: '0',
  ...extra,
});
