import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { Receiver, readSigned } from '../../harness/bundles.ts';
import { createUser, type KeyPair, newKeyPair, type TestClient } from '../../harness/client.ts';
import {
  AUDIENCE,
  credentialParams,
  messagesTo,
  messageTo,
  newAttempt,
  newAuthCode,
  newEmail,
  newLogin,
  newPlainCode,
  newUnboundVerification,
  typeOf,
} from '../../hostile/outside.ts';
import { newPasskey } from '../../hostile/passkey.ts';
import { claimsOf, openKey } from '../fixtures/logins.ts';
import { OAUTH2_CLIENT } from '../fixtures/oauth.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  type QueryCase,
  TIMESTAMP,
  type VersionCase,
  type World,
} from './case.ts';

// Codes, tokens, sessions, recovery, OAuth and the sign-up proxy in the table of every operation.

type Effect = Pick<Arranged, 'holds' | 'absent'>;

const TIMES = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
const nothing = async (): Promise<void> => {};
const codeRefused = (parameters: unknown) => ({ parameters, status: 400, code: 'INVALID_OTP_CODE' });

interface Person {
  readonly userId: string;
  readonly email: string;
}

/** A user without rights whom a login can be about. */
async function newPerson(client: TestClient): Promise<Person> {
  const email = newEmail();
  return { userId: (await createUser(client, 'Person', { userEmail: email })).userId, email };
}

const apiKeys = async (reader: TestClient, userId: string) =>
  (await reader.query('get_api_keys', { userId })).body.apiKeys;

/** A key of this kind that a user has afterwards. */
function hasKey(userId: string, type: string, extra: Record<string, unknown> = {}): Effect {
  const ofType = async (reader: TestClient) =>
    (await apiKeys(reader, userId)).filter((key: { credential: { type: string } }) => key.credential.type === type);
  return {
    holds: async (reader) => expect(await ofType(reader)).toMatchObject([{ expirationSeconds: '900', ...extra }]),
    absent: async (reader) => expect(await ofType(reader)).toEqual([]),
  };
}

/** One message to somebody afterwards; only a parent has a say in how it is worded. */
function isSent(to: string, subject: RegExp): Effect {
  return {
    holds: async (reader) => expect((await messageTo(reader, to)).subject).toMatch(subject),
    absent: async (reader) => expect(await messagesTo(reader, to)).toEqual([]),
  };
}

const both = (...effects: readonly Effect[]): Effect => ({
  holds: async (reader) => {
    for (const { holds } of effects) await holds(reader);
  },
  absent: async (reader) => {
    for (const { absent } of effects) await absent(reader);
  },
});

const aTarget = expect.toSatisfy(
  (bundle: string) => /^04[0-9a-f]{128}$/.test(readSigned(bundle).targetPublic ?? ''),
  'a signed key',
);
const aCredentialFor = (receiver: Receiver) =>
  expect.toSatisfy((bundle: string) => openKey(receiver, bundle).publicKey.length === 66, 'a key for the receiver');

/** A session token that says whose it is. */
const aSession = ({ organizationId }: TestClient, userId: string, { publicKey }: KeyPair) =>
  expect.toSatisfy((session: string) => {
    const claims = claimsOf(session);
    return claims.user_id === userId && claims.organization_id === organizationId && claims.public_key === publicKey;
  }, 'a session of the user');

const aTokenFor = (contact: string, { publicKey }: Partial<KeyPair>) =>
  expect.toSatisfy((token: string) => {
    const claims = claimsOf(token);
    return claims.contact === contact && claims.public_key === publicKey;
  }, 'a token that proves the contact');

/** Any request for a code; the name of the application stands where the version has it. */
const codeParams = (contact: string, isNamed: boolean, extra: Record<string, unknown> = {}) => ({
  otpType: typeOf(contact),
  contact,
  ...(isNamed ? { appName: 'Bank' } : { emailCustomization: { appName: 'Bank' } }),
  ...extra,
});

