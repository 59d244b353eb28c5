import type { ServedApp } from '../app.ts';
import { parsePublicKey } from '../authn/public-key.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/message-ways.ts';
import { type Actor, publicKeyOf, sessionProfileIdOf } from '../core/actor.ts';
import { InstallationReader } from '../core/store/installation.ts';
import {
  deleteCredentials,
  isForeignFile,
  type RootCredentials,
  readCredentials,
  stampWith,
} from '../credentials-file.ts';
import { CredentialReader } from '../domains/users/store/credentials.ts';
import { admit } from '../engine/admit.ts';
import { dispatch } from '../engine/dispatch.ts';
import { guardAuthentication } from '../engine/guard.ts';
import type { RawRequest } from '../engine/request.ts';
import type { ActivityAnswer } from '../engine/vote-draft.ts';
import { toRfc3339 } from '../lib/clock.ts';
import { sha256Hex } from '../lib/encoding.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { VERSION } from '../lib/version.ts';
import { readForgetBody, readLinkBody, readNewLinkBody } from './bodies.ts';

/** A stamped call must be as fresh as this; nobody keeps one. */
const FRESH_MS = 5 * 60 * 1000;

/** Why this service has no links, where it has none: whoever reads its terminal must be the one who runs it. */
function linkRefusal({ console, databaseUrl, host }: Config): string | undefined {
  if (!console) return 'the console is switched off (CUSTOS_CONSOLE)';
  if (databaseUrl !== undefined) return 'links to the console need the embedded database, and this is PostgreSQL';
  if (!isLoopbackHost(host)) return `links to the console need a loopback address to listen on, and this is ${host}`;
  return undefined;
}

/** Passkeys need a name: an IP address cannot be a relying party. */
function consoleAddress({ host }: Config, port: number): string {
  const isNamed = ['localhost', '127.0.0.1', '::1'].includes(host.toLowerCase());
  return `http://${isNamed ? 'localhost' : host}:${port}/console`;
}

const linkAddress = ({ config, consoleLinks }: ServedApp, port: number): string =>
  `${consoleAddress(config, port)}#link=${consoleLinks.issue()}`;

/** The link that a start prints, if it may and there is something to sign in with. */
export function firstLink(app: ServedApp, port: number): string | undefined {
  const { config } = app;
  if (linkRefusal(config) !== undefined || readCredentials(config.dataDir) === undefined) return undefined;
  return linkAddress(app, port);
}

/** What the console's page may know before anybody signed in: no names. Ids for somebody on this machine alone. */
export async function consoleContext(app: ServedApp, isLocal: boolean): Promise<unknown> {
  const { config, storage } = app;
  const facts = { version: VERSION, isLoopback: isLocal, now: toRfc3339(app.clock()) };
  if (!isLocal) return facts;
  const firstOrganizationId = await storage.read(InstallationReader).get('bootstrap');
  const credentials = readCredentials(config.dataDir);
  return {
    ...facts,
    ...(firstOrganizationId !== undefined && { firstOrganizationId }),
    ...(credentials !== undefined && { credentialsFile: { publicKey: credentials.apiPublicKey } }),
  };
}

/**
 * Signs in with a link: an ordinary `stamp_login`, stamped with the key of the credentials file, for a session key that
 * the browser made (docs/decisions/0046). Whatever refuses such a login to that key refuses it here.
 */
export async function signInByLink(app: ServedApp, request: RawRequest): Promise<unknown> {
  const { token, publicKey: text } = readLinkBody(request.body);
  // Before the link is used up.
  const publicKey = parsePublicKey('P256', text, 'publicKey');
  const refusal = linkRefusal(app.config);
  if (refusal !== undefined) throw new ApiError('PATH_NOT_FOUND', refusal);
  await guardAuthentication(app, request, async () => app.consoleLinks.use(token));
  const credentials = requireCredentials(app.config);
  const { organizationId, userId } = credentials;
  const type = 'ACTIVITY_TYPE_STAMP_LOGIN';
  const body = Buffer.from(
    JSON.stringify({ type, timestampMs: String(app.clock()), organizationId, parameters: { publicKey } }),
  );
  const { clientAddress, passage } = request;
  const headers = { 'x-stamp': stampWith(credentials, body) };
  const raw = { body, headers, clientAddress, ...(passage && { passage }) };
  const { activity } = (await dispatch(app, app.operations.get(type), raw)) as ActivityAnswer;
  if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') throw stillPending(activity);
  const { session } = Object.values(activity.result)[0] as { readonly session: string };
  app.observe.consoleSignIn(organizationId, userId);
  return { session, organizationId, userId };
}

