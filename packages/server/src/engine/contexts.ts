import type { Keyring } from '@custos/keyring';
import type { Attestations } from '../authn/attestations.ts';
import type { IdentityTokens } from '../authn/identity/tokens.ts';
import type { OwnIssuer } from '../authn/oidc/own-issuer.ts';
import type { InterfaceCache } from '../chains/contract-interface.ts';
import type { Nodes } from '../chains/nodes/node.ts';
import type { SendLaneName } from '../chains/send/model.ts';
import type { Config } from '../config/config.ts';
import type { Actor } from '../core/actor.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import type { DescribeRequests } from '../describe/requests.ts';
import type { ActivityId, NewId, UserId } from '../lib/ids.ts';
import type { ExpressionCache } from '../policy/index.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { WireActivity } from './render-activity.ts';
import type { PrepareServices, QueryServices } from './services.ts';

// What each step of an operation may use. A step gets no more than its place in the request allows.

interface CommonContext {
  readonly actor: Actor;
  readonly nowMs: number;
  readonly config: Config;
}

/** What a query may use. */
export interface QueryContext extends CommonContext, QueryServices {
  readonly read: ReadStores;
  /** The wire form of an activity, as this caller may see it. */
  readonly renderActivity: (found: ActivityWithVotes) => WireActivity;
  /** The activity with the secrets of its result, where this caller's credential proposed it. */
  readonly revealResult: (found: ActivityWithVotes) => Promise<ActivityWithVotes>;
  /** What an open activity waits for, and what this caller's approval would do. */
  readonly rehearseVote: (found: ActivityWithVotes) => Promise<Rehearsal | undefined>;
  /** Requests in words, with the names that their organization has for what they are about. */
  readonly describeRequests: DescribeRequests;
  /** The chains that are configured. */
  readonly nodes: Nodes;
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
 * What may happen outside the transaction: reads and keys, no write and nothing that leaves the service. There are
 * three exceptions, whose answer is the result and so cannot come after the commit: the exchange of an OAuth 2.0 code,
 * a session of Coinbase, and the delivery of test_webhook_endpoint. Each goes through `once`, and so do exports, which
 * the keyring counts (docs/decisions/0059).
 */
export interface PrepareContext extends CommonContext, PrepareServices {
  /** Whose call makes it happen. */
  readonly caller: ExecuteContext['caller'];
  readonly read: ReadStores;
  readonly keyring: Keyring;
  readonly attestations: Attestations;
  readonly tokens: IdentityTokens;
  readonly ownIssuer: () => OwnIssuer;
  /** The chains that are configured: to be read from only. */
  readonly nodes: Nodes;
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
export type ReadAheadContext = Pick<ExecuteContext, 'actor' | 'store'>;

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
