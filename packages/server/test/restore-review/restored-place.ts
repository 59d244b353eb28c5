import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../../src/config/config.ts';
import { raiseFence } from '../../src/fence/raise.ts';
import { type Accepted, acceptRestore } from '../../src/fence-accept/accept.ts';
import { openBeside } from '../../src/keyring-admin/beside.ts';
import { openKeyringBeside } from '../../src/keyring-admin/open-keyring.ts';
import { HOUR_MS } from '../../src/lib/clock.ts';
import {
  type Reviewed,
  type ReviewFinding,
  type ReviewOptions,
  reviewRestore,
} from '../../src/restore-review/review.ts';
import { createPostgresDatabase, type TestDatabase } from '../harness/databases.ts';
import type { TestServer } from '../harness/server.ts';

/** What a service had at one moment, in a place of its own: the backup that is restored later. */
export class RestoredPlace implements AsyncDisposable {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly takenAtMs = Date.now();
  readonly #env: Readonly<Record<string, string>>;
  readonly #postgres: TestDatabase | undefined;

  private constructor(dataDir: string, postgres: TestDatabase | undefined, env: Readonly<Record<string, string>>) {
    this.dataDir = dataDir;
    this.databaseUrl = postgres?.url;
    this.#postgres = postgres;
    this.#env = env;
  }

  /** Of a service that does not run. */
  static async copyOf({ dataDir, databaseUrl, environment }: TestServer): Promise<RestoredPlace> {
    const folder = mkdtempSync(join(tmpdir(), 'custos-restored-'));
    cpSync(dataDir, folder, { recursive: true });
    const postgres = databaseUrl === undefined ? undefined : await createPostgresDatabase({ copyOf: databaseUrl });
    return new RestoredPlace(folder, postgres, environment);
  }

  /** For a service of this place. */
  get environment(): Record<string, string> {
    return {
      ...this.#env,
      CUSTOS_DATA_DIR: this.dataDir,
      ...(this.databaseUrl !== undefined && { CUSTOS_DATABASE_URL: this.databaseUrl }),
    };
  }

  get config(): Config {
    // Tests open the key ring in this process.
    const { PATH: _path, ...settings } = this.environment;
    return readConfig({ ...settings, CUSTOS_KEYRING: 'inline' });
  }

  /** As if it had been restored a while ago: what is signed right after a restore is refused as a body of before. */
  async raiseFence(agoMs = HOUR_MS, snapshotAtMs?: number): Promise<void> {
    const atMs = Date.now() - agoMs;
    const times = { snapshotAtMs: snapshotAtMs ?? Math.min(this.takenAtMs, atMs), restoredAtMs: atMs };
    const storage = await openBeside(this.config, 'restore');
    const keyring = await openKeyringBeside(storage, this.config);
    try {
      await storage.write((store) => raiseFence(store, { backupId: 'a backup', exhaust: false, ...times }));
    } finally {
      await keyring.close();
      await storage.close();
    }
  }

  async review(
    options: Partial<ReviewOptions> = {},
  ): Promise<Reviewed & { readonly findings: readonly ReviewFinding[] }> {
    const findings: ReviewFinding[] = [];
    const report = (finding: ReviewFinding): void => void findings.push(finding);
    const reviewed = await reviewRestore(this.config, { report, say: () => {}, ...options });
    return { ...reviewed, findings };
  }

  /** What is left to be decided stays held. */
  async accept(decisions: readonly string[] = [], organizationId?: string): Promise<Accepted> {
    const options = { decisions, organizationId, holdsUndecided: true, confirm: async () => true };
    const accepted = await acceptRestore(this.config, options);
    if (accepted === undefined) throw new Error('it was agreed to');
    return accepted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#postgres?.[Symbol.asyncDispose]();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
