import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { StartError } from '../../lib/start-error.ts';
import { isFields, isTexts } from '../../lib/stored-json.ts';

/** An activity as a record of what was done has it. */
export interface ExportedActivity {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  readonly status: string;
  readonly atMs: number;
  /** Who voted for it, by their ids. */
  readonly votedBy: readonly string[];
  /** The parameters, as JSON. */
  readonly intent: string;
}

const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/**
 * Activities out of lines of JSON: as `list_activities` and `get_activity` answer them, alone or a page at a time. Lines
 * of the feed are refused: they do not name the organization, so nobody could tell whether an activity is done here.
 */
export async function* readAuditExport(file: string): AsyncGenerator<ExportedActivity> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  let found = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    for (const activity of activitiesIn(parse(file, number, line), `${file}, line ${number},`)) {
      found += 1;
      yield activity;
    }
  }
  if (found === 0)
    throw new StartError(`${file} holds no activities: give lines of JSON as list_activities answers them`);
}

function parse(file: string, number: number, line: string): unknown {
  if (line.length <= LINE_LENGTH_MAX) {
    try {
      return JSON.parse(line);
    } catch {
      // Said below.
    }
  }
  throw new StartError(`${file}, line ${number}, is no JSON: give lines of JSON as list_activities answers them`);
}

function* activitiesIn(value: unknown, place: string): Generator<ExportedActivity> {
  if (Array.isArray(value)) {
    for (const one of value) yield* activitiesIn(one, place);
    return;
  }
  if (!isFields(value)) return;
  if (Array.isArray(value['activities'])) yield* activitiesIn(value['activities'], place);
  if (isFields(value['activity'])) yield* activitiesIn(value['activity'], place);
  const activity = activityOf(value, place);
  if (activity !== undefined) yield activity;
}

function activityOf(value: Readonly<Record<string, unknown>>, place: string): ExportedActivity | undefined {
  const { id, activityId, organizationId, type, status, updatedAt, createdAt, intent, votes } = value;
  const name = id ?? activityId;
  if (typeof name !== 'string' || typeof type !== 'string' || typeof status !== 'string') return undefined;
  if (!type.startsWith('ACTIVITY_TYPE_')) return undefined;
  if (typeof organizationId !== 'string') {
    throw new StartError(
      `${place} has an activity without its organization, as the feed tells of it: give lines of JSON as list_activities answers them`,
    );
  }
  const voters = (Array.isArray(votes) ? votes : []).flatMap((vote) => (isFields(vote) ? [vote['userId']] : []));
  return {
    id: name,
    organizationId,
    type,
    status,
    atMs: timeOf(updatedAt ?? createdAt),
    votedBy: isTexts(voters) ? voters : [],
    intent: JSON.stringify(intent ?? {}),
  };
}

/** RFC 3339 text, or seconds and nanoseconds as the wire writes times. */
function timeOf(value: unknown): number {
  if (typeof value === 'string') return Date.parse(value) || 0;
  if (isFields(value)) return Number(value['seconds'] ?? 0) * 1000;
  return 0;
}
