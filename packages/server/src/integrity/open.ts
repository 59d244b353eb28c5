import type { Keyring } from '@custos/keyring';
import { InstallationReader } from '../core/store/installation.ts';
import { processStateOf } from '../key-rotation/rotation.ts';
import { printable } from '../lib/printable.ts';
import type { Violation } from '../storage/integrity/integrity.ts';
import type { Storage } from '../storage/storage.ts';
import { INTEGRITY_FACTS, IntegrityFollower } from './follower.ts';
import { loadIntegrity } from './load.ts';
import { makeKey } from './make-key.ts';
import { markRows } from './passes.ts';

const SHOWN_MAX = 10;
const FIRST_GENERATION = 1;

export interface IntegrityOptions {
  /** What the operator should know, a line each. */
  readonly warn?: (line: string) => void;
  readonly say?: (line: string) => void;
}

/**
 * Lets rows be marked and verified: before service keys, or anything else of an organization, is read. The first start makes
 * the key. Marks are required at once on a database without an organization, and on the embedded one, whose rows a start
 * marks first; on another one by `custos integrity enable` (docs/decisions/0060).
 */
export async function openIntegrity(
  storage: Storage,
  keyring: Keyring,
  nowMs: number,
  { warn = () => {}, say = () => {} }: IntegrityOptions = {},
): Promise<IntegrityFollower> {
  // Before the ring and the note: who made the first organization has written both by then.
  const isNew = !(await storage.read(InstallationReader).hasOrganization());
  let loaded = await loadIntegrity(storage, keyring);
  while (loaded === undefined) {
    await makeKey(storage, keyring, FIRST_GENERATION, nowMs);
    loaded = await loadIntegrity(storage, keyring);
  }
  const follower = new IntegrityFollower(storage, keyring, loaded, warn);
  if (!storage.integrity.isRequired && (storage.kind === 'sqlite' || (isNew && !(await hasOlderProcess(storage))))) {
    // Of a database without an organization only service keys may be from an older version.
    const tables = isNew ? { tables: ['service_key'] } : {};
    const bad: Violation[] = [];
    const report = (violation: Violation): void => {
      if (bad.length < SHOWN_MAX) bad.push(violation);
    };
    storage.integrity.activate();
    const { bad: count } = await markRows(storage, { report, say, ...tables });
    if (count === 0) await follower.require();
    else
      warn(
        `rows are not required to be authenticated yet: ${count} have a mark that does not fit (${bad.map(describeViolation).join(', ')}); see \`custos verify\` and docs/guides/integrity.md`,
      );
  }
  await follower.follow(await storage.read(InstallationReader).facts(INTEGRITY_FACTS));
  return follower;
}

/** One that does not know marks would write rows that everybody else refuses. */
async function hasOlderProcess(storage: Storage): Promise<boolean> {
  const processes = await storage.read(InstallationReader).processes();
  return processes.some(({ state }) => processStateOf(state)?.knowsMarks !== true);
}

/** For a person, and as one line: whoever can write to the database chooses what rows are called. */
export const describeViolation = ({ table, organizationId, row, because, set }: Violation): string =>
  `${printable(table)} ${printable(row, 200)}${organizationId === undefined || organizationId === row ? '' : ` of organization ${printable(organizationId)}`} (${because}${set === undefined ? '' : ` of ${set}`})`;
