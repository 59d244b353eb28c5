import { hostname, userInfo } from 'node:os';
import type { Config } from '../config/config.ts';
import type { Organization } from '../core/model.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { FenceFollower } from '../fence/follow.ts';
import { type Restoration, RestorationReader, RestorationStore } from '../fence/store.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { openKeyringBeside } from '../keyring-admin/open-keyring.ts';
import { liveProcesses, nameOf } from '../keyring-admin/processes.ts';
import { isUuid, type OrganizationId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import { parseSendDecisions, type SendDecisions, settlementOf } from '../restore-review/decision.ts';
import { findRestore } from '../restore-review/restore.ts';
import { openReviewChains, type ReviewChains, reviewSends } from '../restore-review/sends.ts';
import { type AtStep, isOf, settleSends } from '../restore-review/settle.ts';
import type { Storage } from '../storage/storage.ts';

/** Sends named one by one where they keep a restore from being accepted. */
const NAMED_MAX = 10;

/** What is about to happen, for whoever is asked. */
export interface AcceptPlan {
  /** Those that are accepted with it, the newest last; none where only sends are decided. */
  readonly restorations: readonly Restoration[];
  /** Undefined where all organizations are accepted. */
  readonly organization: { readonly id: string; readonly name: string; readonly subOrganizations: number } | undefined;
  /** Sends of which the backup does not know what became of them. */
  readonly sends: number;
  /** Of those: what nobody knows or has decided, and stays held. */
  readonly undecided: number;
  /** Sends that somebody else wrote, of whichever organization: what such a row says of that is not believed. */
  readonly altered: number;
  /** Running processes, which follow within a second. */
  readonly processes: readonly string[];
}

export interface AcceptOptions {
  /** With its sub-organizations; all organizations unless told. */
  readonly organizationId?: string | undefined;
  /** What the operator decides of sends, as `ID=landed:HASH`, `ID=failed` or `ID=resend`. */
  readonly decisions?: readonly string[];
  /** Whether sends that nobody knows about are left held, to be decided later. */
  readonly holdsUndecided?: boolean;
  readonly confirm: (plan: AcceptPlan) => Promise<boolean>;
  readonly say?: (line: string) => void;
  /** For tests, which kill there. */
  readonly at?: AtStep;
}

export interface Accepted {
  readonly organizationId: string | undefined;
  /** Who has accepted the restore now; undefined where it was accepted before, and only sends were decided. */
  readonly acceptedBy: string | undefined;
  readonly settled: number;
  readonly held: number;
}

/**
 * Lifts the fence of a restored database, for all or for one organization with its sub-organizations; beside running services or
 * without any. Undefined where it was not agreed to. Sends are settled first, and the acceptance is one commit after that: killed
 * in between, it is run again.
 */
export async function acceptRestore(config: Config, options: AcceptOptions): Promise<Accepted | undefined> {
  const decisions = parseSendDecisions(options.decisions ?? []);
  const storage = await openBeside(config, 'restore accept');
  try {
    const keyring = await openKeyringBeside(storage, config);
    const chains = openReviewChains(config.chains);
    try {
      return await accept(storage, chains, decisions, options);
    } finally {
      chains.close();
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

async function accept(
  storage: Storage,
  chains: ReviewChains,
  decisions: SendDecisions,
  { organizationId, holdsUndecided = false, confirm, say, at = () => {} }: AcceptOptions,
): Promise<Accepted | undefined> {
  await loadFence(storage);
  const organization = organizationId === undefined ? undefined : await findOrganization(storage, organizationId);
  const restorations = await storage.read(RestorationReader).all();
  const open = restorations.filter(({ acceptedAtMs }) => acceptedAtMs === undefined);
  const isAccepted = organization === undefined ? open.length === 0 : !storage.fence.holds(organization);
  if (restorations.length === 0) throw acceptedBefore(undefined, organization);
  const { sends, undecided, altered } = await inQuestion(storage, chains, decisions, organization?.id);
  // What stayed held can be decided later, or settled once its chain tells what became of it.
  if (isAccepted && decisions.size === 0 && sends === 0) throw acceptedBefore(restorations.at(-1), organization);
  if (undecided.length > 0 && !holdsUndecided && !isAccepted) throw undecidedSends(undecided);
  const plan: AcceptPlan = {
    restorations: isAccepted ? [] : open,
    organization: organization && {
      id: organization.id,
      name: organization.name,
      subOrganizations: await storage.read(RestorationReader).countChildren(organization.id),
    },
    sends,
    undecided: undecided.length,
    altered,
    processes: (await liveProcesses(storage)).map(nameOf),
  };
  if (!(await confirm(plan))) return undefined;
  await at('confirmed');
  const restore = await findRestore(storage);
  const settled = await settleSends(storage, chains, {
    restore,
    decisions,
    at,
    // As it was found, however it was written.
    organizationId: organization?.id,
    ...(say && { say }),
  });
  await at('all settled');
  const counts = { settled: settled.sends.length - settled.held.length, held: settled.held.length };
  if (isAccepted) return { ...counts, organizationId: organization?.id, acceptedBy: undefined };
  // What a chain said before may be another thing by now.
  if (settled.held.length > 0 && !holdsUndecided) throw undecidedSends(settled.held.map(({ send }) => send.id));
  const acceptedBy = `${userInfo().username}@${hostname()}`;
  const nowMs = Date.now();
  await writeBeside(storage, async (store) => {
    const all = await store(RestorationStore).all();
    const stillOpen = all.filter(({ acceptedAtMs }) => acceptedAtMs === undefined);
    const newest = stillOpen.at(-1);
    // Accepted by somebody else meanwhile, or restored once more: what was asked about is another thing.
    if (newest === undefined || stillOpen.some(({ id }) => !open.some((one) => one.id === id)))
      throw new StartError('the database was restored or accepted meanwhile: nothing was accepted; look again');
    if (organization !== undefined) await store(RestorationStore).acceptFor(organization.id, newest.id);
    else for (const { id } of stillOpen) await store(RestorationStore).accept(id, acceptedBy, nowMs);
    const record = { restorationId: newest.id, organizationId: organization?.id, acceptedBy, acceptedAtMs: nowMs };
    await store(RestorationStore).recordAcceptance(record);
  });
  await at('accepted');
  return { ...counts, organizationId: organization?.id, acceptedBy };
}

/** Refuses what this service cannot vouch for. */
async function loadFence(storage: Storage): Promise<void> {
  await new FenceFollower(storage).follow();
  if (storage.fence.doubt === undefined) return;
  throw new StartError(
    'what the database says of its restores is not what a service wrote, or is missing: see `custos verify`, and restore the backup once more',
  );
}

async function findOrganization({ read }: Storage, text: string): Promise<Organization> {
  const id = text.trim().toLowerCase();
  const organization = isUuid(id) ? await read(OrganizationReader).find(id as OrganizationId) : undefined;
  if (organization !== undefined && organization.deletedAtMs === undefined) return organization;
  throw new StartError(`the database has no organization ${printable(text, 100)}`);
}

function acceptedBefore(last: Restoration | undefined, organization: Organization | undefined): StartError {
  if (last === undefined)
    return new StartError('this database was never restored by `custos restore`: there is nothing to accept');
  const { acceptedAtMs, acceptedBy = '' } = last;
  if (acceptedAtMs !== undefined)
    return new StartError(
      `the restore was accepted at ${new Date(acceptedAtMs).toISOString()} by ${printable(acceptedBy, 200)}: there is nothing to accept`,
    );
  return new StartError(`the restore was accepted before for organization ${organization?.id} or its parent`);
}

/** Sends of which the backup does not say what became of them, and those of them that nobody can settle. */
async function inQuestion(
  storage: Storage,
  chains: ReviewChains,
  decisions: SendDecisions,
  organizationId: string | undefined,
): Promise<{ readonly sends: number; readonly undecided: readonly string[]; readonly altered: number }> {
  const undecided: string[] = [];
  let [sends, altered] = [0, 0];
  for await (const lane of reviewSends(storage, chains, await findRestore(storage))) {
    altered += lane.altered.length;
    for (const { send, sighting } of lane.sends) {
      if (!(await isOf(storage, send, organizationId))) continue;
      sends += 1;
      if (!decisions.has(send.id) && settlementOf(send, sighting).kind === 'hold') undecided.push(send.id);
    }
  }
  return { sends, undecided, altered };
}

function undecidedSends(ids: readonly string[]): StartError {
  const named = ids.slice(0, NAMED_MAX).join(', ');
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : '';
  return new StartError(
    `nobody knows what became of ${ids.length === 1 ? 'a send' : `${ids.length} sends`} (${named}${more}): look at them with \`custos restore review\`, and decide each with --send ID=landed:HASH, --send ID=failed or --send ID=resend, or leave them held with --hold-undecided; the fence stays up`,
  );
}
