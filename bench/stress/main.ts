// `npm run stress`: what the service does when far more is asked of it than it can do. See bench/README.md.
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Service } from '../service.ts';
import { type Figure, isMet, printFigures } from './figures.ts';
import { flood } from './flood.ts';
import { large } from './large.ts';
import { stopped } from './stopped.ts';

const FLOOD = { writers: 4096, stalled: 2000, seconds: 20 };

const only = process.argv[2] ?? '';
const all: Figure[] = [];

type Scenario = (service: Service) => Promise<{ figures: Figure[]; notes: string[] }>;
const SCENARIOS: readonly (readonly [string, Scenario])[] = [
  ['flood', (service) => flood(service, FLOOD)],
  ['stopped keyring', stopped],
  ['large', large],
];

for (const database of ['sqlite', 'postgres'] as const) {
  for (const [name, scenario] of SCENARIOS) {
    const title = `${database} ${name}`;
    if (!title.includes(only)) continue;
    await using postgres = database === 'postgres' ? await startPostgres() : undefined;
    await using service = new Service(postgres?.url);
    await service.start();
    const { figures, notes } = await scenario(service);
    printFigures(title, figures, notes);
    all.push(...figures);
  }
}

if (!all.every(isMet)) process.exitCode = 1;
