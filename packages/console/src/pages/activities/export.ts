import type { Activity, CustosClient } from '@custos/sdk';
import { describeMany } from '../../api/descriptions.ts';
import type { Description } from '../../api/types.ts';
import { toCsv } from '../../lib/csv.ts';
import { utc } from '../../lib/time.ts';
import { type ActivitySearch, parametersOf } from './filters.ts';

/** More would not fit into a browser's memory comfortably; the API has no such end. */
export const EXPORT_MAX = 20_000;
const PAGE = 100;

interface Exported {
  readonly activity: Activity;
  readonly description: Description | undefined;
}

export interface ExportOptions {
  readonly client: CustosClient;
  readonly search: ActivitySearch;
  readonly onProgress: (count: number) => void;
  readonly signal: AbortSignal;
}

/** All that the filters find, newest first, page by page. */
export async function collect(
  options: ExportOptions,
): Promise<{ readonly items: readonly Exported[]; readonly isCut: boolean }> {
  const { client, search, onProgress, signal } = options;
  const items: Exported[] = [];
  let after = '';
  for (;;) {
    const { activities, pageInfo } = await client.listActivities(
      { ...parametersOf(search), paginationOptions: { limit: String(PAGE), ...(after !== '' && { after }) } },
      { signal },
    );
    const ids = activities.map(({ id }) => id);
    const descriptions = ids.length === 0 ? new Map<string, Description>() : await describeMany(client, ids, signal);
    for (const activity of activities) items.push({ activity, description: descriptions.get(activity.id) });
    onProgress(items.length);
    if (!pageInfo.hasNextPage) return { items, isCut: false };
    if (items.length >= EXPORT_MAX) return { items, isCut: true };
    after = pageInfo.endCursor;
  }
}

/** Who asked first. */
export const submitterOf = ({
  votes,
}: Activity): { readonly userId: string; readonly userName: string } | undefined => {
  const [first] = votes;
  return first === undefined ? undefined : { userId: first.userId, userName: first.user.userName };
};

const HEADER = [
  'id',
  'created_utc',
  'updated_utc',
  'status',
  'type',
  'sentence',
  'risk',
  'user_id',
  'user_name',
  'fingerprint',
  'failure',
];

export const asCsv = (items: readonly Exported[]): string =>
  toCsv(
    HEADER,
    items.map(({ activity, description }) => {
      const submitter = submitterOf(activity);
      return [
        activity.id,
        utc(activity.createdAt),
        utc(activity.updatedAt),
        activity.status,
        activity.type,
        description?.text,
        description?.risk,
        submitter?.userId,
        submitter?.userName,
        activity.fingerprint,
        activity.failure?.message,
      ];
    }),
  );

export const asJson = (items: readonly Exported[]): string =>
  JSON.stringify(
    items.map(({ activity, description }) => ({
      ...activity,
      createdAt: utc(activity.createdAt),
      updatedAt: utc(activity.updatedAt),
      ...(description && { sentence: description.text, risk: description.risk }),
    })),
    undefined,
    2,
  );
