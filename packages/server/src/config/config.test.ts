import { isAbsolute, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { SETTINGS, SettingError } from './settings.ts';

function messageOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError);
    return (error as Error).message;
  }
  return 'accepted';
}

test('nothing set works on a laptop', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    dataDir: resolve('data'),
    rootKey: `file:${resolve('data', 'root.key')}`,
    databaseUrl: undefined,
    baseUrl: undefined,
    databasePool: 16,
    databaseTimeoutSeconds: 5,
    databaseWaitSeconds: 60,
    workers: 1,
    metricsPort: undefined,
    logLevel: 'info',
    vendorNames: true,
    listMax: 10_000,
    failedAuthPerMinute: 300,
    trustedProxies: [],
    limitUsers: undefined,
    limitPolicies: undefined,
    limitTags: undefined,
    invitationHours: 168,
    limitInvitations: undefined,
    limitApiKeys: undefined,
    limitAuthenticators: undefined,
    limitMfaPolicies: undefined,
    limitWebhookEndpoints: undefined,
    limitEarnWrappers: undefined,
    limitDeployments: undefined,
    outboundAllow: [],
    chains: new Map(),
    webhookRetentionDays: 30,
    smtpUrl: undefined,
    smsUrl: undefined,
    devInbox: undefined,
  });
});

test('one-time codes live, count and look as protocol/login 3.3 says', () => {
  expect(readConfig({})).toMatchObject({
    otpLength: 9,
    otpSeconds: 300,
    otpSecondsMax: 600,
    otpAttempts: 3,
    otpActive: 3,
    otpRequests: 3,
    otpWindowSeconds: 180,
    verificationSeconds: 3600,
  });
});

test('every default can be read, and names and summaries are there once', () => {
  const all = Object.values(SETTINGS);
  for (const setting of all) {
    expect(() => setting.parse(setting.fallback), setting.name).not.toThrow();
    expect(setting.name).toMatch(/^CUSTOS_[A-Z0-9_]+$/);
    expect(setting.summary, setting.name).toMatch(/\.$/);
  }
  expect(new Set(all.map((setting) => setting.name)).size).toBe(all.length);
});

test('the rest of the environment is not ours', () => {
  expect(messageOf({ PATH: '/bin', HOME: '/', CUSTOSX: '1', MY_CUSTOS_PORT: 'x' })).toBe('accepted');
});

