import { type Ref, useState } from 'react';
import type { ApprovalFilter, Approvals } from '../../api/approvals.ts';
import { problemOf } from '../../api/problem.ts';
import { useNow } from '../../app/now.ts';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { KeyHints } from '../../kit/kbd.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Seal } from '../../kit/seal.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { VirtualList, type VirtualListHandle } from '../../kit/virtual-list.tsx';
import { FirstSteps } from '../../session/first-steps.tsx';
import type { Verb } from '../request/confirm-dialog.tsx';
import { type BatchItem, itemOf, stillTogether, whyNotTogether } from './batch.ts';
import { BatchDialog } from './batch-dialog.tsx';
import styles from './inbox.module.css';
import { Notify } from './notify.tsx';
import { RequestRow, rowDescription } from './request-row.tsx';
import type { InboxRow } from './steady-order.ts';
import type { Rows } from './use-rows.ts';

export interface RequestListProps {
  readonly filter: ApprovalFilter;
  readonly onFilter: (filter: ApprovalFilter) => void;
  readonly approvals: Approvals;
  readonly rows: Rows;
  readonly openId: string | undefined;
  readonly listRef: Ref<VirtualListHandle>;
}

const HINTS = [
  [['J', 'K'], 'move'],
  [['A'], 'approve'],
  [['R'], 'reject'],
  [['B'], 'bytes'],
  [['?'], 'all keys'],
] as const;

export function RequestList({
  filter,
  onFilter,
  approvals,
  rows: { rows, listeners },
  openId,
  listRef,
}: RequestListProps) {
  const now = useNow();
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>();
  const [batch, setBatch] = useState<Verb>();
  const { counts, query } = approvals;
  const chosen = stillTogether(
    rows.flatMap(({ approval, isGone }) => (chosenIds?.has(approval.activity.id) && !isGone ? [itemOf(approval)] : [])),
  );
  const canChoose =
    filter === 'FOR_ME' &&
    rows.filter(({ approval, isGone }) => !isGone && approval.description.risk === 'ROUTINE').length > 1;
  const choiceOf = ({ approval, isGone }: InboxRow) => {
    if (chosenIds === undefined || filter !== 'FOR_ME') return undefined;
    const { id } = approval.activity;
    const isChosen = chosenIds.has(id);
    const others = chosen.filter((item) => item.approval.activity.id !== id);
    return {
      isChosen,
      off: isGone ? 'it no longer waits' : whyNotTogether(itemOf(approval), others),
      onToggle: () => {
        const next = new Set(chosenIds);
        if (!next.delete(id)) next.add(id);
        setChosenIds(next);
      },
    };
  };
  return (
    <>
      <div className={styles.tools}>
        <Segmented
          label="Requests"
          items={[
            { id: 'FOR_ME', label: `For me ${counts?.forMe ?? ''}`.trim() },
            { id: 'FOR_OTHERS', label: `For others ${counts?.forOthers ?? ''}`.trim() },
            { id: 'DECIDED', label: 'Decided' },
          ]}
          value={filter}
          onChange={(next) => {
            setChosenIds(undefined);
            onFilter(next);
          }}
        />
        {(canChoose || chosenIds !== undefined) && filter === 'FOR_ME' && (
          <LinkButton onClick={() => setChosenIds(chosenIds === undefined ? new Set() : undefined)}>
            {chosenIds === undefined ? 'Select several' : 'Cancel'}
          </LinkButton>
        )}
      </div>
      {rows.length === 0 ? (
        <div className={styles.listEmpty}>
          <div className={styles.more}>
            <FirstSteps />
            {query.isError && query.data === undefined ? (
              <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
            ) : query.data === undefined || approvals.items.length > 0 ? (
              <Skeleton rows={4} label="Loading requests" />
            ) : (
              <NothingWaits filter={filter} forOthers={counts?.forOthers ?? 0} onFilter={onFilter} />
            )}
            {filter === 'FOR_ME' && <Notify />}
          </div>
        </div>
      ) : (
        <div className={styles.scroller} {...listeners}>
          <div className={styles.first}>
            <FirstSteps />
          </div>
          <VirtualList
            ref={listRef}
            label={filter === 'DECIDED' ? 'Decided requests' : 'Requests'}
            items={rows}
            itemKey={({ approval }) => approval.activity.id}
            estimate={104}
            itemProps={({ approval }) => ({
              'aria-label': approval.description.text,
              'aria-description': rowDescription(approval, now),
            })}
            renderItem={(row) => (
              <RequestRow
                approval={row.approval}
                isOpenNow={row.approval.activity.id === openId}
                isGone={row.isGone}
                choice={choiceOf(row)}
              />
            )}
            hasMore={approvals.hasMore}
            isLoadingMore={query.isFetchingNextPage}
            onMore={approvals.loadMore}
            footer={filter === 'FOR_ME' ? <Notify /> : undefined}
          />
        </div>
      )}
      {chosenIds === undefined ? (
        <div className={styles.foot}>
          <KeyHints hints={HINTS} />
        </div>
      ) : (
        <div className={styles.batchBar}>
          <span>
            {chosen.length === 0 ? 'Choose routine requests of one type and wallet.' : `${chosen.length} chosen`}
          </span>
          <span className={styles.batchActs}>
            <Button
              size="small"
              off={chosen.length === 0 && 'Nothing is chosen.'}
              hideReason
              onClick={() => setBatch('Reject')}
            >
              Reject {chosen.length || ''}
            </Button>
            <Button
              size="small"
              off={chosen.length === 0 && 'Nothing is chosen.'}
              hideReason
              onClick={() => setBatch('Approve')}
            >
              Approve {chosen.length || ''}
            </Button>
          </span>
        </div>
      )}
      {batch !== undefined && (
        <BatchSnapshot
          verb={batch}
          items={chosen}
          onClose={(isDone) => {
            setBatch(undefined);
            if (isDone) setChosenIds(undefined);
          }}
        />
      )}
    </>
  );
}

/** What was chosen when the dialog opened: requests that are decided meanwhile stay listed with their result. */
function BatchSnapshot(props: {
  readonly verb: Verb;
  readonly items: readonly BatchItem[];
  readonly onClose: (isDone: boolean) => void;
}) {
  const [items] = useState(props.items);
  return <BatchDialog verb={props.verb} items={items} onClose={props.onClose} />;
}

interface NothingWaitsProps {
  readonly filter: ApprovalFilter;
  readonly forOthers: number;
  readonly onFilter: (filter: ApprovalFilter) => void;
}

const CALL = "await client.listApprovals({ filter: 'FOR_ME' })";

function NothingWaits({ filter, forOthers, onFilter }: NothingWaitsProps) {
  if (filter === 'DECIDED') {
    return (
      <Empty title="Nothing was decided yet" icon="inbox" call="await client.listApprovals({ filter: 'DECIDED' })">
        Requests that people voted on are listed here.
      </Empty>
    );
  }
  return (
    <Empty
      title={filter === 'FOR_ME' ? 'Nothing waits for you' : 'Nothing waits for others'}
      mark={<Seal given={1} required={1} size={48} tone="done" label="" />}
      call={filter === 'FOR_ME' ? CALL : "await client.listApprovals({ filter: 'FOR_OTHERS' })"}
      {...(filter === 'FOR_ME' &&
        forOthers > 0 && {
          actions: <Button onClick={() => onFilter('FOR_OTHERS')}>See what waits for others</Button>,
        })}
    >
      New requests appear here by themselves.{filter === 'FOR_ME' && forOthers > 0 && ` ${forOthers} wait for others.`}
    </Empty>
  );
}
