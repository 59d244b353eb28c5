import { ActivityReader } from '../../core/store/activity-reader.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { ActivityIndex } from './activity-index.ts';
import { type ExportedActivity, readAuditExport } from './audit-export.ts';
import { compareDatabases } from './compare.ts';
import { type Difference, DifferenceSpool } from './difference.ts';
import { type AgainstOptions, openAgainst } from './open.ts';
import { allRows, type OtherDatabase, ownRows } from './rows.ts';

export interface CompareOptions extends Omit<AgainstOptions, 'tables'> {
  readonly storage: Storage;
  readonly snapshotAtMs: number;
  readonly organizationId?: string | undefined;
  readonly nowMs: number;
}

/** What was compared, and what could not be. */
export interface Compared {
  readonly name: string;
  readonly differences: Iterable<Difference>;
  readonly count: number;
  /** What the other side does not have at all. */
  readonly lacking: readonly string[];
  /** Why nobody can tell whether what it says is genuine; undefined where each row was verified. */
  readonly doubt: string | undefined;
}

/** An activity of a moment before the snapshot may have ended after it. */
const AROUND_MS = 10 * 60 * 1000;
const ACTIVITIES_AT_ONCE = 32;

/** Compares the restored database with what `--against` names. */
export async function compareAgainst(options: CompareOptions): Promise<Compared> {
  const { storage, scratch } = options;
  const { tables } = storage.integrity;
  const against = await openAgainst({ ...options, tables });
  const spool = new DifferenceSpool(scratch.database('differences'));
  if (against.kind === 'audit-export') return await compareExport(options, against.file, spool);
  const { database } = against;
  try {
    const activities = new ActivityIndex(scratch.database('activities'));
    await readActivities(options, database, activities);
    const { nowMs, organizationId, say } = options;
    const common = { nowMs, organizationId, say, tables, activities, spool };
    const lacking = await compareDatabases({ ...common, here: ownRows(storage), there: database });
    const { name, doubt } = database;
    return { name, differences: spool.all(), count: spool.count, lacking, doubt };
  } finally {
    await database.close();
  }
}

/** Activities that ended since the backup, by what they changed. */
async function readActivities(
  { storage, snapshotAtMs, organizationId, say }: CompareOptions,
  database: OtherDatabase,
  index: ActivityIndex,
): Promise<void> {
  const table = storage.integrity.tables.get('activity');
  if (table === undefined) return;
  say('reading the activities since the backup');
  const wish = { changedSinceMs: snapshotAtMs - AROUND_MS, treeId: organizationId };
  for await (const { row } of allRows(database, table, wish, ACTIVITIES_AT_ONCE)) {
    if (row['status'] !== 'ACTIVITY_STATUS_COMPLETED') continue;
    const { organization_id, id, type, updated_at_ms, parameters, body, result } = row;
    const activity = { id: String(id), type: String(type), atMs: Number(updated_at_ms) };
    // What was done around the backup may be in it.
    const isAround = activity.atMs < snapshotAtMs + AROUND_MS;
    if (isAround && (await isDoneHere(storage, String(organization_id), activity.id))) continue;
    index.add(String(organization_id), activity, `${parameters ?? ''} ${body ?? ''} ${result ?? ''}`);
  }
}

const COMPLETED = 'ACTIVITY_STATUS_COMPLETED';

/** What was done since the backup, by a record of activities: each that this database does not know as done. */
async function compareExport(
  { storage, snapshotAtMs, organizationId }: CompareOptions,
  file: string,
  spool: DifferenceSpool,
): Promise<Compared> {
  const seen = new Set<string>();
  for await (const activity of readAuditExport(file)) {
    if (activity.status !== COMPLETED || activity.atMs < snapshotAtMs - AROUND_MS || seen.has(activity.id)) continue;
    if (!(await isInTree(storage, activity.organizationId, organizationId))) continue;
    seen.add(activity.id);
    if (!(await isDoneHere(storage, activity.organizationId, activity.id))) spool.add(differenceOf(activity));
  }
  const doubt = 'a file of activities proves nothing by itself: `verifyVote` of the SDK checks the votes in it';
  const lacking = ['what changed without an activity'];
  return { name: file, differences: spool.all(), count: spool.count, lacking, doubt };
}

/** One that this database does not know may have been made below it since the backup. */
async function isInTree({ read }: Storage, organizationId: string, treeId: string | undefined): Promise<boolean> {
  if (treeId === undefined || organizationId === treeId) return true;
  const organization = await read(OrganizationReader).find(organizationId as OrganizationId);
  return organization === undefined || organization.parentId === treeId;
}

async function isDoneHere({ read }: Storage, organizationId: string, id: string): Promise<boolean> {
  const here = await read(ActivityReader).find(organizationId as OrganizationId, id);
  return here?.activity.status === COMPLETED;
}

const PARAMETERS_LENGTH_MAX = 2000;

function differenceOf({ id, organizationId, type, atMs, votedBy, intent }: ExportedActivity): Difference {
  const short = intent.length > PARAMETERS_LENGTH_MAX ? `${intent.slice(0, PARAMETERS_LENGTH_MAX)}…` : intent;
  return {
    organizationId,
    kind: 'activities',
    change: 'added',
    what: 'activity',
    id,
    name: type.replace(/^ACTIVITY_TYPE_/, ''),
    values: [
      { what: 'parameters', here: null, there: short },
      ...(votedBy.length === 0 ? [] : [{ what: 'voted for by', here: null, there: votedBy.join(', ') }]),
    ],
    atMs,
    activity: { id, type, atMs },
    isGenuine: undefined,
  };
}
