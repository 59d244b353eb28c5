import { CustosError } from '@custos/sdk';
import type { Backup, BackupProgress } from '@custos/server/admin';
import { Command, InvalidArgumentError } from 'commander';
import { timeOf } from '../database-report.ts';
import { whenInterrupted } from '../interruption.ts';

const KEEP_MAX = 100_000;
const SHOW_EVERY_MS = 500;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** `custos backup`: an encrypted copy of the database. Takes the service's own settings. */
export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'Back up the database while the service runs, or while it does not: as it is at one moment, compressed, encrypted to recipients of age, and recorded. Uses the settings of the service.',
    )
    .argument('[file]', 'the file to write, or - for standard output')
    .option('--to <folder>', 'write a new file into this folder')
    .option('--keep <number>', 'keep this many of the newest backups in that folder, and delete the others', keep)
    .option('--recipient <recipient>', 'who can open it (age1…); may be given several times', collect, [])
    .option('--recipients-file <file>', 'the same, one to a line')
    .option('--with-keys', 'put the key ring inside too: then each recipient can open every key')
    .option('--overwrite', 'replace the file if it is there')
    .option('--place <text>', 'where a backup to standard output ends up, for its record')
    .option('--json', 'print what was made as JSON')
    .allowExcessArguments(false)
    .action(make)
    .addCommand(listCommand())
    .addCommand(forgetCommand());
}

interface Flags {
  readonly to?: string;
  readonly keep?: number;
  readonly recipient: readonly string[];
  readonly recipientsFile?: string;
  readonly withKeys?: boolean;
  readonly overwrite?: boolean;
  readonly place?: string;
  readonly json?: boolean;
}

async function make(file: string | undefined, flags: Flags): Promise<void> {
  requireOneTarget(file, flags);
  const isStream = file === '-';
  const stop = new AbortController();
  whenInterrupted((signal) =>
    stop.abort(new CustosError('INTERRUPTED', `ended by ${signal}: no backup was made, and nothing is left of it`)),
  );
  // A file that may not grow further is an error of the write that it stops, and no reason to end at once.
  process.on('SIGXFSZ', () => {});
  const progress = process.stderr.isTTY === true ? new Progress() : undefined;
  const { backup } = await import('@custos/server/admin');
  let made: Backup;
  try {
    made = await backup(process.env, {
      ...(isStream ? { place: flags.place } : { file, overwrites: flags.overwrite === true }),
      folder: flags.to,
      keep: flags.keep,
      recipients: flags.recipient,
      recipientsFile: flags.recipientsFile,
      withKeys: flags.withKeys === true,
      signal: stop.signal,
      ...(progress && { onProgress: (now) => progress.show(now) }),
    });
  } finally {
    progress?.end();
  }
  const output = isStream ? process.stderr : process.stdout;
  output.write(`${flags.json === true ? JSON.stringify(made) : (await describe(made)).join('\n')}\n`);
  if (made.doubt === undefined) return;
  say(
    `custos: the backup is whole and recorded, but nobody can tell whose it is (${made.doubt}): its name says so, and nothing in ${flags.to} was deleted`,
  );
  if (flags.keep !== undefined) process.exitCode = 1;
}

function requireOneTarget(file: string | undefined, { to, keep: kept, overwrite, place }: Flags): void {
  const refuse = (message: string): never => {
    throw new CustosError('INVALID_OPTION', message);
  };
  if (file === undefined && to === undefined)
    refuse('no place for the backup is given: name a file, - for standard output, or --to FOLDER');
  if (file !== undefined && to !== undefined) refuse('the backup goes to a file or to a folder, not to both');
  if (kept !== undefined && to === undefined) refuse('--keep belongs to --to: it deletes older files of that folder');
  if (overwrite === true && (to !== undefined || file === '-')) refuse('--overwrite belongs to a file');
  if (place !== undefined && file !== '-') refuse('--place belongs to a backup to standard output');
}

async function describe({ id, place, bytes, sha256, manifest, deleted }: Backup): Promise<string[]> {
  const { describeBytes } = await import('@custos/server/admin');
  const { rows, tables, organizations, rootKeyIds, hasKeys, snapshotAtMs } = manifest;
  return [
    `backup ${id} of ${timeOf(snapshotAtMs)}`,
    `place      ${place}`,
    `size       ${describeBytes(bytes)}, sha256 ${sha256}`,
    `rows       ${rows} in ${tables.length} tables, of ${organizations} organization${organizations === 1 ? '' : 's'}`,
    hasKeys
      ? 'keys       the key ring is inside: whoever opens the backup can open every key'
      : `keys       not inside: it opens nothing without root key ${rootKeyIds.join(', ')}`,
    ...deleted.map((file) => `deleted    ${file}`),
  ];
}

/** One line on the terminal, written again and again. */
class Progress {
  readonly #startedMs = performance.now();
  #shownMs = Number.NEGATIVE_INFINITY;

  show({ table, rows, bytes }: BackupProgress): void {
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < SHOW_EVERY_MS) return;
    this.#shownMs = nowMs;
    const megabytes = bytes / 1e6;
    const rate = megabytes / Math.max(0.001, (nowMs - this.#startedMs) / 1000);
    process.stderr.write(`\r\x1b[K${rows} rows, ${megabytes.toFixed(1)} MB, ${rate.toFixed(1)} MB/s (${table})`);
  }

  end(): void {
    if (this.#shownMs > 0) process.stderr.write('\r\x1b[K');
  }
}

function listCommand(): Command {
  return (
    new Command('list')
      .description('Show the backups that the database has records of, newest first.')
      .option('--json', 'one JSON document a line')
      .allowExcessArguments(false)
      // The option of the command above has the same name, and would take it.
      .action(async (_own: unknown, command: Command) => {
        const { json = false } = command.optsWithGlobals<{ json?: boolean }>();
        const { describeRecord, listBackups } = await import('@custos/server/admin');
        const records = await listBackups(process.env);
        for (const record of records)
          process.stdout.write(`${json ? JSON.stringify(record) : describeRecord(record)}\n`);
        if (records.length === 0 && !json) say('no backup of this database is recorded');
      })
  );
}

function forgetCommand(): Command {
  return new Command('forget')
    .description(
      'Remove the record of a backup that nobody will restore. Root keys that no other backup needs can then be retired. The file stays as it is.',
    )
    .argument('<id>', 'id of the backup')
    .allowExcessArguments(false)
    .action(async (id: string) => {
      const { describeRecord, forgetBackup } = await import('@custos/server/admin');
      process.stdout.write(`forgot ${describeRecord(await forgetBackup(process.env, id))}\n`);
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function keep(text: string): number {
  const value = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= KEEP_MAX) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${KEEP_MAX}.`);
}
