import type { Keyring } from '@custos/keyring';
import type { Static, TSchema } from 'typebox';
import type { Attestations } from '../authn/attestations.ts';
import type { IdentityTokens, TokenUse } from '../authn/identity/tokens.ts';
import type { OwnIssuer } from '../authn/oidc/own-issuer.ts';
import type { Config } from '../config/config.ts';
import type { Actor } from '../core/actor.ts';
import type { AuthenticationMethod } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activities.ts';
import type { LockMode } from '../core/store/organizations.ts';
import type { Earn } from '../domains/earn/earn.ts';
import type { Oauth2Exchange } from '../domains/login/oauth2/exchange.ts';
import type { Messages } from '../domains/messages/messages.ts';
import type { OnRamp } from '../domains/on-ramp/on-ramp.ts';
import type { Webhooks } from '../domains/webhooks/webhooks.ts';
import { bodyLimitOf } from '../lib/body-limit.ts';
import type { ActivityId, NewId, UserId } from '../lib/ids.ts';
import { type Decoder, decoder } from '../lib/shape.ts';
import type { Nodes } from '../nodes/node.ts';
import type { ActivityParams, ExpressionCache, Namespaces, PolicyAction, PolicyResource } from '../policy/index.ts';
import type { AssetMovements } from '../policy-facts/assets/caip19.ts';
import type { InterfaceCache } from '../policy-facts/contract-interface.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import type { WireActivity } from './render-activity.ts';
import type { SendLaneName } from './send-lane.ts';
import type { Simulation, SimulationRequest } from './simulation-shapes.ts';

interface CommonContext {
  readonly actor: Actor;
  readonly nowMs: number;
  readonly config: Config;
}

/** What a query may use. */
export interface QueryContext extends CommonContext {
  readonly read: ReadStores;
  /** The wire form of an activity, as this caller may see it. */
  readonly renderActivity: (found: ActivityWithVotes) => WireActivity;
  /** The activity with the secrets of its result, where this caller's credential proposed it. */
  readonly revealResult: (found: ActivityWithVotes) => Promise<ActivityWithVotes>;
  readonly simulate: (request: SimulationRequest) => Promise<Simulation>;
  /** What asks on-ramp providers what became of purchases. */
  readonly onRamp: OnRamp;
  /** The chains that are configured. */
  readonly nodes: Nodes;
  /** What Earn reads from them. */
  readonly earn: Earn;
  /** Tokens that a list can be searched by. */
  readonly tokens: IdentityTokens;
  /** Expressions that were compiled before. */
  readonly expressions: ExpressionCache;
}

/** What finding out what a request is about may use: nothing is decided yet, so no key is at hand. */
export interface DescribeContext extends CommonContext {
  readonly read: ReadStores;
  /** Tokens that name the user of a login. */
  readonly tokens: IdentityTokens;
}

/** What noting an attempt may use: a transaction of its own, which stands whatever becomes of the activity. */
export interface AttemptContext extends CommonContext {
  readonly store: Stores;
}

/** What telling policies about a request may use. */
export interface FactsContext extends DescribeContext {
  /** Contract interfaces as they were read before. */
  readonly interfaces: InterfaceCache;
}

/**
 * What may happen outside the transaction: reads and keys, no write and nothing that leaves the service. Three
 * operations are exceptions, because an outside answer is their result: the exchange of an OAuth 2.0 code, a session of
 * Coinbase, and the delivery of test_webhook_endpoint. Each goes through `once` (protocol/activities 1.3).
 */
