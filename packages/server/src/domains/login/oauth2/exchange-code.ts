import { ApiError } from '../../../lib/errors.ts';
import type { Exchange, OutboundOptions } from '../../../outbound/exchange.ts';
import { operatorFetch } from '../../../outbound/operator-fetch.ts';
import { type OAuth2Endpoints, type OAuth2Provider, PROVIDERS } from './providers.ts';

export interface CodeExchange {
  readonly provider: OAuth2Provider;
  readonly endpoints: OAuth2Endpoints;
  readonly clientId: string;
  /** Lent for this call (protocol/login 8.1). */
  readonly clientSecret: Uint8Array;
  readonly authCode: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  /** For each of the two requests. */
  readonly timeoutMs?: number;
}

export interface ProviderLogin {
  readonly accessToken: string;
  /** The provider's user, as the sub of the token that we issue: `x:<id>` or `discord:<id>`. */
  readonly subject: string;
}

type Json = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** RFC 6750, section 2.1, with a bound. */
const BEARER_TOKEN = /^[\w.~+/-]{1,8192}=*$/;
const USER_ID = /^[\w-]{1,64}$/;
const ERROR_CODE = /^[\w.-]{1,64}$/;

/** Exchanges an authorization code (RFC 6749, section 4.1.3, with PKCE) and asks whose it was (protocol/login 8.2). */
export async function exchangeCode(exchange: CodeExchange): Promise<ProviderLogin> {
  const accessToken = await requestAccessToken(exchange);
  return { accessToken, subject: await requestSubject(exchange, accessToken) };
}

async function requestAccessToken(exchange: CodeExchange): Promise<string> {
  const { authCode, redirectUri, codeVerifier } = exchange;
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: authCode,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  });
  const answer = await call(exchange, exchange.endpoints.tokenUrl, 'the authorization code', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basicCredentials(exchange) },
    body: form.toString(),
  });
  const { access_token: accessToken, token_type: type } = answer;
  if (typeof accessToken !== 'string' || !BEARER_TOKEN.test(accessToken)) {
    throw failed(exchange, 'answered without an access token');
  }
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    throw failed(exchange, 'answered with a token that is not a bearer token');
  }
  return accessToken;
}

async function requestSubject(exchange: CodeExchange, accessToken: string): Promise<string> {
  const { prefix, readUserId } = PROVIDERS[exchange.provider];
  const answer = await call(exchange, exchange.endpoints.userUrl, 'the request for the user', {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const id = readUserId(answer);
  if (typeof id !== 'string' || !USER_ID.test(id)) throw failed(exchange, 'did not say who the user is');
  return `${prefix}:${id}`;
}

async function call(
  exchange: CodeExchange,
  url: string,
  subject: string,
  request: Pick<OutboundOptions, 'method' | 'headers' | 'body'>,
): Promise<Json> {
  const { label } = PROVIDERS[exchange.provider];
  let answer: Exchange;
  try {
    answer = await operatorFetch(url, {
      ...request,
      headers: { accept: 'application/json', 'user-agent': 'custos', ...request.headers },
      timeoutMs: exchange.timeoutMs ?? TIMEOUT_MS,
      maxBytes: ANSWER_BYTES_MAX,
    });
  } catch (cause) {
    throw new ApiError('UNAVAILABLE', `${label} cannot be reached`, { cause });
  }
  const { status } = answer;
  const body = parseObject(answer.body);
  if (status >= 500 || status === 429 || (status >= 300 && status < 400)) {
    throw new ApiError('UNAVAILABLE', `${label} is not available (HTTP status ${status})`);
  }
  if (status !== 200)
    throw failed(exchange, `refused ${subject}: ${errorCode(exchange, body) ?? `HTTP status ${status}`}`);
  if (body === undefined) throw failed(exchange, `answered ${subject} with something that is not JSON`);
  return body;
}

function parseObject(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** The provider's code, and nothing else of its answer, since an answer may repeat what it was sent. */
function errorCode(exchange: CodeExchange, body: Json | undefined): string | undefined {
  const code = body?.error;
  if (typeof code !== 'string' || !ERROR_CODE.test(code)) return undefined;
  const secrets = [secretText(exchange), exchange.authCode, exchange.codeVerifier];
  return secrets.some((secret) => code.includes(secret)) ? undefined : code;
}

/** RFC 6749, section 2.3.1: both parts are form-encoded before they are joined. */
function basicCredentials(exchange: CodeExchange): string {
  const pair = `${formEncode(exchange.clientId)}:${formEncode(secretText(exchange))}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

const secretText = ({ clientSecret: { buffer, byteOffset, byteLength } }: CodeExchange): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');

const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

const failed = ({ provider }: CodeExchange, problem: string): ApiError =>
  new ApiError('OAUTH2_EXCHANGE_FAILED', `${PROVIDERS[provider].label} ${problem}`);
