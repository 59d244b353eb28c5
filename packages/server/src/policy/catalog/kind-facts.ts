import type { Alternatives } from './namespaces.ts';

/** What policies call the things that activities touch (protocol/policy-facts 1.2). */
export const POLICY_RESOURCES = [
  'ORGANIZATION',
  'INVITATION',
  'POLICY',
  'SMART_CONTRACT_INTERFACE',
  'WALLET',
  'PRIVATE_KEY',
  'USER',
  'CREDENTIAL',
  'PAYMENT_METHOD',
  'SUBSCRIPTION',
  'CONFIG',
  'RECOVERY',
  'AUTH',
  'OTP',
  'AUTH_PROXY',
  'WEBHOOK_ENDPOINT',
  'MFA_POLICY',
  'SESSION_PROFILE',
  'ON_RAMP_CREDENTIALS',
  'FIAT_TRANSACTION',
  'EMAIL_EVENT',
  'SPONSORSHIP',
  'TVC_APP',
  'TVC_DEPLOYMENT',
  'TVC_OPERATOR',
  'TVC_QUORUM_KEY',
  'SECRET',
] as const;
export type PolicyResource = (typeof POLICY_RESOURCES)[number];
export type PolicyAction = 'CREATE' | 'UPDATE' | 'DELETE' | 'SIGN' | 'EXPORT' | 'IMPORT' | 'VERIFY' | 'ENCRYPT';

/** By which credentials users may do it to their own account without a policy (protocol/policies 8.3, step 7). */
export type OwnAccount = 'any-credential' | 'recovery-key';

/** What policies know of a kind of activity. The kind is the name that all versions of a type share. */
export interface KindFacts {
  readonly kind: string;
  readonly resource: PolicyResource;
  readonly action: PolicyAction;
  /** How many versions its type has had. */
  readonly versions: number;
  /** The parameters that conditions may read (protocol/policy-facts 2). */
  readonly params?: readonly string[];
  /** Where a version shows others than these, by its type. */
  readonly paramsByType?: Readonly<Record<string, readonly string[]>>;
  readonly namespaces?: Alternatives;
  /** It signs bytes that nobody can read: whoever may do this may sign any transaction. */
  readonly signsRaw?: boolean;
  readonly ownAccount?: OwnAccount;
}
