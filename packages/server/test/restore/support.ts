import { randomBytes } from 'node:crypto';
import { copyFileSync, createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ageLines } from '../../src/backup/archive/age-keys.ts';
import type { ArchiveValue, ContentPart, SnapshotFacts, WrittenPart } from '../../src/backup/archive/parts.ts';
import { readArchive } from '../../src/backup/archive/read.ts';
import { writeArchive } from '../../src/backup/archive/write.ts';
import { openSnapshot, snapshotTables } from '../../src/backup/snapshot/open.ts';
import { takeBackup } from '../../src/backup/take.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { Finding } from '../../src/restore/checks/finding.ts';
import { type Restored, type RestoreOptions, type RestorePlan, restoreDatabase } from '../../src/restore/restore.ts';
import { SealedWorld } from '../faults/sealed-world.ts';
import { createSubOrganization } from '../harness/client.ts';
import { createPostgresDatabase, type DatabaseKind } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

/** As commands in the process of a test read the settings of a service. */
export const configOf = (environment: Readonly<Record<string, string>>): Config =>
  readConfig({ ...environment, CUSTOS_KEYRING: 'inline' });

/** Whom backups are encrypted to, and the file of the identity that opens them. */
export interface AgeKey {
  readonly recipient: string;
  readonly file: string;
}

export async function newAgeKey(folder: string, name = 'backup.key'): Promise<AgeKey> {
  const identity = await generateX25519Identity();
  const file = join(folder, name);
  writeFileSync(file, `# made for a test\n${identity}\n`, { mode: 0o600 });
  return { recipient: await identityToRecipient(identity), file };
}

export async function backUp(config: Config, file: string, key: AgeKey, withKeys = false): Promise<string> {
  await takeBackup(config, { target: { file, overwrites: false }, recipients: [key.recipient], withKeys });
  return file;
}

/** A service with something of everything, backed up while it ran, then used once more and stopped. */
export class BackedUp implements AsyncDisposable {
  readonly server: TestServer;
  readonly world: SealedWorld;
  readonly folder: string;
  readonly key: AgeKey;
  readonly archive: string;
  readonly archiveWithKeys: string;
  /** What the database held when it was backed up. */
  readonly before: Dump;

  private constructor(parts: Omit<BackedUp, 'config' | typeof Symbol.asyncDispose>) {
    this.server = parts.server;
    this.world = parts.world;
    this.folder = parts.folder;
    this.key = parts.key;
    this.archive = parts.archive;
    this.archiveWithKeys = parts.archiveWithKeys;
    this.before = parts.before;
  }

  static async make(database: DatabaseKind): Promise<BackedUp> {
    const folder = mkdtempSync(join(tmpdir(), 'custos-backup-'));
    const server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    await world.root.run('create_private_keys', {
      privateKeys: [{ privateKeyName: 'on P-256', curve: 'CURVE_P256', privateKeyTags: [], addressFormats: [] }],
    });
    const config = configOf(server.environment);
    const key = await newAgeKey(folder);
    const archive = await backUp(config, join(folder, 'one.backup'), key);
    const archiveWithKeys = await backUp(config, join(folder, 'with-keys.backup'), key, true);
    const before = await dump(config);
    await createSubOrganization(world.root, 'made after the backup');
    await server.stop();
    return new BackedUp({ server, world, folder, key, archive, archiveWithKeys, before });
  }