const initOtp = (isNamed: boolean, result: object) => async (): Promise<Arranged> => {
  const contact = newEmail();
  const extra = { otpLength: 8, alphanumeric: false, expirationSeconds: '60', userIdentifier: randomUUID() };
  return { parameters: codeParams(contact, isNamed, extra), result, ...isSent(contact, /code/i) };
};

const initOtpAuth =
  (isNamed: boolean) =>
  async ({ root }: World): Promise<Arranged> => {
    const { email } = await newPerson(root);
    return { parameters: codeParams(email, isNamed), result: { otpId: anId }, ...isSent(email, /code/i) };
  };

/** A mail with a key in it. */
function mailedKey(subject: RegExp, type: string, keyShown: object, extra: Record<string, unknown> = {}) {
  return async ({ root }: World): Promise<Arranged> => {
    const { userId, email } = await newPerson(root);
    return {
      parameters: {
        email,
        targetPublicKey: new Receiver().publicKey,
        emailCustomization: { appName: 'Bank' },
        ...extra,
      },
      result: { userId, ...keyShown },
      ...both(isSent(email, subject), hasKey(userId, type)),
    };
  };
}

const emailAuth = mailedKey(
  /log in/i,
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  { apiKeyId: anId },
  { expirationSeconds: '900', invalidateExisting: true },
);
const emailRecovery = mailedKey(/recover/i, 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256', {});

/** A code that was used does not serve again. */
const isUsed =
  (parameters: Record<string, unknown>, type?: string) =>
  async (reader: TestClient): Promise<void> => {
    const again = await reader.submit('verify_otp', parameters, type === undefined ? {} : { type });
    expect(again.body.errorCode).toBe('INVALID_OTP_CODE');
  };

async function newIdentity({ outside }: World, subject = randomUUID()) {
  return { subject, provider: { providerName: 'Issuer', oidcToken: outside.idToken(subject) } };
}

/** A user whom a token of the issuer logs in. */
async function newOauthPerson(world: World): Promise<Person & { subject: string }> {
  const { subject, provider } = await newIdentity(world);
  const person = await newPerson(world.root);
  await world.root.run('create_oauth_providers', { userId: person.userId, oauthProviders: [provider] });
  return { ...person, subject };
}

const aProvider = ({ outside }: World, subject: string) => ({
  providerId: anId,
  providerName: 'Issuer',
  issuer: outside.issuer,
  audience: AUDIENCE,
  subject,
  ...TIMES,
});
const providersOf = async (reader: TestClient, userId: string) =>
  (await reader.query('get_oauth_providers', { userId })).body.oauthProviders;

async function createProviders(world: World): Promise<Arranged> {
  const { userId } = await newPerson(world.root);
  const { subject, provider } = await newIdentity(world);
  return {
    parameters: { userId, oauthProviders: [provider] },
    result: { providerIds: [anId] },
    holds: async (reader) => expect(await providersOf(reader, userId)).toEqual([aProvider(world, subject)]),
    absent: async (reader) => expect(await providersOf(reader, userId)).toEqual([]),
  };
}

const credentialOf = async (reader: TestClient, oauth2CredentialId: string) =>
  (await reader.query('get_oauth2_credential', { oauth2CredentialId })).body.oauth2Credential;
const newCredential = async (client: TestClient): Promise<string> =>
  (await client.run('create_oauth2_credential', await credentialParams(client, randomUUID()))).oauth2CredentialId;
const aCredential = ({ organizationId }: TestClient, params: object) => ({
  oauth2CredentialId: anId,
  organizationId,
  ...params,
  ...TIMES,
});
const credentialNotFound = (parameters: unknown) => ({ parameters, status: 404, code: 'OAUTH2_CREDENTIAL_NOT_FOUND' });

const knownCredential = async (client: TestClient): Promise<string> =>
  (await client.query('list_oauth2_credentials')).body.oauth2Credentials.find(
    ({ clientId }: { clientId: string }) => clientId === OAUTH2_CLIENT.id,
  ).oauth2CredentialId;

const proxyConfig = async (reader: TestClient) => (await reader.query('get_auth_proxy_config')).body.authProxyConfig;

/** Turns the sign-up proxy of a parent on or off. */
function proxyTurned(operation: 'enable_auth_proxy' | 'disable_auth_proxy', result: object): VersionCase {
  const isOn = operation === 'enable_auth_proxy';
  const name = isOn ? 'enableAuthProxy' : 'disableAuthProxy';
  return {
    intentKey: `${name}Intent`,
    resultKey: `${name}Result`,
    arrange: async ({ root }) => {
      await root.run(isOn ? 'disable_auth_proxy' : 'enable_auth_proxy', {});
      const isEnabled = async (reader: TestClient) => (await proxyConfig(reader)).enabled;
      return {
        parameters: {},
        result,
        holds: async (reader) => expect(await isEnabled(reader)).toBe(isOn),
        absent: async (reader) => expect(await isEnabled(reader)).toBe(!isOn),
      };
    },
  };
}

function readWriteSession(target: (person: Person) => Record<string, unknown>) {
  return async ({ root }: World): Promise<Arranged> => {
    const person = await newPerson(root);
    const receiver = new Receiver();
    const { organizationId } = root;
    return {
      parameters: { targetPublicKey: receiver.publicKey, ...target(person) },
      result: {
        organizationId,
        organizationName: expect.stringMatching(/^World /),
        userId: person.userId,
        username: 'Person',
        apiKeyId: anId,
        credentialBundle: aCredentialFor(receiver),
      },
      ...hasKey(person.userId, 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'),
    };
  };
}

export const LOGIN_CASES: Readonly<Record<string, ActivityCase>> = {
  init_otp: {
    intentKey: 'initOtpIntentV3',
    resultKey: 'initOtpResultV2',
    arrange: initOtp(true, { otpId: anId, otpEncryptionTargetBundle: aTarget }),
    legacy: {
      ACTIVITY_TYPE_INIT_OTP_V2: {
        intentKey: 'initOtpIntentV2',
        resultKey: 'initOtpResult',
        arrange: initOtp(true, { otpId: anId }),
      },
      ACTIVITY_TYPE_INIT_OTP: {
        intentKey: 'initOtpIntent',
        resultKey: 'initOtpResult',
        arrange: initOtp(false, { otpId: anId }),
      },
    },
  },
  verify_otp: {
    intentKey: 'verifyOtpIntentV2',
    resultKey: 'verifyOtpResult',
    arrange: async ({ root }) => {
      const [contact, key] = [newEmail(), newKeyPair()];
      const parameters = await newAttempt(root, key, contact);
      return {
        parameters,
        result: { verificationToken: aTokenFor(contact, key) },
        holds: isUsed(parameters),
        absent: nothing,
      };
    },
    legacy: {
      ACTIVITY_TYPE_VERIFY_OTP: {
        intentKey: 'verifyOtpIntent',
        resultKey: 'verifyOtpResult',
        arrange: async ({ root }) => {
          const contact = newEmail();
          const parameters = await newPlainCode(root, contact);
          return {
            parameters,
            result: { verificationToken: aTokenFor(contact, {}) },
            holds: isUsed(parameters, 'ACTIVITY_TYPE_VERIFY_OTP'),
            absent: nothing,
          };
        },
      },
    },
    foreign: async (_world, other) => codeRefused(await newAttempt(other.root, newKeyPair())),
  },
  otp_login: {
    intentKey: 'otpLoginIntentV2',
    resultKey: 'otpLoginResult',
    arrange: async ({ root }) => {
      const { userId, email } = await newPerson(root);
      const session = newKeyPair();
      return {
        parameters: await newLogin(root, email, session),
        result: { session: aSession(root, userId, session) },
        ...hasKey(userId, 'CREDENTIAL_TYPE_LOGIN', { credential: { publicKey: session.publicKey } }),
      };
    },
    legacy: {
      ACTIVITY_TYPE_OTP_LOGIN: {
        intentKey: 'otpLoginIntent',
        resultKey: 'otpLoginResult',
        arrange: async ({ root }) => {
          const { userId, email } = await newPerson(root);
          const session = newKeyPair();
          return {
            parameters: {
              verificationToken: await newUnboundVerification(root, email),
              publicKey: session.publicKey,
              invalidateExisting: true,
            },
            result: { session: aSession(root, userId, session) },
            ...hasKey(userId, 'CREDENTIAL_TYPE_LOGIN'),
          };
        },
      },
    },
    foreign: async ({ root }, other) => {
      const { email } = await newPerson(root);
      return { parameters: await newLogin(other.root, email), status: 400, code: 'INVALID_VERIFICATION_TOKEN' };
    },
  },
  init_otp_auth: {
    intentKey: 'initOtpAuthIntentV3',
    resultKey: 'initOtpAuthResultV2',
    arrange: initOtpAuth(true),
    legacy: {
      ACTIVITY_TYPE_INIT_OTP_AUTH_V2: {
        intentKey: 'initOtpAuthIntentV2',
        resultKey: 'initOtpAuthResultV2',
        arrange: initOtpAuth(false),
      },
      ACTIVITY_TYPE_INIT_OTP_AUTH: {
        intentKey: 'initOtpAuthIntent',
        resultKey: 'initOtpAuthResult',
        arrange: initOtpAuth(false),
      },
    },
    foreign: async (_world, other) => notFound(codeParams((await newPerson(other.root)).email, true)),
  },
  otp_auth: {
    intentKey: 'otpAuthIntent',
    resultKey: 'otpAuthResult',
    arrange: async ({ root }) => {
      const { userId, email } = await newPerson(root);
      const receiver = new Receiver();
      return {
        parameters: { ...(await newAuthCode(root, email)), targetPublicKey: receiver.publicKey, apiKeyName: 'By code' },
        result: { userId, apiKeyId: anId, credentialBundle: aCredentialFor(receiver) },
        ...hasKey(userId, 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', { apiKeyName: 'By code' }),
      };
    },
    foreign: async (_world, other) => {
      const { email } = await newPerson(other.root);
      return codeRefused({ ...(await newAuthCode(other.root, email)), targetPublicKey: new Receiver().publicKey });
    },
  },
  email_auth: {
    intentKey: 'emailAuthIntentV3',
    resultKey: 'emailAuthResult',
    arrange: emailAuth,
    legacy: {
      ACTIVITY_TYPE_EMAIL_AUTH_V2: {
        intentKey: 'emailAuthIntentV2',
        resultKey: 'emailAuthResult',
        arrange: emailAuth,
      },
      ACTIVITY_TYPE_EMAIL_AUTH: { intentKey: 'emailAuthIntent', resultKey: 'emailAuthResult', arrange: emailAuth },
    },
    foreign: async (_world, other) => {
      const { email } = await newPerson(other.root);
      const emailCustomization = { appName: 'Bank' };
      return notFound({ email, targetPublicKey: new Receiver().publicKey, emailCustomization });
    },
  },
  init_user_email_recovery: {
    intentKey: 'initUserEmailRecoveryIntentV2',
    resultKey: 'initUserEmailRecoveryResult',
    arrange: emailRecovery,
    legacy: {
      ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: {
        intentKey: 'initUserEmailRecoveryIntent',
        resultKey: 'initUserEmailRecoveryResult',
        arrange: emailRecovery,
      },
    },
    foreign: async (_world, other) => {
      const { email } = await newPerson(other.root);
      const emailCustomization = { appName: 'Bank' };
      return notFound({ email, targetPublicKey: new Receiver().publicKey, emailCustomization });
    },
  },
  recover_user: {
    intentKey: 'recoverUserIntent',
    resultKey: 'recoverUserResult',
    arrange: async ({ root }) => {
      const { userId } = await newPerson(root);
      const passkeys = async (reader: TestClient) =>
        (await reader.query('get_authenticators', { userId })).body.authenticators;
      return {
        parameters: { userId, authenticator: newPasskey('New phone').registration },
        result: { authenticatorId: [anId] },
        holds: async (reader) => expect(await passkeys(reader)).toMatchObject([{ authenticatorName: 'New phone' }]),
        absent: async (reader) => expect(await passkeys(reader)).toEqual([]),
      };
    },
    foreign: async (_world, other) =>
      notFound({ userId: other.plain.userId, authenticator: newPasskey('New phone').registration }),
  },
  oauth: {
    intentKey: 'oauthIntent',
    resultKey: 'oauthResult',
    arrange: async (world) => {
      const { userId, subject } = await newOauthPerson(world);
      const receiver = new Receiver();
      const targetPublicKey = receiver.publicKey;
      return {
        parameters: { oidcToken: world.outside.idToken(subject, targetPublicKey), targetPublicKey },
        result: { userId, apiKeyId: anId, credentialBundle: aCredentialFor(receiver) },
        ...hasKey(userId, 'CREDENTIAL_TYPE_OAUTH_KEY_P256'),
      };
    },
    foreign: async (_world, other) => {
      const { subject } = await newOauthPerson(other);
      const targetPublicKey = new Receiver().publicKey;
      return notFound({ oidcToken: other.outside.idToken(subject, targetPublicKey), targetPublicKey });
    },
  },
  oauth_login: {
    intentKey: 'oauthLoginIntent',
    resultKey: 'oauthLoginResult',
    arrange: async (world) => {
      const { userId, subject } = await newOauthPerson(world);
      const session = newKeyPair();
      const { publicKey } = session;
      return {
        parameters: { oidcToken: world.outside.idToken(subject, publicKey), publicKey },
        result: { session: aSession(world.root, userId, session) },
        ...hasKey(userId, 'CREDENTIAL_TYPE_LOGIN', { credential: { publicKey } }),
      };
    },
    foreign: async (_world, other) => {
      const { subject } = await newOauthPerson(other);
      const { publicKey } = newKeyPair();
      return notFound({ oidcToken: other.outside.idToken(subject, publicKey), publicKey });
    },
  },
  create_oauth_providers: {
    intentKey: 'createOauthProvidersIntentV2',
    resultKey: 'createOauthProvidersResultV2',
    arrange: createProviders,
    legacy: {
      ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: {
        intentKey: 'createOauthProvidersIntent',
        resultKey: 'createOauthProvidersResult',
        arrange: createProviders,
      },
    },
    foreign: async (world, other) => {
      const { provider } = await newIdentity(world);
      return notFound({ userId: other.plain.userId, oauthProviders: [provider] });
    },
  },
  delete_oauth_providers: {
    intentKey: 'deleteOauthProvidersIntent',
    resultKey: 'deleteOauthProvidersResult',
    arrange: async (world) => {
      const { userId, subject } = await newOauthPerson(world);
      const providerIds = (await providersOf(world.root, userId)).map(
        ({ providerId }: { providerId: string }) => providerId,
      );
      return {
        parameters: { userId, providerIds },
        result: { providerIds },
        holds: async (reader) => expect(await providersOf(reader, userId)).toEqual([]),
        absent: async (reader) => expect(await providersOf(reader, userId)).toEqual([aProvider(world, subject)]),
      };
    },
    foreign: async ({ plain }, other) => {
      const { userId } = await newOauthPerson(other);
      const [{ providerId }] = await providersOf(other.root, userId);
      return notFound({ userId: plain.userId, providerIds: [providerId] });
    },
  },
  create_oauth2_credential: {
    place: 'parent',
    intentKey: 'createOauth2CredentialIntent',
    resultKey: 'createOauth2CredentialResult',
    arrange: async ({ root }) => {
      const params = await credentialParams(root, randomUUID());
      const ofClient = async (reader: TestClient) =>
        (await reader.query('list_oauth2_credentials')).body.oauth2Credentials.filter(
          ({ clientId }: { clientId: string }) => clientId === params.clientId,
        );
      return {
        parameters: params,
        result: { oauth2CredentialId: anId },
        holds: async (reader) => expect(await ofClient(reader)).toEqual([aCredential(root, params)]),
        absent: async (reader) => expect(await ofClient(reader)).toEqual([]),
      };
    },
  },
  update_oauth2_credential: {
    place: 'parent',
    intentKey: 'updateOauth2CredentialIntent',
    resultKey: 'updateOauth2CredentialResult',
    arrange: async ({ root }) => {
      const oauth2CredentialId = await newCredential(root);
      const params = { ...(await credentialParams(root, randomUUID())), provider: 'OAUTH2_PROVIDER_DISCORD' };
      const read = (reader: TestClient) => credentialOf(reader, oauth2CredentialId);
      return {
        parameters: { oauth2CredentialId, ...params },
        result: { oauth2CredentialId },
        holds: async (reader) => expect(await read(reader)).toEqual(aCredential(root, params)),
        absent: async (reader) => expect(await read(reader)).toMatchObject({ provider: 'OAUTH2_PROVIDER_X' }),
      };
    },
    foreign: async ({ root }) =>
      credentialNotFound({ oauth2CredentialId: randomUUID(), ...(await credentialParams(root, randomUUID())) }),
  },
  delete_oauth2_credential: {
    place: 'parent',
    intentKey: 'deleteOauth2CredentialIntent',
    resultKey: 'deleteOauth2CredentialResult',
    arrange: async ({ root }) => {
      const oauth2CredentialId = await newCredential(root);
      return {
        parameters: { oauth2CredentialId },
        result: { oauth2CredentialId },
        holds: async (reader) => expect(await credentialOf(reader, oauth2CredentialId)).toBeUndefined(),
        absent: async (reader) => expect(await credentialOf(reader, oauth2CredentialId)).toBeDefined(),
      };
    },
    foreign: async () => credentialNotFound({ oauth2CredentialId: randomUUID() }),
  },
  oauth2_authenticate: {
    place: 'parent',
    intentKey: 'oauth2AuthenticateIntent',
    resultKey: 'oauth2AuthenticateResult',
    arrange: async ({ root, outside }) => {
      const parameters = outside.authorization(await knownCredential(root));
      const { exchanges } = outside.providers;
      return {
        parameters,
        result: {
          oidcToken: expect.toSatisfy((token: string) => {
            const claims = claimsOf(token);
            return claims.sub === 'x:22' && claims.aud === OAUTH2_CLIENT.id && claims.nonce === parameters.nonce;
          }, 'a token about the user of the provider'),
        },
        holds: async () => expect(outside.providers.exchanges).toBe(exchanges + 1),
        absent: async () => expect(outside.providers.exchanges).toBe(exchanges),
      };
    },
    foreign: async ({ outside }) => credentialNotFound(outside.authorization(randomUUID())),
  },
  stamp_login: {
    isOwnBusiness: true,
    intentKey: 'stampLoginIntent',
    resultKey: 'stampLoginResult',
    arrange: async ({ root }) => {
      const session = newKeyPair();
      return {
        parameters: { publicKey: session.publicKey, expirationSeconds: '900' },
        result: { session: aSession(root, root.userId, session) },
        ...hasKey(root.userId, 'CREDENTIAL_TYPE_LOGIN', { credential: { publicKey: session.publicKey } }),
      };
    },
  },
  create_read_only_session: {
    isOwnBusiness: true,
    intentKey: 'createReadOnlySessionIntent',
    resultKey: 'createReadOnlySessionResult',
    arrange: async ({ root }) => ({
      parameters: {},
      result: {
        organizationId: root.organizationId,
        organizationName: expect.stringMatching(/^World /),
        userId: root.userId,
        username: expect.stringMatching(/ root$/),
        session: expect.stringMatching(/^[\w-]{32,}$/),
        sessionExpiry: expect.stringMatching(/^\d{10}$/),
      },
      holds: nothing,
      absent: nothing,
    }),
  },
  create_read_write_session: {
    intentKey: 'createReadWriteSessionIntentV2',
    resultKey: 'createReadWriteSessionResultV2',
    arrange: readWriteSession(({ userId }) => ({ userId })),
    legacy: {
      ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: {
        intentKey: 'createReadWriteSessionIntent',
        resultKey: 'createReadWriteSessionResult',
        arrange: readWriteSession(({ email }) => ({ email })),
      },
    },
    foreign: async (_world, other) =>
      notFound({ targetPublicKey: new Receiver().publicKey, userId: other.plain.userId }),
  },
  enable_auth_proxy: { place: 'parent', ...proxyTurned('enable_auth_proxy', { userId: anId }) },
  disable_auth_proxy: { place: 'parent', ...proxyTurned('disable_auth_proxy', {}) },
  update_auth_proxy_config: {
    place: 'parent',
    intentKey: 'updateAuthProxyConfigIntent',
    resultKey: 'updateAuthProxyConfigResult',
    arrange: async ({ root }) => {
      const change = { allowedOrigins: [`https://${randomUUID()}.example`], otpLength: 7 };
      return {
        parameters: change,
        result: { configId: (await proxyConfig(root)).configId },
        holds: async (reader) => expect(await proxyConfig(reader)).toMatchObject(change),
        absent: async (reader) => expect((await proxyConfig(reader)).allowedOrigins).not.toEqual(change.allowedOrigins),
      };
    },
  },
  record_email_event: {
    place: 'parent',
    intentKey: 'recordEmailEventIntent',
    resultKey: 'recordEmailEventResult',
    arrange: async ({ root }) => {
      const email = newEmail();
      await root.run('init_otp', codeParams(email, true));
      const messageId = await sentTo(root, email);
      const typesOf = async (reader: TestClient) =>
        (await reader.query('list_email_events', { email })).body.emailEvents.map(
          ({ eventType }: { eventType: string }) => eventType,
        );
      return {
        parameters: { messageId, eventType: 'complained', complaintFeedbackType: 'abuse' },
        result: { emailEventId: anId },
        holds: async (reader) => expect(await typesOf(reader)).toEqual(['complained', 'sent']),
        absent: async (reader) => expect(await typesOf(reader)).toEqual(['sent']),
      };
    },
  },
};

/** The Message-ID of a mail, as soon as it is known what has become of it. */
async function sentTo(client: TestClient, email: string): Promise<string> {
  return await vi.waitFor(async () => {
    const { emailEvents } = (await client.query('list_email_events', { email })).body;
    if (emailEvents.length === 0) throw new Error(`nothing is known of the mail to ${email}`);
    return emailEvents[0].messageId as string;
  });
}

export const LOGIN_QUERIES: Readonly<Record<string, QueryCase>> = {
  get_oauth_providers: {
    parameters: async (world) => ({ userId: (await newOauthPerson(world)).userId }),
    answer: (world) => ({
      oauthProviders: [{ ...aProvider(world, ''), subject: expect.any(String) }],
      pageInfo: PAGE_INFO,
    }),
  },
  get_oauth2_credential: {
    place: 'parent',
    parameters: async ({ root }) => ({ oauth2CredentialId: await knownCredential(root) }),
    answer: ({ root }) => ({
      oauth2Credential: aCredential(root, {
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        encryptedClientSecret: expect.stringMatching(/^[0-9a-f]+$/),
      }),
    }),
  },
  list_oauth2_credentials: {
    place: 'parent',
    answer: () => ({
      oauth2Credentials: expect.arrayContaining([expect.objectContaining({ clientId: OAUTH2_CLIENT.id })]),
      pageInfo: PAGE_INFO,
    }),
  },
  list_email_events: {
    parameters: async ({ root }) => {
      const email = newEmail();
      await root.run('init_otp', codeParams(email, true));
      await sentTo(root, email);
      return { email };
    },
    answer: ({ root: { organizationId } }) => ({
      emailEvents: [
        {
          id: anId,
          organizationId,
          messageId: expect.stringMatching(/^[0-9a-f-]{36}@/),
          eventType: 'sent',
          fromAddress: 'notifications@localhost',
          toAddress: expect.stringMatching(/^person-/),
          timestamp: expect.any(String),
          createdAt: expect.any(String),
          details: {
            deliverySmtpResponse: expect.any(String),
            deliveryProcessingTimeMillis: expect.stringMatching(/^\d+$/),
          },
        },
      ],
      pageInfo: PAGE_INFO,
    }),
    foreignAnswer: { emailEvents: [], pageInfo: { ...PAGE_INFO, startCursor: '', endCursor: '' } },
  },
  get_auth_proxy_config: {
    place: 'parent',
    answer: ({ root: { organizationId } }) => ({
      authProxyConfig: expect.objectContaining({ configId: anId, organizationId, enabled: expect.any(Boolean) }),
    }),
  },
};
