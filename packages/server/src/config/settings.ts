import { normalizeCidr } from '../lib/network.ts';

/**
 * Every setting of the service: environment variables only, each with a default that works on a laptop. The table in
 * the README is checked against this list, and a CUSTOS_ name that is not here stops the start.
 */
export interface Setting<T> {
  readonly name: `CUSTOS_${string}`;
  /** As the README shows it; the empty string means unset. */
  readonly fallback: string;
  readonly summary: string;
  parse(text: string): T;
}

/** A value that cannot be used; the message ends the line that the operator sees. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

const setting = <T>(
  name: Setting<T>['name'],
  fallback: string,
  summary: string,
  parse: (text: string) => T,
): Setting<T> => ({
  name,
  fallback,
  summary,
  parse,
});

const text = (value: string): string => value;

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new SettingError(`must be a whole number from ${min} to ${max}`);
    return number;
  };
}

function optionalInteger(min: number, max: number): (value: string) => number | undefined {
  const parse = integer(min, max);
  return (value) => (value === '' ? undefined : parse(value));
}

function choice<const Choice extends string>(...choices: readonly Choice[]): (value: string) => Choice {
  return (value) => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new SettingError(`must be one of ${choices.join(', ')}`);
    return found;
  };
}

function databaseUrl(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new SettingError('must be a postgres:// address, or absent for the embedded database');
  }
  return value;
}

function rootKey(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^(file|passphrase-file):.+/.test(value)) throw new SettingError('must be file:PATH or passphrase-file:PATH');
  return value;
}

function baseUrl(value: string): string | undefined {
  if (value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new SettingError('must be an http:// or https:// address without query or fragment');
  }
  return value.replace(/\/+$/, '');
}

/** Comma-separated blocks of addresses. */
function networks(value: string): readonly string[] {
  if (value === '') return [];
  return value.split(',').map((part) => {
    const block = normalizeCidr(part);
    if (block === undefined) {
      throw new SettingError('must be IPv4 or IPv6 blocks such as 10.0.0.0/8, with commas between');
    }
    return block;
  });
}

const port = integer(0, 65_535);
const optionalPort = optionalInteger(0, 65_535);
const limit = optionalInteger(1, 1_000_000_000);

export const SETTINGS = {
  dataDir: setting(
    'CUSTOS_DATA_DIR',
    './data',
    'Folder of the embedded database, the root key and the first credentials.',
    text,
  ),
  host: setting('CUSTOS_HOST', '127.0.0.1', 'Address to listen on.', text),
  port: setting(
    'CUSTOS_PORT',
    '8080',
    'Port to listen on; 0 picks a free one and writes it to `<data>/address`.',
    port,
  ),
  baseUrl: setting(
    'CUSTOS_BASE_URL',
    '',
    'Address under which clients reach the service, if it is not the listen address.',
    baseUrl,
  ),
  trustedProxies: setting(
    'CUSTOS_TRUSTED_PROXIES',
    '',
    'Addresses of proxies whose `X-Forwarded-For` is believed, as CIDR blocks with commas between; unset for none.',
    networks,
  ),
  databaseUrl: setting(
    'CUSTOS_DATABASE_URL',
    '',
    '`postgres://…` for PostgreSQL 13 or newer; unset for the embedded SQLite database.',
    databaseUrl,
  ),
  databasePool: setting('CUSTOS_DATABASE_POOL', '16', 'PostgreSQL connections per process.', integer(2, 1000)),
  workers: setting('CUSTOS_WORKERS', '1', 'HTTP processes; more than one needs PostgreSQL.', integer(1, 256)),
  rootKey: setting(
    'CUSTOS_ROOT_KEY',
    '',
    '`file:PATH` or `passphrase-file:PATH`; unset for `<data>/root.key`.',
    rootKey,
  ),
  keyring: setting(
    'CUSTOS_KEYRING',
    'process',
    '`process` keeps keys in a process of their own; `inline` in the HTTP process, for tests.',
    choice('process', 'inline'),
  ),
  metricsPort: setting(
    'CUSTOS_METRICS_PORT',
    '',
    'A port of its own for `/metrics` and the detail of `/readyz`; unset answers them to loopback peers on the main port.',
    optionalPort,
  ),
  logLevel: setting(
    'CUSTOS_LOG_LEVEL',
    'info',
    'trace, debug, info, warn, error or silent.',
    choice('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  ),
  vendorNames: setting(
    'CUSTOS_VENDOR_NAMES',
    'on',
    '`on` adds the names the public SDKs read beside our neutral ones (error codes); `off` leaves only ours.',
    (value) => choice('on', 'off')(value) === 'on',
  ),
  listMax: setting(
    'CUSTOS_LIST_MAX',
    '10000',
    'How many objects a list answers without paginationOptions; beyond it the answer is RESULT_TOO_LARGE.',
    integer(1, 1_000_000),
  ),
  failedAuthPerMinute: setting(
    'CUSTOS_FAILED_AUTH_PER_MINUTE',
    '300',
    'Failed authentications per client address, minute and process before they answer 429; valid stamps are never refused. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  limitUsers: setting('CUSTOS_LIMIT_USERS', '', 'Most users in an organization; unset is unlimited.', limit),
  limitPolicies: setting('CUSTOS_LIMIT_POLICIES', '', 'Most policies in an organization; unset is unlimited.', limit),
  limitTags: setting('CUSTOS_LIMIT_TAGS', '', 'Most tags in an organization; unset is unlimited.', limit),
  limitInvitations: setting(
    'CUSTOS_LIMIT_INVITATIONS',
    '',
    'Most open invitations in an organization; unset is unlimited.',
    limit,
  ),
  limitApiKeys: setting(
    'CUSTOS_LIMIT_API_KEYS',
    '',
    'Most API keys without expiry per user; unset is unlimited.',
    limit,
  ),
  limitAuthenticators: setting(
    'CUSTOS_LIMIT_AUTHENTICATORS',
    '',
    'Most authenticators per user; unset is unlimited.',
    limit,
  ),
} as const;
SETTINGS satisfies Record<string, Setting<unknown>>;
