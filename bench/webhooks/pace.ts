// Clients of several organizations, in a process of its own: submits at a steady rate, each organization over its own
// connection, and notes when each activity's answer arrived.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../child.ts';
import { prepareRequests, type Workload } from '../load/requests.ts';
import { nowUs } from './clock.ts';

export interface Pace {
  readonly port: number;
  /** One for each organization, in turn. */
  readonly workloads: readonly Workload[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** When the answers arrived, by activity id, for each workload. */
export type Paced = readonly ReadonlyMap<string, number>[];

const HEAD_END = Buffer.from('\r\n\r\n');

answerParent(async ({ port, workloads, perSecond, seconds }: Pace): Promise<Paced> => {
  const count = Math.ceil(perSecond * seconds);
  const each = Math.ceil(count / workloads.length);
  const clients = await Promise.all(
    workloads.map(async (workload) => ({ requests: prepareRequests(workload, each), ...(await open(port)) })),
  );
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let position = 0; position < count; position += 1) {
    await sleep(startedAt + (position * 1000) / perSecond - performance.now());
    const client = clients[position % clients.length] as (typeof clients)[number];
    underWay.push(client.submit(client.requests[Math.floor(position / clients.length)] as Buffer));
  }
  await Promise.all(underWay);
  for (const { socket } of clients) socket.destroy();
  return clients.map(({ answeredUs }) => answeredUs);
});

async function open(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const answeredUs = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();
  const submit = async (request: Buffer): Promise<void> => {
    const before = last;
    const answered = before.then(() => exchange(socket, request));
    last = answered;
    const { body, atUs } = await answered;
    const { activity } = JSON.parse(body) as { activity?: { id: string; status: string } };
    if (activity?.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(body);
    answeredUs.set(activity.id, atUs);
  };
  return { socket, answeredUs, submit };
}

async function exchange(socket: Socket, request: Buffer): Promise<{ readonly body: string; readonly atUs: number }> {
  socket.write(request);
  const chunks: Buffer[] = [];
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    chunks.push(chunk);
    const received = Buffer.concat(chunks);
    const end = received.indexOf(HEAD_END);
    const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, Math.max(0, end)))?.[1];
    const bodyStart = end + HEAD_END.length;
    if (end < 0 || received.length < bodyStart + Number(length)) continue;
    return { body: received.toString('utf8', bodyStart), atUs: nowUs() };
  }
}
