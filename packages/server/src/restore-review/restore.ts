import type { Send } from '../chains/send/model.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { isHeld } from '../domains/sends/store/settlement.ts';
import { type Restoration, RestorationReader } from '../fence/store.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';

/** What a restored database does not know: what happened between these two moments. */
export interface RestoreInQuestion {
  /** The newest restore. */
  readonly restoration: Restoration;
  readonly snapshotAtMs: number;
  /** From then on the service that was lost has signed nothing. */
  readonly restoredAtMs: number;
  /** Whether what became of a send is in question: its organization is fenced, or nobody has decided about it yet. */
  isInQuestion(send: Send): Promise<boolean>;
}

/** Throws where the database was never restored. */
export async function findRestore({ read }: Pick<Storage, 'read'>): Promise<RestoreInQuestion> {
  const all = await read(RestorationReader).all();
  const restoration = all.at(-1);
  if (restoration === undefined) {
    throw new StartError(
      'this database was never restored from a backup by `custos restore`: there is nothing to review',
    );
  }
  const open = all.filter(({ acceptedAtMs }) => acceptedAtMs === undefined);
  // A backup may be one of a database that was restored and not accepted yet.
  const counted = open.length > 0 ? open : all;
  const isFenced = fencedBy(read, restoration.id);
  return {
    restoration,
    snapshotAtMs: Math.min(...counted.map(({ snapshotAtMs }) => snapshotAtMs)),
    restoredAtMs: Math.max(...counted.map(({ restoredAtMs }) => restoredAtMs)),
    isInQuestion: async (send) => isHeld(send) || (open.length > 0 && (await isFenced(send.organizationId))),
  };
}

/** Whether a restore was not accepted for an organization; it is asked once of each. */
function fencedBy(read: Storage['read'], restorationId: string): (organizationId: OrganizationId) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isAccepted = async (organizationId: OrganizationId): Promise<boolean> => {
    const organization = await read(OrganizationReader).find(organizationId);
    if (organization?.acceptedRestoration === restorationId) return true;
    const parentId = organization?.parentId;
    return parentId !== undefined && (await isAcceptedOnce(parentId));
  };
  const isAcceptedOnce = (organizationId: OrganizationId): Promise<boolean> => {
    const accepted = known.get(organizationId) ?? isAccepted(organizationId);
    known.set(organizationId, accepted);
    return accepted;
  };
  return async (organizationId) => !(await isAcceptedOnce(organizationId));
}
