import { resultOf, settle } from './activity.ts';
import { CustosError, withRequest } from './errors.ts';
import { checkBaseUrl, globalFetch } from './exchange.ts';
import { type FeedEvent, type FeedOptions, followFeed } from './feed.ts';
import { exactBytes } from './fingerprint.ts';
import { type Activity, OPERATIONS, type OperationMethods } from './generated/operations.ts';
import type { ClientOptions, QueryOptions, RawOptions, SubmitOptions } from './options.ts';
import { checkSignedRequest } from './signed-request.ts';
import type { SignedRequest } from './signed-request-type.ts';
import { createTransport } from './transport.ts';

export interface CustosClient extends OperationMethods {
  /**
   * Sends exact bytes to a submit operation, by its name on the wire, and answers whatever state the activity is in. The
   * same bytes again read that activity; sent by another user they are that user's approval.
   */
  submitRaw(operation: string, body: string | Uint8Array, options?: RawOptions): Promise<{ activity: Activity }>;
  /** Sends exact bytes to a query, by its name on the wire. */
  queryRaw(operation: string, body: string | Uint8Array, options?: RawOptions): Promise<unknown>;
  /**
   * Sends a request again as it was stamped, and answers what its method would have answered. A submit whose answer was
   * lost is carried out at most once: what it did is found, and if it did nothing, it is done now. The service takes a
   * request for the first time within an hour of its time.
   */
  repeat(request: SignedRequest | undefined, options?: RawOptions): Promise<unknown>;
  /**
   * What happens in an organization, as it happens: activities, sends and deliveries of webhooks whose state changed. After
   * a lost connection it goes on where it stood, without a gap. Leave the loop or abort the signal to end it.
   */
  feed(options?: FeedOptions): AsyncGenerator<FeedEvent, void, undefined>;
}

type Operation = (typeof OPERATIONS)[keyof typeof OPERATIONS];
type Submit = Extract<Operation, { type: string }>;

/** A client of one service, acting by one stamper. An activity's method answers once it is completed, or throws. */
export function createClient(options: ClientOptions): CustosClient {
  const { stamp, send } = createTransport(options);

  const ask = async (path: string, body: string | Uint8Array, signal: AbortSignal | undefined): Promise<unknown> =>
    await send(await stamp(path, exactBytes(body), signal), signal);

  async function query(operation: Operation, parameters: object, call: QueryOptions): Promise<unknown> {
    const body = { ...parameters, organizationId: call.organizationId ?? options.organizationId };
    return await ask(operation.path, JSON.stringify(body), call.signal);
  }

  async function submit(operation: Submit, parameters: object, call: SubmitOptions): Promise<object> {
    const { organizationId = options.organizationId, timestampMs = nextTimestampMs(), signal } = call;
    const { generateAppProofs } = call;
    const body = {
      type: operation.type,
      timestampMs: String(timestampMs),
      organizationId,
      parameters,
      ...(generateAppProofs !== undefined && { generateAppProofs }),
    };
    const request = await stamp(operation.path, exactBytes(JSON.stringify(body)), signal);
    return await finish(operation, request, call);
  }

  /** Sends a submit and follows its activity. Whatever fails on the way, the submit is what to send again. */
  async function finish(operation: Submit, request: SignedRequest, call: QueryOptions): Promise<object> {
    try {
      return await resultBy(operation, request, call);
    } catch (error) {
      throw withRequest(error, request);
    }
  }

  async function resultBy(operation: Submit, request: SignedRequest, call: QueryOptions): Promise<object> {
    const submitted = activityOf(await send(request, call.signal));
    const look = async ({ id: activityId, organizationId: ownerId }: Activity): Promise<Activity> =>
      activityOf(await query(OPERATIONS.getActivity, { activityId }, { ...call, organizationId: ownerId }));
    const activity = await settle(submitted, look, options, call.signal);
    // A vote did its work whatever it led to.
    return operation.kind === 'vote' ? { activity } : { ...resultOf(activity, operation.resultKey), activity };
  }

  const methods = Object.entries(OPERATIONS).map(([method, operation]: [string, Operation]) => [
    method,
    (parameters: object = {}, call: SubmitOptions = {}) =>
      operation.kind === 'query' ? query(operation, parameters, call) : submit(operation, parameters, call),
  ]);
  return {
    // The methods are made from the same registry as their types.
    ...(Object.fromEntries(methods) as OperationMethods),
    submitRaw: async (operation, body, call = {}) => ({
      activity: activityOf(await ask(`/public/v1/submit/${operation}`, body, call.signal)),
    }),
    feed: (call = {}) =>
      followFeed(
        {
          base: checkBaseUrl(options.baseUrl),
          organizationId: options.organizationId,
          fetch: options.fetch ?? globalFetch,
          stamp,
        },
        call,
      ),
    queryRaw: (operation, body, call = {}) => ask(`/public/v1/query/${operation}`, body, call.signal),
    async repeat(kept, call = {}) {
      const request = checkSignedRequest(kept);
      const operation: Operation | undefined = Object.values(OPERATIONS).find(({ path }) => path === request.path);
      // Those that this version does not know answer as raw calls do.
      if (operation === undefined || operation.kind === 'query') return await send(request, call.signal);
      return await finish(operation, request, call);
    },
  };
}

function activityOf(answer: unknown): Activity {
  const { activity } = (answer ?? {}) as { activity?: Activity };
  if (typeof activity?.status === 'string') return activity;
  throw new CustosError('UNEXPECTED_ANSWER', 'the answer holds no activity', { httpStatus: 200 });
}

let lastTimestampMs = 0;

/** Never the same twice: two equal requests of one moment would otherwise be one activity. */
function nextTimestampMs(): number {
  lastTimestampMs = Math.max(Date.now(), lastTimestampMs + 1);
  return lastTimestampMs;
}
