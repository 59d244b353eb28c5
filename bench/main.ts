import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figureTitle } from './figures.ts';
import { hasEthers } from './floors/libraries.ts';
import { Load } from './load/load.ts';
import { markdownTable, writeMarkdown } from './markdown.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { type Found, PARTS, type Run } from './parts.ts';
import { profile } from './profiled.ts';
import { describeCommit, describeMachine, loadNow, verdictTable, writeReport } from './report.ts';

/** More than this in use by others, and rates are not those of this machine. */
const NOISE_CORES = 0.25;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(options: Options): Promise<void> {
  const startedAt = new Date().toISOString();
  const machine = describeMachine();
  const loadBefore = loadNow();
  print(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load average ${loadBefore.toFixed(2)}`);
  if (!machine.durableDisk) print('WARNING: the temporary folder is in memory, so commits are free: set TMPDIR');
  warnIfStale();
  if (!hasEthers()) print('ethers is not installed in compat/, so that it is not compared');

  const startedMs = performance.now();
  await using load = new Load();
  const wanted = (title: string): boolean => options.only === undefined || title.includes(options.only);
  const { found, took } = await runParts({ options, load, print, wanted });
  const verdicts = found.flatMap((part) => part.verdicts);
  const figures = found.flatMap((part) => part.figures ?? []);
  const compared = found.flatMap((part) => part.compared ?? []);
  const units = Object.assign({}, ...found.map((part) => part.units));
  const file = writeReport({
    startedAt,
    commit: describeCommit(),
    machine,
    loadBefore,
    loadAfter: loadNow(),
    options: { seconds: options.seconds, rounds: options.rounds, events: options.events, past: options.past },
    units,
    results: Object.assign({}, ...found.map((part) => part.results)),
    verdicts,
  });

  print('');
  for (const [name, written] of Object.entries(units)) print(`${name} writes: ${written}`);
  for (const text of found.flatMap((part) => part.texts)) print(`\n${text}`);
  print(`\n${verdictTable(verdicts)}`);
  if (figures.length + compared.length > 0) {
    const markdown = markdownTable(figures, compared);
    print(`\n${markdown}`);
    if (options.markdown !== undefined) writeMarkdown(options.markdown, markdown);
  }
  const noisy = figures.filter(({ plan, service }) => plan.database === 'sqlite' && service.otherCores > NOISE_CORES);
  if (noisy.length > 0) {
    print(`\nOthers used the machine during ${noisy.map(({ plan }) => figureTitle(plan)).join(', ')}:`);
    print('a verdict there is provisional; "cpu times" is the steadier comparison. Run again when it is quiet.');
  }
  print(`\n${took.join(', ')}; ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes in all`);
  print(`load average ${loadNow().toFixed(2)} at the end; written to ${file}`);
}

/** What each part found, and how long it took. */
async function runParts(run: Run): Promise<{ readonly found: readonly Found[]; readonly took: readonly string[] }> {
  const found: Found[] = [];
  const took: string[] = [];
  for (const { name, isLong = false, measure } of PARTS) {
    if (isLong && !run.options.full) continue;
    const beganMs = performance.now();
    const of = await measure(run);
    if (of === undefined) continue;
    found.push(of);
    took.push(`${name} ${Math.round((performance.now() - beganMs) / 1000)} s`);
  }
  return { found, took };
}

/** The figures are of the built service, which may be older than its source. */
function warnIfStale(): void {
  const newest = (folder: string): number =>
    Math.max(
      0,
      ...readdirSync(fileURLToPath(new URL(folder, import.meta.url)), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
        .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
    );
  if (newest('../packages/server/src/') > newest('../packages/server/dist/')) {
    print('WARNING: packages/server/src is newer than its build: run `npm run build` first');
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  const options = readOptions(process.argv.slice(2));
  await (options.profile === undefined ? main(options) : profile(options, options.profile, print));
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n\n${USAGE}`);
  process.exitCode = 1;
}
