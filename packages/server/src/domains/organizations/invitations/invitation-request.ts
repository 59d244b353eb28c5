import type { Passage } from '../../../admission/passage.ts';

/** A call as the HTTP layer hands it over. */
export interface InvitationRequest {
  readonly body: Uint8Array;
  readonly clientAddress: string | undefined;
  readonly passage: Passage;
}
