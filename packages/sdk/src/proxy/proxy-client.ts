import { CustosError, errorOfAnswer } from '../errors.ts';
import { ATTEMPT_TIMEOUT_MS, checkBaseUrl, checkTimeout, exchange, globalFetch, parseAnswer } from '../exchange.ts';
import type {
  ProxyAccount,
  ProxyAccountRequest,
  ProxyClientParams,
  ProxyConfig,
  ProxyEncryptedOtp,
  ProxyOauth2Request,
  ProxyOauthLoginRequest,
  ProxyOidcToken,
  ProxyOtp,
  ProxyOtpInitRequest,
  ProxyOtpLoginRequest,
  ProxyOtpLoginV2Request,
  ProxyOtpVerifyRequest,
  ProxyOtpVerifyV2Request,
  ProxySession,
  ProxySignup,
  ProxySignupRequest,
  ProxyVerification,
} from './requests.ts';

export interface ProxyClientOptions {
  /** Address of the sign-up proxy, which is that of the service unless it has a port of its own. */
  readonly authProxyUrl: string;
  /** The configuration's id, which is no secret. */
  readonly configId: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** How long one answer may take; 30 seconds unless told. */
  readonly timeoutMs?: number;
}

export interface ProxyCallOptions {
  /** What the captcha on the page answered, if the configuration asks for one. */
  readonly captchaToken?: string;
  readonly signal?: AbortSignal;
}

type ProxyCall<Request, Answer> = (request: Request, options?: ProxyCallOptions) => Promise<Answer>;

/** The calls of the sign-up proxy. Nothing is stamped: what they may do is what the configuration allows. */
export interface ProxyClient {
  /** Finds an account. */
  readonly account: ProxyCall<ProxyAccountRequest, ProxyAccount>;
  /** Sends a code that travels in the clear to `otpVerify`; use `otpInitV2` in new programs. */
  readonly otpInit: ProxyCall<ProxyOtpInitRequest, ProxyOtp>;
  /** Sends a code that travels encrypted to `otpVerifyV2`. */
  readonly otpInitV2: ProxyCall<ProxyOtpInitRequest, ProxyEncryptedOtp>;
  readonly otpVerify: ProxyCall<ProxyOtpVerifyRequest, ProxyVerification>;
  readonly otpVerifyV2: ProxyCall<ProxyOtpVerifyV2Request, ProxyVerification>;
  readonly otpLogin: ProxyCall<ProxyOtpLoginRequest, ProxySession>;
  readonly otpLoginV2: ProxyCall<ProxyOtpLoginV2Request, ProxySession>;
  readonly oauthLogin: ProxyCall<ProxyOauthLoginRequest, ProxySession>;
  readonly oauth2Authenticate: ProxyCall<ProxyOauth2Request, ProxyOidcToken>;
  readonly signup: ProxyCall<ProxySignupRequest, ProxySignup>;
  readonly signupV2: ProxyCall<ProxySignupRequest, ProxySignup>;
  /** What a login page needs to know. */
  readonly walletKitConfig: (options?: ProxyCallOptions) => Promise<ProxyConfig>;
  readonly walletKitClientParams: (options?: ProxyCallOptions) => Promise<ProxyClientParams>;
}

/** A client of the sign-up proxy. No call is repeated by itself: each attempt at a code counts. */
export function proxyClient(options: ProxyClientOptions): ProxyClient {
  const { authProxyUrl, configId, fetch = globalFetch } = options;
  const timeoutMs = checkTimeout('timeoutMs', options.timeoutMs ?? ATTEMPT_TIMEOUT_MS);
  const base = checkBaseUrl(authProxyUrl, 'authProxyUrl');
  if (typeof configId !== 'string' || configId === '') {
    throw new CustosError('INVALID_OPTION', 'configId must be the id of a sign-up proxy configuration');
  }

  const call =
    <Request extends object, Answer>(path: string): ProxyCall<Request, Answer> =>
    async (request, { captchaToken, signal } = {}) => {
      const init = {
        method: 'POST',
        body: JSON.stringify(request),
        headers: {
          Accept: 'application/json',
          'Content-Type': 'application/json',
          'X-Auth-Proxy-Config-Id': configId,
          ...(captchaToken !== undefined && { 'X-Captcha-Token': captchaToken }),
        },
        ...(signal && { signal }),
      };
      const { response, text } = await exchange(fetch, `${base}/v1/${path}`, init, timeoutMs);
      if (!response.ok) throw errorOfAnswer(response.status, text);
      return parseAnswer(response.status, text) as Answer;
    };
  const ask = <Answer>(path: string) => {
    const send = call<object, Answer>(path);
    return (options?: ProxyCallOptions) => send({}, options);
  };

  return {
    account: call('account'),
    otpInit: call('otp_init'),
    otpInitV2: call('otp_init_v2'),
    otpVerify: call('otp_verify'),
    otpVerifyV2: call('otp_verify_v2'),
    otpLogin: call('otp_login'),
    otpLoginV2: call('otp_login_v2'),
    oauthLogin: call('oauth_login'),
    oauth2Authenticate: call('oauth2_authenticate'),
    signup: call('signup'),
    signupV2: call('signup_v2'),
    walletKitConfig: ask('wallet_kit_config'),
    walletKitClientParams: ask('wallet_kit_client_params'),
  };
}
