import type { Keyring } from '@custos/keyring';
import type { Admission } from '../admission/admission.ts';
import type { Attestations } from '../authn/attestations.ts';
import type { FailedAuthLimit } from '../authn/failed-auth-limit.ts';
import type { TokenReader } from '../authn/identity/tokens.ts';
import type { OwnIssuer } from '../authn/oidc/own-issuer.ts';
import type { InterfaceCache } from '../chains/contract-interface.ts';
import type { Nodes } from '../chains/nodes/node.ts';
import type { Config } from '../config/config.ts';
import type { Earn } from '../domains/earn/earn.ts';
import type { Oauth2Exchange } from '../domains/login/oauth2/exchange.ts';
import type { Messages } from '../domains/messages/messages.ts';
import type { OnRamp } from '../domains/on-ramp/on-ramp.ts';
import type { UserRecords } from '../domains/users/user-records.ts';
import type { Webhooks } from '../domains/webhooks/webhooks.ts';
import type { Clock } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import type { RequestLoad } from '../lib/request-load.ts';
import type { Observer } from '../observe.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import type { Readiness } from './readiness.ts';
import type { Rulebooks } from './rulebooks.ts';
import type { SendLaneName } from './send-lane.ts';

/** Every dependency of a running service, built once at start and handed down. */
export interface App {
  readonly config: Config;
  readonly clock: Clock;
  /** Goes on when the clock is set. */
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly storage: Storage;
  readonly keyring: Keyring;
  /** The public sides of the service's own keys, which clients must trust (protocol/bundles 5.1). */
  readonly serviceKeys: readonly ServiceKey[];
  readonly attestations: Attestations;
  readonly userRecords: UserRecords;
  readonly rulebooks: Rulebooks;
  readonly interfaces: InterfaceCache;
  readonly tokens: TokenReader;
  readonly messages: Messages;
  readonly outbox: { wake(): void };
  readonly webhooks: Webhooks;
  /** The dispatcher of transactions for chains. */
  readonly sends: { wake(lanes: readonly SendLaneName[]): void };
  readonly nodes: Nodes;
  readonly earn: Earn;
  readonly load: RequestLoad;
  readonly oauth2: Oauth2Exchange;
  readonly onRamp: OnRamp;
  /** The issuer of our own OpenID tokens. */
  readonly ownIssuer: () => OwnIssuer;
  readonly failedAuth: FailedAuthLimit;
  readonly admission: Admission;
  readonly observe: Observer;
  readonly readiness: Readiness;
}
