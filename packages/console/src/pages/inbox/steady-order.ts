import type { Approval } from '../../api/approvals.ts';

/** A row of the inbox. What no longer waits stays where it is until the person moves on. */
export interface InboxRow {
  readonly approval: Approval;
  readonly isGone: boolean;
}

const idOf = ({ approval }: InboxRow): string => approval.activity.id;

/**
 * The rows after news: each stays in its place, so that no click lands on another one. New ones come last, and those
 * that are gone stay, marked.
 */
export function keepOrder(rows: readonly InboxRow[], fresh: readonly Approval[]): readonly InboxRow[] {
  const byId = new Map(fresh.map((approval) => [approval.activity.id, approval]));
  const known = new Set(rows.map(idOf));
  const kept = rows.map(({ approval }) => {
    const found = byId.get(approval.activity.id);
    return { approval: found ?? approval, isGone: found === undefined };
  });
  const added = fresh.filter(({ activity }) => !known.has(activity.id));
  return [...kept, ...added.map((approval) => ({ approval, isGone: false }))];
}

/**
 * In the order of the service, least time left first, and without what is gone. The open one stays even then, behind the
 * row that it stood behind.
 */
export function settle(
  rows: readonly InboxRow[],
  fresh: readonly Approval[],
  openId: string | undefined,
): readonly InboxRow[] {
  const settled: InboxRow[] = fresh.map((approval) => ({ approval, isGone: false }));
  const open = rows.findIndex((row) => row.isGone && idOf(row) === openId);
  const left = rows[open];
  if (left === undefined || settled.some((row) => idOf(row) === openId)) return settled;
  const before = rows
    .slice(0, open)
    .findLast((row) => !row.isGone && settled.some((other) => idOf(other) === idOf(row)));
  const at = before === undefined ? 0 : settled.findIndex((row) => idOf(row) === idOf(before)) + 1;
  return [...settled.slice(0, at), left, ...settled.slice(at)];
}
