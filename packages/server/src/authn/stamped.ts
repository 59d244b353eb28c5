import type { Actor } from '../core/actor.ts';
import type { WebauthnEvidence } from '../core/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { ActivityId, OrganizationId } from '../lib/ids.ts';
import type { RequestStorage } from '../storage/storage.ts';
import type { TokenReader } from './identity/tokens.ts';
import type { Stamp } from './stamp-headers.ts';

/** What authentication needs of the service. */
export interface AuthenticationParts {
  readonly storage: RequestStorage;
  readonly clock: Clock;
  readonly observe: { signCountDecreased(organizationId: string, authenticatorId: string): void };
  readonly tokens: TokenReader;
}

/** What a stamp is checked against. */
export interface StampedRequest {
  readonly stamp: Stamp;
  readonly body: Uint8Array;
  readonly organizationId: OrganizationId;
  /** Set for submits: the activity that already carries these bytes is looked up on the way. */
  readonly fingerprint: string | undefined;
  readonly findsSubOrganization: boolean;
  /**
   * Whether the sign-up proxy asks: its key counts as the parent's, also where somebody has registered the same one.
   */
  readonly byService: boolean;
  /** Whether a key that only a token attests may ask for this. */
  readonly acceptsAttested: boolean;
}

/** The parts of a stamp that a vote keeps, so that anyone can verify it later. */
export interface StampEvidence {
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
  readonly credentialId: string;
  readonly webauthn: WebauthnEvidence | undefined;
}

export interface Authenticated {
  readonly actor: Actor;
  readonly evidence: StampEvidence | undefined;
  readonly existingActivityId: ActivityId | undefined;
}
