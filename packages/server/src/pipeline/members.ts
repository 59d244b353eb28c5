import type { AttestedKey } from '../lib/actor.ts';
import { toHex } from '../lib/encoding.ts';
import type { ApiKey, Authenticator, MemberRecord, Vote } from '../lib/model.ts';
import type { Approval, Member, PolicyCredential } from '../policy/index.ts';
import type { WireUser } from '../wire/user.ts';

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
  id: providerId ?? token.tokenId,
  user_id: userId,
  type: '',
  credential_id: '',
  public_key: publicKey,
});

/** The approval that a stored vote is: its credential as it was then, which may be gone by now. */
export function toApproval(vote: Vote): Approval {
  const { apiKeys, authenticators } = vote.userSnapshot as WireUser;
  const key = apiKeys.find(({ apiKeyId }) => apiKeyId === vote.credentialId);
  const passkey = authenticators.find(({ authenticatorId }) => authenticatorId === vote.credentialId);
  return {
    userId: vote.userId,
    credential: {
      id: vote.credentialId,
      user_id: vote.userId,
      type: (key ?? passkey)?.credential.type ?? '',
      credential_id: passkey?.credentialId ?? '',
      public_key: vote.publicKey,
    },
  };
}
