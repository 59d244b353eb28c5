import type { ArchiveHeader, Manifest } from '../backup/archive/parts.ts';
import { printable } from '../lib/printable.ts';
import type { Storage } from '../storage/storage.ts';
import { type Described, DescribedReader } from './target/present.ts';

/** What a person wants to know of a backup before anything is done with it. */
export interface BackupSummary {
  readonly id: string;
  /** Of the program that made it. */
  readonly version: string;
  readonly snapshotAtMs: number;
  readonly rows: number;
  readonly described: Described;
}

/** Of one that was loaded. */
export async function summaryOf(
  storage: Storage,
  { id, version }: ArchiveHeader,
  { snapshotAtMs, rows }: Manifest,
): Promise<BackupSummary> {
  const described = await storage.read(DescribedReader).describe();
  return { id: printable(id), version: printable(version), snapshotAtMs, rows, described };
}
