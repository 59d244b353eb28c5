/** Canonical status names with their wire number and HTTP status (gRPC numbering, which the public clients read). */
export const STATUS = {
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
 * Every error code of the service: the status it travels under, and what happened, with what helps where that is not
 * plain. The list is closed: documents and SDK follow from it.
 */
export const ERROR_CODES = {
  REQUEST_INVALID: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The body does not match the contract; the violations name each wrong field.',
  },
  INVALID_ORGANIZATION_ID: { status: 'INVALID_ARGUMENT', meaning: 'organizationId is not an id.' },
  ORGANIZATION_MISMATCH: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The credential belongs to another organization than the one that the activity acts on.',
  },
  INVALID_ACTIVITY_CALLER: {
    status: 'INVALID_ARGUMENT',
    meaning: 'This kind of organization (parent or sub-organization) cannot run the activity.',
  },
  INVALID_QUORUM: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The change would leave a root quorum that cannot exist or cannot act.',
  },
  INVALID_API_KEY_EXPIRATION: {
    status: 'INVALID_ARGUMENT',
    meaning: 'expirationSeconds is not a whole number in the allowed range.',
  },
  INVALID_PUBLIC_KEY: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The public key is malformed or not a point of its curve.',
  },
  INVALID_ATTESTATION: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The registration of the passkey could not be verified.',
  },
  INVALID_EMAIL: { status: 'INVALID_ARGUMENT', meaning: 'The email address cannot be used.' },
  INVALID_FQDN: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The part of an email address after the @ is not a domain name. Custos does not look domains up.',
  },
  INVALID_FEATURE_VALUE: { status: 'INVALID_ARGUMENT', meaning: 'The feature does not understand this value.' },
  INVALID_CURVE: {
    status: 'INVALID_ARGUMENT',
    meaning: 'There is no such curve for wallet accounts and private keys.',
  },
  INVALID_PATH_FORMAT: {
    status: 'INVALID_ARGUMENT',
    meaning: 'There is no such path format; `PATH_FORMAT_BIP32` is the only one.',
  },
  INVALID_PATH: { status: 'INVALID_ARGUMENT', meaning: 'The derivation path is malformed.' },
  INVALID_ADDRESS_FORMAT: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The address format does not exist, or not on this curve.',
  },
  INVALID_TRANSACTION: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The transaction does not parse, or does not fit the signer.',
  },
  UNSUPPORTED_TRANSACTION_TYPE: { status: 'INVALID_ARGUMENT', meaning: 'Transactions of this type are not signed.' },
  INVALID_PAYLOAD_ENCODING: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The payload is not in the encoding that the request names.',
  },
  INVALID_HASH_FUNCTION: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The hash function does not fit the key or the payload.',
  },
  INVALID_BUNDLE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The encrypted bundle does not open, holds something else than it should, or came from another organization.',
  },
  WALLET_ACCOUNT_NOT_EXPORTED: {
    status: 'INVALID_ARGUMENT',
    meaning: 'It was never exported; deleteWithoutExport deletes it all the same.',
  },
  INVALID_POLICY_CONDITION: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The condition of a policy is not an expression of the language; the message has the column and what was expected.',
  },
  INVALID_POLICY_CONSENSUS: { status: 'INVALID_ARGUMENT', meaning: "The policy's consensus expression is invalid." },
  POLICY_LABEL_NOT_UNIQUE: { status: 'INVALID_ARGUMENT', meaning: 'The organization has a policy of this name.' },
  INVALID_TIME: { status: 'INVALID_ARGUMENT', meaning: "The policy's time expression is invalid." },
  INVALID_EXPRESSION: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The condition of an MFA policy or the scope of a session profile is invalid.',
  },
  INVALID_CONTRACT_INTERFACE: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The text is no ABI or IDL, or holds something that could not be decoded later.',
  },
  INVALID_OTP_CODE: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The one-time code is wrong, used, expired or has no attempt left; which of these is not told.',
  },
  INVALID_VERIFICATION_TOKEN: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The verification token is not ours, has expired, is of another organization or contact, or was used for this before.',
  },
  INVALID_CLIENT_SIGNATURE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The verification token is bound to a key, and what that key signed is missing, does not verify or says something else.',
  },
  INVALID_OIDC_TOKEN: {
    status: 'INVALID_ARGUMENT',
    meaning: "The OpenID token does not verify against its issuer's keys, has expired or is bound to another key.",
  },
  INVALID_OAUTH2_PROVIDER: { status: 'FAILED_PRECONDITION', meaning: 'There is no such OAuth 2.0 provider.' },
  OAUTH2_PROVIDER_NOT_CONFIGURED: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The organization of the sign-up proxy has no OAuth 2.0 credential at this provider; add one with `create_oauth2_credential`.',
  },
  OAUTH2_EXCHANGE_FAILED: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The OAuth 2.0 provider refused the authorization code; the message has its reason.',
  },
  ON_RAMP_PROVIDER_FAILED: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The on-ramp provider refused a request, or answered with something else; the message has its reason.',
  },
  INVALID_CAPTCHA: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The sign-up proxy asks for a captcha, and the token is missing or was refused.',
  },
  INVALID_WEBHOOK_URL: {
    status: 'INVALID_ARGUMENT',
    meaning: 'Events cannot be sent to this URL; the message says why.',
  },
  INVALID_WEBHOOK_FILTER: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The filter of a subscription is no JSON object, or holds something that events of the type are not chosen by.',
  },
  ON_RAMP_NOT_CONFIGURED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'Neither the organization nor its parent has a credential for this on-ramp provider and mode.',
  },
  CHAIN_NOT_CONFIGURED: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The service has no node of this chain, see `CUSTOS_CHAINS`, or the chain is of another kind than is asked for.',
  },
  CREDENTIALS_IN_USE: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The API key of root-credentials.json still exists: delete the key first, then the file.',
  },
  SPONSORSHIP_NOT_CONFIGURED: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The operator does not pay on this chain: an address, its key or the batch contract is missing; the message says which.',
  },
  EARN_SETUP_REQUIRED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'There is no wrapper at this address, or it is not on the chain yet, see `earn_deploy_wrapper`.',
  },
  EARN_DEPOSITS_DISABLED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The parent organization has disabled deposits into this wrapper; withdrawals go on.',
  },
  EARN_NOTHING_TO_CLAIM: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The wrapper has earned no fees for the organization since the last claim.',
  },
  EARN_NOTHING_TO_WITHDRAW: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The wallet holds no shares of the wrapper, so MAX has nothing to take out. A deposit counts once its status is COMPLETED.',
  },
  EARN_VAULT_NOT_SERVED: {
    status: 'INVALID_ARGUMENT',
    meaning: 'The vault comes from none of the sources that are configured for its chain.',
  },
  IP_LOCKOUT: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The address of this very request would not be allowed afterwards; `allowLockout` makes it so all the same.',
  },
  RESULT_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The list is longer than `CUSTOS_LIST_MAX`, or the page has more bytes than one answer may have; ask for pages with paginationOptions, and with the `limit` that the message names.',
  },
  FAILED_PRECONDITION: { status: 'FAILED_PRECONDITION', meaning: 'The object is not in a state that allows this.' },
  ACTIVITY_ALREADY_DECIDED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The activity is completed, failed or rejected, and takes no more votes.',
  },
  FENCED: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The database was restored from a backup, and the operator has not accepted that for this organization yet. Queries are answered; this request did and stored nothing. Repeating it helps only once the operator has accepted.',
  },
  ISSUED_BEFORE_RESTORE: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The body, token, code, invitation or activity is from before the database was restored from a backup. It may have been used since, so it is refused for ever. The message says how new a replacement must be.',
  },
  SIGNATURE_MISSING: { status: 'UNAUTHENTICATED', meaning: 'The request carries no stamp.' },
  SIGNATURE_INVALID: {
    status: 'UNAUTHENTICATED',
    meaning: 'The stamp is malformed, or does not fit the body or the key.',
  },
  PUBLIC_KEY_NOT_FOUND: {
    status: 'UNAUTHENTICATED',
    meaning: 'No user of the organization or of its parent has this API key.',
  },
  CREDENTIAL_NOT_FOUND: {
    status: 'UNAUTHENTICATED',
    meaning: 'No user of the organization or of its parent has this passkey.',
  },
  CREDENTIAL_CONFLICT: {
    status: 'UNAUTHENTICATED',
    meaning: 'Several sub-organizations hold this credential; name the one that is meant.',
  },
  API_KEY_EXPIRED: { status: 'UNAUTHENTICATED', meaning: 'The API key or session has expired.' },
  UNAUTHENTICATED: { status: 'UNAUTHENTICATED', meaning: 'The request could not be authenticated.' },
  LINK_INVALID: {
    status: 'UNAUTHENTICATED',
    meaning: 'The link to the console is not one of this start of the service; `npx custos console` prints a new one.',
  },
  LINK_USED: {
    status: 'UNAUTHENTICATED',
    meaning: 'The link to the console has signed in before; `npx custos console` prints a new one.',
  },
  LINK_EXPIRED: {
    status: 'UNAUTHENTICATED',
    meaning: 'The link to the console is older than ten minutes; `npx custos console` prints a new one.',
  },
  REQUEST_NOT_AUTHORIZED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The user may not do this. The denied activity is stored as rejected.',
  },
  IP_NOT_ALLOWED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The IP allowlist of the organization or of the API key does not hold the address of the client.',
  },
  FEATURE_DISABLED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The organization, or its parent, has not switched this way to log in on; the message names the feature.',
  },
  VELOCITY_EXCEEDED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The activity would exceed the velocity control that the message names; nothing was done or stored.',
  },
  VELOCITY_UNCOUNTED: {
    status: 'PERMISSION_DENIED',
    meaning:
      'The velocity control that the message names refuses a part of the activity that it cannot count; nothing was done or stored.',
  },
  AUTH_METHOD_DISALLOWED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The configuration of the sign-up proxy does not allow this way to log in or sign up.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 'PERMISSION_DENIED',
    meaning: 'The configuration of the sign-up proxy does not allow pages of this origin.',
  },
  AUTH_PROXY_CONFIG_MISSING: { status: 'UNAUTHENTICATED', meaning: 'The header `X-Auth-Proxy-Config-Id` is missing.' },
  AUTH_PROXY_CONFIG_NOT_FOUND: {
    status: 'NOT_FOUND',
    meaning: 'There is no such configuration of the sign-up proxy, or it is disabled.',
  },
  OAUTH2_CREDENTIAL_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'The organization has no such OAuth 2.0 credential.' },
  WEBHOOK_ENDPOINT_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'The organization has no such webhook endpoint.' },
  WEBHOOK_DELIVERY_NOT_FOUND: {
    status: 'NOT_FOUND',
    meaning: 'The organization has no such webhook delivery, or it was deleted because of its age.',
  },
  ORGANIZATION_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'There is no such organization, or it was deleted.' },
  ACTIVITY_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'No activity of the organization has this id or fingerprint.' },
  RESOURCE_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'The organization holds no such object.' },
  PATH_NOT_FOUND: { status: 'NOT_FOUND', meaning: 'Nothing is served at this path.' },
  ALREADY_EXISTS: { status: 'ALREADY_EXISTS', meaning: 'Something that must be unique exists already.' },
  OAUTH_PROVIDER_ALREADY_EXISTS: {
    status: 'ALREADY_EXISTS',
    meaning: 'Somebody in the tree of organizations already has this OAuth identity.',
  },
  CONFLICT: { status: 'ABORTED', meaning: 'Other changes came first each time; send the same body again.' },
  RESOURCE_LIMIT_EXCEEDED: { status: 'RESOURCE_EXHAUSTED', meaning: 'A limit on the number of objects is reached.' },
  RATE_LIMIT_EXCEEDED: {
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'Too many attempts; `Retry-After` says when to go on.',
  },
  MAX_OTP_INITIATED: {
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'Too many one-time codes or login mails for this contact, organization or address; `Retry-After` says when to go on.',
  },
  UNIMPLEMENTED: {
    status: 'UNIMPLEMENTED',
    meaning: 'This part of the wire protocol is not served, see [Not served](not-served.md).',
  },
  UNAVAILABLE: {
    status: 'UNAVAILABLE',
    meaning: 'The service or its database cannot answer right now; send the same body again.',
  },
  RPC_CALL_ERROR: {
    status: 'UNAVAILABLE',
    meaning: 'No node of the chain gives a usable answer right now; send the same body again.',
  },
  EMAIL_SENDING_DISABLED: {
    status: 'UNAVAILABLE',
    meaning: 'The operator has not set up mail, see `CUSTOS_SMTP_URL`; trying again does not help.',
  },
  SMS_SENDING_DISABLED: {
    status: 'UNAVAILABLE',
    meaning: 'The operator has not set up text messages, see `CUSTOS_SMS_URL`; trying again does not help.',
  },
  BODY_TOO_LARGE: {
    status: 'PAYLOAD_TOO_LARGE',
    meaning:
      'The body is larger than this operation reads; the limit is in the message and on the page of the operation.',
  },
  HEADER_TOO_LARGE: { status: 'HEADERS_TOO_LARGE', meaning: 'The headers are larger than 16 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 'UNSUPPORTED_MEDIA_TYPE', meaning: 'The body is not plain `application/json`.' },
  METHOD_NOT_ALLOWED: { status: 'METHOD_NOT_ALLOWED', meaning: 'Operations take POST.' },
  INTEGRITY_VIOLATION: {
    status: 'INTERNAL',
    meaning:
      'A stored record that decides this request was not written by the service, or is missing. Nothing was done; `custos verify` lists such records for the operator.',
  },
  INTERNAL: { status: 'INTERNAL', meaning: 'A bug of the service; the message holds an id that its log explains.' },
} as const satisfies Record<string, { readonly status: keyof typeof STATUS; readonly meaning: string }>;

