import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { createSubOrganization } from '../../packages/server/test/harness/client.ts';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import type { Options } from '../options.ts';
import { fill } from '../scale/fill.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind, ethereum } from '../stage.ts';

/** One command over a database of so many wallets. */
export interface BackupFigure {
  readonly title: string;
  readonly wallets: number;
  readonly rows: number;
  readonly seconds: number;
  readonly archiveMb: number;
  /** The most memory that the command had. */
  readonly peakMb: number;
}

export const BACKUP_NAMES = ['backup', 'restore'] as const;
type BackupName = (typeof BACKUP_NAMES)[number];

export const backupTitle = (kind: DatabaseKind, name: BackupName): string => `${kind} ${name} of wallets`;

const CLI = fileURLToPath(new URL('../../packages/cli/bin/custos.js', import.meta.url));
const FEW = 1000;
const SAMPLE_EVERY_MS = 50;

export const BACKUP_HEAD = ['figure', 'wallets', 'rows', 'seconds', 'rows/s', 'file MB', 'memory MB'];

export const backupLine = ({ title, wallets, rows, seconds, archiveMb, peakMb }: BackupFigure): string[] => [
  title,
  wallets.toLocaleString('en'),
  rows.toLocaleString('en'),
  seconds.toFixed(1),
  (rows / seconds).toFixed(0),
  archiveMb.toFixed(0),
  peakMb.toFixed(0),
];

/** Beside a service that runs, then into an empty place: of a thousand wallets, and of as many as the options say. */
export async function measureBackups(
  kind: DatabaseKind,
  { wallets }: Options,
  tell: (figure: BackupFigure) => void,
): Promise<BackupFigure[]> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  const figures: BackupFigure[] = [];
  for (const count of [FEW, wallets]) {
    const url = postgres && (await createDatabase(postgres, `backup_${count}`));
    const empty = postgres && (await createDatabase(postgres, `restored_${count}`));
    for (const figure of await measure(kind, count, url, empty)) {
      figures.push(figure);
      tell(figure);
    }
  }
  return figures;
}

async function measure(
  kind: DatabaseKind,
  wallets: number,
  url: string | undefined,
  emptyUrl: string | undefined,
): Promise<BackupFigure[]> {
  await using service = new Service(url);
  await service.start();
  const client = await createSubOrganization(service.root, 'Wallets');
  const { walletId } = await client.run('create_wallet', { walletName: 'Real', accounts: [ethereum(0)] });
  await service.stop();
  await fill(service, client.organizationId, walletId, wallets);
  await service.start();

  const folder = mkdtempSync(join(tmpdir(), 'custos-bench-backup-'));
  try {
    const identity = await generateX25519Identity();
    const identityFile = join(folder, 'backup.key');
    writeFileSync(identityFile, identity, { mode: 0o600 });
    const file = join(folder, 'backup.age');
    const environment = (dataDir: string, databaseUrl: string | undefined) => ({
      PATH: process.env.PATH ?? '',
      TMPDIR: folder,
      CUSTOS_DATA_DIR: dataDir,
      ...(databaseUrl !== undefined && { CUSTOS_DATABASE_URL: databaseUrl }),
    });
    const taken = await run(environment(service.dataDir, url), [
      'backup',
      file,
      '--recipient',
      await identityToRecipient(identity),
      '--json',
    ]);
    const { manifest } = JSON.parse(taken.stdout) as { manifest: { rows: number } };
    const about = { wallets, rows: manifest.rows, archiveMb: statSync(file).size / 1e6 };

    const dataDir = mkdtempSync(join(folder, 'restored-'));
    copyFileSync(join(service.dataDir, 'root.key'), join(dataDir, 'root.key'));
    // The seeds of copies are noise: to find that one does not open takes as long as to open it.
    const restored = await run(environment(dataDir, emptyUrl), [
      'restore',
      file,
      '--identity',
      identityFile,
      '--accept-findings',
      '--yes',
    ]);
    return [
      { title: backupTitle(kind, 'backup'), ...about, seconds: taken.seconds, peakMb: taken.peakMb },
      { title: backupTitle(kind, 'restore'), ...about, seconds: restored.seconds, peakMb: restored.peakMb },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let said = '';
  // A line for each wallet of noise is too much to keep.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < 1_000_000) stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000);
  });
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid as number));
  }, SAMPLE_EVERY_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  if (code !== 0) throw new Error(`custos ${args[0]} ended with ${code}: ${said}`);
  return { stdout, seconds: (performance.now() - startedAt) / 1000, peakMb };
}

/** The most resident memory that a process ever had. Linux only; else nothing. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
