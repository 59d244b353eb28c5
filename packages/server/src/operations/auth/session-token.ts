import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { SessionProfile } from '../../lib/model.ts';
import type { PrepareContext } from '../define.ts';

/** The session as clients read it (AUTH 6.2). It informs; only stamps of the session key authenticate. */
export async function signSession(
  { keyring, nowMs }: PrepareContext,
  session: {
    readonly organizationId: OrganizationId;
    readonly userId: UserId;
    readonly publicKey: string;
    readonly seconds: number;
    readonly profile: SessionProfile | undefined;
  },
): Promise<string> {
  const { organizationId, userId, publicKey, seconds, profile } = session;
  return await keyring.signSession({
    expiresAtSeconds: Math.floor(nowMs / 1000) + seconds,
    publicKey: Buffer.from(publicKey, 'hex'),
    userId,
    organizationId,
    ...(profile && { profile: { id: profile.id as string, name: profile.name, scope: profile.scope } }),
  });
}
