import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { waitForQuiet } from '../child.ts';
import { MANY, median, warmUpSeconds } from '../figures.ts';
import type { Load } from '../load/load.ts';
import type { Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind } from '../stage.ts';
import { workloadsOf } from '../workers.ts';

/** What marks cost a request (docs/decisions/0060). */
export interface IntegrityFigure {
  readonly title: string;
  /** Processor time of the whole request, and of marking and verifying in it. */
  readonly cpuUs: number;
  readonly marksUs: number;
  /** Rows of a request. */
  readonly marked: number;
  readonly verified: number;
}

type Recorded = Pick<IntegrityFigure, 'marked' | 'verified'> & { readonly us: number };

export const INTEGRITY_NAMES = ['whoami', 'update_user_name'] as const;
type Name = (typeof INTEGRITY_NAMES)[number];
const RECORDER = new URL('./record.mjs', import.meta.url).href;

export const integrityTitle = (kind: DatabaseKind, name: Name): string => `${kind} integrity ${name}`;

export const INTEGRITY_HEAD = ['figure', 'cpu us', 'marks us', 'share', 'rows marked', 'rows verified'];

export const shareOf = ({ marksUs, cpuUs }: IntegrityFigure): number => marksUs / cpuUs;

export const integrityLine = (figure: IntegrityFigure): string[] => [
  figure.title,
  figure.cpuUs.toFixed(0),
  figure.marksUs.toFixed(1),
  `${(shareOf(figure) * 100).toFixed(1)} %`,
  figure.marked.toFixed(1),
  figure.verified.toFixed(1),
];

export async function measureIntegrity(
  kind: DatabaseKind,
  names: readonly Name[],
  load: Load,
  { rounds, seconds, patienceSeconds }: Options,
  tell: (figure: IntegrityFigure) => void,
): Promise<IntegrityFigure[]> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using service = new Service(postgres && (await createDatabase(postgres, 'integrity')));
  await service.start();
  const workloads = await workloadsOf(service);
  const run = (workload: Workload, length: number) => load.run(service.target, workload, MANY, length);
  const cpuUs = new Map<Name, number>();
  for (const name of names) {
    await run(workloads[name], warmUpSeconds(seconds));
    const windows: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await waitForQuiet(patienceSeconds);
      windows.push((await run(workloads[name], seconds)).cpuUs);
    }
    cpuUs.set(name, median(windows));
  }
  await service.stop();
  // By a service that was not timed: to keep the rows takes time of its own.
  const file = join(service.dataDir, 'marks.json');
  await service.start({ node: ['--import', RECORDER], env: { BENCH_MARKS: file } });
  for (const name of names) await run(workloads[name], warmUpSeconds(seconds));
  await service.stop();
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Recorded>>;
  return names.map((name) => {
    const { us, marked, verified } = recorded[workloads[name].path] as Recorded;
    if (name === 'update_user_name' && marked === 0) throw new Error('the recorder saw no row that was marked');
    const figure = {
      title: integrityTitle(kind, name),
      cpuUs: cpuUs.get(name) as number,
      marksUs: us,
      marked,
      verified,
    };
    tell(figure);
    return figure;
  });
}
