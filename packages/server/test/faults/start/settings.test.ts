import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { SETTINGS, SettingError } from '../../../src/config/settings.ts';
import { expectRefusal, freePort, openTables, RawService, runService, temporaryFolder } from '../support.ts';
import { expectWhoami, newPlace, readCredentials, startOnce } from './support.ts';

async function drain<T>(queue: IterableIterator<T>, work: (item: T) => Promise<void>): Promise<void> {
  for (const item of queue) await work(item);
}

/** On a busy machine the one that comes second says what it waits for. */
const withoutWaiting = (stderr: string): string => stderr.replace(/^.*migrat(?:es|ion).*\n/gm, '');

describe('PostgreSQL at start', () => {
  test('away, a wrong password, an unknown database or user, no PostgreSQL at all: one line without the password', async () => {
    await using place = await newPlace('postgres');
    const right = new URL(place.url as string);
    const with_ = (change: (url: URL) => void): string => {
      const url = new URL(right);
      change(url);
      return url.toString();
    };
    const listen = async (server: Server): Promise<number> => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as { port: number }).port;
    };
    const silent = createServer(() => {});
    const foreign = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const closing = createServer((socket) => socket.destroy());
    const ports = await Promise.all([freePort(), listen(silent), listen(foreign), listen(closing)]);
    const cases: Record<string, string> = {
      'the password is wrong': with_((url) => {
        url.password = 'not-the-password';
      }),
      'the user is unknown': with_((url) => {
        url.username = 'nobody-at-all';
      }),
      'the database is unknown': with_((url) => {
        url.pathname = '/not_there';
      }),
      'the host is unknown': with_((url) => {
        url.hostname = 'not-there.invalid';
      }),
      'nobody listens': with_((url) => {
        url.port = String(ports[0]);
      }),
      'nobody answers': with_((url) => {
        url.port = String(ports[1]);
      }),
      'somebody else answers': with_((url) => {
        url.port = String(ports[2]);
      }),
      'somebody hangs up': with_((url) => {
        url.port = String(ports[3]);
      }),
    };
    try {
      const refuse = async ([name, url]: [string, string]): Promise<void> => {
        const outcome = await runService({ ...place.env, CUSTOS_DATABASE_URL: url, CUSTOS_DATABASE_WAIT_SECONDS: '0' });
        expect([name, outcome.stderr.trimEnd().split('\n').length]).toEqual([name, 1]);
        expectRefusal(outcome, /PostgreSQL/);
        for (const password of [right.password, 'not-the-password']) expect(outcome.stderr).not.toContain(password);
      };
      // They leave nothing behind, so that none has to wait for another one's time-out.
      const queue = Object.entries(cases).values();
      await Promise.all([0, 1, 2].map(() => drain(queue, refuse)));
    } finally {
      for (const server of [silent, foreign, closing]) server.close();
    }
    expect(place.names()).toEqual([]);
    await startOnce(place);
  }, 120_000);

  test('several workers: one line, not one per worker', async () => {
    await using place = await newPlace('postgres');
    const away = new URL(place.url as string);
    away.port = String(await freePort());
    const env = { ...place.env, CUSTOS_WORKERS: '3', CUSTOS_PORT: String(await freePort()) };
    const refused = await runService({
      ...env,
      CUSTOS_DATABASE_URL: away.toString(),
      CUSTOS_DATABASE_WAIT_SECONDS: '0',
    });
    expectRefusal(refused, /PostgreSQL/);
    await startOnce(place);
  });

  test('two services at once on an empty database, one data directory: one organization, both serve', async () => {
    for (let round = 0; round < 2; round += 1) {
      await using place = await newPlace('postgres');
      await using first = new RawService(place.env);
      await using second = new RawService(place.env);
      const addresses = await Promise.all([first.listening(), second.listening()]);
      const credentials = readCredentials(place.file('root-credentials.json'));
      for (const address of addresses) await expectWhoami(address as string, credentials);
      expect([first, second].filter((service) => service.stdout.includes('  organization  '))).toHaveLength(1);
      expect(withoutWaiting(`${first.stderr}${second.stderr}`)).toBe('');
      await using tables = await openTables(place.path, place.url);
      const [organizations, users] = await tables.read('SELECT id FROM organization', 'SELECT id FROM app_user');
      expect(organizations).toEqual([{ id: credentials.organizationId }]);
      expect(users).toEqual([{ id: credentials.userId }]);
      expect(place.names()).toEqual(['address', 'root-credentials.json', 'root.key']);
    }
  });

  test('two services at once on an empty database, two data directories: the second stops with one line', async () => {
    for (let round = 0; round < 2; round += 1) {
      await using place = await newPlace('postgres');
      using elsewhere = temporaryFolder();
      await using first = new RawService(place.env);
      await using second = new RawService({ ...place.env, CUSTOS_DATA_DIR: elsewhere.path });
      const addresses = await Promise.all([first.listening(), second.listening()]);
      expect(addresses.filter((address) => address !== undefined)).toHaveLength(1);
      const [loser, folder] = addresses[0] === undefined ? [first, elsewhere.path] : [second, place.path];
      const { code } = await loser.exited;
      expectRefusal({ code, signal: null, stdout: loser.stdout, stderr: withoutWaiting(loser.stderr) }, /root key/);
      const credentials = readCredentials(join(folder, 'root-credentials.json'));
      await expectWhoami((addresses[0] ?? addresses[1]) as string, credentials);
      await using tables = await openTables(place.path, place.url);
      const [organizations] = await tables.read('SELECT id FROM organization');
      expect(organizations).toEqual([{ id: credentials.organizationId }]);
    }
  });
});

