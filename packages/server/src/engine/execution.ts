import { issuersFor } from '../authn/identity/known-issuers.ts';
import { tokensFor } from '../authn/identity/tokens.ts';
import type { SendLaneName } from '../chains/send/model.ts';
import { type Actor, publicKeyOf } from '../core/actor.ts';
import type { Activity, AppProof, Organization, Vote } from '../core/model.ts';
import { ActivityStore } from '../core/store/activities.ts';
import type { LockMode } from '../core/store/organizations.ts';
import { OrganizationStore } from '../core/store/organizations.ts';
import type { SealedResult } from '../core/store/sealed-results.ts';
import { SealedResultStore } from '../core/store/sealed-results.ts';
import { ApiError } from '../lib/errors.ts';
import type { UserId, WebhookEndpointId } from '../lib/ids.ts';
import { FIRST_RULES_VERSION } from '../storage/authority.ts';
import type { Stores } from '../storage/stores.ts';
import type { AccessRules } from './access-rules.ts';
import { announceActivity } from './announce-activity.ts';
import type { App } from './app.ts';
import { makeProofs } from './app-proofs.ts';
import type { ActivityOperation, ActivityVersion, ExecuteContext } from './define.ts';
import { type AttemptNote, type Authority, Stale } from './hold.ts';
import type { Intent } from './intent.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { abandonedWith } from './outcome.ts';
import { PROPOSER_DELETED_FAILURE } from './proposal.ts';
import { keepingQuorumAccess } from './quorum-access.ts';
import { reserve } from './reserve.ts';
import { sealResult } from './secret-result.ts';

/** On what reasons an execution runs. */
export interface Reasons {
  /** The organization acted on, as the transaction holds it. */
  readonly target: Organization;
  readonly approvers: readonly UserId[];
  readonly rules: AccessRules;
  /** The root quorum stands above velocity controls too (protocol/consensus 5.1). */
  readonly byRootQuorum: boolean;
}

/** What an allowed activity does: keys and proofs were used before the transaction, the rest happens in it. */
export interface Execution {
  readonly lock: LockMode;
  readonly isLong: boolean;
  /** Whether it was prepared for what the parameters are about, which the transaction then has to find unchanged. */
  readonly isDescribed: boolean;
  readonly proofs: readonly AppProof[];
  /** Those that sends came into, once it has run. */
  readonly lanes: readonly SendLaneName[];
  /** To be called when its transaction is committed: tells of other activities that it ended. */
  readonly announce: () => void;
  /** What only the credential that proposed may see of the result. */
  readonly secret: SealedResult | undefined;
  /** What `run` begins with, read with the locks; `run` reads it itself where this was not called. */
  readonly readAhead: (stores: Stores) => Promise<void> | undefined;
  /** Uses up what the request proves, in the transaction that stores a proposal which waits. */
  readonly prove: (stores: Stores) => Promise<void>;
  /** The result, with its secrets. */
  readonly run: (stores: Stores, reasons: Reasons) => Promise<unknown>;
}

export interface ExecutionRequest {
  readonly intent: Intent;
  readonly version: ActivityVersion;
  readonly activity: Activity;
  /** The votes that allow it, for its proofs. */
  readonly votes: readonly Vote[];
  /** Whose call makes it happen. */
  readonly caller: ExecuteContext['caller'];
  readonly hasControls: boolean;
  /** False for a proposal that has to wait. */
  readonly executes: boolean;
  readonly attempt: AttemptNote;
  readonly nowMs: number;
}

