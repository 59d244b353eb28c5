import { operations } from '../../packages/server/src/registry.ts';
import { createSubOrganization, currentType, type TestClient } from '../../packages/server/test/harness/client.ts';
import { Child, cpuSeconds, residentMb } from '../child.ts';
import { COUNT, COUNT_DIGITS, prepareRequests, type Workload } from '../load/requests.ts';
import type { Service } from '../service.ts';
import type { Figure } from './figures.ts';
import { OTHER_ADDRESS, renames, whoami } from './flood.ts';
import type { Order, Report } from './heavy.ts';
import { signatures } from './stopped.ts';
import { peakMemory, visit } from './watch.ts';
import { quantile } from './wire.ts';

const SENT = { clients: 8, requests: 300, secondsMax: 60 };
const LISTED = { clients: 6, requests: 600, secondsMax: 60 };
const SECONDS_MAX = SENT.secondsMax + LISTED.secondsMax;
/** What stands around the parameters, and the rest of them. */
const FRAME_BYTES = 4096;

/** What a list answers: a page, that it is too large, or that too much is asked. */
const EXPECTED = new Set(['200', '400 RESULT_TOO_LARGE', '429 RATE_LIMIT_EXCEEDED', '503 UNAVAILABLE']);

/** Somebody who signed up sends what is as large as may be, and lists it; another tenant, from another address, must not notice. */
export async function large(service: Service): Promise<{ figures: Figure[]; notes: string[] }> {
  const { port, pid } = service.target;
  const heavy = await createSubOrganization(service.root, 'Heavy');
  const other = await createSubOrganization(service.root, 'Other');
  await using child = new Child<Order, Report>(new URL('./heavy.ts', import.meta.url));
  const writes = await largeRequests(heavy);
  const own = [...prepareRequests(await renames(other, 1), 50 * SECONDS_MAX)];
  const small = own.flatMap((request, index) => [request, ...prepareRequests(whoami(other), index % 2)]);

  const over = new AbortController();
  const beforeMb = residentMb(pid);
  const beforeSeconds = cpuSeconds(pid);
  const { value, peakMb } = await peakMemory(pid, () =>
    Promise.all([
      visit({
        port,
        from: OTHER_ADDRESS,
        requests: small,
        everyMs: 50,
        seconds: SECONDS_MAX,
        isNew: false,
        signal: over.signal,
      }),
      attack(child, port, writes, lists(heavy)).finally(() => over.abort()),
    ]),
  );
  const [replies, { sent, listed, sentSeconds, listedSeconds }] = value;
  const times = replies.map(({ milliseconds }) => milliseconds);
  const unserved = replies.filter(({ status }) => status !== 200).length;
  const unexpected = [sent, listed]
    .flatMap((report) => Object.entries(report))
    .filter(([answer]) => !EXPECTED.has(answer));
  return {
    figures: [
      { name: 'memory, growth', value: peakMb - beforeMb, unit: 'MB', atMost: 200 },
      { name: 'another tenant, p99', value: quantile(times, 0.99), unit: 'ms', atMost: 100 },
      { name: 'another tenant, refused', value: unserved, unit: 'requests', atMost: 0 },
      {
        name: 'unexpected answers',
        value: unexpected.reduce((sum, [, count]) => sum + count, 0),
        unit: 'requests',
        atMost: 0,
      },
    ],
    notes: [
      `${SENT.requests} large requests, ${SENT.clients} at once, in ${sentSeconds.toFixed(1)} s: ${JSON.stringify(sent)}`,
      `${LISTED.requests} lists, ${LISTED.clients} at once, in ${listedSeconds.toFixed(1)} s: ${JSON.stringify(listed)}`,
      `another tenant: ${replies.length} requests, p50 ${quantile(times, 0.5).toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms`,
      `processor time ${(cpuSeconds(pid) - beforeSeconds).toFixed(1)} s, memory before ${beforeMb.toFixed(0)} MB, at most ${peakMb.toFixed(0)} MB, keyring included`,
    ],
  };
}

async function attack(
  child: Child<Order, Report>,
  port: number,
  writes: readonly Workload[],
  reads: readonly Workload[],
) {
  const startedAt = performance.now();
  const sent = await child.ask({ port, workloads: writes, ...SENT });
  const sentAt = performance.now();
  const listed = await child.ask({ port, workloads: reads, ...LISTED });
  return {
    sent,
    listed,
    sentSeconds: (sentAt - startedAt) / 1000,
    listedSeconds: (performance.now() - sentAt) / 1000,
  };
}

/** Operations that change something, filled up to their limits with a parameter that nobody knows. */
async function largeRequests(client: TestClient): Promise<Workload[]> {
  const signing = await signatures(client);
  const filled = async (operation: string, parameters: object): Promise<Workload> => {
    const text = JSON.stringify(parameters);
    // As it is it must work, or the large ones would be refused for another reason.
    await client.run(operation, JSON.parse(text.replaceAll(COUNT, 'one')));
    return {
      kind: 'submit',
      path: `/public/v1/submit/${operation}`,
      keys: [client.key],
      organizationId: client.organizationId,
      type: currentType(operation),
      parameters: [fill(text, limitOf(operation))],
    };
  };
  const [template = ''] = signing.kind === 'submit' ? signing.parameters : [];
  const payload = JSON.parse(template) as object;
  const sign = await filled('sign_raw_payload', { ...payload, payload: 'x'.repeat(1024 * 1024) });
  const policies = await filled('create_policies', {
    policies: [
      { policyName: `Policy ${COUNT}`, effect: 'EFFECT_DENY', condition: 'false', consensus: 'false', notes: '' },
    ],
  });
  const users = await filled('create_users', {
    users: [
      {
        userName: `User ${COUNT}`,
        userEmail: `${COUNT}@example.com`,
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  });
  const rename = await filled('update_user_name', { userId: client.userId, userName: `Renamed ${COUNT}` });
  return [sign, sign, sign, policies, sign, users, sign, rename];
}

function fill(parameters: string, bytes: number): string {
  const open = `${parameters.slice(0, -1)},"unknown":"${COUNT}`;
  return `${open}${'x'.repeat(bytes - open.length - COUNT_DIGITS - FRAME_BYTES)}"}`;
}

function limitOf(operation: string): number {
  const found = operations.find(({ name }) => name === operation);
  if (found === undefined) throw new Error(`no such operation: ${operation}`);
  return found.bodyLimit;
}

function lists(client: TestClient): Workload[] {
  const list = (operation: string, parameters: object): Workload => ({
    kind: 'query',
    path: `/public/v1/query/${operation}`,
    key: client.key,
    body: JSON.stringify({ organizationId: client.organizationId, ...parameters }),
  });
  const page = { paginationOptions: { limit: '100' } };
  return [
    list('list_activities', page),
    list('list_activities', { filterByType: [currentType('sign_raw_payload')], ...page }),
    list('list_policies', {}),
    list('list_users', {}),
    list('list_activities', { paginationOptions: { limit: '5' } }),
    list('list_wallets', {}),
  ];
}
