import Type from 'typebox';
import { isIssuer } from '../../authn/oidc/id-token.ts';
import type { Config } from '../../config/config.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { LIMITS } from '../../lib/limits.ts';
import { requireEmailAddress, requireHeaderText } from '../../lib/mail-address.ts';
import { IdShape, integerShape, TimestampShape, textShape } from '../../lib/shapes.ts';
import { parseUrl } from '../../lib/url.ts';
import { checkCustomization } from '../messages/templates/customization.ts';
import { loadTemplate } from '../messages/templates/files.ts';
import { EmailOrEmptyShape } from '../users/shapes/users.ts';
import type { SignUpProxyConfig } from './model.ts';

/** Ways to sign up and to log in, as a configuration turns them on (protocol/sign-up-proxy 2.4). */
export const SOCIAL_METHODS = ['google', 'apple', 'facebook', 'x', 'discord'] as const;
/** Ours: any other OpenID issuer, which anybody can run. */
export const OTHER_ISSUERS = 'oidc';
export const AUTH_METHODS = ['email', 'sms', 'passkey', 'wallet', ...SOCIAL_METHODS, OTHER_ISSUERS] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

const ORIGINS_MAX = 100;
const ORIGIN_LENGTH_MAX = 512;
const CLIENT_IDS_MAX = 100;
const ISSUERS_MAX = 100;
const ISSUER_LENGTH_MAX = 512;
const URL_LENGTH_MAX = 2048;

const ClientIdShape = textShape(255);

/** What update_auth_proxy_config takes and get_auth_proxy_config shows. Empty text takes a value away. */
export const PROXY_SETTINGS = {
  allowedOrigins: Type.Optional(Type.Array(textShape(ORIGIN_LENGTH_MAX), { minItems: 1, maxItems: ORIGINS_MAX })),
  allowedAuthMethods: Type.Optional(Type.Array(Type.Enum([...AUTH_METHODS]), { maxItems: AUTH_METHODS.length })),
  sendFromEmailAddress: Type.Optional(EmailOrEmptyShape),
  replyToEmailAddress: Type.Optional(EmailOrEmptyShape),
  sendFromEmailSenderName: Type.Optional(textShape(255)),
  emailAuthTemplateId: Type.Optional(textShape(255)),
  otpTemplateId: Type.Optional(textShape(255)),
  emailCustomizationParams: Type.Optional(
    Type.Object({
      appName: Type.Optional(textShape(255)),
      logoUrl: Type.Optional(textShape(URL_LENGTH_MAX)),
      magicLinkTemplate: Type.Optional(textShape(URL_LENGTH_MAX)),
      templateVariables: Type.Optional(textShape(4096)),
      templateId: Type.Optional(textShape(255)),
    }),
  ),
  smsCustomizationParams: Type.Optional(Type.Object({ template: Type.Optional(textShape(480)) })),
  walletKitSettings: Type.Optional(
    Type.Object({
      enabledSocialProviders: Type.Optional(
        Type.Array(Type.Enum([...SOCIAL_METHODS]), { maxItems: SOCIAL_METHODS.length }),
      ),
      oauthClientIds: Type.Optional(
        Type.Object({
          google: Type.Optional(ClientIdShape),
          apple: Type.Optional(ClientIdShape),
          facebook: Type.Optional(ClientIdShape),
          x: Type.Optional(ClientIdShape),
          discord: Type.Optional(ClientIdShape),
        }),
      ),
      oauthRedirectUrl: Type.Optional(textShape(URL_LENGTH_MAX)),
    }),
  ),
  otpExpirationSeconds: Type.Optional(integerShape(30)),
  verificationTokenExpirationSeconds: Type.Optional(integerShape(60)),
  sessionExpirationSeconds: Type.Optional(integerShape(1, LIMITS.sessionSecondsMax)),
  otpAlphanumeric: Type.Optional(Type.Boolean()),
  otpLength: Type.Optional(integerShape(6, 9)),
  verificationTokenRequiredForGetAccountPii: Type.Optional(Type.Boolean()),
  socialLinkingClientIds: Type.Optional(Type.Array(ClientIdShape, { maxItems: CLIENT_IDS_MAX })),
  oidcIssuers: Type.Optional(Type.Array(textShape(ISSUER_LENGTH_MAX), { maxItems: ISSUERS_MAX })),
  captchaEnabled: Type.Optional(Type.Boolean()),
};
const ProxySettingsShape = Type.Object(PROXY_SETTINGS);
export type ProxySettingsChange = Type.Static<typeof ProxySettingsShape>;

