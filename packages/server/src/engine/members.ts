import type { AttestedKey, Credential } from '../core/actor.ts';
import type { ApiKey, Authenticator, MemberRecord, Vote } from '../core/model.ts';
import { toHex } from '../lib/encoding.ts';
import type { Approval, Member, PolicyCredential } from '../policy/index.ts';

/** A user as consensus expressions see it. */
export const toMember = ({ user, tagIds, apiKeys, authenticators }: MemberRecord): Member => ({
  id: user.id,
  tags: [...tagIds],
  email: user.email ?? '',
  alias: user.name,
  credentials: [
    ...apiKeys.map((key) => ofApiKey(user.id, key)),
    ...authenticators.map((key) => ofPasskey(user.id, key)),
  ],
});

export const ofApiKey = (userId: string, { id, type, publicKey }: ApiKey): PolicyCredential => ({
  id,
  user_id: userId,
  type,
  credential_id: '',
  public_key: publicKey,
});

export const ofPasskey = (userId: string, { id, credentialId, publicKey }: Authenticator): PolicyCredential => ({
  id,
  user_id: userId,
  type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  credential_id: credentialId,
  public_key: toHex(publicKey),
});

/** A key that nobody registered has no type; policies that name types do not count it. */
export const ofAttestedKey = (userId: string, { publicKey, providerId, token }: AttestedKey): PolicyCredential => ({
  id: providerId ?? token?.tokenId ?? '',
  user_id: userId,
  type: '',
  credential_id: '',
  public_key: publicKey,
});

/**
 * The credential that a vote was given with, as far as an execution may ask: effects run as the proposer's, with the
 * proposer's credential, whoever completes them. Undefined where an older version did not keep what it was.
 */
export function submittedWith(vote: Vote): Credential | undefined {
  const { userId, createdAtMs, publicKey, sessionProfileId, credentialType } = vote;
  const times = { firstUsedAtMs: undefined, createdAtMs, updatedAtMs: createdAtMs };
  switch (vote.credentialKind) {
    case 'api-key': {
      const apiKey: ApiKey = {
        id: vote.credentialId as ApiKey['id'],
        userId,
        name: '',
        type: credentialType as ApiKey['type'],
        publicKey,
        sessionProfileId,
        expirationSeconds: undefined,
        expiresAtMs: undefined,
        ...times,
      };
      return { kind: 'api-key', apiKey };
    }
    case 'passkey': {
      const authenticator: Authenticator = {
        id: vote.credentialId as Authenticator['id'],
        userId,
        name: '',
        credentialId: vote.webauthn?.credentialId ?? '',
        publicKey: Buffer.from(publicKey, 'hex'),
        rpIdHash: new Uint8Array(0),
        aaguid: '',
        attestationType: '',
        transports: [],
        signCount: 0,
        ...times,
      };
      return { kind: 'passkey', authenticator };
    }
    case 'attested': {
      // The use of the token was noted when it asked.
      const method = { type: 'AUTHENTICATION_TYPE_SESSION' } as const;
      return {
        kind: 'attested',
        attested: { publicKey, method, token: undefined, contact: undefined, providerId: undefined },
      };
    }
    case undefined:
      return undefined;
  }
}

/** Whether a vote was given with a key that only a token attested. */
export const isAttested = ({ scheme }: Vote): boolean => scheme === 'SIGNATURE_SCHEME_TK_ATTESTED_P256';

/**
 * What votes say to policies. A token proves a factor and adds no credential: it counts only where its user has given
 * nothing else, and then once.
 */
export function toApprovals(votes: readonly Vote[]): Approval[] {
  const firm = new Set(votes.filter((vote) => !isAttested(vote)).map(({ userId }) => userId));
  const seen = new Set<string>();
  return votes
    .filter((vote) => {
      if (!isAttested(vote)) return true;
      if (firm.has(vote.userId) || seen.has(vote.userId)) return false;
      seen.add(vote.userId);
      return true;
    })
    .map(toApproval);
}

/** The approval that a stored vote is: its credential as it was then, which may be gone by now. */
export const toApproval = (vote: Vote): Approval => ({
  userId: vote.userId,
  credential: {
    id: vote.credentialId,
    user_id: vote.userId,
    type: vote.credentialType,
    credential_id: vote.webauthn?.credentialId ?? '',
    public_key: vote.publicKey,
  },
});