describe('settings', () => {
  /** For every setting, values that cannot be used; a folder or a host may be any text. */
  const BAD: Record<keyof typeof SETTINGS, readonly string[]> = {
    backupRecipients: ['age1,', 'AGE-SECRET-KEY-1QQQ', 'ssh-ed25519 AAAA', 'age1a age1b'],
    balanceCatchUpBlocks: ['0', '1000001', 'x'],
    webhookRetentionDays: ['3', '3651', '7.5', 'week'],
    dataDir: [],
    host: [],
    port: ['http', '-1', '65536', '80.5', ' 80', '0x50', '1e3'],
    baseUrl: ['custos.example', 'ftp://custos.example', 'http://custos.example/?a=1', 'http://custos.example/#a'],
    databaseUrl: ['mysql://localhost/x', 'localhost:5432', 'postgres:/x', 'sqlite://x'],
    databasePool: ['0', '1', '1001', 'many'],
    databaseTimeoutSeconds: ['0', '601', '0.5', 'soon'],
    databaseWaitSeconds: ['-1', '86401', 'forever'],
    workers: ['0', '-1', '257', 'all'],
    rootKey: ['0123456789abcdef', 'file:', 'env:KEY', 'passphrase:secret'],
    keyring: ['hsm', 'INLINE', 'true', 'socket:', 'socket:run/keyring.sock', 'socket:/run/keyring.sock'],
    keyringKeyFile: ['/etc/custos/link.key'],
    keyringServices: ['0', '257', 'all'],
    organizationExports: ['-1', '1000001', '1.5', 'all'],
    exports: ['-1', '1000001', '1.5', 'all'],
    organizationImports: ['-1', '1000001', '1.5', 'none'],
    imports: ['-1', '1000001', '1.5', 'none'],
    metricsPort: ['x', '-1', '65536'],
    logLevel: ['verbose', 'INFO'],
    vendorNames: ['yes', 'ON'],
    console: ['yes', 'ON'],
    operatorOrganization: ['first', '00000000-0000-0000-0000'],
    listMax: ['0', '-5', '1000001'],
    admitRequests: ['0', '-1', 'all'],
    admitWaitMs: ['0', '60001', 'soon'],
    admitConnections: ['0', '1e3'],
    admitBodyMib: ['0', '64M'],
    failedAuthPerMinute: ['-1', 'none'],
    limitUsers: ['0', 'x'],
    limitTags: ['0', 'x'],
    invitationHours: ['0', '8761', '1.5', 'week'],
    limitInvitations: ['0', 'x'],
    limitApiKeys: ['0', 'x'],
    limitAuthenticators: ['0', 'x'],
    limitMfaPolicies: ['0', 'x'],
    limitWebhookEndpoints: ['0', 'x'],
    limitEarnWrappers: ['0', 'x'],
    limitDeployments: ['0', 'x'],
    mailTemplates: [],
    limitPolicies: ['0', '-1', 'none'],
    outboundAllow: ['localhost', '127.0.0.0/33', '10.0.0.1,'],
    appDomain: ['https://apps.example', 'apps example', '.example', 'a..example', '-a.example', 'Apps.example', 'a_b'],
    proxyPort: ['x', '-1', '65536'],
    proxyCodesPerMinute: ['-1', 'none'],
    proxyRequestsPerMinute: ['-1', 'none'],
    smtpUrl: ['mail.example', 'http://mail.example', 'smtp:'],
    mailFrom: ['nobody', 'A <b>', 'a@b.example\nBcc: c@d.example', '"x" <a@b.example>'],
    mailSenderDomains: ['example', 'a b.example', 'https://b.example', 'b.example,'],
    smsUrl: ['sms.example', 'ftp://sms.example', 'https://sms.example/#a'],
    smsUser: [],
    smsPassword: [],
    smsFrom: [],
    devInbox: ['yes', 'ON', 'true'],
    otpLength: ['5', '10', 'x'],
    otpSeconds: ['29', '601', 'x'],
    otpSecondsMax: ['29', '86401', 'x'],
    otpAttempts: ['0', '11', 'x'],
    otpActive: ['0', '101'],
    otpRequests: ['-1', 'x'],
    otpWindowSeconds: ['0', '86401'],
    otpOrganizationRequests: ['-1', 'x'],
    otpFailuresPerDay: ['-1', 'x'],
    verificationSeconds: ['59', '86401'],
    verificationSecondsMax: ['59', '2592001'],
    oauth2XTokenUrl: ['x.example', 'ftp://x.example'],
    oauth2XUserUrl: ['x.example', 'ftp://x.example'],
    oauth2DiscordTokenUrl: ['x.example', 'ftp://x.example'],
    oauth2DiscordUserUrl: ['x.example', 'ftp://x.example'],
    moonpayUrl: ['x.example', 'ftp://x.example', 'https://x.example/?a=1'],
    moonpaySandboxUrl: ['x.example', 'https://user@x.example'],
    moonpayApiUrl: ['x.example', 'https://x.example/a b', 'https://x.example/a//b'],
    coinbasePayUrl: ['x.example', 'https://x.example/#a'],
    coinbaseSandboxUrl: ['x.example', 'https://:password@x.example'],
    coinbaseApiUrl: ['x.example', 'https://x!.example', 'https://x.example/%20'],
    captchaSiteKey: [],
    captchaSecret: [],
    captchaUrl: ['x.example', 'ftp://x.example'],
    limitOauthProviders: ['0', 'x'],
    trustedProxies: ['10.0.0.1,', '10.0.0.1,here', 'localhost', '10.0.0.0/33', '::1/129'],
    chains: [
      'missing.json',
      '{',
      '[]',
      '{"eip155:x":{"rpcUrls":["http://node.example"]}}',
      '{"eip155:1":{}}',
      '{"eip155:1":{"rpcUrls":["ws://node.example"]}}',
      '{"eip155:1":{"rpcUrls":["http://node.example"],"confirmation":2}}',
      '{"eip155:1":{"rpcUrls":["http://node.example"],"sponsoredPerDay":"much"}}',
    ],
  };

  /** What the start would say; how it says so is the same for all, and shown below. */
  const refusalOf = (env: Readonly<Record<string, string>>): unknown => {
    try {
      readConfig(env);
      return 'accepted';
    } catch (error) {
      return error instanceof SettingError ? error.message : error;
    }
  };

  test('an empty value is the default, never something wider', () => {
    for (const { name } of Object.values(SETTINGS))
      expect([name, readConfig({ [name]: '' })]).toEqual([name, readConfig({})]);
  });

  test.each(Object.entries(BAD).filter(([, values]) => values.length > 0))(
    'a bad value is refused: %s',
    (key, values) => {
      const { name } = SETTINGS[key as keyof typeof SETTINGS];
      const refusals = values.map((value) => refusalOf({ [name]: value }));
      expect(refusals).toEqual(values.map(() => expect.stringMatching(new RegExp(`^${name} [^\n]+$`))));
    },
  );

  test('a bad value stops the start before anything is made', async () => {
    for (const key of ['port', 'rootKey'] as const) {
      const { name } = SETTINGS[key];
      using folder = temporaryFolder();
      const env = { CUSTOS_DATA_DIR: join(folder.path, 'data'), CUSTOS_PORT: '0', [name]: BAD[key][0] as string };
      expectRefusal(await runService(env, folder.path), new RegExp(name));
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  test('a host that cannot be listened on stops the start', async () => {
    await using place = await newPlace('sqlite');
    for (const host of ['not a host', '203.0.113.77']) {
      expectRefusal(await runService({ ...place.env, CUSTOS_HOST: host }), /cannot listen on/);
    }
    await startOnce(place);
  });

  test.each([
    ['CUSTOS_PROT', /CUSTOS_PROT is not a setting/],
    ['CUSTOS_DATABASE', /CUSTOS_DATABASE is not a setting.*CUSTOS_DATABASE_URL/],
    ['CUSTOS_', /CUSTOS_ is not a setting/],
    ['CUSTOS_port', /CUSTOS_port is not a setting/],
  ])('an unknown name is refused: %s', (name, reason) => {
    expect(refusalOf({ [name]: '8080' })).toMatch(reason);
  });

  test('an unknown name stops the start before anything is made', async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    const env = { CUSTOS_DATA_DIR: data, CUSTOS_PORT: '0', CUSTOS_DATABASE: '8080' };
    expectRefusal(await runService(env), /CUSTOS_DATABASE is not a setting.*CUSTOS_DATABASE_URL/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('more than one worker needs PostgreSQL and a fixed port', async () => {
    await using place = await newPlace('postgres');
    const { CUSTOS_DATABASE_URL: _url, ...embedded } = place.env;
    const port = String(await freePort());
    expectRefusal(
      await runService({ ...embedded, CUSTOS_PORT: port, CUSTOS_WORKERS: '2' }),
      /CUSTOS_WORKERS.*CUSTOS_DATABASE_URL/,
    );
    expectRefusal(await runService({ ...place.env, CUSTOS_WORKERS: '2' }), /CUSTOS_WORKERS.*CUSTOS_PORT/);
    expect(place.names()).toEqual([]);
  });

  test('a value is never printed: it may be a secret in the wrong place', async () => {
    using folder = temporaryFolder();
    const secret = 'hunter2hunter2hunter2';
    for (const name of ['CUSTOS_ROOT_KEY', 'CUSTOS_DATABASE_URL', 'CUSTOS_SMTP_PASS', 'CUSTOS_CHAINS']) {
      const refusal = refusalOf({ [name]: secret });
      expect(refusal).toContain(name);
      expect(refusal).not.toContain(secret);
    }
    const outcome = await runService({ CUSTOS_DATA_DIR: folder.path, CUSTOS_PORT: '0', CUSTOS_ROOT_KEY: secret });
    expectRefusal(outcome, /CUSTOS_ROOT_KEY/);
    expect(outcome.stderr).not.toContain(secret);
  });
});
