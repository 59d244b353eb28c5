import { issuersFor } from '../identity/known-issuers.ts';
import { tokensFor } from '../identity/tokens.ts';
import { type Actor, publicKeyOf } from '../lib/actor.ts';
import type { UserId } from '../lib/ids.ts';
import { type Activity, type AppProof, FIRST_RULES_VERSION, type Organization, type Vote } from '../lib/model.ts';
import type { SendLaneName } from '../lib/send.ts';
import type { ActivityOperation, ActivityVersion, ExecuteContext } from '../operations/define.ts';
import type { LockMode } from '../storage/stores/organizations.ts';
import type { Stores } from '../storage/stores.ts';
import type { App } from './app.ts';
import { makeProofs } from './app-proofs.ts';
import { Stale } from './hold.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import type { Matter } from './matter.ts';
import { reserve } from './reserve.ts';
import type { Rulebook } from './rulebooks.ts';

/** On what grounds an effect runs. */
export interface Grounds {
  /** As the transaction holds it. */
  readonly organization: Organization;
  readonly approvers: readonly UserId[];
  readonly rules: Rulebook;
  /** The root quorum stands above velocity controls too (decision 16). */
  readonly byRootQuorum: boolean;
}

/** What an allowed activity does: keys and proofs were used before the transaction, the rest happens in it. */
export interface Effect {
  readonly lock: LockMode;
  readonly proofs: readonly AppProof[];
  /** Those that sends came into, once it has run. */
  readonly lanes: readonly SendLaneName[];
  /** The result, with the secrets that only the direct answer shows. */
  readonly run: (stores: Stores, grounds: Grounds) => Promise<unknown>;
}

/** Whether this request has noted its attempt yet: it does so once, however often it is decided anew. */
export interface AttemptNote {
  isNoted: boolean;
  /** What was done outside for the request and cannot be done again. */
  done?: Promise<unknown>;
}

export interface Cause {
  readonly matter: Matter;
  readonly version: ActivityVersion;
  readonly activity: Activity;
  /** The votes that allow it, for its proofs. */
  readonly votes: readonly Vote[];
  /** Whose call makes it happen. */
  readonly caller: ExecuteContext['caller'];
  readonly hasControls: boolean;
  readonly attempt: AttemptNote;
  readonly nowMs: number;
}

export async function prepareEffect(app: App, cause: Cause): Promise<Effect> {
  const { matter, version, activity, votes, caller, nowMs } = cause;
  const { operation, parameters, proposer } = matter;
  const { keyring, attestations, storage, config, newId, messages, oauth2, webhooks, ownIssuer } = app;
  const { onRamp, nodes, earn } = app;
  const common = { actor: proposer, nowMs, config, newId };
  await noteAttempt(app, cause);
  const lock = lockOf(operation, proposer.organization);
  const { prepared, proofs, movements } = await withKeyringErrors(async () => {
    const described = await matter.describe();
    const context = {
      ...common,
      caller,
      read: storage.read,
      keyring,
      attestations,
      tokens: tokensFor(app.tokens, issuersFor(storage.read, proposer)),
      messages,
      oauth2,
      webhooks,
      ownIssuer,
      onRamp,
      nodes,
      earn,
      once: <T>(work: () => Promise<T>): Promise<T> => {
        cause.attempt.done ??= work();
        return cause.attempt.done as Promise<T>;
      },
      expressions: app.rulebooks.expressions,
    };
    const value = await operation.prepare?.(context, parameters, described);
    const prove = async (): Promise<AppProof[]> => {
      const addresses = operation.newAddresses?.(parameters, value) ?? [];
      return await makeProofs(app, proposer, activity, votes, addresses, nowMs);
    };
    return {
      prepared: value,
      proofs: activity.wantsProofs ? await prove() : [],
      movements: cause.hasControls ? await matter.movements() : undefined,
    };
  });
  const lanes: SendLaneName[] = [];
  return {
    lock,
    proofs,
    lanes,
    run: async (store, { organization, approvers, rules, byRootQuorum }) => {
      if (lockOf(operation, organization) !== lock) throw new Stale();
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
        });
      }
      const result = await operation.execute(
        {
          ...common,
          store,
          approvers,
          caller,
          activityId: activity.id,
          enters: ({ caip2, lane }) => lanes.push({ caip2, lane }),
        },
        parameters,
        prepared,
      );
      if (lock === 'exclusive') {
        await store.organizations.raiseAuthorityVersion(activity.organizationId, operation.changesRules);
      }
      return version.toResult(result);
    },
  };
}

/** In a transaction of its own: what was tried counts, also when the rest fails or is refused. */
async function noteAttempt({ storage, config }: App, { matter, attempt, nowMs }: Cause): Promise<void> {
  const { operation, parameters, proposer } = matter;
  const note = operation.attempt;
  if (note === undefined || attempt.isNoted) return;
  const described = await matter.describe();
  await storage.write((store) => note({ actor: proposer, nowMs, config, store }, parameters, described));
  attempt.isNoted = true;
}

/** How an operation holds the organization in its present state. */
export function lockOf({ lock }: ActivityOperation, { rulesVersion }: Organization): LockMode {
  if (lock !== 'exclusive-with-rules') return lock;
  return rulesVersion > FIRST_RULES_VERSION ? 'exclusive' : 'shared';
}

/** Who calls, as operations may need to know it. */
export const callerOf = (actor: Actor, address: string | undefined): ExecuteContext['caller'] => ({
  publicKey: publicKeyOf(actor),
  address,
});
