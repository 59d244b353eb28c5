/** Bounds that hold for everybody; those an operator may set are in the configuration. */
export const LIMITS = {
  bodyBytes: 2 * 1024 * 1024,
  headerBytes: 16 * 1024,
  nameLength: 255,
  notesLength: 4096,
  emailLength: 254,
  listItems: 1000,
  pageSize: 100,
  pageSizeDefault: 10,
  expiringApiKeysPerUser: 10,
  apiKeySecondsMax: 10 * 365 * 24 * 60 * 60,
  liveBeforeMs: 60 * 60 * 1000,
  liveAfterMs: 5 * 60 * 1000,
  approvalWindowMs: 24 * 60 * 60 * 1000,
} as const;
