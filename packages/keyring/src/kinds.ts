// What sealed bytes are said to hold, which is bound to them: SPEC.md, section 6.

/** The kinds that the keyring alone seals and opens. */
export const KIND = {
  walletSeed: 'wallet-seed',
  privateKey: 'private-key',
  importTarget: 'import-target',
  secretTarget: 'secret-target',
  secret: 'secret',
  otp: 'otp',
  oauthSecret: 'oauth-secret',
  onRampSecret: 'on-ramp-secret',
  serviceKey: 'service-key',
  integrityKey: 'integrity-key',
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

/** The kinds that callers seal and open. Every other one is key material and stays inside. */
export const CALLER_KINDS: ReadonlySet<string> = new Set([
  'activity-body',
  'activity-parameters',
  'activity-result',
  'vote-message',
  'outbox-message',
  'dev-message',
]);
