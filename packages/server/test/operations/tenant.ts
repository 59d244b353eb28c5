import type { Outside } from '../fixtures/outside.ts';
import type { Passkey } from '../fixtures/passkey.ts';
import type { TestClient } from '../harness/client.ts';

/** What an id in a request can stand for. */
export type IdKind =
  | 'user'
  | 'tag'
  | 'apiKey'
  | 'authenticator'
  | 'credential'
  | 'invitation'
  | 'activity'
  | 'fingerprint'
  | 'organization'
  | 'wallet'
  | 'account'
  | 'address'
  | 'privateKey'
  | 'keyAddress'
  | 'keyTag'
  | 'secret'
  | 'secretTarget'
  | 'recoveryKit'
  | 'publicKey'
  | 'policy'
  | 'mfaPolicy'
  | 'sessionProfile'
  | 'contractInterface'
  | 'velocityControl'
  | 'email'
  | 'otp'
  | 'oauthProvider'
  | 'oauth2Credential'
  | 'onRampCredential'
  | 'onRampTransaction'
  | 'send'
  | 'webhookEndpoint'
  | 'webhookDelivery'
  | 'webhookEvent'
  | 'tvcApp'
  | 'tvcDeployment'
  | 'tvcManifest'
  | 'tvcOperator'
  | 'tvcOperatorSet'
  | 'earnWrapper'
  | 'earnDeployment'
  | 'earnDeposit'
  | 'earnWithdrawal'
  | 'earnClaim';

/** An organization with one of everything in it. */
export interface Tenant {
  readonly scope: 'parent' | 'sub-organization';
  /** Part of every name in the organization and of nothing else. */
  readonly marker: string;
  /** The one member of the root quorum. */
  readonly root: TestClient;
  readonly second: TestClient;
  /** A user whom nothing allows anything. */
  readonly member: TestClient;
  readonly passkey: Passkey;
  /** An address that was written to once, and by nobody else. */
  readonly mailbox: string;
  /** A token of a read-only session of the second user. */
  readonly session: string;
  /** One of each kind that exists; a case renews the id of what the service keeps for a while only. */
  readonly ids: Record<IdKind, string>;
  /** The parent of its tree, itself for a parent. */
  readonly treeRoot: TestClient;
  readonly outside: Outside;
}
