import { type Bytes, fromBase64url, sha256, toBase64url, toBytes, toHex, toUtf8 } from './bytes.ts';
import { credentialsOf, passkeyFailed } from './passkey.ts';
import type { Stamp, Stamper, StampOptions } from './stamper.ts';

export interface PasskeyStamperOptions {
  /** The domain that the passkeys belong to. */
  readonly rpId: string;
  /** Ids of the passkeys to offer, base64url; without it the browser offers what it has for the domain. */
  readonly credentialIds?: readonly string[];
  readonly timeoutMs?: number;
  readonly userVerification?: UserVerificationRequirement;
  /** Instead of `navigator.credentials`. */
  readonly credentials?: Pick<CredentialsContainer, 'get'>;
}

/** Stamps with a passkey. Browsers only; each request asks the user. */
export class PasskeyStamper implements Stamper {
  readonly #options: PasskeyStamperOptions;

  constructor(options: PasskeyStamperOptions) {
    this.#options = options;
  }

  async stamp(body: Uint8Array<ArrayBuffer>, { signal }: StampOptions = {}): Promise<Stamp> {
    const { rpId, credentialIds = [], timeoutMs, userVerification = 'preferred', credentials } = this.#options;
    const publicKey: PublicKeyCredentialRequestOptions = {
      challenge: await challengeOf(body),
      rpId,
      userVerification,
      allowCredentials: credentialIds.map((id) => ({ type: 'public-key', id: readId(id) })),
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    };
    const found = await ask(credentialsOf(credentials), { publicKey, ...(signal && { signal }) });
    const { authenticatorData, clientDataJSON, signature } = found.response as AuthenticatorAssertionResponse;
    const value = {
      authenticatorData: toBase64url(toBytes(authenticatorData)),
      clientDataJson: toBase64url(toBytes(clientDataJSON)),
      credentialId: toBase64url(toBytes(found.rawId)),
      signature: toBase64url(toBytes(signature)),
    };
    return { headerName: 'X-Stamp-WebAuthn', headerValue: JSON.stringify(value) };
  }
}

/** The digest of the body as 64 characters of text: those bytes are what the authenticator signs. */
export const challengeOf = async (body: Bytes): Promise<Bytes> => toUtf8(toHex(await sha256(body)));

async function ask(
  credentials: Pick<CredentialsContainer, 'get'>,
  request: CredentialRequestOptions,
): Promise<PublicKeyCredential> {
  try {
    const found = await credentials.get(request);
    if (found !== null) return found as PublicKeyCredential;
  } catch (error) {
    request.signal?.throwIfAborted();
    throw passkeyFailed('the passkey was not used', error);
  }
  throw passkeyFailed('the browser has no passkey for this');
}

function readId(id: string): Bytes {
  const bytes = fromBase64url(id);
  if (bytes === undefined) throw passkeyFailed('a credential id is not base64url');
  return bytes;
}
