import type { Child } from '../child.ts';
import type { Measured } from '../load/load.ts';
import type { Posted, Posting } from './poster.ts';
import type { Deliveries } from './queue.ts';
import type { Arrivals, Sample } from './receiver-process.ts';
import type { Receivers } from './receivers.ts';
import type { Scene, Tenant } from './scene.ts';
import { watch } from './watch.ts';

/** Deliveries, enough for the compiler, which the floor's process has behind it; a tenth of them for each endpoint. */
const WARM_UP = 20_000;
/** An event every so often, the last one now. */
const STEP_MS = 1;
const PATIENCE_SECONDS = 60;
const PATIENCE_PER_SECOND = 50;
/** What the service uses at most for one receiver, and less. */
const WIDTHS = [1, 2, 4, 8, 16] as const;
const TRIAL_POSTS = 3000;

export const patienceFor = (deliveries: number): number => PATIENCE_SECONDS + deliveries / PATIENCE_PER_SECOND;

/** Deliveries that wait, to endpoints that take turns or get each event. */
export interface Backlog extends Pick<Deliveries, 'each'> {
  readonly recipients: readonly Tenant[];
  readonly deliveries: number;
}

/** One delivery of each event, to the endpoints of ten organizations in turn. */
export const inTurn = ({ tenants: recipients }: Scene, deliveries: number): Backlog => ({
  each: 'in turn',
  recipients,
  deliveries,
});

/** Ten of each event, to all endpoints of one organization. */
export const toAll = ({ listeners: recipients }: Scene, deliveries: number): Backlog => ({
  each: 'to all',
  recipients,
  deliveries,
});

/** How many of so many deliveries have a receiver that answers. */
export const aliveOf = (tenants: readonly Tenant[], deliveries: number): number =>
  (deliveries / tenants.length) * tenants.filter(({ isAlive }) => isAlive).length;

/** Puts events into the queue of a service that is stopped; they are taken out again by `clear` with the answer. */
export const putInQueue = (scene: Scene, { each, recipients, deliveries }: Backlog): Promise<number> =>
  scene.change(async (queue) => {
    const events = each === 'to all' ? deliveries / recipients.length : deliveries;
    const mark = await queue.mark();
    await queue.put({
      recipients,
      each,
      events,
      body: scene.sample.body,
      state: 'pending',
      firstMs: Date.now() - events * STEP_MS,
      stepMs: STEP_MS,
    });
    return mark;
  });

/** Events that wait, to the last one that a receiver gets. Others are in front of them, by which the code gets warm. */
export async function deliver(
  receivers: Receivers,
  scene: Scene,
  backlog: Backlog,
  node: readonly string[] = [],
): Promise<Measured> {
  const { service } = scene;
  const { recipients, deliveries } = backlog;
  const mark = await putInQueue(scene, { ...backlog, deliveries: WARM_UP + deliveries });
  await receivers.forget('delivery');
  await scene.start(node);
  const warm = await receivers.arrived(aliveOf(recipients, WARM_UP), patienceFor(WARM_UP));
  const cost = watch(service.target.pid, receivers.pid);
  const done = await receivers.arrived(aliveOf(recipients, WARM_UP + deliveries), patienceFor(deliveries));
  const measured = { ...unansweredWindow, rate: rateBetween(warm, done), ...cost(done.count - warm.count) };
  await scene.change((queue) => queue.clear(mark));
  return measured;
}

/** The same number of requests of the same bytes, without a service. */
export async function post(
  receivers: Receivers,
  poster: Child<Posting, Posted>,
  posting: Omit<Posting, 'perSecond'>,
): Promise<Measured> {
  await receivers.forget('event');
  const cost = watch(poster.pid, receivers.pid);
  const { p50Us, p99Us } = await poster.ask({ ...posting, perSecond: undefined });
  const arrivals = await receivers.arrived(posting.posts, PATIENCE_SECONDS);
  const first = { ...arrivals, count: 1, lastUs: arrivals.firstUs };
  return { rate: rateBetween(first, arrivals), p50Us, p99Us, sample: '', ...cost(posting.posts) };
}

/** The number of connections to each receiver with which the floor is fastest. */
export async function fastestWidth(
  receivers: Receivers,
  poster: Child<Posting, Posted>,
  urls: readonly string[],
  sample: Sample,
): Promise<number> {
  const trial = (connections: number) => post(receivers, poster, { urls, sample, connections, posts: TRIAL_POSTS });
  await trial(WIDTHS[0]);
  const rates = new Map<number, number>();
  for (const width of WIDTHS) rates.set(width, (await trial(width)).rate);
  return [...rates].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** Arrivals in a second after those that had come before. */
export const rateBetween = (before: Arrivals, after: Arrivals): number =>
  ((after.count - before.count) * 1e6) / (after.lastUs - before.lastUs);

/** Nobody waits for one of them. */
const unansweredWindow = { p50Us: Number.NaN, p99Us: Number.NaN, sample: '' };
