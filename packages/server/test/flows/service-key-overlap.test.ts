import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceKeyTimes } from '../../src/core/service-keys.ts';
import { rotateServiceKey } from '../../src/keyring-admin/rotate-service-key.ts';
import { newKeyPair } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { COMPLETED, outcome } from './fixtures/access.ts';
import {
  attemptOf,
  isSessionOf,
  LoginService,
  loginParameters,
  type Person,
  REFUSED_TOKEN,
} from './fixtures/logins.ts';
import {
  boundTo,
  claimsOf,
  encryptClientSecret,
  OAUTH2_CLIENT,
  Oauth2Providers,
  signUp,
  verificationToken,
} from './fixtures/oauth.ts';
import { MOONPAY, MOONPAY_KEYS, sealTo } from './fixtures/on-ramp.ts';

// What was made or encrypted under a service key is taken until that key expires, and not after (docs/decisions/0058).
// The keys of webhooks are in webhook-keys.test.ts.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DONE = [200, COMPLETED];
const BAD_BUNDLE = [400, 'INVALID_BUNDLE'];
const PUBLISHED = ['session-signer', 'otp', 'oauth-secret', 'on-ramp-secret'] as const;
type Published = (typeof PUBLISHED)[number];
const ISSUER = 'oidc-issuer';

