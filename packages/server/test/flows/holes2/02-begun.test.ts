import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ActivityReader } from '../../../src/core/store/activity-reader.ts';
import type { OrganizationId } from '../../../src/lib/ids.ts';
import { onPostgres, waitUntil } from '../../faults/support.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { newKeyPair, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { anotherCode, attemptOf, LoginService, newEmail, REFUSED_CODE } from '../fixtures/logins.ts';
import { boundTo, encryptClientSecret, OAUTH2_CLIENT, Oauth2Providers } from '../fixtures/oauth.ts';
import { open, requestOf, until } from '../fixtures/raw-requests.ts';

// What was done for a request and cannot be done again is neither thrown away nor done twice (docs/decisions/0034).

const PATH = '/public/v1/submit/oauth2_authenticate';
const VERIFY_PATH = '/public/v1/submit/verify_otp';

/** What was decided without it has to be decided again. */
const addControl = (client: TestClient) =>
  client.run('create_velocity_control', {
    name: 'many',
    identifier: 'many',
    dataSource: { activityExecution: {} },
    aggregation: {
      method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
      operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
      threshold: '1000',
      window: { rolling: { duration: '1h' } },
      groupBy: { organization: {} },
    },
  });

/** A service whose users come with codes of a provider that is on loopback. */
class CodeService implements AsyncDisposable {
  readonly app: TestApp;
  readonly providers: Oauth2Providers;
  readonly #oauth2CredentialId: string;

  private constructor(app: TestApp, providers: Oauth2Providers, oauth2CredentialId: string) {
    this.app = app;
    this.providers = providers;
    this.#oauth2CredentialId = oauth2CredentialId;
  }