/** Codes of the wire protocol without a case here, and why. */
export const CODES_NEVER_SENT: Readonly<Record<string, string>> = {
  OAUTH2_PROVIDER_NOT_FOUND:
    'OAuth 2.0 providers are a fixed list and not objects: another name is `INVALID_OAUTH2_PROVIDER`, a provider without a credential `OAUTH2_PROVIDER_NOT_CONFIGURED`, an unknown credential `OAUTH2_CREDENTIAL_NOT_FOUND`.',
  SIGNING_QUOTA_EXCEEDED:
    'There is no quota of signatures. Velocity controls limit them by organization and answer `VELOCITY_EXCEEDED`.',
  API_OPERATIONS_DISABLED:
    'There is no switch that turns operations off for an organization; operators stop the service, and root users deny with policies.',
  FORBIDDEN:
    'A credential unknown in an organization and its parent is `PUBLIC_KEY_NOT_FOUND` or `CREDENTIAL_NOT_FOUND`.',
};

export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes that earlier versions stored with failed activities. */
const RENAMED: ReadonlyMap<string, ErrorCode> = new Map([['CHAIN_UNAVAILABLE', 'RPC_CALL_ERROR']]);

/** A stored code as this version knows it. A newer version beside this one may have stored one that it does not know. */
export const storedErrorCode = (stored: string): ErrorCode =>
  Object.hasOwn(ERROR_CODES, stored) ? (stored as ErrorCode) : (RENAMED.get(stored) ?? 'FAILED_PRECONDITION');
