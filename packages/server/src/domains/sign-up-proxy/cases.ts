import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { EMAIL_LOOKS, SENDER, SMS_LOOKS } from '../../../test/fixtures/messages.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, type VersionCase } from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

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

export const cases: DomainCases = {
  enable_auth_proxy: {
    activity: { place: 'parent', ...proxyTurned('enable_auth_proxy', { userId: anId }) },
    hostile: byRoot(() => ({})),
  },
  disable_auth_proxy: {
    activity: { place: 'parent', ...proxyTurned('disable_auth_proxy', {}) },
    hostile: byRoot(() => ({})),
  },
  update_auth_proxy_config: {
    activity: {
      place: 'parent',
      intentKey: 'updateAuthProxyConfigIntent',
      resultKey: 'updateAuthProxyConfigResult',
      arrange: async ({ root }) => {
        const change = { allowedOrigins: [`https://${randomUUID()}.example`], otpLength: 7 };
        return {
          parameters: change,
          result: { configId: (await proxyConfig(root)).configId },
          holds: async (reader) => expect(await proxyConfig(reader)).toMatchObject(change),
          absent: async (reader) =>
            expect((await proxyConfig(reader)).allowedOrigins).not.toEqual(change.allowedOrigins),
        };
      },
    },
    hostile: byRoot(({ outside }) => ({
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
  },
  get_auth_proxy_config: {
    query: {
      place: 'parent',
      answer: ({ root: { organizationId } }) => ({
        authProxyConfig: expect.objectContaining({ configId: anId, organizationId, enabled: expect.any(Boolean) }),
      }),
    },
    hostile: byRoot(() => ({})),
    isOfParents: true,
  },
};
