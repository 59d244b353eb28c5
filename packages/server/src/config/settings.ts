import { isUuid, type OrganizationId } from '../lib/ids.ts';
import { normalizeCidr } from '../lib/network.ts';
import { parseUrl } from '../lib/url.ts';
import { chains } from './chains.ts';
import { KEYRING_SETTINGS } from './keyring-settings.ts';
import { choice, integer, type Setting, setting, text } from './setting.ts';
import { SettingError } from './setting-error.ts';

export { type Setting, SettingError };

function optionalInteger(min: number, max: number): (value: string) => number | undefined {
  const parse = integer(min, max);
  return (value) => (value === '' ? undefined : parse(value));
}

function databaseUrl(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^postgres(ql)?:\/\//.test(value) || parseUrl(value) === undefined) {
    throw new SettingError('must be a postgres:// address, or absent for the embedded database');
  }
  return value;
}

function baseUrl(value: string): string | undefined {
  if (value === '') return undefined;
  const url = parseUrl(value);
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

function smtpUrl(value: string): string | undefined {
  if (value === '') return undefined;
  const url = parseUrl(value);
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new SettingError('must be an smtp:// or smtps:// address');
  }
  return value;
}

function webUrl(value: string): string | undefined {
  if (value === '') return undefined;
  const url = parseUrl(value);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hash !== '') {
    throw new SettingError('must be an http:// or https:// address without fragment');
  }
  return value;
}

/** What calls are made below, and what tokens for them name: a host and at most a plain path. */
function apiUrl(value: string): string {
  const base = baseUrl(value) as string;
  const { username, password, hostname, pathname } = new URL(base);
  const isPlain = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostname) && /^(?:\/|(?:\/[\w.~-]+)+)$/.test(pathname);
  if (username !== '' || password !== '' || !isPlain) {
    throw new SettingError('must be an address of a host and at most a plain path');
  }
  return base;
}

const requiredWebUrl = (value: string): string => webUrl(value) as string;

