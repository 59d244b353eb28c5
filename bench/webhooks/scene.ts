import { join } from 'node:path';
import { createSubOrganization, type TestClient } from '../../packages/server/test/harness/client.ts';
import type { TestPostgres } from '../../scripts/lib/postgres.mjs';
import type { FloorDatabase } from '../floors/drivers.ts';
import { COUNT, COUNT_DIGITS, type Workload } from '../load/requests.ts';
import { Service, type StartOptions } from '../service.ts';
import { createDatabase, ethereum, queryLoad, submitLoad } from '../stage.ts';
import { openQueue, type Queue, type Recipient } from './queue.ts';
import type { Addresses, Sample } from './receiver-process.ts';
import type { Receivers } from './receivers.ts';

/** An endpoint of a sub-organization. */
export interface Tenant extends Recipient {
  readonly isAlive: boolean;
  readonly signing: Workload;
  readonly listing: Workload;
}

/** The service with its tenants; it is stopped. */
export interface Scene extends AsyncDisposable {
  readonly service: Service;
  readonly database: FloorDatabase;
  readonly tenants: readonly Tenant[];
  /** As many endpoints of one organization. */
  readonly listeners: readonly Tenant[];
  /** Of a sub-organization that has no endpoint. */
  readonly signing: Workload;
  /** A delivery as the service made it. */
  readonly sample: Sample;
  start(node?: readonly string[]): Promise<void>;
  /** Stops the service and works on its queue. */
  change<T>(work: (queue: Queue) => Promise<T>): Promise<T>;
}

/** As many as make the body of the activity some 3 KB. */
const ACCOUNTS = 4;
const PATIENCE_SECONDS = 30;
const PAGE = '5';

export async function openScene(
  postgres: TestPostgres | undefined,
  name: string,
  receivers: Receivers,
  { alive, closed, silent }: Addresses,
): Promise<Scene> {
  const service = new Service(postgres && (await createDatabase(postgres, name)));
  const start = async (node: readonly string[] = []): Promise<void> => {
    const options: StartOptions = { node, env: { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' } };
    await service.start(options);
  };
  try {
    await start();
    const tenants: Tenant[] = [];
    const urls = [...alive, closed, silent];
    for (const url of urls) {
      tenants.push(await createTenant(service.root, `Tenant ${tenants.length}`, url, alive.includes(url)));
    }
    const listeners = await createListeners(service.root, urls, alive);
    const { signing } = await withWallet(await createSubOrganization(service.root, 'Without endpoint'));
    const sample = await sampleOf(service.root, receivers, alive[0] as string);
    await service.stop();
    const { databaseUrl, dataDir } = service;
    const database: FloorDatabase =
      databaseUrl === undefined
        ? { kind: 'sqlite', file: join(dataDir, 'custos.db') }
        : { kind: 'postgres', url: databaseUrl };
    return {
      service,
      database,
      tenants,
      listeners,
      signing,
      sample,
      start,
      async change(work) {
        await service.stop();
        const queue = await openQueue(database, service);
        try {
          return await work(queue);
        } finally {
          await queue.close();
        }
      },
      [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
    };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

async function createTenant(root: TestClient, name: string, url: string, isAlive: boolean): Promise<Tenant> {
  const client = await createSubOrganization(root, name);
  // The wallet first, so that its own event is not among those of the endpoint.
  const { signing } = await withWallet(client);
  return await createEndpoint(client, 'Receiver', url, isAlive, signing);
}

async function createListeners(root: TestClient, urls: readonly string[], alive: readonly string[]): Promise<Tenant[]> {
  const client = await createSubOrganization(root, 'Listeners');
  const { signing } = await withWallet(client);
  const listeners: Tenant[] = [];
  for (const [index, url] of urls.entries()) {
    listeners.push(await createEndpoint(client, `Receiver ${index}`, url, alive.includes(url), signing));
  }
  return listeners;
}

async function createEndpoint(
  client: TestClient,
  name: string,
  url: string,
  isAlive: boolean,
  signing: Workload,
): Promise<Tenant> {
  const { endpointId } = await subscribe(client, name, url);
  const page = { endpointId, paginationOptions: { limit: PAGE } };
  const listing = queryLoad('list_webhook_deliveries', client, page);
  return { organizationId: client.organizationId, endpointId, isAlive, signing, listing };
}

const subscribe = (client: TestClient, name: string, url: string): Promise<{ readonly endpointId: string }> =>
  client.run('create_webhook_endpoint', {
    url,
    name,
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
  });

async function withWallet(client: TestClient): Promise<{ readonly signing: Workload }> {
  const wallet = { walletName: 'Signing', accounts: [ethereum(0)] };
  const { addresses } = await client.run('create_wallet', wallet);
  const signing = {
    signWith: addresses[0],
    payload: '0'.repeat(64 - COUNT_DIGITS) + COUNT,
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  };
  return { signing: submitLoad('sign_raw_payload', client, [signing]) };
}

/** What is sent for a new wallet of several accounts. */
async function sampleOf(root: TestClient, receivers: Receivers, url: string): Promise<Sample> {
  const client = await createSubOrganization(root, 'Sample');
  await subscribe(client, 'Receiver', url);
  await receivers.forget('activity');
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => ethereum(index));
  const answer = await client.submit('create_wallet', { walletName: 'Sample', accounts });
  // Those of the endpoints that have just been made may come in between, but are shorter.
  for (let count = 1; !(await receivers.times()).has(answer.body.activity.id); count += 1) {
    await receivers.arrived(count, PATIENCE_SECONDS);
  }
  return await receivers.sample();
}
