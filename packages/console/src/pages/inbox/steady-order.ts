import type { Approval } from '../../api/approvals.ts';

/** A row of the inbox. What no longer waits stays where it is until the person moves on. */
export interface InboxRow {
  readonly approval: Approval;
  readonly isGone: boolean;
}

const END_OF_TIME = Number.POSITIVE_INFINITY;

const lapseOf = ({ progress }: Approval): number =>
  progress.lapsesAt === undefined ? END_OF_TIME : Date.parse(progress.lapsesAt);

/** Least time left first; among equals the one that waits longest. */
export const byTimeLeft = (one: Approval, other: Approval): number => {
  const [left, right] = [lapseOf(one), lapseOf(other)];
  if (left !== right) return left - right;
  return one.activity.createdAt < other.activity.createdAt ? -1 : 1;
};

/**
 * The rows after news: each stays in its place, so that no click lands on another one. New ones come last, and those
 * that are gone stay, marked.
 */
export function keepOrder(rows: readonly InboxRow[], fresh: readonly Approval[]): readonly InboxRow[] {
  const byId = new Map(fresh.map((approval) => [approval.activity.id, approval]));
  const known = new Set(rows.map(({ approval }) => approval.activity.id));
  const kept = rows.map(({ approval }) => {
    const found = byId.get(approval.activity.id);
    return { approval: found ?? approval, isGone: found === undefined };
  });
  const added = fresh.filter(({ activity }) => !known.has(activity.id)).sort(byTimeLeft);
  return [...kept, ...added.map((approval) => ({ approval, isGone: false }))];
}

/** In order, and without what is gone. */
export const settle = (rows: readonly InboxRow[], openId: string | undefined): readonly InboxRow[] =>
  rows
    .filter(({ approval, isGone }) => !isGone || approval.activity.id === openId)
    .sort((one, other) => byTimeLeft(one.approval, other.approval));
