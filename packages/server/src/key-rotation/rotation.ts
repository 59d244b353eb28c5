import { isFields, isTexts, isTimes, storedJson } from '../lib/stored-json.ts';

/** A move to another root key that is under way, as the database records it. */
export interface Rotation {
  readonly id: string;
  /** The root key that everything is to be under. */
  readonly to: string;
  /** Everything is there already, and this older key is about to be retired. */
  readonly retires?: string;
  /** Nothing is moved or retired: processes are asked whether they run. */
  readonly isQuestion?: true;
}

/** What a running process says of itself. */
export interface ProcessState {
  readonly host: string;
  readonly pid: number;
  /**
   * Whether it knows keys that stay after they were replaced: organizations with two, service keys of every role, root keys
   * that are retired. Older versions do not, and do not say so.
   */
  readonly knowsEarlierKeys?: boolean;
  /** Whether it marks and verifies rows once it is told to. Older versions do not, and do not say so. */
  readonly knowsMarks?: boolean;
  /** Whether it does so now. */
  readonly writesMarks?: boolean;
  /** Under which keys; absent until it has loaded them. */
  readonly integrity?: IntegrityState;
  /** The rotation that it has seen. */
  readonly rotation?: string;
  /** Whether it can use the new root key; absent until it has read the key ring for that rotation. */
  readonly holdsKey?: boolean;
  /** The change of the ring for which it last read its copy. */
  readonly ringChange?: string;
  /** Earlier root keys that its copy of the ring still opens. */
  readonly earlierKeys?: readonly string[];
}

/** How a process marks and verifies rows, by the ids of integrity keys. */
export interface IntegrityState {
  /** The newest that it verifies with. */
  readonly newest: string;
  readonly marks: string;
  /** The earliest that it verifies with. */
  readonly since: string;
  /** Whether the key ring of its machine requires that one. */
  readonly isInRing: boolean;
}

const isRotation = (value: unknown): value is Rotation =>
  isFields(value) &&
  typeof value.id === 'string' &&
  typeof value.to === 'string' &&
  (value.retires === undefined || typeof value.retires === 'string');

export const parseRotation = (value: string | undefined): Rotation | undefined =>
  value === undefined ? undefined : storedJson('rotation', value, isRotation);

/** One text for one rotation, so that texts can be compared. */
export const formatRotation = ({ id, to, retires, isQuestion }: Rotation): string =>
  JSON.stringify({ id, to, ...(retires !== undefined && { retires }), ...(isQuestion && { isQuestion }) });

/** Whether something is being moved to another root key, or was when a run was interrupted. */
export const isMove = (rotation: Rotation | undefined): rotation is Rotation =>
  rotation !== undefined && rotation.retires === undefined && rotation.isQuestion === undefined;

/** The keys that were in use earlier: nothing new is wrapped under them. */
export const parseRetired = (value: string | undefined): string[] =>
  value === undefined ? [] : storedJson('retired_root_keys', value, isTexts);

/** When each root key came into use, in milliseconds. Keys from before there was this record are not in it. */
export const parseKeyTimes = (value: string | undefined): Readonly<Record<string, number>> =>
  value === undefined ? {} : storedJson('root_key_times', value, isTimes);

/** What a process says of itself. */
export const parseProcess = (id: string, value: string): ProcessState => storedJson(`process:${id}`, value, isProcess);

/** What a process said of itself; undefined where somebody has spoiled it, which must not stop others. */
export function processStateOf(value: string): ProcessState | undefined {
  try {
    const said: unknown = JSON.parse(value);
    return isProcess(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

const isProcess = (value: unknown): value is ProcessState & Record<string, unknown> =>
  isFields(value) && (value.earlierKeys === undefined || isTexts(value.earlierKeys));
