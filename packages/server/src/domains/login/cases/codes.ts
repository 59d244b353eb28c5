import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { APP, codeParams, EMAIL_LOOKS, SENDER, SMS_LOOKS } from '../../../../test/fixtures/messages.ts';
import {
  messagesTo,
  messageTo,
  newAttempt,
  newAuthCode,
  newEmail,
  newLogin,
  newPlainCode,
  newUnboundVerification,
} from '../../../../test/fixtures/outside.ts';
import { newPasskey } from '../../../../test/fixtures/passkey.ts';
import { newPerson } from '../../../../test/fixtures/users.ts';
import { claimsOf } from '../../../../test/flows/fixtures/logins.ts';
import { Receiver, readSigned } from '../../../../test/harness/bundles.ts';
import { type KeyPair, newKeyPair, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import { type Arranged, anId, notFound, nothing, type World } from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import { aCredentialFor, aSession, type Effect, hasKey, keyParams, sessionParams } from './shared.ts';

const codeRefused = (parameters: unknown) => ({ parameters, status: 400, code: 'INVALID_OTP_CODE' });

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

const aTokenFor = (contact: string, { publicKey }: Partial<KeyPair>) =>
  expect.toSatisfy((token: string) => {
    const claims = claimsOf(token);
    return claims.contact === contact && claims.public_key === publicKey;
  }, 'a token that proves the contact');

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

const fullCodeParams = (contact: string) => ({
  otpType: 'OTP_TYPE_EMAIL',
  contact,
  appName: APP,
  otpLength: 7,
  alphanumeric: true,
  expirationSeconds: '60',
  emailCustomization: EMAIL_LOOKS,
  smsCustomization: SMS_LOOKS,
  userIdentifier: contact,
  ...SENDER,
});

/** A mail with a key in it. */
const mailedKeyRequest = byRoot(async (tenant) => ({
  email: (await newPerson(tenant.root, fresh(tenant))).email,
  ...keyParams(tenant),
  emailCustomization: EMAIL_LOOKS,
  ...SENDER,
}));

/** A mail to a user of another organization. */
const mailToAStranger = async (_world: World, other: World) => {
  const { email } = await newPerson(other.root);
  const emailCustomization = { appName: 'Bank' };
  return notFound({ email, targetPublicKey: new Receiver().publicKey, emailCustomization });
};

export const codeCases: DomainCases = {
  init_otp: {
    activity: {
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
    hostile: byRoot(() => fullCodeParams(newEmail())),
  },
  verify_otp: {
    activity: {
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
    // A code is for one of the two: it is sent back encrypted, or as it is.
    hostile: byRoot(async ({ root }, type) => {
      const key = newKeyPair();
      const attempt = await (type === 'ACTIVITY_TYPE_VERIFY_OTP' ? newPlainCode(root) : newAttempt(root, key));
      return { ...attempt, publicKey: key.publicKey, expirationSeconds: '600' };
    }),
  },
  otp_login: {
    activity: {
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
    hostile: byRoot(async (tenant) => {
      const session = newKeyPair();
      const { email } = await newPerson(tenant.root, fresh(tenant));
      return { ...(await newLogin(tenant.root, email, session)), ...sessionParams(tenant, session.publicKey) };
    }),
  },
  init_otp_auth: {
    activity: {
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
    hostile: byRoot(async (tenant) => fullCodeParams((await newPerson(tenant.root, fresh(tenant))).email)),
    ids: { contact: ['email'] },
  },
  otp_auth: {
    activity: {
      intentKey: 'otpAuthIntent',
      resultKey: 'otpAuthResult',
      arrange: async ({ root }) => {
        const { userId, email } = await newPerson(root);
        const receiver = new Receiver();
        return {
          parameters: {
            ...(await newAuthCode(root, email)),
            targetPublicKey: receiver.publicKey,
            apiKeyName: 'By code',
          },
          result: { userId, apiKeyId: anId, credentialBundle: aCredentialFor(receiver) },
          ...hasKey(userId, 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', { apiKeyName: 'By code' }),
        };
      },
      foreign: async (_world, other) => {
        const { email } = await newPerson(other.root);
        return codeRefused({ ...(await newAuthCode(other.root, email)), targetPublicKey: new Receiver().publicKey });
      },
    },
    hostile: byRoot(async (tenant) => {
      const { email } = await newPerson(tenant.root, fresh(tenant));
      return { ...(await newAuthCode(tenant.root, email)), ...keyParams(tenant) };
    }),
  },
  email_auth: {
    activity: {
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
      foreign: mailToAStranger,
    },
    hostile: mailedKeyRequest,
    ids: { email: ['email'] },
  },
  init_user_email_recovery: {
    activity: {
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
      foreign: mailToAStranger,
    },
    hostile: mailedKeyRequest,
    ids: { email: ['email'] },
  },
  recover_user: {
    activity: {
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
    hostile: byRoot(async (tenant) => ({
      userId: (await newPerson(tenant.root, fresh(tenant))).userId,
      authenticator: newPasskey(fresh(tenant)).registration,
    })),
  },
};
