import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { type Build, byRoot, fresh } from './case.ts';
import {
  credentialParams,
  newAttempt,
  newAuthCode,
  newEmail,
  newLogin,
  newPlainCode,
  newVerification,
  signUpSignature,
} from './outside.ts';
import { newPasskey } from './passkey.ts';
import { prune, type Shape } from './schema.ts';
import type { Tenant } from './world.ts';

// The requests of logins, recovery, OAuth and the sign-up proxy.

const targetPublicKey = new Receiver().publicKey;
const APP = 'App';

const SENDER = {
  sendFromEmailAddress: 'keys@mail.example',
  sendFromEmailSenderName: 'Keys',
  replyToEmailAddress: 'people@mail.example',
};
const EMAIL_LOOKS = {
  appName: APP,
  logoUrl: 'https://app.example/logo.png',
  magicLinkTemplate: 'https://app.example/login?code=%s',
  templateVariables: '{"greeting":"Hello"}',
  templateId: 'plain',
};
const SMS_LOOKS = { template: 'Your code: {{.OtpCode}}' };

const codeParams = (contact: string) => ({
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

/** A user of its own, since others may change the contacts of those who are there. */
async function newPerson(tenant: Tenant) {
  const email = newEmail();
  const { userId } = await createUser(tenant.root, fresh(tenant), { userEmail: email });
  return { userId, email };
}

const keyParams = (tenant: Tenant) => ({
  targetPublicKey,
  apiKeyName: fresh(tenant),
  expirationSeconds: '600',
  invalidateExisting: true,
});
const sessionParams = ({ ids }: Tenant, publicKey = newKeyPair().publicKey) => ({
  publicKey,
  expirationSeconds: '600',
  invalidateExisting: true,
  sessionProfileId: ids.sessionProfile,
});

/** A mail with a key in it. */
const mailedKey = byRoot(async (tenant) => ({
  email: (await newPerson(tenant)).email,
  ...keyParams(tenant),
  emailCustomization: EMAIL_LOOKS,
  ...SENDER,
}));

/** An identity, by a token that is bound to a key where one is given. */
export const newProvider = (tenant: Tenant, publicKey?: string) => ({
  providerName: fresh(tenant),
  oidcToken: tenant.outside.idToken(fresh(tenant), publicKey),
});

const children = new Map<Tenant, Promise<TestClient>>();

/** Tokens log in the users of sub-organizations only; for a parent it is one of a sub-organization of its own. */
const byToken =
  (parameters: (tenant: Tenant, tokenFor: (publicKey: string) => string) => Record<string, unknown>): Build =>
  async (tenant) => {
    const { marker, outside, root, scope } = tenant;
    const isParent = scope === 'parent';
    const subject = isParent ? `${marker} child` : marker;
    if (isParent && !children.has(tenant)) children.set(tenant, newChild(tenant, subject));
    const client = (await children.get(tenant)) ?? root;
    return { client, parameters: parameters(tenant, (publicKey) => outside.idToken(subject, publicKey)) };
  };

async function newChild({ treeRoot, outside, marker }: Tenant, subject: string): Promise<TestClient> {
  const child = await createSubOrganization(treeRoot, `${marker} child`);
  const oauthProviders = [{ providerName: marker, oidcToken: outside.idToken(subject) }];
  await child.run('create_oauth_providers', { userId: child.userId, oauthProviders });
  return child;
}

/** A credential that may be spoiled; only parents have any. */
async function newCredential({ root, scope, ids, marker }: Tenant): Promise<string> {
  if (scope !== 'parent') return ids.oauth2Credential;
  const params = await credentialParams(root, `${marker} ${newEmail()}`);
  return (await root.run('create_oauth2_credential', params)).oauth2CredentialId;
}

/** A token that proves a contact, for the user who is to have it. */
export const proofOf = async ({ root }: Tenant, contact: string) => ({
  verificationToken: await newVerification(root, newKeyPair(), contact),
});

/** The proof that a root user of a new sub-organization has its email address, and who holds the key of the proof. */
export async function signUpProof({ root }: Tenant, rootUser: Record<string, unknown>, shape: Shape) {
  const key = newKeyPair();
  const email = rootUser.userEmail as string;
  const verificationToken = await newVerification(root, key, email);
  const { apiKeys, authenticators, oauthProviders } = prune(shape, rootUser) as Record<string, unknown>;
  const said = { email, apiKeys, authenticators, oauthProviders };
  return { verificationToken, clientSignature: signUpSignature(key, verificationToken, said) };
}

export const LOGIN_CASES: Readonly<Record<string, Build>> = {
  init_otp: byRoot(() => codeParams(newEmail())),
  // A code is for one of the two: it is sent back encrypted, or as it is.
  verify_otp: byRoot(async ({ root }, type) => {
    const key = newKeyPair();
    const attempt = await (type === 'ACTIVITY_TYPE_VERIFY_OTP' ? newPlainCode(root) : newAttempt(root, key));
    return { ...attempt, publicKey: key.publicKey, expirationSeconds: '600' };
  }),
  otp_login: byRoot(async (tenant) => {
    const session = newKeyPair();
    const { email } = await newPerson(tenant);
    return { ...(await newLogin(tenant.root, email, session)), ...sessionParams(tenant, session.publicKey) };
  }),
  init_otp_auth: byRoot(async (tenant) => codeParams((await newPerson(tenant)).email)),
  otp_auth: byRoot(async (tenant) => {
    const { email } = await newPerson(tenant);
    return { ...(await newAuthCode(tenant.root, email)), ...keyParams(tenant) };
  }),
  email_auth: mailedKey,
  init_user_email_recovery: mailedKey,
  recover_user: byRoot(async (tenant) => ({
    userId: (await newPerson(tenant)).userId,
    authenticator: newPasskey(fresh(tenant)).registration,
  })),
  oauth: byToken((tenant, tokenFor) => ({ oidcToken: tokenFor(targetPublicKey), ...keyParams(tenant) })),
  oauth_login: byToken((tenant, tokenFor) => {
    const { publicKey } = newKeyPair();
    return { oidcToken: tokenFor(publicKey), ...sessionParams(tenant, publicKey) };
  }),
  create_oauth_providers: byRoot((tenant) => ({
    userId: tenant.second.userId,
    oauthProviders: [newProvider(tenant)],
  })),
  delete_oauth_providers: byRoot(async (tenant) => {
    const { userId } = await newPerson(tenant);
    await tenant.root.run('create_oauth_providers', { userId, oauthProviders: [newProvider(tenant)] });
    const [provider] = (await tenant.root.query('get_oauth_providers', { userId })).body.oauthProviders;
    return { userId, providerIds: [provider.providerId] };
  }),
  create_oauth2_credential: byRoot((tenant) => credentialParams(tenant.root, fresh(tenant))),
  update_oauth2_credential: byRoot(async (tenant) => ({
    oauth2CredentialId: await newCredential(tenant),
    ...(await credentialParams(tenant.root, fresh(tenant))),
  })),
  delete_oauth2_credential: byRoot(async (tenant) => ({ oauth2CredentialId: await newCredential(tenant) })),
  oauth2_authenticate: byRoot(({ outside, ids }) => ({
    ...outside.authorization(ids.oauth2Credential),
    bearerTokenTargetPublicKey: targetPublicKey,
  })),
  stamp_login: byRoot((tenant) => sessionParams(tenant)),
  create_read_only_session: byRoot(() => ({})),
  create_read_write_session: byRoot(async (tenant) => ({ ...(await newPerson(tenant)), ...keyParams(tenant) })),
  enable_auth_proxy: byRoot(() => ({})),
  disable_auth_proxy: byRoot(() => ({})),
  update_auth_proxy_config: byRoot(({ outside }) => ({
    allowedOrigins: ['https://app.example'],
    allowedAuthMethods: ['email', 'passkey'],
    ...SENDER,
    emailAuthTemplateId: 'plain',
    otpTemplateId: 'plain',
    emailCustomizationParams: EMAIL_LOOKS,
    smsCustomizationParams: SMS_LOOKS,
    walletKitSettings: {
      enabledSocialProviders: ['google'],
      oauthClientIds: { google: 'g', apple: 'a', facebook: 'f', x: 'x', discord: 'd' },
      oauthRedirectUrl: 'https://app.example/back',
    },
    otpExpirationSeconds: 300,
    verificationTokenExpirationSeconds: 600,
    sessionExpirationSeconds: 900,
    otpAlphanumeric: true,
    otpLength: 8,
    verificationTokenRequiredForGetAccountPii: true,
    socialLinkingClientIds: ['g'],
    oidcIssuers: [outside.issuer],
    captchaEnabled: false,
  })),
  get_oauth_providers: byRoot((tenant) => ({ userId: tenant.second.userId })),
  get_oauth2_credential: byRoot((tenant) => ({ oauth2CredentialId: tenant.ids.oauth2Credential })),
  list_oauth2_credentials: byRoot(() => ({})),
  record_email_event: byRoot(async ({ root, mailbox }) => {
    const { emailEvents } = (await root.query('list_email_events', { email: mailbox, eventType: 'sent' })).body;
    const details = { bounceSubType: 'General', diagnosticCode: 'smtp; 550 5.1.1 user unknown' };
    return { messageId: emailEvents[0].messageId, eventType: 'bounced', bounceType: 'Permanent', ...details };
  }),
  list_email_events: byRoot((tenant) => ({ email: tenant.mailbox, eventType: 'sent' })),
  get_auth_proxy_config: byRoot(() => ({})),
};
