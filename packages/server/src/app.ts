import type { Keyring } from '@custos/keyring';
import type { Logger } from 'pino';
import { Admission } from './admission/admission.ts';
import { countRefusals, showQueues } from './admission/metrics.ts';
import { FailedAuthLimit } from './authn/failed-auth-limit.ts';
import { createIdentityTokens } from './authn/identity/tokens.ts';
import { LastUses } from './authn/last-uses.ts';
import type { OwnIssuer } from './authn/oidc/own-issuer.ts';
import { createOidcVerifier } from './authn/oidc/verifier.ts';
import { newestAtMs } from './backup/newest.ts';
import { createInterfaceCache } from './chains/contract-interface.ts';
import type { Nodes } from './chains/nodes/node.ts';
import { createNodes } from './chains/nodes/nodes.ts';
import type { Config } from './config/config.ts';
import { ConsoleLinks } from './console/links.ts';
import { InstallationReader } from './core/store/installation.ts';
import { BalanceWatcher } from './domains/balances/watcher.ts';
import { createEarn } from './domains/earn/create-earn.ts';
import type { Earn } from './domains/earn/earn.ts';
import type { Oauth2Exchange } from './domains/login/oauth2/exchange.ts';
import { exchangeCode } from './domains/login/oauth2/exchange-code.ts';
import { createMessages } from './domains/messages/messages.ts';
import { createOutbox, type Outbox } from './domains/messages/outbox.ts';
import { createOnRamp } from './domains/on-ramp/on-ramp.ts';
import { simulate } from './domains/policies/simulation/simulate.ts';
import { SendDispatcher } from './domains/sends/dispatcher.ts';
import { createSendSigner } from './domains/sends/signer.ts';
import { UserRecords } from './domains/users/user-records.ts';
import { localPoster, type Poster } from './domains/webhooks/poster/poster.ts';
import { createTargetCheck } from './domains/webhooks/target.ts';
import { createWebhooks, type RunningWebhooks, type Webhooks } from './domains/webhooks/webhooks.ts';
import { AccessRulesCache } from './engine/access-rules.ts';
import type { App } from './engine/app.ts';
import { describeStored } from './engine/describe-stored.ts';
import { Feed } from './engine/feed/feed.ts';
import { Operations } from './engine/operations.ts';
import { createReadiness } from './engine/readiness.ts';
import { type Clock, monotonicClock, steadyClock, systemClock } from './lib/clock.ts';
import { randomId } from './lib/ids.ts';
import { Lines } from './lib/lines.ts';
import { RequestLoad } from './lib/request-load.ts';
import { Observer } from './observe.ts';
import { createGuardedFetch } from './outbound/guarded-fetch.ts';
import { nameSources, operations } from './registry.ts';
import type { ServiceKeySet } from './service-keys.ts';
import { createServiceStatus } from './service-status.ts';
import type { ServiceKey } from './storage/service-key.ts';
import type { Storage } from './storage/storage.ts';
import { Timekeeper } from './timekeeping/timekeeper.ts';
import { watchedClock } from './timekeeping/watched-clock.ts';

/** Of the connections that this process takes, so many may be feeds: they stay open. */
const FEED_SHARE = 1 / 4;

/** What a process must have opened before the service can be put together. */
export interface Parts {
  readonly config: Config;
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly serviceKeys: ServiceKeySet;
  readonly log: Logger;
  /** A new one over the log unless told otherwise. */
  readonly observe?: Observer;
  readonly clock?: Clock;
  /** Goes on when the clock is set; for what is compared within this process only. */
  readonly elapsed?: Clock;
  /** Who posts webhooks; in this thread unless told otherwise. */
  readonly poster?: Poster;
  /** How chains are asked, and what Earn reads from them; by the settings unless told otherwise. */
  readonly nodes?: Nodes;
  readonly earn?: Earn;
  /** Where clients reach the service, once that is known. */
  readonly baseUrl: () => string;
}

/** An app as HTTP serves it: metrics and the keys of webhooks are shown. */
export interface ServedApp extends App {
  readonly storage: Storage;
  readonly observe: Observer;
  readonly webhooks: Webhooks;
  readonly consoleLinks: ConsoleLinks;
}

/** An app whose parts can be started and stopped. */
export interface BuiltApp extends ServedApp {
  readonly outbox: Outbox;
  readonly webhooks: RunningWebhooks;
  readonly sends: SendDispatcher;
  readonly balances: BalanceWatcher;
  readonly timekeeper: Timekeeper;
  readonly lastUses: LastUses;
  /** Ends what is being asked of chains. */
  closeChains(): void;
}

