import { onLeaving } from '../lib/leaving.ts';
import { createStore, useStore } from '../lib/store.ts';
import { useSessionOrThrow } from './session.ts';

/** The sub-organization that a parent's user looks into; none means the user's own organization. */
const chosen = createStore<{ readonly organizationId: string; readonly name: string } | undefined>(undefined);

onLeaving(() => chosen.set(undefined));

export interface ShownOrganization {
  readonly organizationId: string;
  readonly name: string;
  /** A parent reads its sub-organizations; what it wants changed there is decided there. */
  readonly isReadOnly: boolean;
}

export function useOrganization(): ShownOrganization {
  const session = useSessionOrThrow();
  const other = useStore(chosen);
  return other === undefined
    ? { organizationId: session.organizationId, name: session.organizationName, isReadOnly: false }
    : { ...other, isReadOnly: true };
}

/** Without an argument, back to the user's own. */
export function chooseOrganization(other?: { readonly organizationId: string; readonly name: string }): void {
  chosen.set(other);
}