export const AuthProxyConfigShape = Type.Object({
  configId: IdShape,
  organizationId: IdShape,
  enabled: Type.Boolean(),
  /** The user as which the proxy acts, once there is one. */
  userId: Type.Optional(IdShape),
  ...PROXY_SETTINGS,
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

export const noProxyConfig = (): ApiError =>
  new ApiError(
    'RESOURCE_NOT_FOUND',
    'this organization has no sign-up proxy configuration: enable_auth_proxy makes one',
  );

/** The rules that the shapes cannot state. */
export function checkProxySettings(change: ProxySettingsChange): void {
  const { allowedOrigins = [], sendFromEmailAddress, replyToEmailAddress, sendFromEmailSenderName } = change;
  for (const [index, origin] of allowedOrigins.entries()) {
    if (origin === '*' ? allowedOrigins.length > 1 : !isOrigin(origin)) {
      throw invalidField(
        `parameters.allowedOrigins.${index}`,
        'must be an origin as a browser sends it, such as https://app.example, the origin of an app, or * alone for any',
      );
    }
  }
  if (sendFromEmailAddress) requireEmailAddress(sendFromEmailAddress, 'sendFromEmailAddress');
  if (replyToEmailAddress) requireEmailAddress(replyToEmailAddress, 'replyToEmailAddress');
  if (sendFromEmailSenderName) requireHeaderText(sendFromEmailSenderName, 'sendFromEmailSenderName');
  checkTexts(change);
  checkIssuers(change.oidcIssuers ?? []);
  const url = change.walletKitSettings?.oauthRedirectUrl;
  if (url && !isRedirect(url)) {
    throw invalidField('parameters.walletKitSettings.oauthRedirectUrl', 'must be a URL without a fragment');
  }
}

/** As tokens name them in `iss`, to the letter. Whether one can be reached shows when it is asked. */
function checkIssuers(issuers: readonly string[]): void {
  for (const [index, issuer] of issuers.entries()) {
    const isUrl = parseUrl(issuer) !== undefined && isIssuer(issuer);
    if (!isUrl || issuers.indexOf(issuer) !== index) {
      throw invalidField(
        `parameters.oidcIssuers.${index}`,
        'must be the iss of an OpenID issuer, such as https://login.example, an http or https URL without a query or a fragment, and stand here once',
      );
    }
  }
}

/** Bounds that the operator sets. */
export function checkWithinOperatorBounds(change: ProxySettingsChange, config: Config): void {
  requireAtMost('otpExpirationSeconds', change.otpExpirationSeconds, config.otpSecondsMax);
  requireAtMost(
    'verificationTokenExpirationSeconds',
    change.verificationTokenExpirationSeconds,
    config.verificationSecondsMax,
  );
  if (change.captchaEnabled === true && config.captchaSecret === undefined) {
    throw new ApiError(
      'FAILED_PRECONDITION',
      'captchaEnabled: this service has no captcha keys (CUSTOS_CAPTCHA_SITE_KEY and CUSTOS_CAPTCHA_SECRET)',
    );
  }
}

/** Those that a change names are there. */
export async function requireTemplates(change: ProxySettingsChange, { mailTemplates }: Config): Promise<void> {
  const { otpTemplateId, emailAuthTemplateId, emailCustomizationParams } = change;
  const named = {
    otpTemplateId,
    emailAuthTemplateId,
    'emailCustomizationParams.templateId': emailCustomizationParams?.templateId,
  };
  for (const [name, templateId] of Object.entries(named)) {
    if (templateId) await loadTemplate(mailTemplates, templateId, `parameters.${name}`);
  }
}

function requireAtMost(name: string, value: number | undefined, max: number): void {
  if (value !== undefined && value > max) throw invalidField(`parameters.${name}`, `must be at most ${max}`);
}

/** Apps have origins of their own: android:apk-key-hash:…, ios:bundle-id:…, capacitor://localhost. */
const APP_ORIGIN = /^(?!https?:)[a-z][a-z0-9+.-]*:(\/\/)?[\w.:+=~-]+$/;

const isOrigin = (text: string): boolean =>
  APP_ORIGIN.test(text) || (/^https?:\/\//.test(text) && parseUrl(text)?.origin === text && !text.includes('*'));

const isRedirect = (text: string): boolean =>
  parseUrl(text) !== undefined && !text.includes('#') && !/^javascript:/i.test(text);

/** The same rules as where the texts are used, under the names that they have here. */
function checkTexts({ emailCustomizationParams, smsCustomizationParams }: ProxySettingsChange): void {
  try {
    checkCustomization({ emailCustomization: emailCustomizationParams, smsCustomization: smsCustomizationParams });
  } catch (error) {
    const [violation] = error instanceof ApiError ? error.violations : [];
    if (violation === undefined) throw error;
    throw invalidField(violation.field.replace('Customization.', 'CustomizationParams.'), violation.description);
  }
}

/** The configuration with a change: what is absent stays, empty text goes. */
export function withChange(config: SignUpProxyConfig, change: ProxySettingsChange, nowMs: number): SignUpProxyConfig {
  const settings = Object.fromEntries(
    Object.entries({ ...config.settings, ...change }).filter(([, value]) => value !== '' && value !== undefined),
  ) as unknown as SignUpProxyConfig['settings'];
  return { ...config, settings, updatedAtMs: nowMs };
}
