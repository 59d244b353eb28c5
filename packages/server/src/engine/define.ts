import type { Static, TSchema } from 'typebox';
import type { TokenUse } from '../authn/identity/tokens.ts';
import type { AssetMovements } from '../chains/asset-types.ts';
import type { Actor } from '../core/actor.ts';
import type { AuthenticationMethod } from '../core/model.ts';
import type { LockMode } from '../core/store/organizations.ts';
import type { SentenceMaker } from '../describe/sentence.ts';
import { bodyLimitOf } from '../lib/body-limit.ts';
import type { UserId } from '../lib/ids.ts';
import { decoder } from '../lib/shape.ts';
import type { ActivityParams, KindFacts, Namespaces, OwnAccount } from '../policy/index.ts';
import type { OrganizationPart } from '../storage/table.ts';
import type {
  AttemptContext,
  DescribeContext,
  ExecuteContext,
  FactsContext,
  PrepareContext,
  QueryContext,
  ReadAheadContext,
} from './contexts.ts';
import { type ActivityVersion, type CurrentVersion, type LegacyVersion, versionsOf } from './versions.ts';

// An operation imports everything that it is written with from here.
export type {
  AttemptContext,
  DescribeContext,
  ExecuteContext,
  FactsContext,
  PrepareContext,
  QueryContext,
  ReadAheadContext,
} from './contexts.ts';
export { type ActivityVersion, legacy, wireKeys } from './versions.ts';

/**
 * How the policy language names an activity (protocol/policy-facts 1.2). Root-quorum operations have no kind and no
 * policy reaches them.
 */
export type PolicyFacts =
  | ({ readonly governedBy: 'policy'; readonly params?: readonly (keyof ActivityParams)[] } & Pick<
      KindFacts,
      'resource' | 'action' | 'namespaces' | 'signsRaw'
    >)
  | { readonly governedBy: 'root-quorum' };

/**
 * What an operation does to the credentials of users, which includes tokens that log in and the contacts and factors that
 * logins ask for. It `mints` one, `redirects` one (changes who has to prove what, or where a code goes), `removes` one, or
 * logs in with a key that `inherits` the caller's own session profile. A session with a profile is closed to the first three.
 */
export type CredentialEffect = 'mints' | 'redirects' | 'removes' | 'inherits' | 'none';

/** `exclusive-with-rules`: it alters only what rules may read, so that it need not be alone where there are none. */
export type OperationLock = LockMode | 'exclusive-with-rules';

/** What an activity moves, and out of which wallet. */
export interface Movements extends AssetMovements {
  readonly walletId?: string | undefined;
  /** What each wallet loses, where several sign. */
  readonly wallets?: readonly (AssetMovements & { readonly walletId: string })[];
  /** What happens to what moves, for controls that look at one of them: it is signed, unless told otherwise. */
  readonly phases?: readonly ('signature' | 'submission')[];
}

/** The secret part of a result, and until when it is good for something. */
export interface SecretResult {
  readonly values: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
}

/** Whom a login is about, and what its code or token proves of that user (protocol/login 2.2). */
export interface LoginSubject {
  readonly userId: UserId;
  readonly method: AuthenticationMethod;
  /** The code, token or provider that proves it. */
  readonly credentialId: string;
  /** The token that is used up as a proof. */
  readonly token?: TokenUse;
}

/** An address that an activity brings into being; app proofs attest its derivation. */
export interface NewAddress {
  /** The organization of the wallet, where it is not the one that acts. */
  readonly organizationId?: string;
  readonly walletId: string;
  readonly derivationPath: string;
  readonly address: string;
}

/** What every activity has to say. */
interface ActivityTerms {
  readonly name: string;
  readonly summary: string;
  readonly policy: PolicyFacts;
  /** No default: an operation that forgot to say so would be open to sessions that may not have it. */
  readonly credentials: CredentialEffect;
}

/** Parameters of its example in the documents, where the names of the fields alone would suggest something else. */
type ExampleValues = Readonly<Record<string, unknown>>;

/** What an activity says where it differs from `ACTIVITY_DEFAULTS`. */
interface ActivityOptions {
  /** Types of the wire protocol that share the name but that we do not serve: 501. */
  readonly unserved: readonly string[];
  /** Exclusive unless the operation cannot alter any decision. */
  readonly lock: OperationLock;
  /** Whether it may take minutes, by how much the organization has. */
  readonly isLong: boolean;
  /** Whether it may wait for others: chain nodes, identity providers, on-ramp providers, receivers of webhooks. */
  readonly waitsOutside: boolean;
  /** Whether a parent may run it in its sub-organizations; then the parent decides (docs/decisions/0018). */
  readonly parentRuns: boolean;
  /** Whether the sign-up proxy may run it with its own key, by a rule of the service (docs/decisions/0018). */
  readonly proxyRuns: boolean;
  /** Whether users may do it to their own account without a policy, and with which credential. */
  readonly ownAccount: OwnAccount | 'none';
  /** Which organizations may run it (protocol/consensus 5.2). */
  readonly scope: 'any' | 'parent' | 'sub-organization';
  readonly ours: boolean;
  readonly example: ExampleValues;
  /** Whether a parent's id also finds the one sub-organization that holds the credential (protocol/stamps 7.2). */
  readonly findsSubOrganization: boolean;
  /** Whether it leaves messages in the outbox. */
  readonly sendsMessages: boolean;
  /** Whether it leaves transactions for chains. */
  readonly sendsTransactions: boolean;
}

