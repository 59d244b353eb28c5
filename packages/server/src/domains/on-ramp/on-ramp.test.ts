import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Keyring } from '@custos/keyring';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fakeStores } from '../../../test/harness/fake-stores.ts';
import { readConfig } from '../../config/config.ts';
import type { Organization } from '../../core/model.ts';
import { randomId } from '../../lib/ids.ts';
import { Fence } from '../../storage/fence.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Stores } from '../../storage/stores.ts';
import type { OnRampTransaction } from './model.ts';
import { createOnRamp } from './on-ramp.ts';
import { OnRampReader, OnRampStore } from './store.ts';

// How many questions a provider is asked at once. What it may answer is in the flows.

const PROVIDER = 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
const organizationOf = () =>
  ({ id: randomId(), parentId: undefined, wrappedKey: new Uint8Array(0) }) as unknown as Organization;
const organization = organizationOf();
const transactionOf = (): OnRampTransaction => ({
  id: randomId(),
  credentialId: 'credential',
  provider: PROVIDER,
  isSandbox: false,
  status: 'PENDING',
  createdAtMs: 0,
  updatedAtMs: 0,
});

let server: Server;
let url: string;
const held: ServerResponse[] = [];

beforeAll(async () => {
  server = createServer((_request, response) => void held.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const arrived = (count: number) => vi.waitFor(() => expect(held).toHaveLength(count), { timeout: 10_000, interval: 2 });
const release = (): void => {
  for (const response of held.splice(0)) response.end('[{"status":"completed"}]');
};

function newOnRamp(fence = Fence.down()) {
  const setStatus = vi.fn(async () => {});
  const credential = { id: 'credential', provider: PROVIDER, publishableApiKey: 'pk' };
  const storage = {
    fence,
    read: fakeStores([OnRampReader, { findCredential: async () => credential }]),
    write: (unit: (store: Stores) => Promise<void>) => unit(fakeStores([OnRampStore, { setStatus }])),
  } as unknown as Storage;
  const config = readConfig({ CUSTOS_MOONPAY_API_URL: url });
  let nowMs = 1;
  const onRamp = createOnRamp({ config, storage, keyring: {} as Keyring, clock: () => nowMs });
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  return { setStatus, onRamp, advance };
}

test('whoever asks about the same transaction at once shares one question', async () => {
  const { onRamp, setStatus, advance } = newOnRamp();
  const [one, other] = [transactionOf(), transactionOf()];
  const asked = [
    onRamp.refresh(organization, one),
    onRamp.refresh(organization, one),
    onRamp.refresh(organization, other),
  ];
  await arrived(2);
  release();
  expect(await Promise.all(asked)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  expect(setStatus).toHaveBeenCalledTimes(2);
  // The answer serves for two seconds; afterwards it is asked again.
  advance(1999);
  expect(await onRamp.refresh(organization, one)).toBe('COMPLETED');
  expect(held).toHaveLength(0);
  advance(1);
  const again = onRamp.refresh(organization, one);
  await arrived(1);
  release();
  expect(await again).toBe('COMPLETED');
});

test('for an organization that is held after a restore nobody is asked', async () => {
  const { onRamp, setStatus } = newOnRamp(new Fence());
  const transaction = transactionOf();
  expect(await onRamp.refresh(organization, transaction)).toBe(transaction.status);
  expect([held.length, setStatus.mock.calls.length]).toEqual([0, 0]);
});

test('one organization takes no more than its part', async () => {
  const { onRamp } = newOnRamp();
  const asked = Array.from({ length: 8 }, () => onRamp.refresh(organization, transactionOf()));
  await expect(onRamp.refresh(organization, transactionOf())).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfterSeconds: 1,
  });
  // Links of Coinbase are counted with it.
  await expect(onRamp.inTurn(organization.id, async () => 'a session')).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
  });
  expect(await onRamp.inTurn(organizationOf().id, async () => 'a session')).toBe('a session');
  await arrived(8);
  release();
  await Promise.all(asked);
  expect(await onRamp.inTurn(organization.id, async () => 'a session')).toBe('a session');
});

test('more than are bounded are told to come back, also after some failed', async () => {
  const { onRamp } = newOnRamp();
  const asked = Array.from({ length: 8 }, organizationOf).flatMap((each) =>
    Array.from({ length: 8 }, () => onRamp.refresh(each, transactionOf())),
  );
  await expect(onRamp.refresh(organization, transactionOf())).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryAfterSeconds: 1,
  });
  await arrived(64);
  for (const response of held.splice(0, 32)) response.destroy();
  release();
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(32);
  const next = onRamp.refresh(organization, transactionOf());
  await arrived(1);
  release();
  expect(await next).toBe('COMPLETED');
});
