import type { Child } from '../child.ts';
import type { Measured } from '../load/load.ts';
import type { Posted, Posting } from './poster.ts';
import type { Arrivals, Sample } from './receiver-process.ts';
import type { Receivers } from './receivers.ts';
import type { Scene, Tenant } from './scene.ts';
import { watch } from './watch.ts';

/** An event every so often, the last one now. */
const STEP_MS = 1;
const PATIENCE_SECONDS = 60;
const PATIENCE_PER_SECOND = 50;
/** What the service uses at most for one receiver, and less. */
const WIDTHS = [1, 2, 4, 8] as const;
const TRIAL_POSTS = 3000;

export const patienceFor = (deliveries: number): number => PATIENCE_SECONDS + deliveries / PATIENCE_PER_SECOND;

/** How many of the events have a receiver that answers. */
export const aliveOf = (tenants: readonly Tenant[], events: number): number =>
  (events / tenants.length) * tenants.filter(({ isAlive }) => isAlive).length;

/** Puts events into the queue of a service that is stopped; they are taken out again by `clear` with the answer. */
export const putInQueue = (scene: Scene, events: number): Promise<number> =>
  scene.change(async (queue) => {
    const mark = await queue.mark();
    await queue.put({
      recipients: scene.tenants,
      events,
      deliveriesPerEvent: 1,
      body: scene.sample.body,
      state: 'pending',
      firstMs: Date.now() - events * STEP_MS,
      stepMs: STEP_MS,
    });
    return mark;
  });

/** Events that wait, to the last one that a receiver gets, beginning with the first one. */
export async function deliver(
  receivers: Receivers,
  scene: Scene,
  events: number,
  node: readonly string[] = [],
): Promise<Measured> {
  const mark = await putInQueue(scene, events);
  await receivers.forget('event');
  await scene.start(node);
  const { count: before } = await receivers.arrived(1, PATIENCE_SECONDS);
  const cost = watch(scene.service.target.pid, receivers.pid);
  const arrivals = await receivers.arrived(aliveOf(scene.tenants, events), patienceFor(events));
  const measured = { ...unansweredWindow, rate: rateOf(arrivals), ...cost(arrivals.count - before) };
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
  return { rate: rateOf(arrivals), p50Us, p99Us, sample: '', ...cost(posting.posts) };
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

const rateOf = ({ count, firstUs, lastUs }: Arrivals): number => ((count - 1) * 1e6) / (lastUs - firstUs);

/** Nobody waits for one of them. */
const unansweredWindow = { p50Us: Number.NaN, p99Us: Number.NaN, sample: '' };