/** The safe value of each, so that to forget one opens nothing. */
const ACTIVITY_DEFAULTS: ActivityOptions = {
  unserved: [],
  lock: 'exclusive',
  isLong: false,
  waitsOutside: false,
  parentRuns: false,
  proxyRuns: false,
  ownAccount: 'none',
  scope: 'any',
  ours: false,
  example: {},
  findsSubOrganization: false,
  sendsMessages: false,
  sendsTransactions: false,
};

/** Stamps that serve here besides those of keys and passkeys: of a key that a token attests, of a recovery. */
interface AcceptedStamps {
  readonly attested: boolean;
  readonly recovery: boolean;
}

/** The steps of an activity, in the order in which a request meets them. */
interface ActivitySteps<Parameters, Described, Prepared, Result> {
  /** The request in words, for those who approve it (protocol/activities 8). It reads nothing; required, so that nobody approves what has no words. */
  readonly sentence: SentenceMaker<Parameters>;
  /**
   * Whose account it is about, where `ownAccount` lets that user act without a policy (protocol/policies 8.3, step 7).
   */
  readonly managesCredentialsOf?: (parameters: Parameters, proposer: Actor) => string | undefined;
  /**
   * What the parameters are about. Refuses what nobody could be allowed; the pipeline tells so only to those who are not
   * denied (docs/decisions/0031).
   */
  readonly describe?: (context: DescribeContext, parameters: Parameters) => Promise<Described>;
  /** The parameters that policies may read (protocol/policy-facts 2). */
  readonly exposes?: (parameters: Parameters) => ActivityParams;
  /** What policies see of it, one entry for each element. */
  readonly facts?: (
    context: FactsContext,
    parameters: Parameters,
    described: Described,
  ) => Promise<readonly Namespaces[]>;
  /**
   * The user who is logged in, where somebody else asks for it; that user's MFA policies apply (protocol/login 10.3).
   */
  readonly subject?: (described: Described) => LoginSubject | undefined;
  /** Notes an attempt at something that can be guessed, once for each request and before it is prepared. */
  readonly attempt?: (context: AttemptContext, parameters: Parameters, described: Described) => Promise<void>;
  readonly prepare?: (context: PrepareContext, parameters: Parameters, described: Described) => Promise<Prepared>;
  readonly newAddresses?: (parameters: Parameters, prepared: Prepared) => readonly NewAddress[];
  /** What counts against velocity controls besides the activity itself (protocol/policies 11). */
  readonly movements?: (
    context: FactsContext,
    parameters: Parameters,
    described: Described,
  ) => Movements | Promise<Movements>;
  /** The values of `secretResults`. */
  readonly secretResult?: (prepared: Prepared) => SecretResult;
  /**
   * Uses up the code that the request proves something with. Such a request is prepared when it is proposed, and this runs
   * in the transaction that stores the proposal; what approvals then release is its result, which is all secret.
   */
  readonly useProof?: (context: ExecuteContext, parameters: Parameters, prepared: Prepared) => Promise<void>;
  /** Takes and reads what `execute` begins with, as soon as the organization is held (docs/decisions/0053). */
  readonly readAhead?: (context: ReadAheadContext, prepared: Prepared, parameters: Parameters) => Promise<void>;
  readonly execute: (context: ExecuteContext, parameters: Parameters, prepared: Prepared) => Promise<Result>;
}

/** An operation that changes state: path, types, schemas, policy facts and handler in one value. */
export interface ActivityOperation<Parameters = unknown, Described = unknown, Prepared = unknown, Result = unknown>
  extends ActivityTerms,
    ActivityOptions,
    ActivitySteps<Parameters, Described, Prepared, Result> {
  readonly kind: 'activity';
  /** The largest body that is read, in bytes. */
  readonly bodyLimit: number;
  /** The specification's value first, then the older ones. */
  readonly versions: readonly ActivityVersion<Parameters>[];
  readonly accepts: AcceptedStamps;
  readonly result: TSchema;
}