export interface PrepareContext extends CommonContext {
  /** Whose call makes it happen. */
  readonly caller: ExecuteContext['caller'];
  readonly read: ReadStores;
  readonly keyring: Keyring;
  readonly attestations: Attestations;
  readonly tokens: IdentityTokens;
  readonly messages: Messages;
  readonly oauth2: Oauth2Exchange;
  readonly webhooks: Pick<Webhooks, 'checkTarget' | 'sendNow'>;
  readonly ownIssuer: () => OwnIssuer;
  readonly onRamp: Pick<OnRamp, 'inTurn'>;
  /** The chains that are configured: to be read from only. */
  readonly nodes: Nodes;
  readonly earn: Earn;
  /**
   * For what cannot be done twice: it is done once for each request, however often that is prepared
   * (protocol/activities 1.3).
   */
  readonly once: <T>(work: () => Promise<T>) => Promise<T>;
  readonly newId: NewId;
  /** Expressions that were compiled before. */
  readonly expressions: ExpressionCache;
}

/** What the transaction may use; it waits for nothing else. */
export interface ExecuteContext extends CommonContext {
  /** Whose call runs it: the proposer's, or that of the vote that completed it. */
  readonly caller: { readonly publicKey: string | undefined; readonly address: string | undefined };
  readonly store: Stores;
  readonly activityId: ActivityId;
  readonly newId: NewId;
  /** Users whose approval counted, the proposer among them. */
  readonly approvers: readonly UserId[];
  /** Notes that a send came into a lane, which is looked at after the commit. */
  readonly enters: (lane: SendLaneName) => void;
  /** Fails what users proposed who are being deleted: nothing runs as somebody else. */
  readonly failProposalsOf: (userIds: readonly UserId[]) => Promise<void>;
}

/**
 * How the policy language names an activity (protocol/policy-facts 1.2). Root-quorum operations have no kind and no
 * policy reaches them.
 */
export type PolicyFacts =
  | { readonly governedBy: 'policy'; readonly resource: PolicyResource; readonly action: PolicyAction }
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

/** One accepted value of the request's `type`. */
export interface ActivityVersion<Parameters = unknown> {
  readonly type: string;
  readonly intentKey: string;
  readonly resultKey: string;
  readonly schema: TSchema;
  /** Parameters that never rest in the clear (protocol/activities 5.1), as dotted paths with `*` for list items. */
  readonly secrets: readonly string[];
  /** Fields of the result that only the credential that proposed it is shown, for a while. */
  readonly secretResults: readonly string[];
  /** Checks the parameters as sent and turns them into the current version's. */
  readonly decode: (parameters: unknown) => Parameters;
  readonly result: TSchema;
  /** The result as this version has it. */
  readonly toResult: (result: unknown) => unknown;
}

