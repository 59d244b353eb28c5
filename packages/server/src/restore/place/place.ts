import type { ArchiveHeader, ArchivePart } from '../../backup/archive/parts.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Say } from '../say.ts';
import type { Filled } from './fill.ts';

export interface FillOptions {
  readonly nowMs: number;
  readonly say: Say;
}

/** Where a backup is loaded and looked at before anybody uses it: nothing else is there, and nobody else sees it. */
export interface ScratchPlace {
  readonly kind: DatabaseKind;
  /** Loads an archive, whose header was read already. */
  fill(header: ArchiveHeader, parts: AsyncIterable<ArchivePart>, options: FillOptions): Promise<Filled>;
  /** As a service opens it. */
  open(): Promise<Storage>;
  close(): Promise<void>;
  /** Whatever is being done with it; also what somebody has moved away is gone from here then. */
  remove(): Promise<void>;
}
