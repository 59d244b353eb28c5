import { setTimeout as sleep } from 'node:timers/promises';
import { createSubOrganization, currentType, type TestClient } from '../../packages/server/test/harness/client.ts';
import { childrenOf } from '../child.ts';
import { COUNT, prepareRequests, type Workload } from '../load/requests.ts';
import type { Service } from '../service.ts';
import type { Figure } from './figures.ts';
import { type Reply, Wire } from './wire.ts';

const SIGNERS = 8;
const PAUSE_MS = 100;
const CALM_MS = 2000;
/** When everything is over, however it went. */
const SECONDS_MAX = 30;
const READYZ = Buffer.from('GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');

/** The keyring process stops answering while clients sign: readiness says so, it is replaced, and no signature is lost or doubled. */
export async function stopped(service: Service): Promise<{ figures: Figure[]; notes: string[] }> {
  const { port, pid } = service.target;
  const client = await createSubOrganization(service.root, 'Signing');
  const requests = prepareRequests(await signatures(client), (SIGNERS * SECONDS_MAX * 1000) / PAUSE_MS);
  const keyring = onlyChildOf(pid);

  const endsAt = performance.now() + SECONDS_MAX * 1000;
  const isLate = (): boolean => performance.now() >= endsAt;
  let isOver = false;
  let stoppedAt = Number.POSITIVE_INFINITY;
  let signedAgainAt = Number.NaN;
  const asked: { requests: number; replies: Reply[] } = { requests: 0, replies: [] };

  const sign = async (): Promise<void> => {
    const wire = new Wire(port);
    while (!isOver && !isLate()) {
      const request = requests[asked.requests];
      if (request === undefined) break;
      asked.requests += 1;
      // The same bytes again until they are signed: nobody stops half way.
      for (;;) {
        const sentAt = performance.now();
        const reply = await wire.send(request);
        asked.replies.push(reply);
        if (reply.status === 200 && sentAt > stoppedAt && !(signedAgainAt <= performance.now()))
          signedAgainAt = performance.now();
        if (reply.status === 200 || isLate()) break;
        await sleep(Math.max(1, reply.retryAfterSeconds) * 1000);
      }
      await sleep(PAUSE_MS);
    }
    wire.close();
  };
  const signing = Promise.all(Array.from({ length: SIGNERS }, sign));
  await sleep(CALM_MS);
  process.kill(keyring, 'SIGSTOP');
  stoppedAt = performance.now();
  const unreadyMs = (await whenReadiness(port, (status) => status === 503, isLate)) - stoppedAt;
  const readyMs = (await whenReadiness(port, (status) => status === 200, isLate)) - stoppedAt;
  await sleep(CALM_MS);
  isOver = true;
  await signing;

  const { replies } = asked;
  const signed = replies.filter(({ status }) => status === 200).length;
  const told = replies.filter(({ status, retryAfterSeconds }) => status === 503 && retryAfterSeconds > 0).length;
  const stored = await countSignatures(client);
  return {
    figures: [
      { name: 'not ready after', value: unreadyMs, unit: 'ms', atMost: 5000 },
      { name: 'ready again after', value: readyMs, unit: 'ms', atMost: 10_000 },
      { name: 'signing again after', value: signedAgainAt - stoppedAt, unit: 'ms', atMost: 10_000 },
      {
        name: 'neither signed nor told to come again',
        value: replies.length - signed - told,
        unit: 'requests',
        atMost: 0,
      },
      { name: 'lost', value: Math.max(0, asked.requests - stored), unit: 'requests', atMost: 0 },
      { name: 'doubled', value: Math.max(0, stored - asked.requests), unit: 'requests', atMost: 0 },
    ],
    notes: [
      `${asked.requests} requests by ${SIGNERS} signers, ${signed} signed, ${told} answers of 503 with Retry-After; ${stored} activities`,
    ],
  };
}

function onlyChildOf(pid: number): number {
  const [child, ...others] = childrenOf(pid);
  if (child === undefined || others.length > 0) throw new Error('expected one child of the service: its keyring');
  return child;
}

/** When readiness became what it should; not a number if it did not. */
async function whenReadiness(port: number, isSo: (status: number) => boolean, isLate: () => boolean): Promise<number> {
  const wire = new Wire(port);
  try {
    while (!isLate()) {
      const { status } = await wire.send(READYZ);
      if (isSo(status)) return performance.now();
      await sleep(PAUSE_MS);
    }
    return Number.NaN;
  } finally {
    wire.close();
  }
}

/** Each of a payload that no other has. */
export async function signatures(client: TestClient): Promise<Workload> {
  const { addresses } = await client.run('create_wallet', {
    walletName: 'Signing',
    accounts: [
      {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      },
    ],
  });
  const payload = {
    signWith: addresses[0],
    payload: `pay ${COUNT}`,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  };
  return {
    kind: 'submit',
    path: '/public/v1/submit/sign_raw_payload',
    keys: [client.key],
    organizationId: client.organizationId,
    type: currentType('sign_raw_payload'),
    parameters: [JSON.stringify(payload)],
  };
}

async function countSignatures(client: TestClient): Promise<number> {
  let stored = 0;
  let after: string | undefined;
  for (;;) {
    const { status, body } = await client.query('list_activities', {
      filterByType: [currentType('sign_raw_payload')],
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
      paginationOptions: { limit: '100', ...(after !== undefined && { after }) },
    });
    if (status !== 200) throw new Error(`list_activities: ${status} ${JSON.stringify(body)}`);
    stored += body.activities.length;
    if (body.activities.length < 100) return stored;
    after = body.activities.at(-1).id;
  }
}
