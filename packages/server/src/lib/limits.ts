/** Bounds that hold for everybody; those an operator may set are in the configuration. */
export const LIMITS = {
  /** Of the largest request; each operation has a limit of its own (docs/decisions/0033). */
  bodyBytes: 2 * 1024 * 1024,
  /** JSON values in one body, and different names of members, of which each costs as much as many values. */
  bodyValues: 100_000,
  bodyNames: 5000,
  /** Where there is nothing to read a larger body. */
  defaultBodyBytes: 64 * 1024,
  headerBytes: 16 * 1024,
  nameLength: 255,
  /** How long the secrets of a result can be shown again after they were shown first. */
  secretResultMs: 10 * 60 * 1000,
  notesLength: 4096,
  /** Code points (protocol/policies 12). */
  expressionLength: 16_384,
  /** Of all expressions in one request: each is compiled before anybody is asked whether the caller may. */
  expressionsLength: 128 * 1024,
  /** Of the policies that a simulation supposes. */
  draftsLength: 32 * 1024,
  /** Of all policies of an organization, each with a hundred characters more: they are kept compiled. */
  policiesLength: 4_000_000,
  /** Of all contract interfaces of an organization. */
  interfacesLength: 20_000_000,
  /** Of all MFA policies of a user, each with a hundred characters more: every vote of the user reads them. */
  mfaPoliciesLength: 4_000_000,
  /** Of all webhook endpoints of an organization, each with forty thousand more: every activity may write to each. */
  webhookEndpointsLength: 4_000_000,
  emailLength: 254,
  listItems: 1000,
  /** Of the rows of one answer, as they are stored (docs/decisions/0033). */
  pageBytes: 4 * 1024 * 1024,
  /** Of what voters signed on one activity. */
  votesBytes: 4 * 1024 * 1024,
  pageSize: 100,
  pageSizeDefault: 10,
  expiringApiKeysPerUser: 10,
  /** Login and session keys (protocol/organizations 5.2). */
  sessionSecondsMax: 30 * 24 * 60 * 60,
  readSessionSeconds: 60 * 60,
  apiKeySecondsMax: 10 * 365 * 24 * 60 * 60,
  liveBeforeMs: 60 * 60 * 1000,
  liveAfterMs: 5 * 60 * 1000,
  approvalWindowMs: 24 * 60 * 60 * 1000,
} as const;
