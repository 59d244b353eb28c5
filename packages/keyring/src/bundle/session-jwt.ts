import { KeyringError } from '../errors.ts';
import { clientSafeJson, signCompact } from './jws.ts';
import { compressedHex, type Signer } from './p256.ts';

const HEADER = { alg: 'ES256', typ: 'JWT' };
const TYPE_READ_WRITE = 'SESSION_TYPE_READ_WRITE';

export interface Session {
  /** Unix seconds. */
  readonly expiresAtSeconds: number;
  /** The session key. */
  readonly publicKey: Uint8Array;
  readonly userId: string;
  /** The user's own organization. */
  readonly organizationId: string;
  readonly profile?: SessionProfile;
}

export interface SessionProfile {
  readonly id: string;
  readonly name: string;
  /** The text of the expression. */
  readonly scope: string;
}

/** The session as clients read it. It informs and never authenticates: only stamps of the session key do. */
export function signSessionJwt(signer: Signer, session: Session): string {
  const { expiresAtSeconds, publicKey, userId, organizationId, profile } = session;
  if (!Number.isSafeInteger(expiresAtSeconds) || expiresAtSeconds < 0) {
    throw new KeyringError('INVALID_INPUT', 'the expiry must be whole seconds');
  }
  const claims = {
    exp: expiresAtSeconds,
    public_key: compressedHex(publicKey),
    session_type: profile?.name ?? TYPE_READ_WRITE,
    user_id: userId,
    organization_id: organizationId,
    ...(profile && { session_profile_id: profile.id, scope: profile.scope }),
  };
  return signCompact(signer, HEADER, clientSafeJson(claims), 'twice');
}
