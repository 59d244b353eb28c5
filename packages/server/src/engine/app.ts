import type { Keyring } from '@custos/keyring';
import type { Admission } from '../admission/admission.ts';
import type { Attestations } from '../authn/attestations.ts';
import type { FailedAuthLimit } from '../authn/failed-auth-limit.ts';
import type { TokenReader } from '../authn/identity/tokens.ts';
import type { LastUses } from '../authn/last-uses.ts';
import type { OwnIssuer } from '../authn/oidc/own-issuer.ts';
import type { InterfaceCache } from '../chains/contract-interface.ts';
import type { Nodes } from '../chains/nodes/node.ts';
import type { SendLaneName } from '../chains/send/model.ts';
import type { Config } from '../config/config.ts';
import type { User } from '../core/model.ts';
import type { UserSnapshot } from '../core/user-snapshot.ts';
import type { NameKind, NameSource } from '../describe/names.ts';
import type { Clock } from '../lib/clock.ts';
import type { NewId, OrganizationId, WebhookEndpointId } from '../lib/ids.ts';
import type { Lines } from '../lib/lines.ts';
import type { RequestLoad } from '../lib/request-load.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { RequestStorage } from '../storage/storage.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { AccessRulesCache } from './access-rules.ts';
import type { Feed } from './feed/feed.ts';
import type { EngineObserver } from './observer.ts';
import type { Operations } from './operations.ts';
import type { Readiness } from './readiness.ts';
import type { PrepareServices, QueryServices } from './services.ts';

/** Every dependency of a running service, built once at start and handed down. */
export interface App {
  readonly config: Config;
  readonly clock: Clock;
  /** Goes on when the clock is set. */
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly storage: RequestStorage;
  readonly keyring: Keyring;
  /**
   * The public sides of the service's own keys, which clients must trust (protocol/bundles 5.1), as they are now. Of each
   * role the one in use comes first.
   */
  readonly serviceKeys: readonly ServiceKey[];
  readonly attestations: Attestations;
  /** What votes keep of their voters. */
  readonly userRecords: { get(read: ReadStores, organizationId: OrganizationId, user: User): Promise<UserSnapshot> };
  readonly operations: Operations;
  /** What domains offer to operations. */
  readonly services: { readonly query: QueryServices; readonly prepare: PrepareServices };
  readonly accessRules: AccessRulesCache;
  readonly interfaces: InterfaceCache;
  /** Where sentences about requests have their names from. */
  readonly nameSources: ReadonlyMap<NameKind, NameSource>;
  readonly tokens: TokenReader;
  readonly outbox: { wake(): void };
  readonly webhooks: { wake(endpointIds: readonly WebhookEndpointId[]): void };
  /** The dispatcher of transactions for chains. */
  readonly sends: { wake(lanes: readonly SendLaneName[]): void };
  readonly nodes: Nodes;
  readonly load: RequestLoad;
  /** Requests that were decided anew several times, by organization. */
  readonly late: Lines;
  /** The issuer of our own OpenID tokens. */
  readonly ownIssuer: () => OwnIssuer;
  readonly failedAuth: FailedAuthLimit;
  readonly lastUses: Pick<LastUses, 'note'>;
  readonly admission: Admission;
  readonly observe: EngineObserver;
  readonly readiness: Readiness;
  /** The streams of changes that clients follow. */
  readonly feed: Feed;
}
