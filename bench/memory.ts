import { createSubOrganization, createUser } from '../packages/server/test/harness/client.ts';
import { residentMb } from './child.ts';
import { MANY, median } from './figures.ts';
import type { Load } from './load/load.ts';
import { COUNT, COUNT_DIGITS, type Workload } from './load/requests.ts';
import type { Options } from './options.ts';
import { Service } from './service.ts';
import { ethereum, queryLoad, submitLoad } from './stage.ts';

/** Resident memory of the service under mixed load, in MB. */
export interface MemoryFigure {
  readonly minutes: number;
  readonly requests: number;
  /** The median of the second sixth of the time, when everything was used once. */
  readonly earlyMb: number;
  /** The median of the last sixth. */
  readonly lateMb: number;
  readonly samples: readonly number[];
}

export const MEMORY_TITLE = 'sqlite memory under load';

const USERS = 64;
const WINDOW_SECONDS = 2;
const PARTS = 6;

export async function measureMemory(load: Load, { minutes }: Options): Promise<MemoryFigure> {
  await using service = new Service();
  await service.start();
  const workloads = await mixedLoad(service);
  const samples: number[] = [];
  let requests = 0;
  const endsAt = performance.now() + minutes * 60_000;
  while (performance.now() < endsAt) {
    for (const workload of workloads) {
      const { rate } = await load.run(service.target, workload, MANY, WINDOW_SECONDS);
      requests += rate * WINDOW_SECONDS;
    }
    samples.push(residentMb(service.target.pid));
  }
  const part = (from: number): number[] =>
    samples.slice(Math.floor((samples.length * from) / PARTS), Math.ceil((samples.length * (from + 1)) / PARTS));
  return { minutes, requests, earlyMb: median(part(1)), lateMb: median(part(PARTS - 1)), samples };
}

async function mixedLoad({ root }: Service): Promise<Workload[]> {
  const client = await createSubOrganization(root, 'Mixed');
  const renames: unknown[] = [];
  for (let count = 0; count < USERS; count += 1) {
    const { userId } = await createUser(client, `User ${count}`);
    renames.push({ userId, userName: `Renamed ${COUNT}` });
  }
  const { walletId, addresses } = await client.run('create_wallet', { walletName: 'W', accounts: [ethereum(0)] });
  const payload = '0'.repeat(64 - COUNT_DIGITS) + COUNT;
  const hex = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
  return [
    queryLoad('whoami', client),
    queryLoad('list_users', client),
    queryLoad('list_activities', client, { paginationOptions: { limit: '10' } }),
    submitLoad('update_user_name', client, renames),
    submitLoad('sign_raw_payload', client, [{ signWith: addresses[0], payload, ...hex }]),
    submitLoad('create_wallet_accounts', client, [{ walletId, accounts: [ethereum(COUNT)] }]),
  ];
}
