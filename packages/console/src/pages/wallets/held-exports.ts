import type { TargetKey } from '@custos/sdk';
import { onLeaving } from '../../lib/leaving.ts';
import { createStore, useStore } from '../../lib/store.ts';
import { useSession } from '../../session/session.ts';

/** An export that waits for others. Only this tab has the key that opens it: it is written nowhere. */
export interface HeldExport {
  readonly activityId: string;
  readonly target: TargetKey;
  /** Who asked; somebody else at this browser gets nothing of it. */
  readonly userId: string;
}

const held = createStore<ReadonlyMap<string, HeldExport>>(new Map());

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

function change(edit: (map: Map<string, HeldExport>) => void): void {
  const next = new Map(held.get());
  edit(next);
  held.set(next);
  // Closing the tab would lose the only key.
  if (next.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
}

export const holdExport = (subjectId: string, one: HeldExport): void => change((map) => map.set(subjectId, one));
export const forgetExport = (subjectId: string): void => change((map) => map.delete(subjectId));

onLeaving(() => change((map) => map.clear()));

/** What this tab waits for, of a wallet, account or key. */
export function useHeldExport(subjectId: string): HeldExport | undefined {
  const session = useSession();
  const one = useStore(held).get(subjectId);
  return one !== undefined && one.userId === session?.userId ? one : undefined;
}
