import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Approval, type ApprovalFilter, useApprovals } from '../../api/approvals.ts';
import { LiveState } from '../../app/connection-banner.tsx';
import { useKeys } from '../../app/keys.ts';
import { useNow } from '../../app/now.ts';
import { Page } from '../../kit/page.tsx';
import { SplitSide, SplitView } from '../../kit/split-view.tsx';
import type { VirtualListHandle } from '../../kit/virtual-list.tsx';
import { count } from '../../lib/amounts.ts';
import { timeLeft } from '../../lib/time.ts';
import { useNarrow } from '../../lib/use-media.ts';
import { OpenRequest } from '../request/open-request.tsx';
import { isOpen } from '../request/words.ts';
import styles from './inbox.module.css';
import { RequestList } from './request-list.tsx';
import { useRows } from './use-rows.ts';

/** What waits for the person, least time left first, and the request that is open beside it. */
export function InboxPage() {
  const { activityId } = useParams({ strict: false });
  const navigate = useNavigate();
  const isNarrow = useNarrow();
  const [filter, setFilter] = useState<ApprovalFilter>('FOR_ME');
  const approvals = useApprovals(filter);
  const fresh = approvals.query.data === undefined ? undefined : approvals.items;
  const rows = useRows(filter, fresh);
  const ids = useMemo(() => rows.rows.map(({ approval }) => approval.activity.id), [rows.rows]);
  const opened = useOpened(activityId, isNarrow ? undefined : ids[0]);

  const open = (id: string | undefined): void => {
    rows.moveOn(id);
    if (id === undefined) void navigate({ to: '/inbox' });
    else void navigate({ to: '/inbox/$activityId', params: { activityId: id } });
  };
  const waiting = rows.rows.filter(({ approval, isGone }) => !isGone && isOpen(approval.activity.status));
  const next = nextAfter(
    ids,
    opened,
    waiting.map(({ approval }) => approval.activity.id),
  );
  const list = useRef<VirtualListHandle>(null);
  const move = (step: number): void => {
    const index = opened === undefined ? -1 : ids.indexOf(opened);
    const id = ids[Math.max(0, Math.min(ids.length - 1, index + step))];
    if (id === undefined) return;
    open(id);
    list.current?.scrollToIndex(ids.indexOf(id));
    // The row exists once the list has drawn what it scrolled to.
    requestAnimationFrame(() => {
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-request="${id}"]`)?.focus());
    });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });

  const position = opened === undefined ? 0 : ids.indexOf(opened) + 1;
  const isPage = isNarrow && activityId !== undefined;
  const requests = (
    <RequestList
      filter={filter}
      onFilter={setFilter}
      approvals={approvals}
      rows={rows}
      openId={opened}
      listRef={list}
    />
  );
  return (
    <Page
      fill
      title="Inbox"
      {...(isPage && {
        parent: { label: 'Inbox', to: '/inbox' },
        ...(position > 0 && { marks: `${position} of ${ids.length} waiting` }),
      })}
      detail={
        <Summary
          approvals={approvals.counts === undefined ? undefined : waiting.map(({ approval }) => approval)}
          forMe={approvals.counts?.forMe}
          filter={filter}
        />
      }
      actions={isPage ? undefined : <LiveState />}
    >
      <SplitView
        list={requests}
        isOpen={activityId !== undefined}
        label="Request"
        {...(opened === undefined
          ? { sheet: <p className={styles.choose}>{ids.length > 0 ? 'Choose a request.' : ''}</p> }
          : {
              side: (
                <OpenRequest
                  key={opened}
                  activityId={opened}
                  onNext={next === undefined ? undefined : () => open(next)}
                >
                  {(sheet, bar) => <SplitSide sheet={sheet} bar={bar} />}
                </OpenRequest>
              ),
            })}
      />
    </Page>
  );
}

/** The request in the address; without one the first, which then stays although the list goes on. */
function useOpened(activityId: string | undefined, first: string | undefined): string | undefined {
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    if (activityId !== undefined) setChosen(undefined);
    else if (first !== undefined) setChosen((before) => before ?? first);
  }, [activityId, first]);
  return activityId ?? (first === undefined ? undefined : (chosen ?? first));
}

/** The one after the open one that still waits, else the first that does. */
function nextAfter(ids: readonly string[], opened: string | undefined, waiting: readonly string[]): string | undefined {
  const after = opened === undefined ? 0 : ids.indexOf(opened) + 1;
  const others = new Set(waiting.filter((id) => id !== opened));
  return [...ids.slice(after), ...ids.slice(0, after)].find((id) => others.has(id));
}

interface SummaryProps {
  readonly approvals: readonly Approval[] | undefined;
  readonly forMe: number | undefined;
  readonly filter: ApprovalFilter;
}

/** "3 wait for you, 1 lapses within the hour". */
function Summary({ approvals, forMe, filter }: SummaryProps) {
  const now = useNow();
  if (approvals === undefined || forMe === undefined) return null;
  if (forMe === 0) return <>Nothing waits for you</>;
  const soon =
    filter === 'FOR_ME'
      ? approvals.filter(({ progress }) => progress.lapsesAt !== undefined && timeLeft(progress.lapsesAt, now).isShort)
          .length
      : 0;
  return (
    <>
      {count(forMe, 'waits for you', 'wait for you')}
      {soon > 0 && `, ${count(soon, 'lapses', 'lapse')} within the hour`}
    </>
  );
}
