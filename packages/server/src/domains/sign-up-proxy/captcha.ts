import type { App } from '../../engine/app.ts';
import { ApiError } from '../../lib/errors.ts';
import { operatorFetch } from '../../outbound/operator-fetch.ts';

const TIMEOUT_MS = 5000;
const ANSWER_BYTES_MAX = 64 * 1024;
const TOKEN_LENGTH_MAX = 4096;

/** Asks the verifier that the operator set. One that does not answer keeps nobody out (protocol/sign-up-proxy 2.3). */
export async function requireCaptcha(
  app: App,
  token: string | string[] | undefined,
  clientAddress: string | undefined,
): Promise<void> {
  if (typeof token !== 'string' || token === '') {
    throw new ApiError('INVALID_CAPTCHA', 'X-Captcha-Token header is required when captcha is enabled');
  }
  const { captchaSecret, captchaUrl } = app.config;
  if (captchaSecret === undefined) {
    throw new ApiError('FAILED_PRECONDITION', 'captcha is enabled, but this service has no CUSTOS_CAPTCHA_SECRET');
  }
  const isHuman =
    token.length > TOKEN_LENGTH_MAX ? false : await verify(app, captchaUrl, captchaSecret, token, clientAddress);
  if (isHuman === false) throw new ApiError('INVALID_CAPTCHA', 'captcha verification failed');
}

/** Undefined where the verifier has not told. */
async function verify(
  app: App,
  url: string,
  secret: string,
  response: string,
  remoteip: string | undefined,
): Promise<boolean | undefined> {
  const form = new URLSearchParams({ secret, response, ...(remoteip !== undefined && { remoteip }) });
  try {
    const { status, body } = await operatorFetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      timeoutMs: TIMEOUT_MS,
      maxBytes: ANSWER_BYTES_MAX,
    });
    // It was reached and did not say yes. Somebody may have made it slow us down, and that must not open the door.
    if (status >= 400 && status < 500) return false;
    const answer: unknown = status < 500 ? JSON.parse(body.toString('utf8')) : undefined;
    const success = (answer as { readonly success?: unknown } | undefined | null)?.success;
    if (typeof success === 'boolean') return success;
    throw new Error(`the captcha verifier answered ${status} without a result`);
  } catch (error) {
    app.observe.unavailable('captcha', error);
    return undefined;
  }
}
