import { issuersFor } from '../authn/identity/known-issuers.ts';
import { type IdentityTokens, remembering, tokensFor } from '../authn/identity/tokens.ts';
import type { Actor } from '../core/actor.ts';
import { ERROR_CODES } from '../lib/error-codes.ts';
import { ApiError } from '../lib/errors.ts';
import { type ActivityFacts, activityType, type ConditionFacts, type Namespaces } from '../policy/index.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { App } from './app.ts';
import type { ActivityOperation, FactsContext, LoginSubject, Movements } from './define.ts';

/** What is to be decided: an operation with its parameters, and what they are about. */
export interface Intent {
  readonly operation: ActivityOperation;
  readonly type: string;
  readonly parameters: unknown;
  /** Whose request it is: it is described as the proposer's, whoever votes. */
  readonly proposer: Actor;
  /** Whether a rule of the service allows it (protocol/sign-up-proxy 4.2). */
  readonly grantedByService: boolean;
  /** The user who is logged in, where that is not the proposer. */
  readonly subject: () => Promise<LoginSubject | undefined>;
  /** The first step of a request: looks up what policies may read, and refuses what cannot be read at all. */
  readonly lookUp: () => Promise<void>;
  /** What the operation found its parameters to be about. Refuses what nobody could be allowed. */
  readonly describe: () => Promise<unknown>;
  /** What policies see of it, one entry for each element; nothing where it cannot be described, see `refusal`. */
  readonly facts: () => Promise<readonly Namespaces[]>;
  /** Why policies saw nothing of it. It is for those who may do it; others are not told about the object at all. */
  readonly refusal: () => ApiError | undefined;
  readonly movements: () => Promise<Movements>;
  /**
   * The same intent inside a transaction: what was found out stays, unless it may have changed; the rest is read there.
   */
  readonly inside: (read: ReadStores, isUnchanged: boolean) => Intent;
}

interface Request {
  readonly operation: ActivityOperation;
  readonly type: string;
  readonly parameters: unknown;
  readonly proposer: Actor;
  readonly grantedByService: boolean;
  readonly nowMs: number;
}

/** What was found out about an intent so far. */
interface Findings {
  described?: Promise<unknown>;
  facts?: Promise<readonly Namespaces[]>;
  refusal?: ApiError;
  movements?: Promise<Movements>;
}

/** Whether an error tells of something stored. A transaction that does not parse is in the caller's own hands. */
const tellsOfObject = ({ httpStatus, code }: ApiError): boolean =>
  httpStatus === 404 || httpStatus === 409 || httpStatus === 403 || ERROR_CODES[code].status === 'FAILED_PRECONDITION';

/** Nothing is found out before it is asked for, and then once. */
export function openIntent(
  app: App,
  read: ReadStores,
  request: Request,
  known: Findings = {},
  tokens: IdentityTokens = remembering(tokensFor(app.tokens, issuersFor(app.storage.read, request.proposer))),
): Intent {
  const { operation, type, parameters, proposer, grantedByService, nowMs } = request;
  const { config, interfaces } = app;
  const context: FactsContext = { actor: proposer, nowMs, config, read, interfaces, tokens };
  const describe = async (): Promise<unknown> => {
    known.described ??= Promise.resolve(operation.describe?.(context, parameters));
    return await known.described;
  };
  const holdingBack = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError) || !tellsOfObject(error)) throw error;
      known.refusal = error;
      return undefined;
    }
  };
  const readFacts = async (): Promise<readonly Namespaces[]> => {
    const { facts } = operation;
    if (facts === undefined) return [{}];
    return (await holdingBack(async () => facts(context, parameters, await describe()))) ?? [{}];
  };
  const readMovements = async (): Promise<Movements> =>
    (await operation.movements?.(context, parameters, await describe())) ?? { transfers: [], uncounted: [] };
  return {
    operation,
    type,
    parameters,
    proposer,
    grantedByService,
    subject: async () => operation.subject?.(await describe()),
    lookUp: async () => {
      if (operation.facts !== undefined) await holdingBack(describe);
    },
    describe,
    facts: async () => {
      known.facts ??= readFacts();
      return await known.facts;
    },
    refusal: () => known.refusal,
    movements: async () => {
      known.movements ??= readMovements();
      return await known.movements;
    },
    inside: (stores, isUnchanged) => openIntent(app, stores, request, isUnchanged ? { ...known } : {}, tokens),
  };
}

/** The activity as policies see it. Where none is asked, what it is about need not be known. */
export function activityFacts(
  { operation, type, parameters, proposer }: Intent,
  elements: readonly Namespaces[],
): ActivityFacts {
  if (operation.policy.governedBy === 'root-quorum') return { governedBy: 'rootQuorum', type };
  const { resource, action } = operation.policy;
  return {
    governedBy: 'policy',
    type,
    kind: kindOf(operation, type),
    resource,
    action,
    params: operation.exposes?.(parameters) ?? {},
    elements,
    subjectUserId: operation.managesCredentialsOf?.(parameters, proposer),
  };
}

/** The name that all versions of a type share. */
function kindOf(operation: ActivityOperation, type: string): string {
  const known = activityType(type);
  return known?.governedBy === 'policy' ? known.kind : operation.name.toUpperCase();
}

/** The same for rules that look at one element at a time. */
export async function conditionFacts(intent: Intent): Promise<ConditionFacts[]> {
  const facts = activityFacts(intent, await intent.facts());
  if (facts.governedBy === 'rootQuorum') {
    // Such an activity has no kind, resource or action of its own; a scope that names none of them still covers it.
    return [{ activity: { type: intent.type, kind: '', resource: '', action: '', params: {} } }];
  }
  const { type, kind, resource, action, params } = facts;
  return facts.elements.map((namespaces) => ({ ...namespaces, activity: { type, kind, resource, action, params } }));
}
