import { type Actor, publicKeyOf } from '../core/actor.ts';
import type { Activity, Organization, Vote } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import type { SealedResult } from '../core/store/sealed-results.ts';
import { SealedResultReader, SealedResultStore } from '../core/store/sealed-results.ts';
import { toHex } from '../lib/encoding.ts';
import { LIMITS } from '../lib/limits.ts';
import type { App } from './app.ts';
import type { SecretResult } from './define.ts';
import { withKeyringErrors } from './keyring-errors.ts';

// Some results are secrets: whoever has a verification token can log in. The activity is stored without them. They are
// kept sealed for a while, and only the credential that proposed the activity is shown them, when it has completed.

const bindingOf = ({ id, organizationId }: Pick<Activity, 'id' | 'organizationId'>) => ({
  organizationId: organizationId as string,
  ownerId: id as string,
  kind: 'activity-result',
});

export async function sealResult(
  { keyring }: App,
  { wrappedKey }: Organization,
  activity: Activity,
  { values, expiresAtMs }: SecretResult,
): Promise<SealedResult> {
  const sealed = await keyring.seal(wrappedKey, bindingOf(activity), Buffer.from(JSON.stringify(values)));
  return { sealed, expiresAtMs, shownAtMs: undefined };
}

/** As it is stored when the answer that makes it shows it at once. */
export const shownAtOnce = (result: SealedResult, nowMs: number): SealedResult => ({
  ...result,
  shownAtMs: nowMs,
  expiresAtMs: Math.min(result.expiresAtMs, nowMs + LIMITS.secretResultMs),
});

/** A result as it is stored: without its secrets, for which nothing stands. */
export function withoutSecrets(result: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || result === undefined) return result;
  return Object.fromEntries(Object.entries(result as object).filter(([name]) => !names.includes(name)));
}

/** The activity as the reader may see it: with the secrets of its result, if the reader's credential proposed it. */
export async function revealResult<Found extends ActivityWithVotes>(
  app: App,
  actor: Actor,
  found: Found,
  nowMs: number,
): Promise<Found> {
  const { activity } = found;
  const isSecret = (app.operations.find(activity.type)?.version.secretResults.length ?? 0) > 0;
  if (!isSecret || activity.status !== 'ACTIVITY_STATUS_COMPLETED' || !proposed(actor, found)) return found;
  const { organizationId, id } = activity;
  const { read } = app.storage;
  const kept = await read(SealedResultReader).find(organizationId, id, nowMs);
  if (kept === undefined) return found;
  const { wrappedKey } =
    organizationId === actor.organizationId ? actor.organization : await read(OrganizationReader).get(organizationId);
  const opened = await withKeyringErrors(() => app.keyring.open(wrappedKey, bindingOf(activity), kept.sealed));
  // A query goes on behind the fence, and writes nothing there: it is shown for as long as it was to be kept.
  if (kept.shownAtMs === undefined && !app.storage.fence.holds(actor.organization)) {
    const untilMs = nowMs + LIMITS.secretResultMs;
    await app.storage.write((store) => store(SealedResultStore).markShown(organizationId, id, nowMs, untilMs), {
      of: actor.organization,
    });
  }
  const values = JSON.parse(Buffer.from(opened).toString('utf8')) as object;
  return { ...found, activity: { ...activity, result: { ...(activity.result as object), ...values } } };
}

/** Whether this very credential proposed the activity; a session key that was renewed since is the same one. */
function proposed(actor: Actor, { activity, votes }: ActivityWithVotes): boolean {
  if (actor.userId !== activity.proposerId) return false;
  const own = votes.find((vote) => vote.userId === actor.userId && vote.messageDigest === activity.fingerprint);
  return own !== undefined && own.credentialKind === actor.credential.kind && own.publicKey === keyOf(actor, own);
}

function keyOf(actor: Actor, { credentialId }: Vote): string | undefined {
  const { credential } = actor;
  if (credential.kind === 'passkey' && credential.authenticator.id === credentialId) {
    return toHex(credential.authenticator.publicKey);
  }
  return publicKeyOf(actor);
}
