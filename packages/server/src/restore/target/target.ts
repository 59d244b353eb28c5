import type { ScratchPlace } from '../place/place.ts';
import type { Described, StoredFact } from './present.ts';

/** Where a kill leaves the old database, or the new one, and nothing between them; for tests, which kill there. */
export type Step =
  | 'locked'
  | 'header'
  | 'filled'
  | 'ring'
  | 'verified'
  | 'confirmed'
  | 'fenced'
  | 'folded'
  | 'kept'
  | 'moved'
  | 'swapped'
  | 'done';
export type At = (step: Step) => void | Promise<void>;

/** What a restore left of the database that it replaced. */
export interface Kept {
  readonly place: string;
  /** The command that removes it. */
  readonly remove: string;
  /** As a person can paste it behind `custos restore review --against`; undefined where that holds a password. */
  readonly against?: string;
}

/** The database that a backup is restored over, held against other restores from the first look at it to the end. */
export interface Target<P extends ScratchPlace = ScratchPlace> {
  /** As the settings name it. */
  readonly name: string;
  /** What is there; undefined where nothing is. */
  readonly present: Described | undefined;
  /** A place from which the database can be exchanged. */
  makePlace(): Promise<P>;
  backupsSince(sinceMs: number): Promise<readonly StoredFact[]>;
  /** Puts what is in the place where the database is. Whatever happens, one of the two is there. */
  swap(place: P, options: { readonly discard: boolean; readonly at: At }): Promise<Kept | undefined>;
  release(): Promise<void>;
}

/** In a name of a file or a schema: 20261119t101112z. */
export const stampOf = (timeMs: number): string =>
  new Date(timeMs)
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .toLowerCase();