export async function prepareExecution(app: App, cause: ExecutionRequest): Promise<Execution> {
  const { intent, version, activity, votes, caller, nowMs } = cause;
  const { operation, parameters, proposer } = intent;
  const { keyring, attestations, storage, config, newId, nodes, ownIssuer, services } = app;
  // What a proposal proved was checked and used up then; its result waits.
  const isRelease = operation.useProof !== undefined && activity.status !== 'ACTIVITY_STATUS_CREATED';
  if (!isRelease) await noteAttempt(app, cause);
  const lock = lockOf(operation, proposer.organization);
  const { prepared, proofs, movements, secret } = await withKeyringErrors(async () => {
    const context = {
      actor: proposer,
      nowMs,
      config,
      newId,
      caller,
      read: storage.read,
      keyring,
      attestations,
      tokens: tokensFor(app.tokens, issuersFor(storage.read, proposer)),
      ownIssuer,
      nodes,
      once: <T>(work: () => Promise<T>): Promise<T> => {
        cause.attempt.done ??= work();
        return cause.attempt.done as Promise<T>;
      },
      expressions: app.accessRules.expressions,
      // Last, as in query.ts: an object that begins as a copy and then grows is slow to make.
      ...services.prepare,
    };
    const value = isRelease ? undefined : await operation.prepare?.(context, parameters, await intent.describe());
    const keepsSecret = !isRelease && operation.secretResult !== undefined;
    const prove = async (): Promise<AppProof[]> => {
      const addresses = operation.newAddresses?.(parameters, value) ?? [];
      return await makeProofs(app, proposer, activity, votes, addresses, nowMs);
    };
    return {
      prepared: value,
      proofs: cause.executes && activity.wantsProofs ? await prove() : [],
      movements: cause.hasControls ? await intent.movements() : undefined,
      secret: keepsSecret
        ? await sealResult(app, proposer.organization, activity, operation.secretResult(value))
        : undefined,
    };
  });
  const lanes: SendLaneName[] = [];
  let failed: Failed[] = [];
  const executing = (store: Stores, approvers: readonly UserId[]): ExecuteContext => ({
    actor: proposer,
    nowMs,
    config,
    newId,
    store,
    approvers,
    caller,
    activityId: activity.id,
    enters: ({ caip2, lane }) => lanes.push({ caip2, lane }),
    failProposalsOf: async (userIds) => {
      failed = await failProposals(app, store, activity, userIds, nowMs);
    },
  });
  const execute = async (store: Stores, approvers: readonly UserId[]): Promise<unknown> => {
    if (isRelease) return await release(store, activity, nowMs);
    const context = executing(store, approvers);
    await operation.useProof?.(context, parameters, prepared);
    return await operation.execute(context, parameters, prepared);
  };
  return {
    lock,
    isLong: operation.isLong,
    isDescribed: !isRelease,
    proofs,
    lanes,
    secret,
    readAhead: (store) =>
      isRelease ? undefined : operation.readAhead?.({ actor: proposer, store }, prepared, parameters),
    prove: async (store) => await operation.useProof?.(executing(store, []), parameters, prepared),
    announce: () => {
      for (const { activity: ended } of failed) app.observe.activity(ended);
      app.webhooks.wake(failed.flatMap(({ told }) => told));
    },
    run: async (store, { target, approvers, rules, byRootQuorum }) => {
      if (lockOf(operation, target) !== lock) throw new Stale();
      // A control that came meanwhile has to see what moves.
      if (rules.controls.length > 0 && movements === undefined) throw new Stale();
      if (movements !== undefined) {
        await reserve(store, rules.controls, {
          organizationId: proposer.homeId,
          activity,
          proposer,
          moved: movements,
          byRootQuorum,
          newId,
          nowMs,
          exhaustedAtMs: storage.fence.exhaustedAtMs,
        });
      }
      // What takes a way in from anybody alters decisions, so it holds the organization alone.
      const result =
        operation.lock === 'exclusive'
          ? await keepingQuorumAccess(
              store,
              { organizationId: activity.organizationId, approvers, config, nowMs },
              () => execute(store, approvers),
            )
          : await execute(store, approvers);
      // Stores raise it for what they know that decisions read; this is for whatever else such an operation alters.
      if (lock === 'exclusive') await store(OrganizationStore).raiseAuthorityVersion(activity.organizationId);
      return version.toResult(result);
    },
  };
}

