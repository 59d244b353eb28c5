/** Canonical status names with their wire number and HTTP status (gRPC numbering, which the public clients read). */
const STATUS = {
  INVALID_ARGUMENT: { code: 3, http: 400 },
  NOT_FOUND: { code: 5, http: 404 },
  ALREADY_EXISTS: { code: 6, http: 409 },
  PERMISSION_DENIED: { code: 7, http: 403 },
  RESOURCE_EXHAUSTED: { code: 8, http: 429 },
  FAILED_PRECONDITION: { code: 9, http: 400 },
  ABORTED: { code: 10, http: 409 },
  UNIMPLEMENTED: { code: 12, http: 501 },
  INTERNAL: { code: 13, http: 500 },
  UNAVAILABLE: { code: 14, http: 503 },
  UNAUTHENTICATED: { code: 16, http: 401 },
  // Transport refusals: the wire number is the nearest canonical one, the HTTP status says exactly what was wrong.
  PAYLOAD_TOO_LARGE: { code: 3, http: 413 },
  HEADERS_TOO_LARGE: { code: 3, http: 431 },
  UNSUPPORTED_MEDIA_TYPE: { code: 3, http: 415 },
  METHOD_NOT_ALLOWED: { code: 3, http: 405 },
} as const;

/**
 * Every error code of the service and the status it travels under. The list is closed: docs and SDK are generated from
 * it.
 */
