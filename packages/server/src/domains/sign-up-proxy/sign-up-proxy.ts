import type { Passage } from '../../admission/passage.ts';
import type { App } from '../../engine/app.ts';
import { withKeyringErrors } from '../../engine/keyring-errors.ts';
import { BODY_BOUNDS } from '../../engine/request.ts';
import { ApiError } from '../../lib/errors.ts';
import { parseStrictJson } from '../../lib/strict-json.ts';
import { requireCaptcha } from './captcha.ts';
import { configIdOf, openConfiguration, requireOrigin } from './configuration.ts';
import type { ProxyCall } from './define.ts';
import { requireMethods } from './methods.ts';
import { RequestLimit } from './request-limit.ts';
import { activityRunner } from './run-activity.ts';
import type { Visit } from './visit.ts';

/** A call as the HTTP layer hands it over. */
export interface ProxyRequest {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly clientAddress: string | undefined;
  readonly passage: Passage;
}

/** The class of its calls beside the organizations of a tree, so that neither keeps the other waiting. */
const ADMITTED_AS = 'sign-up proxy';

export interface ProxyAnswer {
  /** Whose pages may read it: one origin, `*` for any, undefined for none. */
  readonly readableBy: string | undefined;
  readonly outcome: { readonly reply: unknown } | { readonly error: unknown };
}

/**
 * The front for applications without a server of their own (protocol/sign-up-proxy 2.1): it knows its configuration and
 * no user.
 */
export interface SignUpProxy {
  answer(call: ProxyCall, request: ProxyRequest): Promise<ProxyAnswer>;
}

export function createSignUpProxy(app: App): SignUpProxy {
  const { config: settings, elapsed } = app;
  const calls = new RequestLimit(settings.proxyRequestsPerMinute, elapsed, {
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'too many calls from this address, try later',
  });
  // Many people may be behind one address, so that these are more than one contact may have, and fewer than anybody
  // needs who wants to send codes to many.
  const codes = new RequestLimit(settings.proxyCodesPerMinute, elapsed, {
    code: 'MAX_OTP_INITIATED',
    message: 'Max number of OTPs have been initiated',
  });
  return {
    async answer(call, request) {
      const { passage, clientAddress } = request;
      // Whoever has no good configuration yet may read why.
      let readableBy: string | undefined = '*';
      try {
        const configId = configIdOf(request.headers);
        calls.take(clientAddress);
        await passage.enter(request.body.length);
        const { config, parent } = await openConfiguration(app, configId);
        readableBy = undefined;
        readableBy = requireOrigin(config.settings, request.headers.origin);
        if (!call.onlyReads) app.storage.fence.requireLifted(parent);
        const run = activityRunner({ app, config, parent, clientAddress, passage });
        const asksVerifier = call.needsCaptcha !== undefined && app.config.captchaSecret !== undefined;
        await passage.asTenant(parent.id, ADMITTED_AS, call.waitsOutside || asksVerifier);
        if (call.sendsCode) codes.take(clientAddress);
        const body = call.decode(parseObject(call, request.body));
        calls.addCost(clientAddress, call.cost(body));
        const visit: Visit = { app, config, parent, clientAddress, nowMs: app.clock(), run };
        return { readableBy, outcome: { reply: await withKeyringErrors(() => receive(call, visit, body, request)) } };
      } catch (error) {
        return { readableBy, outcome: { error } };
      }
    },
  };
}

async function receive(call: ProxyCall, visit: Visit, body: unknown, { headers }: ProxyRequest): Promise<unknown> {
  const { app, config, clientAddress } = visit;
  requireMethods(config.settings, call.demands(visit, body));
  if (config.settings.captchaEnabled && call.needsCaptcha?.(body)) {
    await requireCaptcha(app, headers['x-captcha-token'], clientAddress);
  }
  return await call.answer(visit, body);
}

function parseObject({ takesNothing }: ProxyCall, bytes: Uint8Array): unknown {
  // Clients declare JSON and send nothing at all where there is nothing to say (protocol/http 2.2).
  if (bytes.length === 0 && takesNothing) return {};
  const value = parseStrictJson(bytes, BODY_BOUNDS);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new ApiError('REQUEST_INVALID', 'the body must be a JSON object');
}