/** Stands for what could not be prepared: its failure is stored with the activity when it would have run. */
export const failingExecution = (operation: ActivityOperation, place: Organization, error: ApiError): Execution => ({
  lock: lockOf(operation, place),
  isLong: false,
  isDescribed: false,
  proofs: [],
  lanes: [],
  announce: () => {},
  secret: undefined,
  readAhead: () => undefined,
  prove: async () => {},
  run: () => Promise.reject(error),
});

type Attempt<T> = { readonly failed: false; readonly value: T } | { readonly failed: true; readonly error: ApiError };

/** What is no fault of the activity: it stays open, and the vote can be given again later. */
const PASSING = new Set<string>(['UNAVAILABLE', 'RATE_LIMIT_EXCEEDED', 'VELOCITY_EXCEEDED', 'VELOCITY_UNCOUNTED']);

/**
 * The caller's mistakes in an approved activity make it FAILED; anything else is a bug and stays an error of this call.
 */
export async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { failed: false, value: await work() };
  } catch (error) {
    if (error instanceof ApiError && !PASSING.has(error.code)) return { failed: true, error };
    throw error;
  }
}

/** Completes a proposal whose result was made with it; approvals that come too late have nothing to release. */
async function release(store: Stores, { organizationId, id }: Activity, nowMs: number): Promise<object> {
  if ((await store(SealedResultStore).find(organizationId, id, nowMs)) !== undefined) return {};
  throw new ApiError('FAILED_PRECONDITION', 'the result expired before the activity was approved; ask for it again');
}

interface Failed {
  readonly activity: Activity;
  /** The webhook endpoints that are to be told. */
  readonly told: readonly WebhookEndpointId[];
}

/** Those of the organization's users, here and in its sub-organizations; the activity that deletes them goes on. */
async function failProposals(
  app: App,
  store: Stores,
  { id, organizationId }: Activity,
  userIds: readonly UserId[],
  nowMs: number,
): Promise<Failed[]> {
  const failed: Failed[] = [];
  for (const open of await store(ActivityStore).openOf(organizationId, userIds)) {
    // One at a time: bodies may be large and many.
    const found = open.id === id ? undefined : await store(ActivityStore).find(open.organizationId, open.id);
    if (found === undefined) continue;
    const after = abandonedWith({ ...found.activity, updatedAtMs: nowMs }, PROPOSER_DELETED_FAILURE);
    await store(ActivityStore).update(after);
    const place = await store(OrganizationStore).get(after.organizationId);
    const told = await announceActivity(app, store, { ...found, activity: after }, place, nowMs);
    failed.push({
      activity: { ...after, parameters: {}, body: undefined, sealedBody: undefined, sealedParameters: undefined },
      told,
    });
  }
  return failed;
}

/** In a transaction of its own: what was tried counts, also when the rest fails or is refused. */
async function noteAttempt({ storage, config }: App, { intent, attempt, nowMs }: ExecutionRequest): Promise<void> {
  const { operation, parameters, proposer } = intent;
  const note = operation.attempt;
  if (note === undefined || attempt.isNoted) return;
  const described = await intent.describe();
  await storage.write((store) => note({ actor: proposer, nowMs, config, store }, parameters, described), {
    of: proposer.organization,
  });
  attempt.isNoted = true;
}

/**
 * How an operation holds the organization acted on, in its present state; what it alters is read by that one's rules.
 */
export function lockOf({ lock }: ActivityOperation, { rulesVersion }: Authority['target']): LockMode {
  if (lock !== 'exclusive-with-rules') return lock;
  return rulesVersion > FIRST_RULES_VERSION ? 'exclusive' : 'shared';
}

/** Who calls, as operations may need to know it. */
export const callerOf = (actor: Actor, address: string | undefined): ExecuteContext['caller'] => ({
  publicKey: publicKeyOf(actor),
  address,
});