  get config(): Config {
    return configOf(this.server.environment);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Settings of a service that has never been started, with a key ring. */
export interface EmptyPlace extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  readonly config: Config;
}

export async function emptyPlace(database: DatabaseKind, ring?: string): Promise<EmptyPlace> {
  const dataDir = mkdtempSync(join(tmpdir(), 'custos-empty-'));
  if (ring !== undefined) copyFileSync(ring, join(dataDir, 'root.key'));
  const postgres = database === 'postgres' ? await createPostgresDatabase({ isEmpty: true }) : undefined;
  const environment = {
    PATH: process.env['PATH'] ?? '',
    CUSTOS_DATA_DIR: dataDir,
    CUSTOS_PORT: '0',
    ...(postgres && { CUSTOS_DATABASE_URL: postgres.url, CUSTOS_DATABASE_POOL: '8' }),
  };
  return {
    environment,
    config: configOf(environment),
    [Symbol.asyncDispose]: async () => {
      await postgres?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export interface Outcome {
  readonly restored: Restored | undefined;
  readonly plan: RestorePlan | undefined;
  readonly findings: readonly Finding[];
  readonly said: readonly string[];
}

/** As the command restores, unless told otherwise: everything is agreed to. */
export async function restoreInto(
  config: Config,
  file: string,
  { file: identity }: AgeKey,
  options: Partial<RestoreOptions> = {},
): Promise<Outcome> {
  const findings: Finding[] = [];
  const said: string[] = [];
  let plan: RestorePlan | undefined;
  const restored = await restoreDatabase(config, {
    file,
    identities: [identity],
    withKeys: false,
    discard: false,
    exhaust: false,
    acceptsFindings: false,
    sample: 50,
    say: (line) => said.push(line),
    report: (finding) => findings.push(finding),
    ...options,
    confirm: async (asked) => {
      plan = asked;
      return (await options.confirm?.(asked)) ?? true;
    },
  });
  await letFilesGo();
  return { restored, plan, findings, said };
}

/** Every row of every table, as text. */
export type Dump = Readonly<Record<string, readonly string[]>>;

/** Whatever a restore, or a process, writes about itself. */
const OWN_FACTS = /^(process:|probe:|backup:|restored$|newest_restoration$|change_number$|feed_eras$)/;

/** What a restore has to bring back byte for byte. */
export async function dump(config: Config): Promise<Dump> {
  const snapshot = await openSnapshot(config);
  try {
    const tables: Record<string, string[]> = {};
    for (const table of snapshotTables()) {
      if (table === 'restoration') continue;
      const columns = await snapshot.columnsOf(table);
      const order = [...columns].sort();
      const found: string[] = [];
      for await (const rows of snapshot.rows(table, columns))
        for (const row of rows) {
          const named = new Map(columns.map((column, index) => [column, row[index] ?? null]));
          if (table === 'deployment' && OWN_FACTS.test(String(named.get('name')))) continue;
          // The fence marks the migration that it came with.
          if (table === 'schema_migration') named.delete('compatibility');
          found.push(order.map((column) => `${column}=${textOf(named.get(column) ?? null)}`).join(' '));
        }
      tables[table] = found.sort();
    }
    return tables;
  } finally {
    await snapshot.close();
    await letFilesGo();
  }
}

let collect: (() => void) | undefined;

/**
 * SQLite closes a file once the statements of its connection have been collected as garbage: by then a command, which is a process
 * of its own, has ended, and a test goes on.
 */
export async function letFilesGo(): Promise<void> {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('gc') as () => void;
  collect();
  await setImmediate();
}

function textOf(value: ArchiveValue): string {
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString('hex')}`;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

interface ArchiveTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** The archive with some of its parts changed or left out, and sums that fit. */
export async function rewritten(
  { archive, key, folder }: BackedUp,
  change: (part: ContentPart, table: ArchiveTable | undefined) => ContentPart | undefined,
  facts: Partial<SnapshotFacts> = {},
): Promise<string> {
  const identities = ageLines(readFileSync(key.file, 'utf8'));
  async function* parts(): AsyncGenerator<WrittenPart> {
    let table: ArchiveTable | undefined;
    for await (const part of readArchive(createReadStream(archive), identities)) {
      if (part.part === 'table') table = part;
      if (part.part === 'end') yield { part: 'end', facts: { ...part.manifest, ...facts } };
      else {
        const changed = change(part, table);
        if (changed !== undefined) yield changed;
      }
    }
  }
  const file = join(folder, `${randomBytes(8).toString('hex')}.backup`);
  await writeFile(
    file,
    writeArchive(parts(), [key.recipient], () => {}),
  );
  return file;
}
