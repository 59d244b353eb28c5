import { ERROR_CODES, type ErrorCode, STATUS } from './error-codes.ts';

export type { ErrorCode } from './error-codes.ts';

/** One refused field: `field` is a dotted path such as `users.0.userName`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** An extra entry of the wire `details` array; `@type` says what it is. */
export interface ErrorDetail {
  readonly '@type': string;
  readonly [key: string]: unknown;
}

export interface ApiErrorOptions {
  readonly violations?: readonly FieldViolation[];
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
  /** Kept for the log; never sent to the caller. */
  readonly cause?: unknown;
}

/**
 * The caller's mistake, or a condition the caller must know about. Anything else that is thrown is a bug and becomes
 * INTERNAL.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly violations: readonly FieldViolation[];
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.violations = options.violations ?? [];
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get httpStatus(): number {
    return STATUS[ERROR_CODES[this.code].status].http;
  }

  get grpcCode(): number {
    return STATUS[ERROR_CODES[this.code].status].code;
  }
}

/** A request that breaks the contract, with the field that breaks it. */
export function invalidField(field: string, description: string, code: ErrorCode = 'REQUEST_INVALID'): ApiError {
  return new ApiError(code, `${field}: ${description}`, { violations: [{ field, description }] });
}

/**
 * A part of the wire contract that this version does not serve (protocol/activities 2.3): never a pretended success.
 */
export function notServed(feature: string, reason?: string): ApiError {
  const why = reason === undefined ? '' : `: ${reason}`;
  return new ApiError('UNIMPLEMENTED', `${feature} is not available in this version${why}`);
}

export interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly errorCode: ErrorCode;
  readonly turnkeyErrorCode?: ErrorCode;
}

/** The wire form of an error; the vendor's copies of the code appear only while vendor names are on. */
export function toErrorBody(error: ApiError, vendorNames: boolean): ErrorBody {
  const vendor = vendorNames ? { turnkeyErrorCode: error.code } : {};
  const details: ErrorDetail[] = [
    { '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail', errorCode: error.code, ...vendor },
  ];
  if (vendorNames) {
    details.push({ '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail', turnkeyErrorCode: error.code });
  }
  if (error.violations.length > 0) {
    details.push({ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: error.violations });
  }
  details.push(...error.details);
  return { code: error.grpcCode, message: error.message, details, errorCode: error.code, ...vendor };
}