/** The organization asks for more than a stamp: its approvals and factors are given with the credentials that it has. */
function stillPending({ id, organizationId, fingerprint, status }: ActivityAnswer['activity']): ApiError {
  const details = { activityId: id, organizationId, fingerprint, status };
  return new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    `the organization asks for more than the key of the file (${status}): the login is activity ${id}`,
    { details: [{ '@type': 'type.googleapis.com/errors.v1.PendingActivity', ...details }] },
  );
}

/** A new link, for whoever holds the key of the file: `custos console` reads it and stamps. */
export async function newLink(app: ServedApp, request: RawRequest, port: number): Promise<unknown> {
  const { organizationId, timestampMs } = readNewLinkBody(request.body);
  const refusal = linkRefusal(app.config);
  if (refusal !== undefined) throw new ApiError('PATH_NOT_FOUND', refusal);
  const actor = await admitStamped(app, request, organizationId, timestampMs);
  const credentials = requireCredentials(app.config);
  if (actor.homeId !== credentials.organizationId || publicKeyOf(actor) !== credentials.apiPublicKey) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'only the key of the credentials file gets a link to the console');
  }
  if (!app.consoleLinks.isFirst(sha256Hex(request.body))) {
    throw invalidField('timestampMs', 'these bytes have asked for a link before; stamp new ones');
  }
  return { url: linkAddress(app, port) };
}

/**
 * Deletes the credentials file once its API key is gone, for a root user of its organization. Until then the file may be
 * the only way in.
 */
export async function forgetCredentials(app: ServedApp, request: RawRequest): Promise<unknown> {
  const { organizationId, timestampMs } = readForgetBody(request.body);
  const actor = await admitStamped(app, request, organizationId, timestampMs);
  const { organization, homeId, userId, credential } = actor;
  const isWhole = credential.kind !== 'read-session' && sessionProfileIdOf(actor) === undefined;
  if (homeId !== organization.id || !organization.rootUserIds.includes(userId) || !isWhole) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'only a root user with a full session deletes the credentials file');
  }
  const credentials = readCredentials(app.config.dataDir);
  if (credentials === undefined) {
    if (!isForeignFile(app.config.dataDir)) return { deleted: false };
    throw new ApiError(
      'REQUEST_NOT_AUTHORIZED',
      'root-credentials.json is a link, or belongs to another user of the machine: delete it by hand',
    );
  }
  if (credentials.organizationId !== organization.id) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'the credentials file belongs to another organization');
  }
  if (await app.storage.read(CredentialReader).hasApiKey(organization.id, credentials.apiPublicKey)) {
    throw new ApiError(
      'CREDENTIALS_IN_USE',
      'the API key of root-credentials.json still exists: delete it with delete_api_keys first, then the file',
    );
  }
  deleteCredentials(app.config.dataDir);
  app.observe.credentialsFileDeleted(organization.id, userId);
  return { deleted: true };
}

async function admitStamped(
  app: ServedApp,
  request: RawRequest,
  organizationId: string,
  timestampMs: string,
): Promise<Actor> {
  const { actor } = await admit(app, request, {
    organizationId: organizationId as OrganizationId,
    fingerprint: undefined,
    findsSubOrganization: false,
    acceptsAttested: false,
    acceptsRecovery: false,
    waitsOutside: false,
  });
  if (Math.abs(app.clock() - Number(timestampMs)) > FRESH_MS) {
    throw invalidField('timestampMs', 'must be the time of this service, give or take five minutes');
  }
  return actor;
}

function requireCredentials({ dataDir }: Config): RootCredentials {
  const credentials = readCredentials(dataDir);
  if (credentials !== undefined) return credentials;
  throw new ApiError('RESOURCE_NOT_FOUND', 'there is no root-credentials.json to sign in with; use a passkey');
}
