import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteFile } from '../../storage/sqlite-driver.ts';

/** A folder of this user alone, for what is too much to be kept in memory; gone when the review has ended. */
export class Scratch implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'custos-review-'));
  readonly #open: SqliteFile[] = [];

  fileNamed(name: string): string {
    return join(this.#folder, `${name}.db`);
  }

  /** Nothing has to outlast a power cut. */
  database(name: string): SqliteFile {
    const db = new SqliteFile(this.fileNamed(name));
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY');
    this.#open.push(db);
    return db;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const db of this.#open) db.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