/** An operation that changes state: path, types, schemas, policy facts and handler in one value. */
export interface ActivityOperation<Parameters = unknown, Described = unknown, Prepared = unknown, Result = unknown> {
  readonly kind: 'activity';
  readonly name: string;
  readonly summary: string;
  /** The largest body that is read, in bytes. */
  readonly bodyLimit: number;
  /** The current one first, then the older ones (protocol/http 2.4). */
  readonly versions: readonly ActivityVersion<Parameters>[];
  /** Types of the wire protocol that share the name but that we do not serve: 501. */
  readonly unserved: readonly string[];
  readonly policy: PolicyFacts;
  readonly credentials: CredentialEffect;
  readonly lock: OperationLock;
  /** Whether it may take minutes, by how much the organization has. */
  readonly isLong: boolean;
  /** Whether it may wait for others: chain nodes, identity providers, on-ramp providers, receivers of webhooks. */
  readonly waitsOutside: boolean;
  /** Which organizations may run it (protocol/consensus 5.3). */
  readonly scope: 'any' | 'parent' | 'sub-organization';
  readonly ours: boolean;
  readonly result: TSchema;
  /**
   * The user whose own credentials this manages; that user may do so without a policy (protocol/policies 8.3, step 7).
   */
  readonly managesCredentialsOf?: (parameters: Parameters, proposer: Actor) => string | undefined;
  /** Whether a parent's id also finds the one sub-organization that holds the credential (protocol/stamps 7.2). */
  readonly findsSubOrganization: boolean;
  /** Stamps that serve here besides those of keys and passkeys: of a key that a token attests, of a recovery. */
  readonly accepts: { readonly attested: boolean; readonly recovery: boolean };
  /** Whether it leaves messages in the outbox. */
  readonly sends: boolean;
  /** Whether it leaves transactions for chains. */
  readonly broadcasts: boolean;
  /**
   * The user who is logged in, where somebody else asks for it; that user's MFA policies apply (protocol/login 2.2).
   */
  readonly subject?: (described: Described) => LoginSubject | undefined;
  /** Notes an attempt at something that can be guessed, once for each request and before it is prepared. */
  readonly attempt?: (context: AttemptContext, parameters: Parameters, described: Described) => Promise<void>;
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
  /** What counts against velocity controls besides the activity itself (protocol/policies 11). */
  readonly movements?: (
    context: FactsContext,
    parameters: Parameters,
    described: Described,
  ) => Movements | Promise<Movements>;
  readonly prepare?: (context: PrepareContext, parameters: Parameters, described: Described) => Promise<Prepared>;
  /**
   * Uses up the code that the request proves something with. Such a request is prepared when it is proposed, and this runs
   * in the transaction that stores the proposal; what approvals then release is its result, which is all secret.
   */
  readonly useProof?: (context: ExecuteContext, parameters: Parameters, prepared: Prepared) => Promise<void>;
  /** The values of `secretResults`. */
  readonly secretResult?: (prepared: Prepared) => SecretResult;
  readonly execute: (context: ExecuteContext, parameters: Parameters, prepared: Prepared) => Promise<Result>;
  readonly newAddresses?: (parameters: Parameters, prepared: Prepared) => readonly NewAddress[];
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

/** An operation that only reads. */
export interface QueryOperation<Parameters = unknown, Result = unknown> {
  readonly kind: 'query';
  readonly name: string;
  readonly summary: string;
  readonly bodyLimit: number;
  readonly schema: TSchema;
  readonly decode: (body: unknown) => Parameters;
  readonly response: TSchema;
  readonly ours: boolean;
  /** Whether a parent's id also finds the one sub-organization that holds the credential (protocol/stamps 7.2). */
  readonly findsSubOrganization: boolean;
  /** Whether it may wait for others, as chain nodes. */
  readonly waitsOutside: boolean;
  readonly run: (context: QueryContext, parameters: Parameters) => Promise<Result>;
}

export type Operation = ActivityOperation | VoteOperation | QueryOperation;

interface CurrentVersion<S extends TSchema> {
  readonly type: string;
  readonly parameters: S;
  readonly resultKey?: string;
  readonly secrets?: readonly string[];
  /** Of the current version and of all older ones; `secretResult` has their values. */
  readonly secretResults?: readonly string[];
}

/** An older version of an operation's type, and how its parameters become the current ones. */
export interface LegacyVersion<Parameters> {
  readonly type: string;
  readonly resultKey: string | undefined;
  readonly schema: TSchema;
  readonly secrets: readonly string[];
  readonly upgrade: (parameters: unknown) => Parameters;
  /** Undefined where it is that of the current version. */
  readonly result: TSchema | undefined;
  readonly toResult: (result: unknown) => unknown;
  readonly decoder: Decoder<TSchema>;
}

const sameResult = (result: unknown): unknown => result;

export function legacy<S extends TSchema, Parameters>(
  type: string,
  parameters: S,
  upgrade: (parameters: Static<S>) => Parameters,
  options: {
    readonly resultKey?: string;
    readonly secrets?: readonly string[];
    /** Where the result of the version is another one than today's: its shape, and how it is made of today's. */
    readonly result?: TSchema;
    readonly toResult?: (result: never) => unknown;
  } = {},
): LegacyVersion<Parameters> {
  return {
    type,
    schema: parameters,
    upgrade: upgrade as (parameters: unknown) => Parameters,
    decoder: decoder(parameters) as unknown as Decoder<TSchema>,
    resultKey: options.resultKey,
    secrets: options.secrets ?? [],
    result: options.result,
    toResult: (options.toResult ?? sameResult) as (result: unknown) => unknown,
  };
}

interface ActivityDefinition<S extends TSchema, Described, Prepared, R extends TSchema> extends CurrentVersion<S> {
  readonly name: string;
  readonly summary: string;
  /** Where the schema has no bound that a request could keep: the largest body, in bytes. */
  readonly bodyLimit?: number;
  readonly older?: readonly LegacyVersion<Static<S>>[];
  readonly unserved?: readonly string[];
  readonly policy: PolicyFacts;
  /** No default: an operation that forgot to say so would be open to sessions that may not have it. */
  readonly credentials: CredentialEffect;
  /** Exclusive unless the operation cannot alter any decision. */
  readonly lock?: OperationLock;
  readonly isLong?: boolean;
  readonly waitsOutside?: boolean;
  readonly scope?: ActivityOperation['scope'];
  readonly ours?: boolean;
  readonly result: R;
  /** Rules that a schema cannot state, on the parameters alone; throws ApiError. */
  readonly check?: (parameters: Static<S>) => void;
  readonly managesCredentialsOf?: (parameters: Static<S>, proposer: Actor) => string | undefined;
  readonly findsSubOrganization?: boolean;
  readonly accepts?: { readonly attested?: boolean; readonly recovery?: boolean };
  readonly sends?: boolean;
  readonly broadcasts?: boolean;
  readonly subject?: (described: Described) => LoginSubject | undefined;
  readonly attempt?: (context: AttemptContext, parameters: Static<S>, described: Described) => Promise<void>;
  readonly describe?: (context: DescribeContext, parameters: Static<S>) => Promise<Described>;
  readonly exposes?: (parameters: Static<S>) => ActivityParams;
  readonly facts?: (
    context: FactsContext,
    parameters: Static<S>,
    described: Described,
  ) => Promise<readonly Namespaces[]>;
  readonly movements?: (
    context: FactsContext,
    parameters: Static<S>,
    described: Described,
  ) => Movements | Promise<Movements>;
  readonly prepare?: (context: PrepareContext, parameters: Static<S>, described: Described) => Promise<Prepared>;
  readonly useProof?: (context: ExecuteContext, parameters: Static<S>, prepared: Prepared) => Promise<void>;
  readonly secretResult?: (prepared: Prepared) => SecretResult;
  readonly execute: (context: ExecuteContext, parameters: Static<S>, prepared: Prepared) => Promise<Static<R>>;
  readonly newAddresses?: (parameters: Static<S>, prepared: Prepared) => readonly NewAddress[];
}

export function defineActivity<S extends TSchema, R extends TSchema, Prepared = undefined, Described = undefined>(
  definition: ActivityDefinition<S, Described, Prepared, R>,
): ActivityOperation {
  const check = definition.check ?? (() => {});
  const schemas = [definition.parameters, ...(definition.older ?? []).map(({ schema }) => schema)];
  const decodeCurrent = decoder(definition.parameters);
  const version = (
    type: string,
    resultKey: string | undefined,
    schema: TSchema,
    secrets: readonly string[],
    { result = definition.result, toResult }: Pick<LegacyVersion<unknown>, 'result' | 'toResult'>,
    decode: (parameters: unknown) => Static<S>,
  ): ActivityVersion => ({
    type,
    ...wireKeys(type, resultKey),
    schema,
    secrets,
    secretResults: definition.secretResults ?? [],
    result,
    toResult,
    decode: (parameters) => {
      const decoded = decode(parameters);
      check(decoded);
      return decoded;
    },
  });
  const operation: ActivityOperation<Static<S>, Described, Prepared, Static<R>> = {
    kind: 'activity',
    name: definition.name,
    summary: definition.summary,
    bodyLimit: bodyLimitOf(definition.name, schemas, definition.bodyLimit),
    versions: [
      version(
        definition.type,
        definition.resultKey,
        definition.parameters,
        definition.secrets ?? [],
        { result: definition.result, toResult: sameResult },
        (parameters) => decodeCurrent(parameters, 'parameters'),
      ),
      ...(definition.older ?? []).map((old) =>
        version(old.type, old.resultKey, old.schema, old.secrets, old, (parameters) =>
          old.upgrade(old.decoder(parameters, 'parameters')),
        ),
      ),
    ] as ActivityVersion<Static<S>>[],
    unserved: definition.unserved ?? [],
    policy: definition.policy,
    credentials: definition.credentials,
    lock: definition.lock ?? 'exclusive',
    isLong: definition.isLong ?? false,
    waitsOutside: definition.waitsOutside ?? false,
    scope: definition.scope ?? 'any',
    ours: definition.ours ?? false,
    result: definition.result,
    ...(definition.managesCredentialsOf && { managesCredentialsOf: definition.managesCredentialsOf }),
    findsSubOrganization: definition.findsSubOrganization ?? false,
    accepts: { attested: definition.accepts?.attested ?? false, recovery: definition.accepts?.recovery ?? false },
    sends: definition.sends ?? false,
    broadcasts: definition.broadcasts ?? false,
    ...(definition.subject && { subject: definition.subject }),
    ...(definition.attempt && { attempt: definition.attempt }),
    ...(definition.describe && { describe: definition.describe }),
    ...(definition.exposes && { exposes: definition.exposes }),
    ...(definition.facts && { facts: definition.facts }),
    ...(definition.movements && { movements: definition.movements }),
    ...(definition.prepare && { prepare: definition.prepare }),
    ...(definition.useProof && { useProof: definition.useProof }),
    ...(definition.secretResult && { secretResult: definition.secretResult }),
    execute: definition.execute,
    ...(definition.newAddresses && { newAddresses: definition.newAddresses }),
  };
  // The pipeline handles operations whose parameters it does not know; each only ever meets what its own decoder made.
  return operation as unknown as ActivityOperation;
}

/**
 * Intent and result key of a type (protocol/activities 2.2): the name in lower camel case, `Intent` or `Result`, and
 * the version.
 */
export function wireKeys(type: string, resultKey?: string): { readonly intentKey: string; readonly resultKey: string } {
  const [, words = '', version = ''] = /^ACTIVITY_TYPE_(.+?)(?:_(V[0-9]+))?$/.exec(type) ?? [];
  const base = words.toLowerCase().replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
  return { intentKey: `${base}Intent${version}`, resultKey: resultKey ?? `${base}Result` };
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

interface QueryDefinition<S extends TSchema, R extends TSchema> {
  readonly name: string;
  readonly summary: string;
  readonly bodyLimit?: number;
  readonly parameters: S;
  readonly response: R;
  readonly ours?: boolean;
  readonly findsSubOrganization?: boolean;
  readonly waitsOutside?: boolean;
  readonly run: (context: QueryContext, parameters: Static<S>) => Promise<Static<R>>;
}

export function defineQuery<S extends TSchema, R extends TSchema>(definition: QueryDefinition<S, R>): QueryOperation {
  const decode = decoder(definition.parameters);
  const operation: QueryOperation<Static<S>, Static<R>> = {
    kind: 'query',
    name: definition.name,
    summary: definition.summary,
    bodyLimit: bodyLimitOf(definition.name, [definition.parameters], definition.bodyLimit),
    schema: definition.parameters,
    decode: (body) => decode(body),
    response: definition.response,
    ours: definition.ours ?? false,
    findsSubOrganization: definition.findsSubOrganization ?? false,
    waitsOutside: definition.waitsOutside ?? false,
    run: definition.run,
  };
  return operation as unknown as QueryOperation;
}