export const ERROR_CODES = {
  REQUEST_INVALID: 'INVALID_ARGUMENT',
  INVALID_ORGANIZATION_ID: 'INVALID_ARGUMENT',
  ORGANIZATION_MISMATCH: 'INVALID_ARGUMENT',
  INVALID_ACTIVITY_CALLER: 'INVALID_ARGUMENT',
  INVALID_QUORUM: 'INVALID_ARGUMENT',
  INVALID_API_KEY_EXPIRATION: 'INVALID_ARGUMENT',
  INVALID_PUBLIC_KEY: 'INVALID_ARGUMENT',
  INVALID_ATTESTATION: 'INVALID_ARGUMENT',
  INVALID_EMAIL: 'INVALID_ARGUMENT',
  INVALID_FQDN: 'INVALID_ARGUMENT',
  INVALID_FEATURE_VALUE: 'INVALID_ARGUMENT',
  INVALID_CURVE: 'INVALID_ARGUMENT',
  INVALID_PATH_FORMAT: 'INVALID_ARGUMENT',
  INVALID_PATH: 'INVALID_ARGUMENT',
  INVALID_ADDRESS_FORMAT: 'INVALID_ARGUMENT',
  INVALID_TRANSACTION: 'INVALID_ARGUMENT',
  UNSUPPORTED_TRANSACTION_TYPE: 'INVALID_ARGUMENT',
  INVALID_PAYLOAD_ENCODING: 'INVALID_ARGUMENT',
  INVALID_HASH_FUNCTION: 'INVALID_ARGUMENT',
  INVALID_BUNDLE: 'INVALID_ARGUMENT',
  WALLET_ACCOUNT_NOT_EXPORTED: 'INVALID_ARGUMENT',
  INVALID_POLICY_CONDITION: 'INVALID_ARGUMENT',
  INVALID_POLICY_CONSENSUS: 'INVALID_ARGUMENT',
  POLICY_LABEL_NOT_UNIQUE: 'INVALID_ARGUMENT',
  INVALID_TIME: 'INVALID_ARGUMENT',
  INVALID_EXPRESSION: 'INVALID_ARGUMENT',
  INVALID_CONTRACT_INTERFACE: 'INVALID_ARGUMENT',
  INVALID_OTP_CODE: 'INVALID_ARGUMENT',
  INVALID_VERIFICATION_TOKEN: 'INVALID_ARGUMENT',
  INVALID_CLIENT_SIGNATURE: 'INVALID_ARGUMENT',
  INVALID_OIDC_TOKEN: 'INVALID_ARGUMENT',
  INVALID_OAUTH2_PROVIDER: 'FAILED_PRECONDITION',
  OAUTH2_PROVIDER_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  OAUTH2_EXCHANGE_FAILED: 'INVALID_ARGUMENT',
  ON_RAMP_PROVIDER_FAILED: 'INVALID_ARGUMENT',
  INVALID_CAPTCHA: 'INVALID_ARGUMENT',
  INVALID_WEBHOOK_URL: 'INVALID_ARGUMENT',
  INVALID_WEBHOOK_FILTER: 'INVALID_ARGUMENT',
  ON_RAMP_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  CHAIN_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  SPONSORSHIP_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  EARN_SETUP_REQUIRED: 'FAILED_PRECONDITION',
  EARN_DEPOSITS_DISABLED: 'FAILED_PRECONDITION',
  EARN_NOTHING_TO_CLAIM: 'FAILED_PRECONDITION',
  EARN_NOTHING_TO_WITHDRAW: 'FAILED_PRECONDITION',
  EARN_VAULT_NOT_SERVED: 'INVALID_ARGUMENT',
  IP_LOCKOUT: 'FAILED_PRECONDITION',
  RESULT_TOO_LARGE: 'INVALID_ARGUMENT',
  FAILED_PRECONDITION: 'FAILED_PRECONDITION',
  ACTIVITY_ALREADY_DECIDED: 'FAILED_PRECONDITION',
  SIGNATURE_MISSING: 'UNAUTHENTICATED',
  SIGNATURE_INVALID: 'UNAUTHENTICATED',
  PUBLIC_KEY_NOT_FOUND: 'UNAUTHENTICATED',
  CREDENTIAL_NOT_FOUND: 'UNAUTHENTICATED',
  CREDENTIAL_CONFLICT: 'UNAUTHENTICATED',
  API_KEY_EXPIRED: 'UNAUTHENTICATED',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  REQUEST_NOT_AUTHORIZED: 'PERMISSION_DENIED',
  IP_NOT_ALLOWED: 'PERMISSION_DENIED',
  FEATURE_DISABLED: 'PERMISSION_DENIED',
  VELOCITY_EXCEEDED: 'PERMISSION_DENIED',
  VELOCITY_UNCOUNTED: 'PERMISSION_DENIED',
  AUTH_METHOD_DISALLOWED: 'PERMISSION_DENIED',
  ORIGIN_NOT_ALLOWED: 'PERMISSION_DENIED',
  AUTH_PROXY_CONFIG_MISSING: 'UNAUTHENTICATED',
  AUTH_PROXY_CONFIG_NOT_FOUND: 'NOT_FOUND',
  OAUTH2_CREDENTIAL_NOT_FOUND: 'NOT_FOUND',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'NOT_FOUND',
  WEBHOOK_DELIVERY_NOT_FOUND: 'NOT_FOUND',
  ORGANIZATION_NOT_FOUND: 'NOT_FOUND',
  ACTIVITY_NOT_FOUND: 'NOT_FOUND',
  RESOURCE_NOT_FOUND: 'NOT_FOUND',
  PATH_NOT_FOUND: 'NOT_FOUND',
  ALREADY_EXISTS: 'ALREADY_EXISTS',
  OAUTH_PROVIDER_ALREADY_EXISTS: 'ALREADY_EXISTS',
  CONFLICT: 'ABORTED',
  RESOURCE_LIMIT_EXCEEDED: 'RESOURCE_EXHAUSTED',
  RATE_LIMIT_EXCEEDED: 'RESOURCE_EXHAUSTED',
  MAX_OTP_INITIATED: 'RESOURCE_EXHAUSTED',
  UNIMPLEMENTED: 'UNIMPLEMENTED',
  UNAVAILABLE: 'UNAVAILABLE',
  RPC_CALL_ERROR: 'UNAVAILABLE',
  EMAIL_SENDING_DISABLED: 'UNAVAILABLE',
  SMS_SENDING_DISABLED: 'UNAVAILABLE',
  BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  HEADER_TOO_LARGE: 'HEADERS_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  INTERNAL: 'INTERNAL',
} as const satisfies Record<string, keyof typeof STATUS>;

export type ErrorCode = keyof typeof ERROR_CODES;

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
    return STATUS[ERROR_CODES[this.code]].http;
  }

  get grpcCode(): number {
    return STATUS[ERROR_CODES[this.code]].code;
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
