import { expect, test } from 'vitest';
import { type ProxyClient, proxyClient } from './proxy-client.ts';

function proxy(answer: () => Response = () => Response.json({})) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = (async (url: unknown, init?: RequestInit) => {
    sent.push({ url: String(url), init: init as RequestInit });
    return answer();
  }) as typeof globalThis.fetch;
  return { sent, client: proxyClient({ authProxyUrl: 'http://proxy.test/', configId: 'config', fetch }) };
}

test.each([
  ['account', 'account'],
  ['otpInit', 'otp_init'],
  ['otpInitV2', 'otp_init_v2'],
  ['otpVerify', 'otp_verify'],
  ['otpVerifyV2', 'otp_verify_v2'],
  ['otpLogin', 'otp_login'],
  ['otpLoginV2', 'otp_login_v2'],
  ['oauthLogin', 'oauth_login'],
  ['oauth2Authenticate', 'oauth2_authenticate'],
  ['signup', 'signup'],
  ['signupV2', 'signup_v2'],
] as const)('%s', async (method, path) => {
  const { sent, client } = proxy(() => Response.json({ otpId: 'one' }));
  const call = client[method] as ProxyClient['otpInit'];
  const request = { otpType: 'OTP_TYPE_EMAIL', contact: 'user@example.com' } as const;
  expect(await call(request, { captchaToken: 'passed' })).toEqual({ otpId: 'one' });
  expect(sent).toEqual([
    {
      url: `http://proxy.test/v1/${path}`,
      init: {
        method: 'POST',
        body: JSON.stringify(request),
        headers: {
          Accept: 'application/json',
          'Content-Type': 'application/json',
          'X-Auth-Proxy-Config-Id': 'config',
          'X-Captcha-Token': 'passed',
        },
        redirect: 'manual',
        signal: expect.any(AbortSignal),
      },
    },
  ]);
});

test.each([
  ['walletKitConfig', 'wallet_kit_config'],
  ['walletKitClientParams', 'wallet_kit_client_params'],
] as const)('%s', async (method, path) => {
  const { sent, client } = proxy();
  await client[method]();
  expect(sent[0]).toMatchObject({ url: `http://proxy.test/v1/${path}`, init: { method: 'POST', body: '{}' } });
  expect(sent[0]?.init.headers).not.toHaveProperty('X-Captcha-Token');
});

test('errors are those of every other call, and nothing is sent twice', async () => {
  const { sent, client } = proxy(
    () =>
      new Response('{"code":14,"message":"later","details":[],"errorCode":"UNAVAILABLE"}', {
        status: 503,
        headers: { 'Retry-After': '1' },
      }),
  );
  const refused = client.otpVerifyV2({ otpId: 'one', encryptedOtpBundle: '{}' });
  await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503 });
  expect(sent).toHaveLength(1);
});

test('a call that was given up is not sent', async () => {
  const { sent, client } = proxy();
  await expect(client.walletKitConfig({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  expect(sent).toEqual([]);
});

test.each([
  ['an address that is none', { authProxyUrl: 'proxy.test', configId: 'config' }, /^authProxyUrl/],
  ['no configuration', { authProxyUrl: 'http://proxy.test', configId: '' }, /^configId/],
])('%s is refused', (_name, options, message) => {
  expect(() => proxyClient(options)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
  );
});
