import { useCallback, useEffect, useRef, useState } from 'react';
import type { Approval, ApprovalFilter } from '../../api/approvals.ts';
import { type InboxRow, keepOrder, settle } from './steady-order.ts';

export interface Rows {
  readonly rows: readonly InboxRow[];
  /** The person moved on: what is gone may go, once no pointer is over the list. */
  moveOn(openId: string | undefined): void;
  readonly listeners: { onPointerEnter: () => void; onPointerLeave: () => void };
}

/** Rows that stay where they are while news come. Decided ones are newest first, and move as they come. */
export function useRows(filter: ApprovalFilter, fresh: readonly Approval[] | undefined): Rows {
  const [state, setState] = useState<{ filter: ApprovalFilter; rows: readonly InboxRow[] }>({ filter, rows: [] });
  const isOver = useRef(false);
  const due = useRef<{ openId: string | undefined }>(undefined);
  const latest = useRef(fresh);
  latest.current = fresh;

  useEffect(() => {
    if (fresh === undefined) return;
    setState((before) => {
      if (filter === 'DECIDED') return { filter, rows: fresh.map((approval) => ({ approval, isGone: false })) };
      if (before.filter !== filter || before.rows.length === 0) return { filter, rows: keepOrder([], fresh) };
      return { filter, rows: keepOrder(before.rows, fresh) };
    });
  }, [filter, fresh]);

  const tidy = useCallback((): void => {
    const { current } = due;
    if (current === undefined || isOver.current || latest.current === undefined) return;
    due.current = undefined;
    setState((before) =>
      before.filter === 'DECIDED'
        ? before
        : { ...before, rows: settle(before.rows, latest.current ?? [], current.openId) },
    );
  }, []);
  const moveOn = useCallback(
    (openId: string | undefined): void => {
      due.current = { openId };
      tidy();
    },
    [tidy],
  );
  return {
    rows: state.filter === filter ? state.rows : [],
    moveOn,
    listeners: {
      onPointerEnter: () => {
        isOver.current = true;
      },
      onPointerLeave: () => {
        isOver.current = false;
        tidy();
      },
    },
  };
}
