import Type from 'typebox';
import { SESSION_SECONDS } from '../../login/session-keys.ts';
import { defineProxyCall } from '../define.ts';
import { OTHER_ISSUERS, type ProxySettingsChange, SOCIAL_METHODS } from '../settings.ts';

export const walletKitConfig = defineProxyCall({
  name: 'wallet_kit_config',
  summary: 'What a client needs to know to show its sign-up and login: methods, lifetimes, OAuth client ids.',
  body: Type.Object({}),
  reply: Type.Object({
    enabledProviders: Type.Array(Type.String()),
    sessionExpirationSeconds: Type.String(),
    organizationId: Type.String(),
    oauthClientIds: Type.Optional(Type.Record(Type.String(), Type.String())),
    oauthRedirectUrl: Type.Optional(Type.String()),
    otpAlphanumeric: Type.Optional(Type.Boolean()),
    otpLength: Type.Optional(Type.String()),
  }),
  takesNothing: true,
  onlyReads: true,
  async answer({ config, parent }) {
    const { settings } = config;
    const kit = (settings as ProxySettingsChange).walletKitSettings ?? {};
    const shown = kit.enabledSocialProviders ?? SOCIAL_METHODS;
    const isShown = (method: string): boolean =>
      !(SOCIAL_METHODS as readonly string[]).includes(method) || (shown as readonly string[]).includes(method);
    return {
      // Pages have buttons for those they know.
      enabledProviders: settings.allowedAuthMethods.filter((method) => method !== OTHER_ISSUERS && isShown(method)),
      sessionExpirationSeconds: String(settings.sessionExpirationSeconds ?? SESSION_SECONDS),
      organizationId: parent.id,
      ...(kit.oauthClientIds && { oauthClientIds: kit.oauthClientIds as Record<string, string> }),
      ...(kit.oauthRedirectUrl && { oauthRedirectUrl: kit.oauthRedirectUrl }),
      otpAlphanumeric: settings.otpAlphanumeric,
      otpLength: String(settings.otpLength),
    };
  },
});

export const walletKitClientParams = defineProxyCall({
  name: 'wallet_kit_client_params',
  summary: 'The site key of the captcha, where the configuration has turned it on.',
  body: Type.Object({}),
  reply: Type.Object({ turnstileSiteKey: Type.Optional(Type.String()) }),
  takesNothing: true,
  onlyReads: true,
  async answer({ app, config }) {
    const { captchaSiteKey } = app.config;
    return config.settings.captchaEnabled && captchaSiteKey !== undefined ? { turnstileSiteKey: captchaSiteKey } : {};
  },
});
