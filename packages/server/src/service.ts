import { lookup } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LaunchedKeyring } from '@custos/keyring/launch';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import pino, { type Logger } from 'pino';
import type { ServedApp } from './app.ts';
import { buildApp } from './app.ts';
import { createFirstOrganization, openRootKey, withServiceKeys } from './bootstrap.ts';
import type { Config } from './config/config.ts';
import { keyringLimits } from './config/keyring-settings.ts';
import { hasDevInbox } from './config/message-ways.ts';
import { firstLink } from './console/first-run.ts';
import { InstallationReader, InstallationStore, PROCESS } from './core/store/installation.ts';
import { credentialsPath, newApiKeyPair, writeCredentials } from './credentials-file.ts';
import { createSignUpProxy } from './domains/sign-up-proxy/sign-up-proxy.ts';
import { threadPoster } from './domains/webhooks/poster/poster.ts';
import { dataModel } from './domains.ts';
import { sayAndExit } from './exit.ts';
import { LISTEN_BACKLOG } from './http/accept.ts';
import { DEV_INBOX_PATH } from './http/dev-inbox.ts';
import { NO_SCHEMAS } from './http/schemas.ts';
import { buildProxyServer, buildServer } from './http/server.ts';
import { refuseWhileStarting } from './http/starting.ts';
import { addStatusRoutes } from './http/status.ts';
import { newProcess, type Opened } from './key-rotation/follow.ts';
import { StartError } from './lib/start-error.ts';
import { Observer } from './observe.ts';
import { openServiceKeys } from './service-keys.ts';
import { openStorage } from './storage/open.ts';

/** A service that listens. */
export interface Service {
  readonly baseUrl: string;
  /** Where the sign-up proxy answers on a port of its own, if it does. */
  readonly proxyUrl: string | undefined;
  /** Where messages are kept that are not sent. */
  readonly devInbox: string | undefined;
  /** A link that signs in to the console once, where there are such links. */
  readonly consoleLink: string | undefined;
  /** Whether rows that were not marked by a service are refused. */
  readonly requiresMarks: boolean;
  /** When the database was restored, where nobody has accepted that yet; null where it cannot be told. */
  readonly fencedSince: string | null | undefined;
  /** Set when this start made the first organization. */
  readonly created: { readonly organizationId: string; readonly credentialsPath: string } | undefined;
  /** Finishes what is in flight, refuses what is new. */
  stop(): Promise<void>;
}

export const createLogger = (level: string): Logger =>
  // Logs go to standard error, so that standard output holds only what a person reads.
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['err.config', 'err.cause', 'err.detail', 'err.where', 'err.internalQuery'],
    },
    pino.destination(2),
  );

/**
 * Opens everything in order and listens; on a failure whatever was opened is closed again. A keyring process that was
 * started ahead is taken over.
 */
