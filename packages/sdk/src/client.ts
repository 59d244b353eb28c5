import { resultOf, settle } from './activity.ts';
import { CustosError } from './errors.ts';
import { exactBytes } from './fingerprint.ts';
import { type Activity, OPERATIONS, type OperationMethods } from './generated/operations.ts';
import type { ClientOptions, QueryOptions, RawOptions, SubmitOptions } from './options.ts';
import { createTransport } from './transport.ts';

export interface CustosClient extends OperationMethods {
  /**
   * Sends exact bytes to a submit operation, by its name on the wire, and answers whatever state the activity is in. The
   * same bytes again read that activity; sent by another user they are that user's approval.
   */
  submitRaw(operation: string, body: string | Uint8Array, options?: RawOptions): Promise<{ activity: Activity }>;
  /** Sends exact bytes to a query, by its name on the wire. */
  queryRaw(operation: string, body: string | Uint8Array, options?: RawOptions): Promise<unknown>;
}

type Operation = (typeof OPERATIONS)[keyof typeof OPERATIONS];

/** A client of one service, acting by one stamper. An activity's method answers once it is completed, or throws. */
export function createClient(options: ClientOptions): CustosClient {
  const send = createTransport(options);

  async function submitTo(path: string, body: string | Uint8Array, signal?: AbortSignal): Promise<Activity> {
    return activityOf(await send(path, exactBytes(body), signal));
  }

  async function query(operation: Operation, parameters: object, call: QueryOptions): Promise<unknown> {
    const body = { ...parameters, organizationId: call.organizationId ?? options.organizationId };
    return await send(operation.path, exactBytes(JSON.stringify(body)), call.signal);
  }

  async function submit(
    operation: Extract<Operation, { type: string }>,
    parameters: object,
    call: SubmitOptions,
  ): Promise<object> {
    const { organizationId = options.organizationId, timestampMs = nextTimestampMs(), signal } = call;
    const { generateAppProofs } = call;
    const body = {
      type: operation.type,
      timestampMs: String(timestampMs),
      organizationId,
      parameters,
      ...(generateAppProofs !== undefined && { generateAppProofs }),
    };
    const submitted = await submitTo(operation.path, JSON.stringify(body), signal);
    const look = async ({ id: activityId, organizationId: ownerId }: Activity): Promise<Activity> =>
      activityOf(await query(OPERATIONS.getActivity, { activityId }, { ...call, organizationId: ownerId }));
    const activity = await settle(submitted, look, options, signal);
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
      activity: await submitTo(`/public/v1/submit/${operation}`, body, call.signal),
    }),
    queryRaw: (operation, body, call = {}) => send(`/public/v1/query/${operation}`, exactBytes(body), call.signal),
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
