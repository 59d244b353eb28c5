import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child } from '../child.ts';
import type { Comparison } from '../compare.ts';
import { SINGLE, WARM_UP_SECONDS } from '../figures.ts';
import type { Load, Measured } from '../load/load.ts';
import type { Options } from '../options.ts';
import type { DatabaseKind } from '../stage.ts';
import { quantile } from './clock.ts';
import {
  aliveOf,
  type Backlog,
  deliver,
  fastestWidth,
  inTurn,
  patienceFor,
  post,
  putInQueue,
  rateBetween,
  toAll,
} from './deliver.ts';
import type { Pace, Paced } from './pace.ts';
import type { Posted, Posting } from './poster.ts';
import type { Addresses } from './receiver-process.ts';
import { Receivers } from './receivers.ts';
import { alternate, byLatency, byRate } from './rounds.ts';
import { openScene, type Scene } from './scene.ts';
import { watch } from './watch.ts';

const WEBHOOK_NAMES = ['deliveries', 'signed deliveries', 'fan-out', 'delay', 'signing'] as const;
export type WebhookName = (typeof WEBHOOK_NAMES)[number];
/** The posts are the same on both, and the queue is not. */
export const webhookNamesOn = (kind: DatabaseKind): readonly WebhookName[] =>
  kind === 'sqlite' ? WEBHOOK_NAMES : ['deliveries', 'signed deliveries'];

export interface WebhookFigure extends Comparison {
  readonly title: string;
  readonly name: WebhookName;
  readonly beside: string;
  /** Deliveries in a second meanwhile, where they are not what is measured. */
  readonly meanwhile?: number;
}

export const webhookTitle = (kind: DatabaseKind, name: WebhookName): string => `${kind} webhooks ${name}`;

/** Receivers that answer; two more endpoints are dead, each in its own way. */
export const ALIVE = 8;
/** Activities in a second, over all tenants: few enough that nothing has to wait for another. */
const STEADY_PER_SECOND = 100;
/** Steady windows are longer, for enough of them. */
const STEADY_TIMES_SECONDS = 5;
/** So many times the events, so that the queue does not end before a window does. */
const LONG_QUEUE_TIMES = 5;
/** Deliveries before the first window while there are deliveries. */
const WARM_DELIVERIES = 1000;

interface Props {
  readonly scene: Scene;
  readonly receivers: Receivers;
  readonly addresses: Addresses;
  readonly load: Load;
  readonly options: Options;
}

type Measurement = (props: Props) => Promise<Omit<WebhookFigure, 'title' | 'name'>>;

export async function measureWebhooks(
  kind: DatabaseKind,
  names: readonly WebhookName[],
  load: Load,
  options: Options,
  tell: (figure: WebhookFigure) => void,
): Promise<WebhookFigure[]> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using receivers = new Receivers();
  const addresses = await receivers.open(ALIVE);
  await using scene = await openScene(postgres, 'webhooks', receivers, addresses);
  const figures: WebhookFigure[] = [];
  for (const name of names) {
    const measured = await MEASUREMENTS[name]({ scene, receivers, addresses, load, options });
    const figure = { title: webhookTitle(kind, name), name, ...measured };
    figures.push(figure);
    tell(figure);
  }
  return figures;
}

