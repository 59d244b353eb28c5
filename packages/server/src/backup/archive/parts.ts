import type { DatabaseKind } from '../../storage/dialect.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';

// What an archive consists of (docs/decisions/0061): lines of JSON, compressed by gzip, encrypted by age. It begins with a
// header, then has each table with its rows, then the key ring where somebody wanted it inside, and then its end, without which it
// was cut off.

export const ARCHIVE_FORMAT = 1;

/** Integers are numbers, or bigints where a number cannot hold them. */
export type ArchiveValue = string | number | bigint | Uint8Array | null;

/** In the order of the table's columns. */
export type ArchiveRow = readonly ArchiveValue[];

export interface ArchiveHeader {
  readonly format: number;
  readonly id: string;
  /** Of the program that made it. */
  readonly version: string;
  readonly madeAtMs: number;
  readonly databaseKind: DatabaseKind;
  readonly migrations: readonly AppliedMigration[];
}

/** The key ring, as the file has it. One under a passphrase opens with that passphrase alone, which is never inside. */
export interface ArchivedRing {
  readonly provider: 'file' | 'passphrase';
  readonly ring: Uint8Array;
}

export interface TableSum {
  readonly name: string;
  readonly rows: number;
  /** Over the lines of the table as they are in the archive: that with its columns, and those with its rows. */
  readonly sha256: string;
}

/** What whoever read the snapshot knows of it. */
export interface SnapshotFacts {
  readonly snapshotAtMs: number;
  /** Which commit it holds last, as the database calls it. */
  readonly position: string;
  /** What it holds is sealed under these; without them it opens nothing. */
  readonly rootKeyIds: readonly string[];
  /** Its rows are marked under these. */
  readonly integrityKeyIds: readonly string[];
  readonly organizations: number;
}

export interface Manifest extends SnapshotFacts {
  readonly tables: readonly TableSum[];
  /** In all tables. */
  readonly rows: number;
  readonly hasKeys: boolean;
}

export type ContentPart =
  | { readonly part: 'header'; readonly header: ArchiveHeader }
  | { readonly part: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly part: 'rows'; readonly rows: readonly ArchiveRow[] }
  | { readonly part: 'keys'; readonly keys: ArchivedRing };

/** As it is read: complete, because the end comes once everything before it was verified. */
export type ArchivePart = ContentPart | { readonly part: 'end'; readonly manifest: Manifest };

/** As it is written: the writer counts and sums. */
export type WrittenPart = ContentPart | { readonly part: 'end'; readonly facts: SnapshotFacts };