/** An address, or a name and an address in angle brackets. */
function sender(value: string): string | undefined {
  if (value === '') return undefined;
  if (!/^(?:[^<>@\r\n"]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)) {
    throw new SettingError('must be an email address or `Name <address>`');
  }
  return value;
}

function domains(value: string): readonly string[] {
  if (value === '') return [];
  return value.split(',').map((part) => {
    const domain = part.trim().toLowerCase();
    if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) throw new SettingError('must be domain names with commas between');
    return domain;
  });
}

/** A name that others can be put in front of: labels of letters, digits and hyphens. */
function domain(value: string): string {
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
  if (value.length > 200 || !new RegExp(`^${label}(?:\\.${label})*$`).test(value)) {
    throw new SettingError('must be a domain name in lower case');
  }
  return value;
}

function organizationId(value: string): OrganizationId | undefined {
  if (value === '') return undefined;
  const id = value.toLowerCase();
  if (!isUuid(id)) throw new SettingError('must be the id of an organization (a UUID)');
  return id as OrganizationId;
}

const optionalText = (value: string): string | undefined => (value === '' ? undefined : value);

/** Whoever gives an identity, the secret that opens backups, hears of it and does not see it repeated. */
function recipients(value: string): readonly string[] {
  const all = value.split(',').map((part) => part.trim());
  if (value !== '' && !all.every((each) => /^age1[0-9a-z]+$/.test(each)))
    throw new SettingError('must be recipients of age (age1…) with commas between');
  return value === '' ? [] : all;
}

const port = integer(0, 65_535);
const optionalPort = optionalInteger(0, 65_535);
const limit = optionalInteger(1, 1_000_000_000);

/**
 * Every setting of the service: environment variables only, each with a default that works on a laptop. The table in
 * the README is checked against this list, and a CUSTOS_ name that is not here stops the start.
 */
export const SETTINGS = {
  dataDir: KEYRING_SETTINGS.dataDir,
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
  databasePool: setting(
    'CUSTOS_DATABASE_POOL',
    '16',
    'PostgreSQL connections per process; three in eight of them are for reads alone.',
    integer(2, 1000),
  ),
  databaseTimeoutSeconds: setting(
    'CUSTOS_DATABASE_TIMEOUT_SECONDS',
    '5',
    'How long PostgreSQL may take for a request before it is answered with 503.',
    integer(1, 600),
  ),
  databaseWaitSeconds: setting(
    'CUSTOS_DATABASE_WAIT_SECONDS',
    '60',
    'How long a start waits for a PostgreSQL that is away.',
    integer(0, 86_400),
  ),
  workers: KEYRING_SETTINGS.workers,
  rootKey: KEYRING_SETTINGS.rootKey,
  keyring: KEYRING_SETTINGS.keyring,
  keyringKeyFile: KEYRING_SETTINGS.keyringKeyFile,
  keyringServices: KEYRING_SETTINGS.keyringServices,
  organizationExports: KEYRING_SETTINGS.organizationExports,
  exports: KEYRING_SETTINGS.exports,
  organizationImports: KEYRING_SETTINGS.organizationImports,
  imports: KEYRING_SETTINGS.imports,
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
    '`on` adds the names the public SDKs read beside our neutral ones (error codes, webhook headers, key sets); `off` leaves only ours.',
    (value) => choice('on', 'off')(value) === 'on',
  ),
  console: setting(
    'CUSTOS_CONSOLE',
    'on',
    '`on` serves the web console at `/console`, `off` does not.',
    (value) => choice('on', 'off')(value) === 'on',
  ),
  operatorOrganization: setting(
    'CUSTOS_OPERATOR_ORGANIZATION',
    '',
    'Id of the organization whose root users may see how the service does, with `get_operations` and in the console; unset is the first organization on the embedded database, and nobody on PostgreSQL.',
    organizationId,
  ),
  listMax: setting(
    'CUSTOS_LIST_MAX',
    '10000',
    'How many objects a list answers without paginationOptions; beyond it the answer is RESULT_TOO_LARGE.',
    integer(1, 1_000_000),
  ),
  admitRequests: setting(
    'CUSTOS_ADMIT_REQUESTS',
    '32',
    'Requests that run at once in a process; more wait for their turn, by tree and organization, and are refused with 503 or 429 where that would take too long. Operations that wait for services outside have as many slots of their own, at least 32, and requests with bodies over 256 KiB one for every 32.',
    integer(1, 100_000),
  ),
  admitWaitMs: setting(
    'CUSTOS_ADMIT_WAIT_MS',
    '250',
    'Milliseconds that a request may wait for its turn; what would wait longer is refused at once.',
    integer(1, 60_000),
  ),
  admitConnections: setting(
    'CUSTOS_ADMIT_CONNECTIONS',
    '8192',
    'Open connections per process; beyond, the client address that has the most loses its most idle one.',
    integer(1, 1_000_000),
  ),
  admitBodyMib: setting(
    'CUSTOS_ADMIT_BODY_MIB',
    '64',
    'MiB of bodies that a process keeps for requests that have not started; beyond, the client address that has the most loses its slowest one.',
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
  invitationHours: setting(
    'CUSTOS_INVITATION_HOURS',
    '168',
    'How long the link of an invitation can be used, in hours.',
    integer(1, 8760),
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
  limitMfaPolicies: setting('CUSTOS_LIMIT_MFA_POLICIES', '', 'Most MFA policies per user; unset is unlimited.', limit),
  limitWebhookEndpoints: setting(
    'CUSTOS_LIMIT_WEBHOOK_ENDPOINTS',
    '',
    'Most webhook endpoints in an organization, the one of FEATURE_NAME_WEBHOOK aside; unset is unlimited.',
    limit,
  ),
  limitEarnWrappers: setting(
    'CUSTOS_LIMIT_EARN_WRAPPERS',
    '',
    'Most fee wrappers of an organization on all chains; unset is unlimited.',
    limit,
  ),
  limitDeployments: setting(
    'CUSTOS_LIMIT_DEPLOYMENTS',
    '',
    'Most deployments per app, deleted ones aside; unset is unlimited.',
    limit,
  ),
  outboundAllow: setting(
    'CUSTOS_OUTBOUND_ALLOW',
    '',
    'Address blocks that webhook receivers, OpenID issuers and other addresses named by organizations may be in besides public ones, and over plain http too, as CIDR blocks with commas between; unset for none.',
    networks,
  ),
  chains: setting(
    'CUSTOS_CHAINS',
    '',
    'Chains that transactions are sent to and Earn reads from: a JSON object by CAIP-2, or the path of a file with one (see the guide on chains); unset for none.',
    chains,
  ),
  balanceCatchUpBlocks: setting(
    'CUSTOS_BALANCE_CATCH_UP_BLOCKS',
    '7200',
    'How many blocks of a chain are caught up on for events about balances after a time without watching; those before are skipped.',
    integer(1, 1_000_000),
  ),
  webhookRetentionDays: setting(
    'CUSTOS_WEBHOOK_RETENTION_DAYS',
    '30',
    'How many days webhook deliveries are kept, for their organizations to see and replay; 4 or more, because they are tried for three.',
    integer(4, 3650),
  ),
  appDomain: setting(
    'CUSTOS_APP_DOMAIN',
    'apps.localhost',
    'Domain of deployed apps: the publicDomain of an app is `app-<id>.` and this.',
    domain,
  ),
  proxyPort: setting(
    'CUSTOS_PROXY_PORT',
    '',
    'A port of its own for the sign-up proxy; it answers under `/v1/` of the main port in any case.',
    optionalPort,
  ),
  proxyRequestsPerMinute: setting(
    'CUSTOS_PROXY_REQUESTS_PER_MINUTE',
    '300',
    'Calls of the sign-up proxy per client address and minute before they answer 429. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  proxyCodesPerMinute: setting(
    'CUSTOS_PROXY_CODES_PER_MINUTE',
    '20',
    'One-time codes that a client address may ask the sign-up proxy for per minute before it answers 429. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  smtpUrl: setting('CUSTOS_SMTP_URL', '', 'Mail server, `smtp://user:password@host:587` or `smtps://…`.', smtpUrl),
  mailFrom: setting(
    'CUSTOS_MAIL_FROM',
    '',
    'Sender of mails, an address or `Name <address>`; needed with CUSTOS_SMTP_URL.',
    sender,
  ),
  mailSenderDomains: setting(
    'CUSTOS_MAIL_SENDER_DOMAINS',
    '',
    'Domains that organizations may send from, with commas between; a sender elsewhere is ignored.',
    domains,
  ),
  mailTemplates: setting(
    'CUSTOS_MAIL_TEMPLATES',
    '',
    'Folder of mail templates, `<templateId>.html` and `<templateId>.txt`, that requests pick with `templateId` (see the guide on mail and SMS); unset for none.',
    optionalText,
  ),
  smsUrl: setting(
    'CUSTOS_SMS_URL',
    '',
    'Messages resource of a Twilio-compatible provider, as a full address; needs the other CUSTOS_SMS_ settings.',
    webUrl,
  ),
  smsUser: setting('CUSTOS_SMS_USER', '', 'User name (account id) at the SMS provider.', optionalText),
  smsPassword: setting('CUSTOS_SMS_PASSWORD', '', 'Password (token) at the SMS provider.', optionalText),
  smsFrom: setting('CUSTOS_SMS_FROM', '', 'Sender number or id of text messages.', optionalText),
  devInbox: setting(
    'CUSTOS_DEV_INBOX',
    '',
    '`on` keeps messages at `/dev/inbox` for loopback peers instead of sending them, `off` never does; unset does so where nothing is set to send, the database is the embedded one and the listen address loopback.',
    (value) => (value === '' ? undefined : choice('on', 'off')(value)),
  ),
  otpLength: setting(
    'CUSTOS_OTP_LENGTH',
    '9',
    'Length of one-time codes unless the request says another.',
    integer(6, 9),
  ),
  otpSeconds: setting(
    'CUSTOS_OTP_SECONDS',
    '300',
    'Seconds that a one-time code lives unless told otherwise.',
    integer(30, 600),
  ),
  otpSecondsMax: setting(
    'CUSTOS_OTP_SECONDS_MAX',
    '600',
    'Most seconds that a one-time code may live.',
    integer(30, 86_400),
  ),
  otpAttempts: setting('CUSTOS_OTP_ATTEMPTS', '3', 'Attempts at a one-time code before it dies.', integer(1, 10)),
  otpActive: setting(
    'CUSTOS_OTP_ACTIVE',
    '3',
    'Live one-time codes per contact and organization; a further one ends the oldest.',
    integer(1, 100),
  ),
  otpRequests: setting(
    'CUSTOS_OTP_REQUESTS',
    '3',
    'One-time codes per contact, and per userIdentifier, within CUSTOS_OTP_WINDOW_SECONDS. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  otpWindowSeconds: setting(
    'CUSTOS_OTP_WINDOW_SECONDS',
    '180',
    'Window of CUSTOS_OTP_REQUESTS and CUSTOS_OTP_ORGANIZATION_REQUESTS.',
    integer(1, 86_400),
  ),
  otpOrganizationRequests: setting(
    'CUSTOS_OTP_ORGANIZATION_REQUESTS',
    '3000',
    'Messages with codes or bundles per organization within CUSTOS_OTP_WINDOW_SECONDS. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  otpFailuresPerDay: setting(
    'CUSTOS_OTP_FAILURES_PER_DAY',
    '30',
    'Wrong one-time codes per contact within 24 hours before no further code is checked for it. 0 turns the limit off.',
    integer(0, 1_000_000),
  ),
  verificationSeconds: setting(
    'CUSTOS_VERIFICATION_SECONDS',
    '3600',
    'Seconds that a verification token lives unless told otherwise.',
    integer(60, 86_400),
  ),
  verificationSecondsMax: setting(
    'CUSTOS_VERIFICATION_SECONDS_MAX',
    '86400',
    'Most seconds that a verification token may live.',
    integer(60, 2_592_000),
  ),
  oauth2XTokenUrl: setting(
    'CUSTOS_OAUTH2_X_TOKEN_URL',
    'https://api.x.com/2/oauth2/token',
    'Token endpoint of OAUTH2_PROVIDER_X.',
    requiredWebUrl,
  ),
  oauth2XUserUrl: setting(
    'CUSTOS_OAUTH2_X_USER_URL',
    'https://api.x.com/2/users/me',
    'User endpoint of OAUTH2_PROVIDER_X.',
    requiredWebUrl,
  ),
  oauth2DiscordTokenUrl: setting(
    'CUSTOS_OAUTH2_DISCORD_TOKEN_URL',
    'https://discord.com/api/oauth2/token',
    'Token endpoint of OAUTH2_PROVIDER_DISCORD.',
    requiredWebUrl,
  ),
  oauth2DiscordUserUrl: setting(
    'CUSTOS_OAUTH2_DISCORD_USER_URL',
    'https://discord.com/api/users/@me',
    'User endpoint of OAUTH2_PROVIDER_DISCORD.',
    requiredWebUrl,
  ),
  moonpayUrl: setting(
    'CUSTOS_MOONPAY_URL',
    'https://buy.moonpay.com',
    'Page of FIAT_ON_RAMP_PROVIDER_MOONPAY to which buyers are sent.',
    apiUrl,
  ),
  moonpaySandboxUrl: setting(
    'CUSTOS_MOONPAY_SANDBOX_URL',
    'https://buy-sandbox.moonpay.com',
    'The same for `sandboxMode`.',
    apiUrl,
  ),
  moonpayApiUrl: setting(
    'CUSTOS_MOONPAY_API_URL',
    'https://api.moonpay.com',
    'Where FIAT_ON_RAMP_PROVIDER_MOONPAY is asked what became of purchases.',
    apiUrl,
  ),
  coinbasePayUrl: setting(
    'CUSTOS_COINBASE_PAY_URL',
    'https://pay.coinbase.com',
    'Page of FIAT_ON_RAMP_PROVIDER_COINBASE to which buyers are sent.',
    apiUrl,
  ),
  coinbaseSandboxUrl: setting(
    'CUSTOS_COINBASE_SANDBOX_URL',
    'https://pay-sandbox.coinbase.com',
    'The same for `sandboxMode`.',
    apiUrl,
  ),
  coinbaseApiUrl: setting(
    'CUSTOS_COINBASE_API_URL',
    'https://api.developer.coinbase.com',
    'Where FIAT_ON_RAMP_PROVIDER_COINBASE is asked for session tokens and what became of purchases.',
    apiUrl,
  ),
  captchaSiteKey: setting(
    'CUSTOS_CAPTCHA_SITE_KEY',
    '',
    'Site key of Cloudflare Turnstile, for sign-up proxies with captchaEnabled.',
    optionalText,
  ),
  captchaSecret: setting('CUSTOS_CAPTCHA_SECRET', '', 'Secret that belongs to CUSTOS_CAPTCHA_SITE_KEY.', optionalText),
  captchaUrl: setting(
    'CUSTOS_CAPTCHA_URL',
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    'Where captcha tokens are verified.',
    requiredWebUrl,
  ),
  backupRecipients: setting(
    'CUSTOS_BACKUP_RECIPIENTS',
    '',
    'Recipients that `custos backup` encrypts to if the command names none: age recipients (`age1…`) with commas between.',
    recipients,
  ),
  limitOauthProviders: setting(
    'CUSTOS_LIMIT_OAUTH_PROVIDERS',
    '',
    'Most OAuth providers per user; unset is unlimited.',
    limit,
  ),
} as const;
SETTINGS satisfies Record<string, Setting<unknown>>;