export async function startService(config: Config, launched?: LaunchedKeyring): Promise<Service> {
  const log = createLogger(config.logLevel);
  const observe = new Observer(log);
  const nowMs = Date.now();
  const self = newProcess();
  let opened: Opened | undefined;
  const storage = await openStorage({
    dataModel,
    ...config,
    nowMs,
    process: {
      name: `${PROCESS}${self.id}`,
      state: self.state,
      isKnown: (restored) => {
        opened = { restored };
      },
      onRestored: endRestored,
    },
    onIdleError: (error) => log.warn({ reason: error.message }, 'idle database connection lost'),
    onWaiting: (what) => log.warn(`waiting ${what}`),
  });
  const cleanups: (() => Promise<unknown>)[] = [
    () => storage.close(),
    // Whoever asks which processes run would wait for it.
    () => storage.write((store) => store(InstallationStore).removeProcess(self.id)).catch(() => {}),
  ];
  const closeAll = async (): Promise<void> => {
    for (const close of cleanups.reverse()) await close();
  };
  try {
    const keyring = await openRootKey(storage, config.rootKey, config.keyring, {
      observer: observe.health,
      launched,
      ...keyringLimits(config),
      refusesAdministration: true,
    });
    cleanups.push(() => keyring.close());
    storage.integrity.onViolation((violation, errorId) => observe.health.rowRefused(violation, errorId));
    const tell = (line: string): void => observe.health.integrity(line);
    const serviceKeys = await withServiceKeys(storage, keyring, config.rootKey, () =>
      openServiceKeys(storage, keyring, nowMs, {
        warn: tell,
        say: tell,
        process: self,
        opened,
        onRestored: endRestored,
      }),
    );
    let listening = '';
    const app = buildApp({
      config,
      storage,
      keyring,
      serviceKeys,
      log,
      observe,
      poster: threadPoster({
        allow: config.outboundAllow,
        died: (cause) =>
          log.error({ err: cause }, 'the thread that delivers webhooks ended; the next delivery starts another'),
      }),
      baseUrl: () => config.baseUrl ?? listening,
    });
    await app.feed.start();
    const proxy = createSignUpProxy(app);
    const server = buildServer(app, proxy);
    cleanups.push(() =>
      Promise.all([
        app.timekeeper.stop(),
        app.lastUses.stop(),
        app.outbox.stop(),
        app.webhooks.stop(),
        app.sends.stop(),
        app.balances.stop(),
      ]).finally(() => app.closeChains()),
    );
    cleanups.push(() => closeServer(server));
    const gates: (() => void)[] = [];
    const isFirstStart = !(await storage.read(InstallationReader).hasOrganization());
    const guard = (of: FastifyInstance): void => {
      if (isFirstStart) gates.push(refuseWhileStarting(of, app));
    };
    guard(server);
    const baseUrl = await listen(server, config, config.port);
    listening = baseUrl;
    const proxyServer = config.proxyPort === undefined ? undefined : buildProxyServer(app, proxy);
    if (proxyServer !== undefined) {
      cleanups.push(() => closeServer(proxyServer));
      guard(proxyServer);
    }
    const proxyUrl = proxyServer && (await listen(proxyServer, config, config.proxyPort ?? 0, 'CUSTOS_PROXY_PORT'));
    if (config.metricsPort !== undefined) {
      const metrics = openMetrics(app);
      cleanups.push(() => metrics.close());
      guard(metrics);
      await listen(metrics, config, config.metricsPort, 'CUSTOS_METRICS_PORT');
    }
    const created = await bootstrap(app, config.baseUrl ?? baseUrl);
    app.timekeeper.start();
    app.lastUses.start();
    app.outbox.start();
    app.webhooks.start();
    app.sends.start();
    app.balances.start();
    for (const open of gates) open();
    // Whoever waits for these files may call at once.
    if (config.port === 0) writeFileSync(join(config.dataDir, 'address'), `${baseUrl}\n`);
    if (config.proxyPort === 0) writeFileSync(join(config.dataDir, 'proxy-address'), `${proxyUrl}\n`);
    const devInbox = hasDevInbox(config) ? `${baseUrl}${DEV_INBOX_PATH}` : undefined;
    const consoleLink = firstLink(app, Number(new URL(baseUrl).port || 80));
    app.observe.started(baseUrl);
    const requiresMarks = storage.integrity.isRequired;
    const { isUp, restoredAtMs } = storage.fence.shown;
    const since = restoredAtMs === undefined ? null : new Date(restoredAtMs).toISOString();
    const fencedSince = isUp ? since : undefined;
    return { baseUrl, proxyUrl, created, devInbox, consoleLink, requiresMarks, fencedSince, stop: closeAll };
  } catch (error) {
    await closeAll().catch(() => {});
    throw error;
  }
}

/**
 * At once: what this process remembers is of a database that is no longer there. It was not noticed when the restore asked
 * which processes run, because it stood still.
 */
function endRestored(): void {
  sayAndExit('a backup was restored over the database while this process stood still: start it again');
}

/** A connection that was busy when the stop began becomes idle after its answer; it must not hold the stop either. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), 50);
  try {
    await server.close();
  } finally {
    clearInterval(sweep);
  }
}

async function listen(server: FastifyInstance, config: Config, port: number, setting = 'CUSTOS_PORT'): Promise<string> {
  try {
    // Given a name, Fastify would open a second server for its other address, which admits everything.
    const { address: host } = await lookup(config.host, { order: 'ipv4first' });
    await server.listen({ host, port, backlog: LISTEN_BACKLOG });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new StartError(`port ${port} on ${config.host} is taken by another program (${setting} changes it)`);
    throw new StartError(`cannot listen on ${config.host}:${port}: ${message}`);
  }
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new StartError('the server has no address');
  const host =
    config.host === '0.0.0.0'
      ? '127.0.0.1'
      : config.host === '::'
        ? '[::1]'
        : config.host.includes(':')
          ? `[${config.host}]`
          : config.host;
  return `http://${host}:${address.port}`;
}

/** Metrics and readiness on a port of their own, for scrapers that are not on this machine. */
function openMetrics(app: ServedApp): FastifyInstance {
  const server = fastify({ ...NO_SCHEMAS, logger: false });
  addStatusRoutes(server, app, () => true);
  return server;
}

async function bootstrap(app: ServedApp, baseUrl: string): Promise<Service['created']> {
  const { config, storage, keyring } = app;
  const pair = newApiKeyPair();
  const first = {
    organizationName: 'My organization',
    userName: 'Root user',
    apiKeyName: 'Root API key',
    publicKey: pair.publicKey,
  };
  // The file is written before the commit: an organization whose only key was lost would be lost too.
  const created = await createFirstOrganization(storage, keyring, first, app.clock(), (ids) =>
    writeCredentials(config.dataDir, {
      baseUrl,
      authProxyUrl: baseUrl,
      organizationId: ids.organizationId,
      userId: ids.userId,
      apiPublicKey: pair.publicKey,
      apiPrivateKey: pair.privateKey,
      authProxyConfigId: ids.authProxyConfigId,
    }),
  );
  return created && { organizationId: created.organizationId, credentialsPath: credentialsPath(config.dataDir) };
}
