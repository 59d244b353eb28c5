import { type CustosClient, CustosError, createPasskey, errorOfAnswer } from '@custos/sdk';
import { clientBy } from '../api/client.ts';
import { watchedFetch } from '../api/connection.ts';
import { passkeyStamper } from './login.ts';
import type { Session } from './session.ts';

/** Makes a passkey on this device and registers it; it counts only after it has stamped a request. */
export async function addPasskey(client: CustosClient, session: Session, authenticatorName: string): Promise<void> {
  const authenticator = await createPasskey({
    rp: { id: location.hostname, name: session.organizationName },
    user: { name: session.userName, displayName: session.userName },
    authenticatorName,
  });
  await client.createAuthenticators({ userId: session.userId, authenticators: [authenticator] });
  await tryPasskey(session, [authenticator.attestation.credentialId]);
}

/** Has a passkey of this user stamp a request: only then is it a way in. */
export async function tryPasskey(session: Session, credentialIds: readonly string[]): Promise<void> {
  const { userId } = await clientBy(passkeyStamper(credentialIds), session.organizationId).whoami();
  if (userId !== session.userId) throw new CustosError('INVALID_OPTION', 'this passkey is not yours');
}

/** Deletes the file that the first start wrote. Its key has to be deleted before, by an activity. */
export async function removeKeyFile(session: Session): Promise<void> {
  const body = JSON.stringify({
    type: 'CONSOLE_FORGET_CREDENTIALS_FILE',
    organizationId: session.organizationId,
    timestampMs: String(Date.now()),
  });
  const { headerName, headerValue } = await session.key.stamp(new TextEncoder().encode(body));
  const response = await watchedFetch('/console/forget-credentials-file', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [headerName]: headerValue },
    body,
  });
  if (!response.ok) throw errorOfAnswer(response.status, await response.text());
}