const MEASUREMENTS: Readonly<Record<WebhookName, Measurement>> = {
  deliveries: (props) => besidePosts(props, inTurn(props.scene, props.options.events)),

  'signed deliveries': (props) => besidePosts(props, inTurn(props.scene, props.options.events), true),

  'fan-out': (props) => besidePosts(props, toAll(props.scene, props.options.events)),

  async delay({ scene, receivers, addresses: { alive }, options }) {
    await using poster = newPoster();
    await using pace = new Child<Pace, Paced>(new URL('./pace.ts', import.meta.url));
    const { sample, tenants, service } = scene;
    const mark = await scene.change((queue) => queue.mark());
    await scene.start();
    const answered = async (seconds: number): Promise<Measured> => {
      await receivers.forget('activity');
      const cost = watch(service.target.pid, receivers.pid, pace.pid);
      const workloads = tenants.map(({ signing }) => signing);
      const { port } = service.target;
      const answers = await pace.ask({ port, workloads, perSecond: STEADY_PER_SECOND, seconds });
      const from = new Map(answers.flatMap((answer, at) => (tenants[at]?.isAlive ? [...answer] : [])));
      return await delayed(receivers, from, seconds, cost);
    };
    const bare = async (seconds: number): Promise<Measured> => {
      await receivers.forget('event');
      const cost = watch(poster.pid, receivers.pid);
      const perSecond = aliveOf(tenants, STEADY_PER_SECOND);
      const posts = Math.ceil(perSecond * seconds);
      const { sentUs } = await poster.ask({ urls: alive, sample, connections: 1, posts, perSecond });
      return await delayed(receivers, sentUs, seconds, cost);
    };
    for (const window of [answered, bare]) await window(WARM_UP_SECONDS);
    const seconds = options.seconds * STEADY_TIMES_SECONDS;
    const comparison = await alternate(
      () => bare(seconds),
      () => answered(seconds),
      byLatency,
      options,
    );
    await scene.change((queue) => queue.clear(mark));
    return { beside: 'bare POST, from sending to arrival', ...comparison };
  },

  async signing({ scene, receivers, load, options }) {
    const { service, signing } = scene;
    const events = options.events * LONG_QUEUE_TIMES;
    const rates: number[] = [];
    const window = async (): Promise<Measured> => {
      await load.run(service.target, signing, SINGLE, WARM_UP_SECONDS);
      return await load.run(service.target, signing, SINGLE, options.seconds);
    };
    const idle = async (): Promise<Measured> => {
      await scene.start();
      const measured = await window();
      await service.stop();
      return measured;
    };
    const busy = async (): Promise<Measured> => {
      const mark = await putInQueue(scene, inTurn(scene, events));
      await receivers.forget('event');
      await scene.start();
      const before = await receivers.arrived(Math.min(WARM_DELIVERIES, events / 2), patienceFor(events));
      const measured = await window();
      const after = await receivers.arrivedSoFar();
      await scene.change((queue) => queue.clear(mark));
      if (after.count >= aliveOf(scene.tenants, events)) throw new Error('the queue was empty too soon: more --events');
      rates.push(rateBetween(before, after));
      return measured;
    };
    const comparison = await alternate(idle, busy, byLatency, options);
    const meanwhile = quantile(rates, 0.5);
    return { beside: `with no deliveries instead of ${meanwhile.toFixed(0)} a second`, ...comparison, meanwhile };
  },
};

/** Deliveries beside as many bare requests to the same receivers, each with a signature of its own if it is asked for. */
async function besidePosts(
  { scene, receivers, addresses: { alive }, options }: Props,
  backlog: Backlog,
  isSigned = false,
): Promise<Comparison & { readonly beside: string }> {
  await using poster = newPoster();
  const { sample, tenants } = scene;
  const connections = await fastestWidth(receivers, poster, alive, sample);
  const posts = aliveOf(tenants, options.events);
  const comparison = await alternate(
    () => post(receivers, poster, { urls: alive, sample, connections, posts, isSigned }),
    () => deliver(receivers, scene, backlog),
    byRate,
    options,
  );
  return { beside: `${isSigned ? 'signed' : 'bare'} POST over ${connections} kept connections to each`, ...comparison };
}

/** Deliveries of a long queue by a service that is started with the options. */
export async function profileDeliveries(
  kind: DatabaseKind,
  { events }: Options,
  node: readonly string[],
): Promise<Measured> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using receivers = new Receivers();
  await using scene = await openScene(postgres, 'webhooks', receivers, await receivers.open(ALIVE));
  return await deliver(receivers, scene, inTurn(scene, events * LONG_QUEUE_TIMES), node);
}

const newPoster = (): Child<Posting, Posted> => new Child(new URL('./poster.ts', import.meta.url));

/** The time from a moment to the arrival of what began there. */
async function delayed(
  receivers: Receivers,
  fromUs: ReadonlyMap<string, number>,
  seconds: number,
  cost: ReturnType<typeof watch>,
): Promise<Measured> {
  await receivers.arrived(fromUs.size, patienceFor(fromUs.size));
  const times = await receivers.times();
  const delays = [...fromUs].map(([id, us]) => (times.get(id) ?? Number.NaN) - us);
  return {
    rate: fromUs.size / seconds,
    p50Us: quantile(delays, 0.5),
    p99Us: quantile(delays, 0.99),
    sample: '',
    ...cost(fromUs.size),
  };
}
