import type { Send } from '../chains/send/model.ts';
import type { OtherTransaction, Sighting } from '../chains/send/sighting.ts';
import type { Config } from '../config/config.ts';
import { openBeside } from '../keyring-admin/beside.ts';
import { openKeyringBeside } from '../keyring-admin/open-keyring.ts';
import { isUuid } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { compareAgainst } from './against/against.ts';
import type { Difference } from './against/difference.ts';
import { Scratch } from './against/scratch.ts';
import { type Settlement, settlementOf } from './decision.ts';
import { type InventoryEntry, takeInventory } from './inventory.ts';
import { findRestore, type RestoreInQuestion } from './restore.ts';
import { openReviewChains, reviewSends } from './sends.ts';
import { isOf } from './settle.ts';

export interface ReviewOptions {
  /** A newer database, a backup or a record of activities. */
  readonly against?: string | undefined;
  /** Files with identities that open a backup. */
  readonly identities?: readonly string[];
  /** Of this organization and its sub-organizations alone; without anything newer what it has itself is listed. */
  readonly organizationId?: string | undefined;
  /** Whether all credentials and rules are listed, also where they are more than a person reads through. */
  readonly listsAll?: boolean;
  readonly report: (finding: ReviewFinding) => void;
  readonly say: (line: string) => void;
  /** Given a way to remove what was made so far, for whoever is interrupted. */
  readonly onPlace?: (remove: () => Promise<void>) => void;
}

/** What the review found, one after the other. */
export type ReviewFinding =
  | {
      readonly kind: 'restore';
      readonly restorationId: string;
      readonly backupId: string;
      readonly snapshotAtMs: number;
      readonly restoredAtMs: number;
      readonly acceptedAtMs: number | undefined;
    }
  | {
      readonly kind: 'send';
      readonly send: Send;
      readonly sighting: Sighting;
      /** What `custos restore accept` does with it. */
      readonly settlement: Settlement;
    }
  | {
      readonly kind: 'other-transaction';
      readonly caip2: string;
      readonly address: string;
      readonly transaction: OtherTransaction;
    }
  | { readonly kind: 'altered-send'; readonly id: string }
  | { readonly kind: 'difference'; readonly difference: Difference }
  | { readonly kind: 'unknowable'; readonly text: string }
  | { readonly kind: 'entry'; readonly entry: InventoryEntry }
  | { readonly kind: 'count'; readonly what: string; readonly count: number };

export interface Reviewed {
  readonly sends: number;
  /** Sends that nobody can settle without a decision. */
  readonly undecided: number;
  /** Sends that somebody else wrote: beside those in question, because nobody can decide them. */
  readonly altered: number;
  /** Undefined where nothing was compared. */
  readonly differences: number | undefined;
}

/** Says what is to be known of a restored database before its fence is lifted; changes nothing (`custos restore review`). */
export async function reviewRestore(config: Config, wanted: ReviewOptions): Promise<Reviewed> {
  const options = { ...wanted, organizationId: parseOrganizationId(wanted.organizationId) };
  const storage = await openBeside(config, 'restore review');
  try {
    const keyring = await openKeyringBeside(storage, config);
    try {
      const restore = await findRestore(storage);
      const { id, backupId, acceptedAtMs } = restore.restoration;
      const { snapshotAtMs, restoredAtMs } = restore;
      options.report({ kind: 'restore', restorationId: id, backupId, snapshotAtMs, restoredAtMs, acceptedAtMs });
      const sends = await lookAtSends(storage, config, restore, options);
      const { against, identities = [], organizationId, say } = options;
      if (against === undefined) {
        await tellWhatIsUnknown(storage, restore, options);
        return { ...sends, differences: undefined };
      }
      let made: Scratch | undefined;
      // Before there is anything to remove: an interruption may come in between.
      options.onPlace?.(async () => made?.remove());
      await using scratch = await Scratch.make();
      made = scratch;
      const common = { storage, keyring, scratch, snapshotAtMs, organizationId, say, nowMs: Date.now() };
      const compared = await compareAgainst({ ...common, place: against, identities });
      for (const difference of compared.differences) options.report({ kind: 'difference', difference });
      for (const what of compared.lacking)
        options.report({ kind: 'unknowable', text: `${compared.name} does not say anything about: ${what}` });
      if (compared.doubt !== undefined) {
        const text = `whether what ${compared.name} says is genuine: ${compared.doubt}`;
        options.report({ kind: 'unknowable', text });
      }
      return { ...sends, differences: compared.count };
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

/** It may be one that only the other database has. */
function parseOrganizationId(text: string | undefined): string | undefined {
  const id = text?.trim().toLowerCase();
  if (id === undefined || isUuid(id)) return id;
  throw new StartError(`${printable(text)} is not the id of an organization`);
}

async function lookAtSends(
  storage: Storage,
  config: Config,
  restore: RestoreInQuestion,
  { organizationId, report }: ReviewOptions,
): Promise<Omit<Reviewed, 'differences'>> {
  const chains = openReviewChains(config.chains);
  let [sends, undecided, altered] = [0, 0, 0];
  try {
    for await (const lane of reviewSends(storage, chains, restore)) {
      for (const { send, sighting } of lane.sends) {
        if (!(await isOf(storage, send, organizationId))) continue;
        const settlement = settlementOf(send, sighting);
        sends += 1;
        if (settlement.kind === 'hold') undecided += 1;
        report({ kind: 'send', send, sighting, settlement });
      }
      for (const id of lane.altered) report({ kind: 'altered-send', id });
      altered += lane.altered.length;
      const { caip2, lane: address } = lane;
      for (const transaction of lane.others) report({ kind: 'other-transaction', caip2, address, transaction });
    }
  } finally {
    chains.close();
  }
  return { sends, undecided, altered };
}

/** Without anything newer: what nobody can know here, and what a person has to look through. */
async function tellWhatIsUnknown(
  storage: Storage,
  { snapshotAtMs, restoredAtMs }: RestoreInQuestion,
  { organizationId, listsAll = false, report }: ReviewOptions,
): Promise<void> {
  const between = `between ${new Date(snapshotAtMs).toISOString()} and ${new Date(restoredAtMs).toISOString()}`;
  for (const text of UNKNOWABLE) report({ kind: 'unknowable', text: `${between}: ${text}` });
  const inventory = await takeInventory(storage, Date.now(), { organizationId, listsAll });
  if (inventory.isListed) for await (const entry of inventory.entries) report({ kind: 'entry', entry });
  else for (const [what, count] of inventory.counts) report({ kind: 'count', what, count });
}

const UNKNOWABLE = [
  'credentials that were removed and work here again (API keys, passkeys, OAuth providers, sessions)',
  'credentials that were added and are missing here',
  'wallets, accounts and private keys that were made: their keys are not in this backup, and what they hold is out of reach',
  'users that were added, removed or renamed, and tags that they got or lost',
  'policies, velocity controls, IP allowlists, MFA policies and features that were changed',
  'root quorums that were changed: earlier members count again',
  'approvals and rejections of activities that wait here',
  'how much of each velocity window was used (`custos restore --exhaust` counts all as full)',
  'sends that were asked for: what they paid is listed above where a chain shows it',
  'webhook endpoints, sign-up proxy settings and invitations that were changed',
];
