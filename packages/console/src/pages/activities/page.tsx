import { type Activity, OPERATIONS } from '@custos/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDescription } from '../../api/descriptions.ts';
import { problemOf } from '../../api/problem.ts';
import { type AnswerOf, useApi, useApiPages } from '../../api/use-api.ts';
import { LiveState } from '../../app/connection-banner.tsx';
import { Avatar } from '../../kit/avatar.tsx';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { TextField } from '../../kit/field.tsx';
import { Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Select } from '../../kit/select.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { ActivityStatus, activityStatusWord } from '../../kit/status-mark.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { RowLink, VirtualTable } from '../../kit/virtual-table.tsx';
import { plainType } from '../../lib/text.ts';
import { toDate } from '../../lib/time.ts';
import styles from './activities.module.css';
import { submitterOf } from './export.ts';
import { ExportButton } from './export-menu.tsx';
import { type ActivitySearch, parametersOf, STATUSES } from './filters.ts';

const ANY = '';

/** Types that the API makes, by what they are called. */
const TYPES = [
  ...new Set(Object.values(OPERATIONS).flatMap((operation) => ('type' in operation ? [operation.type as string] : []))),
].sort();

/** Everything that was asked of the service. */
export function ActivitiesPage() {
  const search = useSearch({ from: '/shell/activities' });
  const navigate = useNavigate();
  const paged = useApiPages('listActivities', parametersOf(search), ({ rows }) => rows, { keep: toRows });
  const { items, query } = paged;
  const setSearch = (change: { readonly [Name in keyof ActivitySearch]?: string }): void => {
    const next = Object.fromEntries(Object.entries({ ...search, ...change }).filter(([, value]) => value !== ANY));
    void navigate({ to: '/activities', search: next as ActivitySearch, replace: true });
  };
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      fill
      title="Activities"
      actions={
        <>
          <LiveState />
          <ExportButton search={search} />
        </>
      }
    >
      <Filters search={search} onChange={setSearch} />
      {query.isError && (
        <div className={styles.problem}>
          <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.data === undefined ? (
        !query.isError && <Skeleton rows={12} label="Loading activities" />
      ) : (
        <VirtualTable
          label="Activities"
          columns={COLUMNS}
          rows={items}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/activities/$activityId', params: { activityId: id } })}
          hasMore={paged.hasMore}
          isLoadingMore={query.isFetchingNextPage}
          onMore={paged.loadMore}
          empty={
            isFiltered ? (
              <Empty
                title="Nothing fits these filters"
                icon="filter"
                actions={<Button onClick={() => void navigate({ to: '/activities', search: {} })}>Show all</Button>}
              >
                Other times, users or states may have some.
              </Empty>
            ) : (
              <Empty title="No activities yet" icon="activity" call="await client.listActivities()">
                Everything that is asked of the service is listed here: who asked, what became of it, and why.
              </Empty>
            )
          }
        />
      )}
    </Page>
  );
}

/** What a row shows: of a hundred thousand, whole requests with their votes would fill the memory. */
interface Row extends Pick<Activity, 'id' | 'type' | 'status'> {
  readonly createdAtMs: number;
  readonly submitter: string | undefined;
}

/** Equal texts of an answer that are one and the same text take the memory of one. */
function sharing(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (!known.has(text)) known.set(text, text);
    return known.get(text) ?? text;
  };
}

function toRows({ activities, pageInfo }: AnswerOf<'listActivities'>) {
  const shared = sharing();
  const rows = activities.map((activity): Row => {
    const submitter = submitterOf(activity)?.userName;
    return {
      id: activity.id,
      type: shared(activity.type),
      status: shared(activity.status) as Activity['status'],
      createdAtMs: toDate(activity.createdAt).getTime(),
      submitter: submitter === undefined ? undefined : shared(submitter),
    };
  });
  return { rows, pageInfo };
}

const COLUMNS: readonly Column<Row>[] = [
  { id: 'sentence', header: 'What', width: 'minmax(0, 1fr)', cell: (row) => <What row={row} /> },
  { id: 'status', header: 'State', width: '170px', cell: ({ status }) => <ActivityStatus status={status} bare /> },
  { id: 'who', header: 'Who', width: '190px', cell: ({ submitter }) => <Who submitter={submitter} /> },
  {
    id: 'when',
    header: 'When',
    width: '110px',
    align: 'right',
    cell: ({ createdAtMs }) => <Time time={createdAtMs} inRow />,
  },
];

/** Its sentence, asked for as the row comes into view; the type until then. */
function What({ row: { id, type } }: { readonly row: Row }) {
  const description = useDescription(id);
  return (
    <RowLink href={`/console/activities/${id}`} className={styles.what}>
      {description === undefined ? (
        <span className={styles.type}>{plainType(type)}</span>
      ) : (
        <Sentence parts={description.sentence} size="fact" />
      )}
    </RowLink>
  );
}

function Who({ submitter }: { readonly submitter: string | undefined }) {
  if (submitter === undefined) return <>the service</>;
  return (
    <span className={styles.who}>
      <Avatar name={submitter} size={22} />
      <bdi>{submitter}</bdi>
    </span>
  );
}

interface FiltersProps {
  readonly search: ActivitySearch;
  readonly onChange: (change: { readonly [Name in keyof ActivitySearch]?: string }) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const users = useApi('listUsers', {});
  return (
    <search className={styles.filters} aria-label="Filter activities" data-filter="">
      <Select
        label="Type"
        hideLabel
        value={search.type ?? ANY}
        onChange={(type) => onChange({ type })}
        options={[{ value: ANY, label: 'Any type' }, ...TYPES.map((type) => ({ value: type, label: plainType(type) }))]}
      />
      <Select
        label="State"
        hideLabel
        value={search.status ?? ANY}
        onChange={(status) => onChange({ status })}
        options={[
          { value: ANY, label: 'Any state' },
          ...STATUSES.map((status) => ({ value: status as string, label: activityStatusWord(status) })),
        ]}
      />
      <Select
        label="User"
        hideLabel
        value={search.user ?? ANY}
        onChange={(user) => onChange({ user })}
        options={[
          { value: ANY, label: 'Anybody' },
          ...(users.data?.users ?? []).map(({ userId, userName }) => ({ value: userId, label: userName })),
        ]}
      />
      <TextField
        label="From"
        type="date"
        value={search.from ?? ''}
        onChange={(from) => onChange({ from })}
        hideLabel
        before={<span className={styles.before}>From</span>}
      />
      <TextField
        label="To"
        type="date"
        value={search.to ?? ''}
        onChange={(to) => onChange({ to })}
        hideLabel
        before={<span className={styles.before}>To</span>}
      />
    </search>
  );
}
