/** A move to another root key that is under way, as the database records it. */
export interface Rotation {
  readonly id: string;
  /** The root key that everything is to be under. */
  readonly to: string;
}

/** What a running process says of itself. */
export interface ProcessState {
  readonly host: string;
  readonly pid: number;
  /** The rotation that it has seen. */
  readonly rotation?: string;
  /** Whether it can use the new root key; absent until it has read the key ring for that rotation. */
  readonly holdsKey?: boolean;
}

export const parseRotation = (value: string | undefined): Rotation | undefined =>
  value === undefined ? undefined : (JSON.parse(value) as Rotation);

/** One text for one rotation, so that texts can be compared. */
export const formatRotation = ({ id, to }: Rotation): string => JSON.stringify({ id, to });

export const parseRetired = (value: string | undefined): string[] =>
  value === undefined ? [] : (JSON.parse(value) as string[]);
