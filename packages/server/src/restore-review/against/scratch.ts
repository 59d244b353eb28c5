import { join } from 'node:path';
import { TemporaryFolder } from '../../restore/temporary-folder.ts';
import { SqliteFile } from '../../storage/sqlite-driver.ts';

const PREFIX = 'custos-review-';

/** A folder of this user alone, for what is too much to be kept in memory; gone when the review has ended. */
export class Scratch implements AsyncDisposable {
  readonly #folder: TemporaryFolder;
  readonly #open: SqliteFile[] = [];

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  static async make(): Promise<Scratch> {
    return new Scratch(await TemporaryFolder.make(PREFIX));
  }

  fileNamed(name: string): string {
    return join(this.#folder.path, `${name}.db`);
  }

  /** Nothing has to outlast a power cut. */
  database(name: string): SqliteFile {
    const db = new SqliteFile(this.fileNamed(name));
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY');
    this.#open.push(db);
    return db;
  }

  /** Whatever is being done with it. */
  async remove(): Promise<void> {
    for (const db of this.#open) db.close();
    this.#folder.remove();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}
