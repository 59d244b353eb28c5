import { type Actor, toActor } from '../core/actor.ts';
import { Users } from '../core/directory.ts';
import type { StoredError } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { Authority } from './hold.ts';
import { submittedWith } from './members.ts';

/** Whose proposal a waiting activity is, or why it can no longer run: it runs as its proposer's or not at all. */
export type Proposal =
  | { readonly proposer: Actor; readonly ended?: never }
  | { readonly proposer?: never; readonly ended: StoredError };

export async function proposalOf(
  read: ReadStores,
  { decider, target }: Authority,
  { activity, votes }: ActivityWithVotes,
): Promise<Proposal> {
  const { proposerId, fingerprint } = activity;
  const user = proposerId && (await read(Users).find(decider.id, proposerId));
  if (!user) return PROPOSER_DELETED;
  const own = votes.find((vote) => vote.userId === proposerId && vote.messageDigest === fingerprint);
  if (own?.revoked === true) return CREDENTIAL_REMOVED;
  const credential = own && submittedWith(own);
  return credential === undefined ? CREDENTIAL_UNKNOWN : { proposer: toActor(target, decider, user, credential) };
}

const ended = (message: string): { readonly ended: StoredError } => ({
  ended: { errorCode: 'FAILED_PRECONDITION', message },
});

const PROPOSER_DELETED = ended('the user who proposed this activity was deleted; another user can propose it again');
const CREDENTIAL_REMOVED = ended(
  'the key that proposed this activity was removed; propose it again with another credential',
);
const CREDENTIAL_UNKNOWN = ended(
  'an older version of the service stored this activity without the credential that proposed it; propose it again',
);

/** Why the open proposals of deleted users fail. */
export const PROPOSER_DELETED_FAILURE: StoredError = PROPOSER_DELETED.ended;