/** The composition root: every dependency is built here, once, and handed down. */
export function buildApp(parts: Parts): BuiltApp {
  const { config, storage, keyring, log, elapsed = monotonicClock, baseUrl } = parts;
  const clock = watchedClock(parts.clock ?? systemClock, elapsed);
  const { current } = parts.serviceKeys;
  const allow = config.outboundAllow;
  const load = new RequestLoad();
  const steady = steadyClock(clock, elapsed);
  const observe = parts.observe ?? new Observer(log);
  observe.watchDatabase(storage);
  storage.integrity.onViolation((violation, errorId) => observe.health.rowRefused(violation, errorId));
  storage.fence.onChange((shown) => observe.health.fence(shown));
  observe.health.watchKeyring(keyring);
  observe.health.watchBackups(async () => newestAtMs(await storage.read(InstallationReader).backups()), clock);
  const accessRules = new AccessRulesCache(storage.read);
  const admission = new Admission(config, countRefusals(observe.metrics));
  showQueues(observe.metrics, admission);
  const issuerKeys = (): ServiceKey[] => current().filter(({ role }) => role === 'oidc-issuer');
  const ownIssuer = (): OwnIssuer => ({ issuer: baseUrl(), keys: issuerKeys() });
  const oidc = createOidcVerifier({ fetch: createGuardedFetch(allow), clock, elapsed, own: ownIssuer });
  const nodes = parts.nodes ?? createNodes(config.chains, { report: (...said) => observe.nodeRefused(...said) });
  const earn: Earn & { close?(): void } =
    parts.earn ??
    createEarn({ nodes, clock: elapsed, observe: (key, error) => observe.unavailable(`earn ${key}`, error) });
  const webhooks = createWebhooks({
    config,
    storage,
    keyring,
    serviceKeys: current,
    clock,
    steady,
    elapsed,
    observe,
    poster: parts.poster ?? localPoster({ allow }),
    checkTarget: createTargetCheck(allow),
    describe: (...asked) => describeStored(app, ...asked),
    isBusy: () => load.isBusy(),
  });
  const onRamp = createOnRamp({ config, storage, keyring, clock });
  const oauth2 = oauth2Exchange(config);
  const readiness = createReadiness({ storage, keyring });
  const serviceStatus = createServiceStatus({ config, storage, keyring, observe, readiness, nodes, clock, baseUrl });
  const app: BuiltApp = {
    config,
    clock,
    elapsed,
    newId: randomId,
    storage,
    keyring,
    get serviceKeys() {
      return current();
    },
    // Loaded with the first registration, see authn/authenticate.ts.
    attestations: {
      verify: async (input, origins) => (await import('./authn/attestation.ts')).verifyAttestation(input, origins),
    },
    userRecords: new UserRecords(),
    accessRules,
    interfaces: createInterfaceCache(),
    nameSources,
    tokens: createIdentityTokens(current, oidc, storage.fence),
    outbox: createOutbox({ config, storage, keyring, clock: steady, elapsed, newId: randomId, observe }),
    webhooks,
    nodes,
    operations: new Operations(operations),
    services: {
      query: { earn, onRamp, serviceStatus, simulate: (...asked) => simulate(app, ...asked) },
      prepare: { earn, onRamp, messages: createMessages({ config, keyring, newId: randomId }), oauth2, webhooks },
    },
    closeChains: () => {
      earn.close?.();
      nodes.close();
    },
    sends: new SendDispatcher({
      chains: [...config.chains.values()],
      nodes,
      storage,
      signer: createSendSigner({ storage, keyring }),
      webhooks,
      clock: steady,
      elapsed,
      newId: randomId,
      observe,
    }),
    balances: new BalanceWatcher({
      chains: config.chains,
      nodes,
      storage,
      clock: steady,
      elapsed,
      newId: randomId,
      catchUpBlocks: config.balanceCatchUpBlocks,
      wake: (endpointIds) => webhooks.wake(endpointIds),
      observe,
    }),
    timekeeper: new Timekeeper({
      storage,
      clock,
      elapsed,
      steady,
      observe: {
        clockSkew: (milliseconds) => observe.health.clockSkew(milliseconds),
        clockJumped: (milliseconds) => observe.health.clockJumped(milliseconds),
        unavailable: (...said) => observe.unavailable(...said),
      },
    }),
    load,
    ownIssuer,
    lastUses: new LastUses({ storage, clock, observe }),
    failedAuth: new FailedAuthLimit(config.failedAuthPerMinute, elapsed),
    admission,
    observe,
    consoleLinks: new ConsoleLinks(elapsed),
    readiness,
    late: new Lines(),
    feed: new Feed({
      storage,
      accessRules,
      clock,
      elapsed,
      streamsMax: Math.ceil(FEED_SHARE * config.admitConnections),
    }),
  };
  return app;
}

const oauth2Exchange =
  (config: Config): Oauth2Exchange =>
  (exchange) =>
    exchangeCode({
      ...exchange,
      endpoints:
        exchange.provider === 'OAUTH2_PROVIDER_X'
          ? { tokenUrl: config.oauth2XTokenUrl, userUrl: config.oauth2XUserUrl }
          : { tokenUrl: config.oauth2DiscordTokenUrl, userUrl: config.oauth2DiscordUserUrl },
    });
