import { account } from './calls/account.ts';
import { oauthLogin } from './calls/oauth-login.ts';
import { oauth2Authenticate } from './calls/oauth2-authenticate.ts';
import { otpInit, otpInitV2 } from './calls/otp-init.ts';
import { otpLogin, otpLoginV2 } from './calls/otp-login.ts';
import { otpVerify, otpVerifyV2 } from './calls/otp-verify.ts';
import { signup, signupV2 } from './calls/signup.ts';
import { walletKitClientParams, walletKitConfig } from './calls/wallet-kit.ts';
import type { ProxyCall } from './define.ts';

/** Every call of the sign-up proxy (protocol/sign-up-proxy 3). */
export const proxyCalls: readonly ProxyCall[] = [
  account,
  oauth2Authenticate,
  oauthLogin,
  otpInit,
  otpInitV2,
  otpLogin,
  otpLoginV2,
  otpVerify,
  otpVerifyV2,
  signup,
  signupV2,
  walletKitClientParams,
  walletKitConfig,
];

export const proxyPathOf = ({ name }: ProxyCall): string => `/v1/${name}`;
