/** One line per error code for the reference page: what happened, and what helps where that is not plain. */
export const ERROR_MEANINGS: Readonly<Record<string, string>> = {
  REQUEST_INVALID: 'The body does not match the contract; the violations name each wrong field.',
  INVALID_ORGANIZATION_ID: 'organizationId is not an id.',
  ORGANIZATION_MISMATCH: 'The credential belongs to another organization than the one that the activity acts on.',
  INVALID_ACTIVITY_CALLER: 'This kind of organization (parent or sub-organization) cannot run the activity.',
  INVALID_QUORUM: 'The change would leave a root quorum that cannot exist or cannot act.',
  INVALID_API_KEY_EXPIRATION: 'expirationSeconds is not a whole number in the allowed range.',
  INVALID_PUBLIC_KEY: 'The public key is malformed or not a point of its curve.',
  INVALID_ATTESTATION: 'The registration of the passkey could not be verified.',
  INVALID_EMAIL: 'The email address cannot be used.',
  INVALID_FQDN: 'The part of an email address after the @ is not a domain name. Custos does not look domains up.',
  INVALID_FEATURE_VALUE: 'The feature does not understand this value.',
  INVALID_CURVE: 'There is no such curve for wallet accounts and private keys.',
  INVALID_PATH_FORMAT: 'There is no such path format; `PATH_FORMAT_BIP32` is the only one.',
  INVALID_PATH: 'The derivation path is malformed.',
  INVALID_ADDRESS_FORMAT: 'The address format does not exist, or not on this curve.',
  INVALID_TRANSACTION: 'The transaction does not parse, or does not fit the signer.',
  UNSUPPORTED_TRANSACTION_TYPE: 'Transactions of this type are not signed.',
  INVALID_PAYLOAD_ENCODING: 'The payload is not in the encoding that the request names.',
  INVALID_HASH_FUNCTION: 'The hash function does not fit the key or the payload.',
  INVALID_BUNDLE:
    'The encrypted bundle does not open, holds something else than it should, or came from another organization.',
  WALLET_ACCOUNT_NOT_EXPORTED: 'It was never exported; deleteWithoutExport deletes it all the same.',
  INVALID_POLICY_CONDITION:
    'The condition of a policy is not an expression of the language; the message has the column and what was expected.',
  INVALID_POLICY_CONSENSUS: "The policy's consensus expression is invalid.",
  POLICY_LABEL_NOT_UNIQUE: 'The organization has a policy of this name.',
  INVALID_TIME: "The policy's time expression is invalid.",
  INVALID_EXPRESSION: 'The condition of an MFA policy or the scope of a session profile is invalid.',
  INVALID_CONTRACT_INTERFACE: 'The text is no ABI or IDL, or holds something that could not be decoded later.',
  INVALID_OTP_CODE: 'The one-time code is wrong, used, expired or has no attempt left; which of these is not told.',
  INVALID_VERIFICATION_TOKEN:
    'The verification token is not ours, has expired, is of another organization or contact, or was used for this before.',
  INVALID_CLIENT_SIGNATURE:
    'The verification token is bound to a key, and what that key signed is missing, does not verify or says something else.',
  INVALID_OIDC_TOKEN:
    "The OpenID token does not verify against its issuer's keys, has expired or is bound to another key.",
  INVALID_OAUTH2_PROVIDER: 'There is no such OAuth 2.0 provider.',
  OAUTH2_PROVIDER_NOT_CONFIGURED:
    'The organization of the sign-up proxy has no OAuth 2.0 credential at this provider; add one with `create_oauth2_credential`.',
  ON_RAMP_PROVIDER_FAILED:
    'The on-ramp provider refused a request, or answered with something else; the message has its reason.',
  OAUTH2_EXCHANGE_FAILED: 'The OAuth 2.0 provider refused the authorization code; the message has its reason.',
  INVALID_CAPTCHA: 'The sign-up proxy asks for a captcha, and the token is missing or was refused.',
  INVALID_WEBHOOK_URL: 'Events cannot be sent to this URL; the message says why.',
  INVALID_WEBHOOK_FILTER:
    'The filter of a subscription is no JSON object, or holds something that events of the type are not chosen by.',
  EMAIL_SENDING_DISABLED: 'The operator has not set up mail, see `CUSTOS_SMTP_URL`; trying again does not help.',
  SMS_SENDING_DISABLED: 'The operator has not set up text messages, see `CUSTOS_SMS_URL`; trying again does not help.',
  ON_RAMP_NOT_CONFIGURED:
    'Neither the organization nor its parent has a credential for this on-ramp provider and mode.',
  CHAIN_NOT_CONFIGURED:
    'The service has no node of this chain, see `CUSTOS_CHAINS`, or the chain is of another kind than is asked for.',
  SPONSORSHIP_NOT_CONFIGURED:
    'The operator does not pay on this chain: an address, its key or the batch contract is missing; the message says which.',
  EARN_SETUP_REQUIRED: 'There is no wrapper at this address, or it is not on the chain yet, see `earn_deploy_wrapper`.',
  EARN_DEPOSITS_DISABLED: 'The parent organization has disabled deposits into this wrapper; withdrawals go on.',
  EARN_NOTHING_TO_CLAIM: 'The wrapper has earned no fees for the organization since the last claim.',
  EARN_NOTHING_TO_WITHDRAW:
    'The wallet holds no shares of the wrapper, so MAX has nothing to take out. A deposit counts once its status is COMPLETED.',
  EARN_VAULT_NOT_SERVED: 'The vault comes from none of the sources that are configured for its chain.',
  FEATURE_DISABLED:
    'The organization, or its parent, has not switched this way to log in on; the message names the feature.',
  IP_LOCKOUT:
    'The address of this very request would not be allowed afterwards; `allowLockout` makes it so all the same.',
  RESULT_TOO_LARGE:
    'The list is longer than `CUSTOS_LIST_MAX`, or the page has more bytes than one answer may have; ask for pages with paginationOptions, and with the `limit` that the message names.',
  FAILED_PRECONDITION: 'The object is not in a state that allows this.',
  ACTIVITY_ALREADY_DECIDED: 'The activity is completed, failed or rejected, and takes no more votes.',
  SIGNATURE_MISSING: 'The request carries no stamp.',
  SIGNATURE_INVALID: 'The stamp is malformed, or does not fit the body or the key.',
  PUBLIC_KEY_NOT_FOUND: 'No user of the organization or of its parent has this API key.',
  CREDENTIAL_NOT_FOUND: 'No user of the organization or of its parent has this passkey.',
  CREDENTIAL_CONFLICT: 'Several sub-organizations hold this credential; name the one that is meant.',
  API_KEY_EXPIRED: 'The API key or session has expired.',
  UNAUTHENTICATED: 'The request could not be authenticated.',
  REQUEST_NOT_AUTHORIZED: 'The user may not do this. The denied activity is stored as rejected.',
  IP_NOT_ALLOWED: 'The IP allowlist of the organization or of the API key does not hold the address of the client.',
  VELOCITY_EXCEEDED:
    'The activity would exceed the velocity control that the message names; nothing was done or stored.',
  VELOCITY_UNCOUNTED:
    'The velocity control that the message names refuses a part of the activity that it cannot count; nothing was done or stored.',
  AUTH_METHOD_DISALLOWED: 'The configuration of the sign-up proxy does not allow this way to log in or sign up.',
  ORIGIN_NOT_ALLOWED: 'The configuration of the sign-up proxy does not allow pages of this origin.',
  AUTH_PROXY_CONFIG_MISSING: 'The header `X-Auth-Proxy-Config-Id` is missing.',
  AUTH_PROXY_CONFIG_NOT_FOUND: 'There is no such configuration of the sign-up proxy, or it is disabled.',
  OAUTH2_CREDENTIAL_NOT_FOUND: 'The organization has no such OAuth 2.0 credential.',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'The organization has no such webhook endpoint.',
  WEBHOOK_DELIVERY_NOT_FOUND: 'The organization has no such webhook delivery, or it was deleted because of its age.',
  ORGANIZATION_NOT_FOUND: 'There is no such organization, or it was deleted.',
  ACTIVITY_NOT_FOUND: 'No activity of the organization has this id or fingerprint.',
  RESOURCE_NOT_FOUND: 'The organization holds no such object.',
  PATH_NOT_FOUND: 'Nothing is served at this path.',
  ALREADY_EXISTS: 'Something that must be unique exists already.',
  OAUTH_PROVIDER_ALREADY_EXISTS: 'Somebody in the tree of organizations already has this OAuth identity.',
  CONFLICT: 'Other changes came first each time; send the same body again.',
  RESOURCE_LIMIT_EXCEEDED: 'A limit on the number of objects is reached.',
  RATE_LIMIT_EXCEEDED: 'Too many attempts; `Retry-After` says when to go on.',
  MAX_OTP_INITIATED:
    'Too many one-time codes or login mails for this contact, organization or address; `Retry-After` says when to go on.',
  UNIMPLEMENTED: 'This part of the wire protocol is not served, see [Not served](not-served.md).',
  UNAVAILABLE: 'The service or its database cannot answer right now; send the same body again.',
  RPC_CALL_ERROR: 'No node of the chain gives a usable answer right now; send the same body again.',
  BODY_TOO_LARGE:
    'The body is larger than this operation reads; the limit is in the message and on the page of the operation.',
  HEADER_TOO_LARGE: 'The headers are larger than 16 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not plain `application/json`.',
  METHOD_NOT_ALLOWED: 'Operations take POST.',
  INTERNAL: 'A bug of the service; the message holds an id that its log explains.',
};

/** Codes of the wire protocol without a case here. */
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