  static async open(database: 'sqlite' | 'postgres', env: Record<string, string> = {}): Promise<CodeService> {
    const providers = await Oauth2Providers.start();
    const app = await openTestApp(database, { ...providers.env, ...env });
    const ourKey = app.app.serviceKeys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
    const { oauth2CredentialId } = await app.root.run('create_oauth2_credential', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: OAUTH2_CLIENT.id,
      encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, ourKey),
    });
    return new CodeService(app, providers, oauth2CredentialId);
  }

  /** The body of a request with a new code. */
  newBody(): string {
    return this.app.root.submitBody('oauth2_authenticate', {
      oauth2CredentialId: this.#oauth2CredentialId,
      ...this.providers.authorize(),
      nonce: boundTo('02ab').nonce,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    await this.providers[Symbol.asyncDispose]();
  }
}

/** A new connection, and the service's end of it. */
async function openBothEnds(app: TestApp): Promise<[Socket, Socket]> {
  const accepted = once(app.server.server, 'connection') as Promise<[Socket]>;
  const socket = await open(app, '127.0.0.1');
  const [ourEnd] = await accepted;
  return [socket, ourEnd];
}

const isStored = async ({ app, root }: TestApp, body: string): Promise<boolean> => {
  const fingerprint = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  return (
    (await app.storage.read(ActivityReader).idByFingerprint(root.organizationId as OrganizationId, fingerprint)) !==
    undefined
  );
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(DATABASES)('what was begun, on %s,', (database) => {
  test('is carried out for a client that left while its code was exchanged', async () => {
    await using service = await CodeService.open(database);
    const { app, providers } = service;
    const { root } = app;
    expect(outcome(await root.sendStamped(PATH, service.newBody()))).toEqual([200, COMPLETED]);

    const body = service.newBody();
    const [socket, ourEnd] = await openBothEnds(app);
    const before = providers.exchanges;
    providers.meanwhile = async () => {
      providers.meanwhile = undefined;
      const closed = once(ourEnd, 'close');
      socket.destroy();
      await closed;
    };
    socket.write(requestOf(root, PATH, body));
    await waitUntil('the activity is stored', () => isStored(app, body));
    const again = await root.sendStamped(PATH, body);
    expect(outcome(again)).toEqual([200, COMPLETED]);
    expect(again.body.activity.result.oauth2AuthenticateResult.oidcToken).toMatch(/^ey/);
    expect(providers.exchanges).toBe(before + 1);
  });

  test('counts as one attempt at a code, also where it is decided anew after its client left', async () => {
    const max = 3;
    await using logins = await LoginService.open(database, { CUSTOS_OTP_ATTEMPTS: String(max) });
    const { parent, service } = logins;
    const { keyring } = service.app;
    const sent = await logins.sendCode(parent, newEmail());
    const attempt = (code: string) => attemptOf(sent, newKeyPair(), code);
    for (let wrong = 1; wrong < max; wrong += 1) {
      expect(outcome(await parent.submit('verify_otp', attempt(anotherCode(sent.code))))).toEqual(REFUSED_CODE);
    }
    // The last one: while it is checked the rules change, so that it has to be decided again, and the client leaves.
    const body = parent.submitBody('verify_otp', attempt(sent.code));
    const [socket, ourEnd] = await openBothEnds(service);
    const check = keyring.checkOtp.bind(keyring);
    const checks = vi.spyOn(keyring, 'checkOtp').mockImplementationOnce(async (...args) => {
      await addControl(parent);
      const closed = once(ourEnd, 'close');
      socket.destroy();
      await closed;
      return await check(...args);
    });
    socket.write(requestOf(parent, VERIFY_PATH, body));
    await waitUntil('the activity is stored', () => isStored(service, body));
    expect(checks).toHaveBeenCalledTimes(2);
    const again = await parent.sendStamped(VERIFY_PATH, body);
    expect(outcome(again)).toEqual([200, COMPLETED]);
    expect(again.body.activity.result.verifyOtpResult.verificationToken).toMatch(/^ey/);
    // It was right, so nothing of it is left in the count of wrong ones either.
    const [count] = await logins.rows.run("SELECT times FROM rate_window WHERE name LIKE 'wrong-code:%'");
    const times = JSON.parse(String(count?.times)) as [number, number][];
    expect(times.reduce((sum, [, each]) => sum + each, 0)).toBe(max - 1);
  });
});

test('a code that was used waits for its turn on PostgreSQL longer than others, which are refused', {
  timeout: 60_000,
}, async () => {
  await using service = await CodeService.open('postgres', { CUSTOS_ADMIT_WAIT_MS: '250' });
  const { app, providers } = service;
  const { root } = app;
  const { storage, config } = app.app;
  const waiting = (): number => storage.load.find(({ pool }) => pool === 'write')?.waiting ?? 0;
  let tags = 0;
  const addTag = () => {
    tags += 1;
    return root.submit('create_user_tag', { userTagName: `tag ${tags}`, userIds: [] });
  };
  expect(outcome(await addTag())).toEqual([200, COMPLETED]);
  await onPostgres(config.databaseUrl ?? '', async (client) => {
    let fillers: ReturnType<typeof addTag>[] = [];
    providers.meanwhile = async () => {
      // Somebody holds the organization, one stands behind it and one behind that: the next has to wait for its turn.
      await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [root.organizationId]);
      fillers = [addTag(), addTag()];
      await waitUntil('two wait', async () => {
        const { rowCount } = await client.query(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()",
        );
        return rowCount === 2;
      });
    };
    const begun = root.sendStamped(PATH, service.newBody());
    await until(() => waiting() === 1);
    // Both came later than the one that has begun, and each waited as long as any may.
    for (let time = 0; time < 2; time += 1) {
      const refused = await addTag();
      expect(outcome(refused)).toEqual([503, 'UNAVAILABLE']);
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect(waiting()).toBe(1);
    await client.query('SELECT pg_advisory_unlock_all()');
    expect(outcome(await begun)).toEqual([200, COMPLETED]);
    for (const filler of fillers) expect(outcome(await filler)).toEqual([200, COMPLETED]);
    expect(providers.exchanges).toBe(1);
  });
});