describe('values', () => {
  test('are taken', () => {
    const config = readConfig({
      CUSTOS_DATA_DIR: '/srv/custos',
      CUSTOS_PORT: '0',
      CUSTOS_BASE_URL: 'https://keys.example/base//',
      CUSTOS_DATABASE_URL: 'postgresql://u:p@h:5432/d',
      CUSTOS_ROOT_KEY: 'passphrase-file:/run/secret',
      CUSTOS_VENDOR_NAMES: 'off',
      CUSTOS_METRICS_PORT: '9100',
      CUSTOS_LIMIT_USERS: '100',
      CUSTOS_LIMIT_POLICIES: '7',
      CUSTOS_TRUSTED_PROXIES: '10.1.2.3/8, 192.0.2.1,2001:DB8::1/32',
      CUSTOS_FAILED_AUTH_PER_MINUTE: '0',
      CUSTOS_WEBHOOK_RETENTION_DAYS: '4',
      CUSTOS_SMTP_URL: 'smtps://u:p@mail.example:465',
      CUSTOS_MAIL_FROM: 'Keys <keys@mail.example>',
      CUSTOS_MAIL_SENDER_DOMAINS: 'One.example, two.example',
      CUSTOS_DEV_INBOX: 'off',
      CUSTOS_OAUTH2_X_TOKEN_URL: 'http://127.0.0.1:1/token?a=1',
      CUSTOS_CHAINS: '{"eip155:1":{"rpcUrls":["https://u:p@node.example"]}}',
    });
    expect(config).toMatchObject({
      dataDir: '/srv/custos',
      port: 0,
      baseUrl: 'https://keys.example/base',
      databaseUrl: 'postgresql://u:p@h:5432/d',
      rootKey: 'passphrase-file:/run/secret',
      vendorNames: false,
      metricsPort: 9100,
      limitUsers: 100,
      limitPolicies: 7,
      // Host bits zeroed, a bare address as a block of one.
      trustedProxies: ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32'],
      failedAuthPerMinute: 0,
      webhookRetentionDays: 4,
      smtpUrl: 'smtps://u:p@mail.example:465',
      mailFrom: 'Keys <keys@mail.example>',
      mailSenderDomains: ['one.example', 'two.example'],
      devInbox: 'off',
      oauth2XTokenUrl: 'http://127.0.0.1:1/token?a=1',
    });
    expect(config.chains.get('eip155:1')).toMatchObject({ rpcUrls: ['https://u:p@node.example'], confirmations: 1 });
  });

  test('a relative folder is one of the working directory', () => {
    const { dataDir, rootKey } = readConfig({ CUSTOS_DATA_DIR: 'somewhere' });
    expect(isAbsolute(dataDir)).toBe(true);
    expect(rootKey).toBe(`file:${resolve(dataDir, 'root.key')}`);
  });

  test.each([
    ['CUSTOS_PORT', '65536'],
    ['CUSTOS_PORT', '-1'],
    ['CUSTOS_PORT', '80.5'],
    ['CUSTOS_PORT', 'http'],
    ['CUSTOS_DATABASE_URL', 'mysql://h/d'],
    ['CUSTOS_DATABASE_URL', '/var/lib/db'],
    ['CUSTOS_DATABASE_POOL', '1'],
    ['CUSTOS_WORKERS', '0'],
    ['CUSTOS_ROOT_KEY', 'aabbcc'],
    ['CUSTOS_ROOT_KEY', 'file:'],
    ['CUSTOS_BASE_URL', 'keys.example'],
    ['CUSTOS_BASE_URL', 'ftp://keys.example'],
    ['CUSTOS_BASE_URL', 'https://keys.example/?a=1'],
    ['CUSTOS_METRICS_PORT', 'none'],
    ['CUSTOS_LOG_LEVEL', 'loud'],
    ['CUSTOS_VENDOR_NAMES', 'true'],
    ['CUSTOS_LIST_MAX', '0'],
    ['CUSTOS_LIMIT_USERS', '0'],
    ['CUSTOS_LIMIT_POLICIES', '0'],
    ['CUSTOS_TRUSTED_PROXIES', 'all'],
    ['CUSTOS_TRUSTED_PROXIES', '10.0.0.1,'],
    ['CUSTOS_TRUSTED_PROXIES', ' '],
    ['CUSTOS_TRUSTED_PROXIES', 'proxy.example'],
    ['CUSTOS_TRUSTED_PROXIES', '10.0.0.0/8,10.0.0.0/33'],
    ['CUSTOS_TRUSTED_PROXIES', '10.0.0.0/8 192.0.2.1'],
    ['CUSTOS_FAILED_AUTH_PER_MINUTE', 'off'],
    ['CUSTOS_SMTP_URL', 'http://mail.example'],
    ['CUSTOS_MAIL_FROM', 'Keys'],
    ['CUSTOS_MAIL_FROM', 'Keys\r\nBcc: everybody <keys@mail.example>'],
    ['CUSTOS_MAIL_SENDER_DOMAINS', 'localhost'],
    ['CUSTOS_DEV_INBOX', 'yes'],
    ['CUSTOS_OTP_LENGTH', '5'],
    ['CUSTOS_OTP_ATTEMPTS', '0'],
    ['CUSTOS_OAUTH2_X_USER_URL', 'x.example/me'],
    ['CUSTOS_CHAINS', 'chains.json'],
    ['CUSTOS_CHAINS', '{'],
    ['CUSTOS_CHAINS', '[]'],
  ])('%s=%s stops the start with one line that names it', (name, value) => {
    const message = messageOf({ [name]: value });
    expect(message.startsWith(`${name} must be`), message).toBe(true);
    expect(message).not.toContain('\n');
  });

  test('a secret in a bad value is not repeated', () => {
    expect(messageOf({ CUSTOS_DATABASE_URL: 'mysql://u:hunter2@h/d' })).not.toContain('hunter2');
    expect(messageOf({ CUSTOS_ROOT_KEY: 'hunter2' })).not.toContain('hunter2');
    expect(messageOf({ CUSTOS_SMTP_URL: 'https://u:hunter2@mail.example' })).not.toContain('hunter2');
    expect(messageOf({ CUSTOS_CHAINS: 'https://u:hunter2@node.example' })).not.toContain('hunter2');
  });
});

test('an unknown name stops the start, with what may have been meant', () => {
  expect(messageOf({ CUSTOS_PROT: '1' })).toContain('CUSTOS_PROT is not a setting');
  expect(messageOf({ CUSTOS_DATABASE: 'x' })).toMatch(/CUSTOS_DATABASE_URL/);
  expect(messageOf({ CUSTOS_DATABASE: 'x' })).not.toContain('\n');
});

test('several workers need PostgreSQL and a fixed port', () => {
  expect(messageOf({ CUSTOS_WORKERS: '2' })).toContain('CUSTOS_DATABASE_URL');
  const shared = { CUSTOS_WORKERS: '2', CUSTOS_DATABASE_URL: 'postgres://h/d' };
  expect(messageOf({ ...shared, CUSTOS_PORT: '0' })).toContain('CUSTOS_PORT');
  expect(messageOf(shared)).toBe('accepted');
});

test('settings that mean nothing alone are refused alone', () => {
  const mail = { CUSTOS_SMTP_URL: 'smtp://mail.example' };
  expect(messageOf(mail)).toContain('CUSTOS_MAIL_FROM');
  expect(messageOf({ ...mail, CUSTOS_MAIL_FROM: 'keys@mail.example' })).toBe('accepted');
  const sms = {
    CUSTOS_SMS_URL: 'https://sms.example/Messages.json',
    CUSTOS_SMS_USER: 'user',
    CUSTOS_SMS_PASSWORD: 'password',
    CUSTOS_SMS_FROM: '+15550100',
  };
  const captcha = { CUSTOS_CAPTCHA_SITE_KEY: 'site', CUSTOS_CAPTCHA_SECRET: 'secret' };
  for (const together of [sms, captcha]) {
    expect(messageOf(together)).toBe('accepted');
    for (const name of Object.keys(together))
      expect(messageOf({ ...together, [name]: '' }), name).toContain('together');
  }
  for (const name of ['OTP', 'VERIFICATION']) {
    const seconds = { [`CUSTOS_${name}_SECONDS`]: '120' };
    expect(messageOf({ ...seconds, [`CUSTOS_${name}_SECONDS_MAX`]: '120' })).toBe('accepted');
    expect(messageOf({ ...seconds, [`CUSTOS_${name}_SECONDS_MAX`]: '119' })).toContain('must not be above');
  }
});