interface ActivityDefinition<S extends TSchema, Described, Prepared, R extends TSchema>
  extends ActivityTerms,
    Partial<ActivityOptions>,
    ActivitySteps<Static<S>, Described, Prepared, Static<R>>,
    CurrentVersion<S> {
  /** Where the schema has no bound that a request could keep: the largest body, in bytes. */
  readonly bodyLimit?: number;
  readonly older?: readonly LegacyVersion<Static<S>>[];
  readonly accepts?: Partial<AcceptedStamps>;
  readonly result: R;
  /** Rules that a schema cannot state, on the parameters alone; throws ApiError. */
  readonly check?: (parameters: Static<S>) => void;
}

export function defineActivity<S extends TSchema, R extends TSchema, Prepared = undefined, Described = undefined>(
  definition: ActivityDefinition<S, Described, Prepared, R>,
): ActivityOperation {
  // What only makes the versions is left out of the operation.
  const {
    type: _type,
    resultKey: _resultKey,
    parameters,
    secrets: _secrets,
    secretResults: _secretResults,
    ...terms
  } = definition;
  const { older = [], check: _check, ...given } = terms;
  const operation: ActivityOperation<Static<S>, Described, Prepared, Static<R>> = {
    ...ACTIVITY_DEFAULTS,
    ...given,
    kind: 'activity',
    bodyLimit: bodyLimitOf(given.name, [parameters, ...older.map(({ schema }) => schema)], given.bodyLimit),
    versions: versionsOf(definition),
    accepts: { attested: false, recovery: false, ...given.accepts },
  };
  // The pipeline handles operations whose parameters it does not know; each only ever meets what its own decoder made.
  return operation as unknown as ActivityOperation;
}

/** approve_activity and reject_activity: they vote on an activity and are none themselves. */
export interface VoteOperation {
  readonly kind: 'vote';
  readonly name: string;
  readonly summary: string;
  readonly bodyLimit: number;
  readonly type: string;
  readonly selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';
  readonly schema: TSchema;
  readonly decode: (parameters: unknown) => { fingerprint: string };
  readonly ours: boolean;
}

/** A vote is a fingerprint; votes are many and shown together. */
const VOTE_BODY_LIMIT = 8 * 1024;

export function defineVote(definition: Omit<VoteOperation, 'kind' | 'decode' | 'ours' | 'bodyLimit'>): VoteOperation {
  const decode = decoder(definition.schema) as unknown as (
    parameters: unknown,
    root: string,
  ) => { fingerprint: string };
  return {
    ...definition,
    kind: 'vote',
    ours: false,
    bodyLimit: VOTE_BODY_LIMIT,
    decode: (parameters) => decode(parameters, 'parameters'),
  };
}

/** What a query says where it differs from `QUERY_DEFAULTS`. */
interface QueryOptions {
  readonly ours: boolean;
  readonly example: ExampleValues;
  /** Whether a parent's id also finds the one sub-organization that holds the credential (protocol/stamps 7.2). */
  readonly findsSubOrganization: boolean;
  /** Whether it may wait for others, as chain nodes. */
  readonly waitsOutside: boolean;
  /**
   * Parts of the organization of which its answer is made, and of nothing else besides the request: not of who asks, nor of
   * when. Such answers may be kept (docs/decisions/0052).
   */
  readonly madeOf: readonly OrganizationPart[];
}

const QUERY_DEFAULTS: QueryOptions = {
  ours: false,
  example: {},
  findsSubOrganization: false,
  waitsOutside: false,
  madeOf: [],
};

/** An operation that only reads. */
export interface QueryOperation<Parameters = unknown, Result = unknown> extends QueryOptions {
  readonly kind: 'query';
  readonly name: string;
  readonly summary: string;
  readonly bodyLimit: number;
  readonly schema: TSchema;
  readonly decode: (body: unknown) => Parameters;
  readonly response: TSchema;
  readonly run: (context: QueryContext, parameters: Parameters) => Promise<Result>;
}

interface QueryDefinition<S extends TSchema, R extends TSchema>
  extends Partial<QueryOptions>,
    Pick<QueryOperation<Static<S>, Static<R>>, 'name' | 'summary' | 'run'> {
  readonly bodyLimit?: number;
  readonly parameters: S;
  readonly response: R;
}

export function defineQuery<S extends TSchema, R extends TSchema>(definition: QueryDefinition<S, R>): QueryOperation {
  const { parameters, ...given } = definition;
  const decode = decoder(parameters);
  const operation: QueryOperation<Static<S>, Static<R>> = {
    ...QUERY_DEFAULTS,
    ...given,
    kind: 'query',
    bodyLimit: bodyLimitOf(given.name, [parameters], given.bodyLimit),
    schema: parameters,
    decode: (body) => decode(body),
  };
  return operation as unknown as QueryOperation;
}

export type Operation = ActivityOperation | VoteOperation | QueryOperation;
