import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../lib/start-error.ts';
import { partialName, syncFolder } from './new-file.ts';
import type { Owner } from './owner.ts';

const NAMES = '-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}\\.age$';

/** Backups of one deployment in a folder, which may have other files too. */
export class BackupFolder {
  readonly path: string;
  readonly #tag: string;
  /** Undefined where nobody knows whose backup is made: then none of the files in the folder is ours to delete. */
  readonly #name: RegExp | undefined;

  /** Named after the first organization, so that deployments can share a folder. */
  constructor(path: string, owner: Owner) {
    this.path = path;
    this.#tag = owner.doubt === undefined ? owner.firstOrganizationId.slice(-8) : 'unverified';
    this.#name = owner.doubt === undefined ? new RegExp(`^custos-${this.#tag}${NAMES}`) : undefined;
  }

  /** Names sort by their time. */
  newFile(id: string, nowMs: number): string {
    const time = new Date(nowMs)
      .toISOString()
      .replace(/\.[0-9]+/, '')
      .replaceAll(/[-:]/g, '');
    return join(this.path, `custos-${this.#tag}-${time}-${id.slice(-8)}.age`);
  }

  /** Removes what killed runs left. Nobody else may be writing a backup of this deployment. */
  async removePartials(): Promise<void> {
    for (const name of await this.#files())
      if (name.endsWith(partialName('')) && this.#isOurs(name.slice(0, -partialName('').length)))
        await rm(join(this.path, name), { force: true });
  }

  /** What goes so that the newest `keep` stay; the one that was just made is the newest, whatever the clock said before. */
  async expired(newest: string, keep: number): Promise<string[]> {
    const older = (await this.#files()).filter((name) => this.#isOurs(name) && join(this.path, name) !== newest);
    return older
      .sort()
      .reverse()
      .slice(keep - 1)
      .map((name) => join(this.path, name));
  }

  async remove(files: readonly string[]): Promise<void> {
    try {
      for (const file of files) await rm(file, { force: true });
      if (files.length > 0) await syncFolder(this.path);
    } catch (error) {
      throw new StartError(
        `the backup was made, but an older one that --keep leaves no room for cannot be deleted: ${(error as Error).message}`,
      );
    }
  }

  #isOurs(name: string): boolean {
    return this.#name?.test(name) === true;
  }

  /** Those that are files themselves: a link or a folder is not ours, whatever it is called. */
  async #files(): Promise<string[]> {
    const entries = await readdir(this.path, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }
}
