import type { Actor } from '../core/actor.ts';
import type { ApiKey, AuthenticationMethod } from '../core/model.ts';
import type { Approval } from '../policy/index.ts';
import type { Approver } from './authorize.ts';
import { ofApiKey, ofAttestedKey, ofPasskey } from './members.ts';
import type { MfaEvidence } from './rules/mfa.ts';

/** Keys that a login made: they prove a session, not the key of an API (protocol/login 10.2). */
const SESSION_KEYS = new Set(['CREDENTIAL_TYPE_LOGIN', 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256']);

/** What a stamp proves of its user, as a step of an MFA policy may ask for it. */
function mfaEvidence({ credential }: Actor, digest: string): MfaEvidence {
  switch (credential.kind) {
    case 'passkey':
      return {
        method: { type: 'AUTHENTICATION_TYPE_PASSKEY', id: credential.authenticator.id },
        credentialId: credential.authenticator.id,
        digest,
      };
    case 'api-key':
      return { method: methodOf(credential.apiKey), credentialId: credential.apiKey.id, digest };
    case 'attested': {
      const { method, token, providerId } = credential.attested;
      return { method, credentialId: providerId ?? token?.tokenId ?? '', digest, token };
    }
    case 'read-session':
      throw new Error('a read-only session approves nothing');
  }
}

/** Keys of other logins and of recovery prove neither. */
function methodOf(key: ApiKey): AuthenticationMethod | undefined {
  if (SESSION_KEYS.has(key.type)) {
    const { sessionProfileId: id } = key;
    return { type: 'AUTHENTICATION_TYPE_SESSION', ...(id !== undefined && { id }) };
  }
  return key.type.startsWith('CREDENTIAL_TYPE_API_KEY_')
    ? { type: 'AUTHENTICATION_TYPE_API_KEY', id: key.id }
    : undefined;
}

/** The approval that a stamp is. */
export function approvalOf({ userId, credential }: Actor): Approval {
  switch (credential.kind) {
    case 'passkey':
      return { userId, credential: ofPasskey(userId, credential.authenticator) };
    case 'api-key':
      return { userId, credential: ofApiKey(userId, credential.apiKey) };
    case 'attested':
      return { userId, credential: ofAttestedKey(userId, credential.attested) };
    case 'read-session':
      throw new Error('a read-only session approves nothing');
  }
}

/** What a stamp under a body with this digest says and proves. */
export const approverOf = (actor: Actor, digest: string): Approver => ({
  actor,
  approval: approvalOf(actor),
  evidence: mfaEvidence(actor, digest),
});
