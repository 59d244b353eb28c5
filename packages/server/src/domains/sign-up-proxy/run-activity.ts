import type { Signature } from '@custos/keyring';
import type { Passage } from '../../admission/passage.ts';
import type { Organization } from '../../core/model.ts';
import type { App } from '../../engine/app.ts';
import { dispatch } from '../../engine/dispatch.ts';
import type { WireActivity } from '../../engine/render-activity.ts';
import type { ActivityAnswer } from '../../engine/vote-draft.ts';
import { sha256, toBase64url } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { holderOf, makeIdentity } from './identity.ts';
import type { SignUpProxyConfig } from './model.ts';
import type { ProxyIdentity } from './new-identity.ts';
import type { ProxyActivity, Visit } from './visit.ts';

interface Caller {
  readonly app: App;
  readonly config: SignUpProxyConfig;
  readonly parent: Organization;
  readonly clientAddress: string | undefined;
  readonly passage: Passage;
}

/**
 * Submits as the proxy's user, like any client with a key: the whole pipeline judges it (protocol/sign-up-proxy 4.1).
 */
export function activityRunner(caller: Caller): Visit['run'] {
  const { app, config, parent } = caller;
  return async <Result>(activity: ProxyActivity) => {
    const identity = config.identity ?? (await makeIdentity(app, config, parent));
    const done = await submit(caller, identity, activity).catch(async (error: unknown) => {
      if (!isGone(error)) throw forOutsiders(error);
      const renewed = await makeIdentity(app, config, parent);
      return await submit(caller, renewed, activity).catch((again: unknown) => {
        throw isGone(again) ? keepsChanging() : forOutsiders(again);
      });
    });
    if (done.status !== 'ACTIVITY_STATUS_COMPLETED') throw pending(done);
    return { activity: done, result: Object.values(done.result)[0] as Result };
  };
}

async function submit(caller: Caller, identity: ProxyIdentity, activity: ProxyActivity): Promise<WireActivity> {
  const { app, parent, clientAddress, passage } = caller;
  const { type, parameters, organizationId = parent.id, generateAppProofs } = activity;
  const body = Buffer.from(
    JSON.stringify({
      type,
      timestampMs: String(app.clock()),
      organizationId,
      parameters,
      ...(generateAppProofs === true && { generateAppProofs }),
      // Two clients that ask for the same in the same millisecond ask for two things.
      requestId: app.newId(),
    }),
  );
  const answer = await dispatch(app, app.operations.get(type), {
    body,
    headers: { 'x-stamp': await stampFor(caller, identity, body) },
    clientAddress,
    byService: true,
    passage,
  });
  return (answer as ActivityAnswer).activity;
}

async function stampFor(
  { app, config, parent }: Caller,
  { publicKey, sealedKey }: ProxyIdentity,
  body: Uint8Array,
): Promise<string> {
  const key = { kind: 'private-key', sealed: sealedKey, curve: 'CURVE_P256' } as const;
  const [signature] = await app.keyring.sign(holderOf(config, parent), key, 'ecdsa', [sha256(body)]);
  if (signature === undefined) throw new Error('the keyring signed nothing');
  const stamp = { publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: derOf(signature).toString('hex') };
  return toBase64url(Buffer.from(JSON.stringify(stamp)));
}

/** ECDSA-Sig-Value (RFC 3279, 2.2.3). */
function derOf({ r, s }: Signature): Buffer {
  const integer = (bytes: Uint8Array): Buffer => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const digits = Buffer.from(bytes.subarray(start));
    const value = (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits;
    return Buffer.concat([Buffer.of(0x02, value.length), value]);
  };
  const integers = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.of(0x30, integers.length), integers]);
}

/** Somebody deleted the proxy's user or key. */
const isGone = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'PUBLIC_KEY_NOT_FOUND' || error.code === 'UNAUTHENTICATED');

const keepsChanging = (): ApiError =>
  new ApiError('CONFLICT', 'the user of the sign-up proxy keeps being deleted, try again', { retryAfterSeconds: 1 });

/** What a caller of the proxy, who is anybody, is told of a refusal. */
function forOutsiders(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  // Which policy of the organization refused it is not theirs to know.
  if (error.code === 'REQUEST_NOT_AUTHORIZED') {
    return new ApiError(
      'REQUEST_NOT_AUTHORIZED',
      "You don't have sufficient permissions to take this action. The organization does not allow it to its sign-up proxy",
    );
  }
  // Fields are named as the caller sent them.
  const { code, message, violations, details, retryAfterSeconds, cause } = error;
  if (!message.startsWith('parameters.') && violations.length === 0) return error;
  return new ApiError(code, ownName(message), {
    violations: violations.map(({ field, description }) => ({ field: ownName(field), description })),
    details,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause,
  });
}

const ownName = (text: string): string => text.replace(/^parameters\.(?:rootUsers\.0\.)?/, '');

/** What a login still waits for is given on the main API, by the user's own factors (protocol/sign-up-proxy 4.3). */
function pending({ id, organizationId, fingerprint, status }: WireActivity): ApiError {
  return new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    `more has to be proven (${status}): prove it with approve_activity in organization ${organizationId}, fingerprint ${fingerprint}, stamped with the next factor; the session is in the result of activity ${id}`,
    {
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PendingActivity',
          activityId: id,
          organizationId,
          fingerprint,
          status,
        },
      ],
    },
  );
}
