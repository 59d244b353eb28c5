import { isSameKey } from '../../core/store/sealed.ts';
import type { DescribeContext, ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { holderOf } from '../../engine/holder.ts';
import { ApiError } from '../../lib/errors.ts';
import type { ImportKind, ImportTarget } from './model.ts';
import { ImportReader, ImportStore } from './store/imports.ts';

const TARGET_LIFE_MS = 60 * 60 * 1000;
const TARGETS_PER_USER = 5;

/** Nobody imports for somebody else, and no policy can lift that (protocol/wallets 6.1). */
export async function requireSelf({ actor }: DescribeContext, { userId }: { readonly userId: string }): Promise<void> {
  if (actor.userId !== userId) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'userId must be the user who proposes the import');
  }
}

/** A one-time key for the user, and the signed bundle that tells the client about it. */
export async function newImportTarget(context: PrepareContext, userId: string) {
  const id: string = context.newId();
  const target = await context.keyring.createImportTarget(holderOf(context, id), userId);
  return { id, ...target };
}

/**
 * The keyring counts imports (docs/decisions/0059), so a request that is decided anew keeps what it made. It is made again
 * if the organization has another key by then: what is sealed under the one before is not stored.
 */
export async function importOnce<T>(context: PrepareContext, work: () => Promise<T>): Promise<T> {
  const { wrappedKey } = context.actor.organization;
  const attempt = async () => ({ wrappedKey, made: await work() });
  const { wrappedKey: sealedUnder, made } = await context.once(attempt);
  return isSameKey(sealedUnder, wrappedKey) ? made : await work();
}

type MadeTarget = Pick<ImportTarget, 'id' | 'sealedTarget' | 'targetPublicKey'>;

export async function keepTargets(
  { store, actor, nowMs }: ExecuteContext,
  kind: ImportKind,
  made: readonly MadeTarget[],
  keep = TARGETS_PER_USER,
): Promise<void> {
  const { userId, organizationId } = actor;
  const targets = made.map(({ id, sealedTarget, targetPublicKey }) => ({
    id,
    userId,
    kind,
    targetPublicKey,
    sealedTarget,
    expiresAtMs: nowMs + TARGET_LIFE_MS,
  }));
  await store(ImportStore).insertTargets(organizationId, targets, keep, nowMs);
}

export async function liveTargets({ read, actor, nowMs }: PrepareContext, kind: ImportKind): Promise<ImportTarget[]> {
  const targets = await read(ImportReader).targets(actor.organizationId, actor.userId, kind, nowMs);
  if (targets.length === 0) throw noTarget();
  return targets;
}

/** Takes a target in the transaction that uses it: it works once. */
export async function useTarget({ store, actor }: ExecuteContext, targetId: string): Promise<void> {
  if (!(await store(ImportStore).takeTarget(actor.organizationId, targetId))) throw noTarget();
}

const noTarget = (): ApiError =>
  new ApiError('FAILED_PRECONDITION', 'there is no open import of this user: start one with the init_import operation');
