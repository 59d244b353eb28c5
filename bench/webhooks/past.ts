import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child } from '../child.ts';
import { type Comparison, compare } from '../compare.ts';
import { SINGLE } from '../figures.ts';
import type { Counted } from '../load/generator.ts';
import type { Load, Measured } from '../load/load.ts';
import type { Options } from '../options.ts';
import type { DatabaseKind } from '../stage.ts';
import { deliver, inTurn, putInQueue } from './deliver.ts';
import type { Looking } from './look.ts';
import { Receivers } from './receivers.ts';
import { alternate, byRate } from './rounds.ts';
import { openScene, type Scene, type Tenant } from './scene.ts';
import { watch } from './watch.ts';
import { ALIVE } from './webhooks.ts';

export const PAST_NAMES = ['look for work', 'list_webhook_deliveries', 'deliveries'] as const;
type PastName = (typeof PAST_NAMES)[number];

/** The same among very many past deliveries and among few, each in a database of its own. */
export interface PastFigure extends Comparison {
  readonly title: string;
  readonly beside: string;
}

export const pastTitle = (kind: DatabaseKind, name: PastName): string => `${kind} webhooks past ${name}`;

const FEW = 100;
const DELIVERIES_PER_EVENT = 10;
/** Younger than deliveries are kept by default. */
const PAST_MS = 20 * 24 * 60 * 60 * 1000;
/** Of disk, for each past delivery: row, indexes and log. */
const BYTES_EACH = 1500;

interface Sides {
  readonly few: Scene;
  readonly many: Scene;
  readonly receivers: Receivers;
  readonly load: Load;
  readonly options: Options;
}

export async function measurePast(
  kind: DatabaseKind,
  names: readonly PastName[],
  load: Load,
  options: Options,
  tell: (figure: PastFigure) => void,
): Promise<PastFigure[]> {
  requireDisk(options.past);
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using receivers = new Receivers();
  const addresses = await receivers.open(ALIVE);
  await using few = await openScene(postgres, 'past_few', receivers, addresses);
  await using many = await openScene(postgres, 'past_many', receivers, addresses);
  await fillPast(few, FEW);
  await fillPast(many, options.past);
  const figures: PastFigure[] = [];
  for (const name of names) {
    const comparison = await MEASUREMENTS[name]({ few, many, receivers, load, options });
    const figure = { title: pastTitle(kind, name), beside: `among ${FEW} past deliveries`, ...comparison };
    figures.push(figure);
    tell(figure);
  }
  return figures;
}

const MEASUREMENTS: Readonly<Record<PastName, (sides: Sides) => Promise<Comparison>>> = {
  async 'look for work'({ few, many, options }) {
    await using looker = new Child<Looking, Counted>(new URL('./look.ts', import.meta.url));
    const marks = new Map<Scene, number>();
    for (const scene of [few, many]) marks.set(scene, await putInQueue(scene, inTurn(scene, 1)));
    const look =
      ({ service: { dataDir, databaseUrl } }: Scene) =>
      async (seconds: number): Promise<Measured> => {
        const cost = watch(looker.pid);
        const counted = await looker.ask({ dataDir, databaseUrl, seconds, expected: 1 });
        return { ...counted, rate: counted.requests / counted.seconds, ...cost(counted.requests) };
      };
    const comparison = await compare(look(few), look(many), options);
    for (const [scene, mark] of marks) await scene.change((queue) => queue.clear(mark));
    return comparison;
  },

  async list_webhook_deliveries({ few, many, load, options }) {
    for (const scene of [few, many]) await scene.start();
    const list = (scene: Scene) => (seconds: number) =>
      load.run(scene.service.target, (scene.tenants[0] as Tenant).listing, SINGLE, seconds);
    const comparison = await compare(list(few), list(many), options);
    for (const scene of [few, many]) await scene.service.stop();
    return comparison;
  },

  deliveries: ({ few, many, receivers, options }) =>
    alternate(
      () => deliver(receivers, few, inTurn(few, options.events)),
      () => deliver(receivers, many, inTurn(many, options.events)),
      byRate,
      options,
    ),
};

const fillPast = (scene: Scene, deliveries: number): Promise<void> =>
  scene.change(async (queue) => {
    // Those of the endpoints themselves.
    await queue.clear(0);
    const events = Math.ceil(deliveries / DELIVERIES_PER_EVENT);
    const stepMs = Math.floor(PAST_MS / events);
    await queue.put({
      recipients: scene.tenants,
      each: 'in turn',
      events,
      copies: DELIVERIES_PER_EVENT,
      body: '{}',
      state: 'delivered',
      firstMs: Date.now() - events * stepMs,
      stepMs,
    });
  });

function requireDisk(deliveries: number): void {
  const { bavail, bsize } = statfsSync(tmpdir());
  const [free, needed] = [bavail * bsize, deliveries * BYTES_EACH].map((bytes) => Math.ceil(bytes / 2 ** 30));
  if ((free as number) < (needed as number)) {
    throw new Error(`${deliveries} past deliveries need ${needed} GB in ${tmpdir()}, and ${free} are free: use --past`);
  }
}