describe.each(databasesOf(import.meta.url))('a service key that is replaced, on %s', (database) => {
  let logins: LoginService;
  let providers: Oauth2Providers;
  let person: Person;
  const tokenKey = newKeyPair();
  /** Public keys of each role before the rotation, and ids of those after it. */
  const old: Record<string, string> = {};
  const next: Record<string, string> = {};
  let startedAtMs = 0;

  beforeAll(async () => {
    providers = await Oauth2Providers.start();
    logins = await LoginService.open(database, { ...providers.env, CUSTOS_VERIFICATION_SECONDS_MAX: '2592000' });
    person = await logins.newPerson();
    startedAtMs = logins.service.app.clock();
    for (const { role, publicKey } of await published()) old[role] = publicKey;
    const [issuerKey] = (await keySet()).keys;
    old[ISSUER] = String(issuerKey?.kid);
    for (const role of [...PUBLISHED, ISSUER]) {
      const rotated = await rotateServiceKey(logins.service.app.config, { role, isCompromised: false, say: () => {} });
      next[role] = rotated?.keyId ?? '';
      expect(rotated?.removed).toEqual([]);
    }
    // It is published long before it is used.
    await vi.waitFor(
      async () =>
        expect((await published()).map(({ keyId }) => keyId)).toEqual(
          expect.arrayContaining(PUBLISHED.map((role) => next[role])),
        ),
      10_000,
    );
    for (const role of PUBLISHED)
      expect((await published()).find((key) => key.role === role)?.publicKey).toBe(old[role]);
  }, 60_000);

  afterAll(async () => {
    await logins?.[Symbol.asyncDispose]();
    await providers?.[Symbol.asyncDispose]();
  });

  const get = async (path: string) => (await fetch(`${logins.service.baseUrl}${path}`)).json();
  const published = async (): Promise<{ role: string; publicKey: string; keyId: string }[]> =>
    (await get('/public/v1/discovery/keys')).keys;
  const keySet = (): Promise<JSONWebKeySet> => get('/.well-known/jwks.json');
  const publicKeysOf = async (role: Published) =>
    (await published()).filter((key) => key.role === role).map(({ publicKey }) => publicKey);

  /** To a moment after the rotation. Every process looks for it once a second. */
  async function reach(ms: number, role: string, isReached: () => Promise<boolean>): Promise<void> {
    logins.advance(startedAtMs + ms - logins.service.app.clock());
    await vi.waitFor(async () => expect([role, await isReached()]).toEqual([role, true]), 10_000);
  }
  /** Of each role first the one in use. */
  const isUsed = (role: string) => async () =>
    logins.service.app.serviceKeys.find((key) => key.role === role)?.keyId === next[role];
  const isAlone = (role: string) => async () =>
    logins.service.app.serviceKeys
      .filter((key) => key.role === role)
      .map(({ keyId }) => keyId)
      .join() === next[role];
  const startsAt = (role: string): number => serviceKeyTimes(role).publishedMs + MINUTE_MS;
  const endsAt = (role: string): number => startsAt(role) + serviceKeyTimes(role).keptMs;

  const createCredential = (publicKey: string) =>
    logins.parent.submit('create_oauth2_credential', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: `client ${publicKey} ${Math.random()}`,
      encryptedClientSecret: encryptClientSecret('a client secret', publicKey),
    });
  const createOnRamp = (publicKey: string) =>
    logins.parent.submit('create_fiat_on_ramp_credential', {
      onrampProvider: MOONPAY,
      publishableApiKey: MOONPAY_KEYS.publishable,
      encryptedSecretApiKey: sealTo(publicKey, MOONPAY_KEYS.secret),
    });
  const login = (token: string) => person.user.submit('otp_login', loginParameters(token, tokenKey, newKeyPair()));
  /** Much longer than the service would give one, so that nothing but its key ends it. */
  const longToken = () =>
    verificationToken(logins.service, {
      contact: person.email,
      organizationId: person.user.organizationId,
      publicKey: tokenKey.publicKey,
      expiresAtMs: startedAtMs + 365 * DAY_MS,
    });

  test('an id token of the own issuer verifies by the key set, and logs in, for a day after', async () => {
    const { parent } = logins;
    const { oauth2CredentialId } = await parent.run('create_oauth2_credential', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: OAUTH2_CLIENT.id,
      encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, old['oauth-secret'] as string),
    });
    const key = newKeyPair();
    const issue = async (): Promise<string> => {
      const asked = { oauth2CredentialId, ...providers.authorize(), nonce: boundTo(key.publicKey).nonce };
      return (await parent.run('oauth2_authenticate', asked)).oidcToken;
    };
    const kidOf = (token: string) => decodeProtectedHeader(token).kid;
    const verifies = async (token: string): Promise<boolean> => {
      const { iat } = claimsOf(token);
      // At the time of the token, so that only its key is looked at.
      const checks = {
        issuer: parent.baseUrl,
        audience: OAUTH2_CLIENT.id,
        currentDate: new Date((Number(iat) + 1) * 1000),
      };
      return jwtVerify(token, createLocalJWKSet(await keySet()), checks).then(
        () => true,
        (error: { code?: string }) => {
          expect(error.code).toBe('ERR_JWKS_NO_MATCHING_KEY');
          return false;
        },
      );
    };
    const { organizationId } = await signUp(parent, {
      oauthProviders: [{ providerName: 'them', oidcToken: await issue() }],
    });
    const signedUp = logins.client(organizationId, parent.key);
    const loginWith = (oidcToken: string) => signedUp.submit('oauth_login', { oidcToken, publicKey: key.publicKey });

    // Just before the next one signs; the token itself lives for ten minutes.
    await reach(startsAt(ISSUER) - 3 * MINUTE_MS, ISSUER, async () => true);
    const token = await issue();
    /** Good for much longer than the service issues them, so that nothing but its key ends it. */
    const lengthened = (days: number) => {
      const exp = Math.floor(startedAtMs / 1000) + days * 86_400;
      return logins.service.app.keyring.signIdToken({ ...claimsOf(token), exp });
    };
    const [first, second, third] = [await lengthened(300), await lengthened(301), await lengthened(302)];
    for (const each of [token, first, second, third]) expect(kidOf(each)).toBe(old[ISSUER]);
    await reach(startsAt(ISSUER), ISSUER, isUsed(ISSUER));
    const later = await issue();
    expect(kidOf(later)).toBe(next[ISSUER]);
    for (const each of [token, later]) expect(await verifies(each)).toBe(true);
    for (const each of [token, first]) expect(outcome(await loginWith(each))).toEqual(DONE);

    // To its last minute.
    await reach(endsAt(ISSUER) - 3 * MINUTE_MS, ISSUER, async () => !(await isAlone(ISSUER)()));
    expect(await verifies(token)).toBe(true);
    expect(outcome(await loginWith(second))).toEqual(DONE);

    await reach(endsAt(ISSUER), ISSUER, isAlone(ISSUER));
    expect([await verifies(token), await verifies(later)]).toEqual([false, true]);
    expect(outcome(await loginWith(third))).toEqual([400, 'INVALID_OIDC_TOKEN']);
    // As long a one by the next key is taken.
    expect(outcome(await loginWith(await lengthened(303)))).toEqual(DONE);
  });

  test('the other roles take what was made under the old key, until it expires', async () => {
    const before = startsAt('otp') - 3 * MINUTE_MS;
    await reach(before, 'otp', async () => !(await isUsed('otp')()));
    const stamped = await person.user.run('stamp_login', { publicKey: newKeyPair().publicKey });
    expect(isSessionOf(stamped.session, old['session-signer'] as string)).toBe(true);
    const real = await logins.verify(person.user, person.email, tokenKey, { expirationSeconds: '2592000' });
    const [first, second, third] = [await longToken(), await longToken(), await longToken()];
    // Begun under the old key: the target of the code is signed by it.
    const sent = await logins.sendCode(person.user, person.email);

    for (const role of PUBLISHED) await reach(startsAt(role), role, isUsed(role));
    for (const role of PUBLISHED)
      expect(await publicKeysOf(role)).toEqual([expect.not.stringMatching(old[role] as string), old[role]]);
    const verifies = async (session: string) =>
      (await publicKeysOf('session-signer')).filter((publicKey) => isSessionOf(session, publicKey));
    expect(await verifies(stamped.session)).toEqual([old['session-signer']]);
    const { session } = await person.user.run('stamp_login', { publicKey: newKeyPair().publicKey });
    expect(await verifies(session)).toEqual([(await publicKeysOf('session-signer'))[0]]);
    const { verificationToken: completed } = await person.user.run('verify_otp', attemptOf(sent, tokenKey));
    for (const token of [completed, real, first.token]) expect(outcome(await login(token))).toEqual(DONE);
    for (const publicKey of await publicKeysOf('oauth-secret')) {
      expect(outcome(await createCredential(publicKey))).toEqual(DONE);
    }
    for (const publicKey of await publicKeysOf('on-ramp-secret')) {
      expect(outcome(await createOnRamp(publicKey))).toEqual(DONE);
    }

    // To its last minute.
    await reach(endsAt('otp') - 3 * MINUTE_MS, 'otp', async () => !(await isAlone('otp')()));
    expect(await verifies(stamped.session)).toEqual([old['session-signer']]);
    expect(outcome(await login(second.token))).toEqual(DONE);
    expect(outcome(await createCredential(old['oauth-secret'] as string))).toEqual(DONE);
    expect(outcome(await createOnRamp(old['on-ramp-secret'] as string))).toEqual(DONE);

    for (const role of PUBLISHED) await reach(endsAt(role), role, isAlone(role));
    for (const role of PUBLISHED)
      expect(await publicKeysOf(role)).toEqual([expect.not.stringMatching(old[role] as string)]);
    expect(await verifies(stamped.session)).toEqual([]);
    expect(await verifies(session)).toHaveLength(1);
    expect(outcome(await login(third.token))).toEqual(REFUSED_TOKEN);
    // As long a one by the next key is taken.
    expect(outcome(await login((await longToken()).token))).toEqual(DONE);
    expect(outcome(await createCredential(old['oauth-secret'] as string))).toEqual(BAD_BUNDLE);
    expect(outcome(await createOnRamp(old['on-ramp-secret'] as string))).toEqual(BAD_BUNDLE);
    for (const publicKey of await publicKeysOf('oauth-secret')) {
      expect(outcome(await createCredential(publicKey))).toEqual(DONE);
    }
    for (const publicKey of await publicKeysOf('on-ramp-secret')) {
      expect(outcome(await createOnRamp(publicKey))).toEqual(DONE);
    }
  });
});
