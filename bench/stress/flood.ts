import {
  createSubOrganization,
  createUser,
  currentType,
  type TestClient,
} from '../../packages/server/test/harness/client.ts';
import { Child } from '../child.ts';
import { COUNT, prepareRequests, type Workload } from '../load/requests.ts';
import type { Service } from '../service.ts';
import type { Order, Report } from './crowd.ts';
import type { Figure } from './figures.ts';
import { peakMemory, visit } from './watch.ts';
import { quantile } from './wire.ts';

const USERS = 64;
const STALLED_BYTES = 1.75 * 1024 * 1024;
export const OTHER_ADDRESS = '127.0.0.2';

export interface FloodSize {
  readonly writers: number;
  readonly stalled: number;
  readonly seconds: number;
}

/** Writers and stalled bodies from one address, by the thousand; another tenant, from another address, must not notice. */
export async function flood(service: Service, size: FloodSize): Promise<{ figures: Figure[]; notes: string[] }> {
  const { writers, stalled, seconds } = size;
  const { port, pid } = service.target;
  const crowded = await createSubOrganization(service.root, 'Crowded');
  const other = await createSubOrganization(service.root, 'Other');
  await using writing = new Child<Order, Report>(new URL('./crowd.ts', import.meta.url));
  await using stalling = new Child<Order, Report>(new URL('./crowd.ts', import.meta.url));
  await writing.ask({ kind: 'prepare', workload: await renames(crowded, USERS), requests: writers * 4 });
  await writing.ask({ kind: 'connect', port, clients: writers });
  const own = prepareRequests(await renames(other, 1), 25 * seconds);
  const newcomers = prepareRequests(whoami(crowded), 512);

  const { value, peakMb } = await peakMemory(pid, () =>
    Promise.all([
      stalling.ask({ kind: 'stall', port, clients: stalled, seconds, sentBytes: STALLED_BYTES }),
      writing.ask({ kind: 'write', seconds }),
      visit({ port, from: OTHER_ADDRESS, requests: own, everyMs: 50, seconds, isNew: false }),
      visit({ port, from: '127.0.0.1', requests: newcomers, everyMs: 250, seconds, isNew: true }),
    ]),
  );
  const [stalls, writes, others, connections] = value;
  const unserved = others.filter(({ status }) => status !== 200).length;
  const unanswered = connections.filter(({ status }) => status === 0).length;
  const times = (replies: readonly { milliseconds: number }[]): number[] =>
    replies.map(({ milliseconds }) => milliseconds);
  return {
    figures: [
      { name: 'accepted writes, p99', value: quantile(writes.accepted, 0.99), unit: 'ms', atMost: 1000 },
      { name: 'memory, keyring included', value: peakMb, unit: 'MB', atMost: 600 },
      { name: 'a new connection, slowest answer', value: Math.max(...times(connections)), unit: 'ms', atMost: 1000 },
      { name: 'another tenant, p99', value: quantile(times(others), 0.99), unit: 'ms', atMost: 250 },
      { name: 'another tenant, refused', value: unserved, unit: 'requests', atMost: 0 },
    ],
    notes: [
      `${(writes.accepted.length / seconds).toFixed(0)} writes/s accepted, p50 ${quantile(writes.accepted, 0.5).toFixed(0)} ms; answers ${JSON.stringify(writes.statuses)}`,
      `stalled bodies: ${JSON.stringify(stalls.statuses)}; new connections: ${connections.length}, ${unanswered} without an answer`,
      `another tenant: ${others.length} requests, p50 ${quantile(times(others), 0.5).toFixed(0)} ms`,
    ],
  };
}

export async function renames(client: TestClient, users: number): Promise<Workload> {
  const userIds: string[] = [];
  for (let count = 0; count < users; count += 1) userIds.push((await createUser(client, `User ${count}`)).userId);
  return {
    kind: 'submit',
    path: '/public/v1/submit/update_user_name',
    keys: [client.key],
    organizationId: client.organizationId,
    type: currentType('update_user_name'),
    parameters: userIds.map((userId) => JSON.stringify({ userId, userName: `Renamed ${COUNT}` })),
  };
}

export const whoami = (client: TestClient): Workload => ({
  kind: 'query',
  path: '/public/v1/query/whoami',
  key: client.key,
  body: JSON.stringify({ organizationId: client.organizationId }),
});
