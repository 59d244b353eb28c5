import type { Activity, ActivityStatus, ERROR_CODES } from './generated/operations.ts';
import type { SignedRequest } from './signed-request-type.ts';

/** Codes of the service. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes that arise on this side of the wire. */
export type ClientErrorCode =
  | 'ACTIVITY_PENDING'
  | 'ACTIVITY_REJECTED'
  | 'BUNDLE_INVALID'
  | 'INVALID_KEY'
  | 'INVALID_OPTION'
  | 'NETWORK_ERROR'
  | 'PASSKEY_FAILED'
  | 'PASSKEY_UNAVAILABLE'
  | 'TOKEN_INVALID'
  | 'UNEXPECTED_ANSWER'
  | 'UNSUPPORTED_SCHEME'
  | 'VOTE_BODY_OMITTED';

/** One refused field: `field` is a dotted path such as `parameters.users.0.userName`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

export interface CustosErrorOptions {
  readonly grpcCode?: number | undefined;
  readonly httpStatus?: number | undefined;
  readonly details?: readonly unknown[];
  readonly violations?: readonly FieldViolation[];
  readonly cause?: unknown;
}

/** Beside the errors, so that no log prints what may hold secrets. */
const requests = new WeakMap<CustosError, SignedRequest>();

/** Everything that this package throws, save for the reason of an aborted signal. */
export class CustosError extends Error {
  override readonly name: string = 'CustosError';
  /** A newer service may answer a code that this version of the SDK does not list. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  /** Undefined where no answer of the service is behind the error. */
  readonly grpcCode: number | undefined;
  readonly httpStatus: number | undefined;
  readonly details: readonly unknown[];
  readonly violations: readonly FieldViolation[];

  constructor(code: CustosError['code'], message: string, options: CustosErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.grpcCode = options.grpcCode;
    this.httpStatus = options.httpStatus;
    this.details = options.details ?? [];
    this.violations = options.violations ?? [];
  }

  /**
   * The request that the error is about, as it was stamped; undefined where none was sent. `client.repeat` sends it again.
   * It may hold secrets, so it is not printed with the error.
   */
  get request(): SignedRequest | undefined {
    return requests.get(this);
  }
}

/** Notes what was sent; of a call that sent several requests, the one that began it. */
export function withRequest<Thrown>(error: Thrown, request: SignedRequest): Thrown {
  if (error instanceof CustosError) requests.set(error, request);
  return error;
}

/**
 * The service could not be reached, did not answer in time, or the connection broke, also when asked again. A submit may
 * have been carried out all the same: `client.repeat(error.request)` finds out, and carries it out at most once.
 */
export class NetworkError extends CustosError {
  override readonly name = 'NetworkError';

  constructor(message: string, cause: unknown) {
    super('NETWORK_ERROR', message, { cause });
  }
}

/** What a bundle is checked for, in this order. */
export type BundleCheck =
  | 'form'
  | 'version'
  | 'signer'
  | 'signature'
  | 'organization'
  | 'user'
  | 'key'
  | 'decryption'
  | 'content';

/** A bundle that must not be used: it is damaged, not the service's, or meant for somebody else. */
export class BundleError extends CustosError {
  override readonly name = 'BundleError';
  /** The first check that failed. */
  readonly check: BundleCheck;

  constructor(check: BundleCheck, message: string) {
    super('BUNDLE_INVALID', message);
    this.check = check;
  }
}

/** An activity that was stored but is not completed. */
export class ActivityError extends CustosError {
  override readonly name: string = 'ActivityError';
  readonly activity: Activity;
  readonly activityId: string;
  readonly fingerprint: string;
  readonly status: ActivityStatus;

  constructor(code: CustosError['code'], message: string, activity: Activity, options: CustosErrorOptions = {}) {
    super(code, message, { httpStatus: 200, ...options });
    this.activity = activity;
    this.activityId = activity.id;
    this.fingerprint = activity.fingerprint;
    this.status = activity.status;
  }
}

/** The activity waits for approvals or further factors, or still runs. Others approve it by its `fingerprint`. */
export class ActivityPendingError extends ActivityError {
  override readonly name = 'ActivityPendingError';

  constructor(activity: Activity) {
    super('ACTIVITY_PENDING', `the activity is not completed: ${activity.status}`, activity);
  }
}

export class ActivityRejectedError extends ActivityError {
  override readonly name = 'ActivityRejectedError';

  constructor(activity: Activity) {
    super('ACTIVITY_REJECTED', 'the activity was rejected', activity);
  }
}

/** The activity was approved and then failed; `code` and `message` are those of the failure. */
export class ActivityFailedError extends ActivityError {
  override readonly name = 'ActivityFailedError';
  readonly failure: Activity['failure'];

  constructor(activity: Activity) {
    const { failure } = activity;
    super(codeIn(failure?.details ?? []) ?? 'INTERNAL', failure?.message ?? 'the activity failed', activity, {
      grpcCode: failure?.code,
      details: failure?.details ?? [],
    });
    this.failure = failure;
  }
}

/** The error that an answer with a non-2xx status describes. */
export function errorOfAnswer(httpStatus: number, text: string): CustosError {
  const body = parseObject(text);
  if (body === undefined || typeof body.message !== 'string') {
    const message = `the answer is not one of the service: HTTP ${httpStatus}`;
    return new CustosError('UNEXPECTED_ANSWER', message, { httpStatus });
  }
  const details: readonly unknown[] = Array.isArray(body.details) ? body.details : [];
  const code = typeof body.errorCode === 'string' ? body.errorCode : codeIn(details);
  return new CustosError(code ?? 'UNEXPECTED_ANSWER', body.message, {
    grpcCode: typeof body.code === 'number' ? body.code : undefined,
    httpStatus,
    details,
    violations: details.flatMap(violationsIn),
  });
}

function codeIn(details: readonly unknown[]): string | undefined {
  const codes = details.map((detail) => (isObject(detail) ? detail.errorCode : undefined));
  return codes.find((code) => typeof code === 'string');
}

function violationsIn(detail: unknown): FieldViolation[] {
  const listed: unknown = isObject(detail) ? detail.fieldViolations : undefined;
  return Array.isArray(listed) ? listed.filter(isViolation) : [];
}

const isViolation = (value: unknown): value is FieldViolation =>
  isObject(value) && typeof value.field === 'string' && typeof value.description === 'string';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
