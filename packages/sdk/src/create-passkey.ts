import { toBase64url, toBytes, toUtf8 } from './bytes.ts';
import type { AuthenticatorParams } from './generated/operations.ts';
import { credentialsOf, passkeyFailed } from './passkey.ts';

export interface CreatePasskeyOptions {
  /** The domain that the passkey will belong to, and what the browser calls it. */
  readonly rp: { readonly id: string; readonly name: string };
  /** What the browser shows; `id` keeps one passkey per user and device, and is random unless given. */
  readonly user: { readonly name: string; readonly displayName?: string; readonly id?: string };
  /** The name under which the service lists it. */
  readonly authenticatorName: string;
  readonly timeoutMs?: number;
  readonly authenticatorSelection?: AuthenticatorSelectionCriteria;
  /** Instead of `navigator.credentials`. */
  readonly credentials?: Pick<CredentialsContainer, 'create'>;
}

type Transport = AuthenticatorParams['attestation']['transports'][number];

const TRANSPORTS: Readonly<Record<string, Transport>> = {
  ble: 'AUTHENTICATOR_TRANSPORT_BLE',
  cable: 'AUTHENTICATOR_TRANSPORT_HYBRID',
  hybrid: 'AUTHENTICATOR_TRANSPORT_HYBRID',
  internal: 'AUTHENTICATOR_TRANSPORT_INTERNAL',
  nfc: 'AUTHENTICATOR_TRANSPORT_NFC',
  usb: 'AUTHENTICATOR_TRANSPORT_USB',
};

/** COSE algorithms in the order of preference: ES256, RS256. */
const ALGORITHMS = [-7, -257] as const;

/**
 * Makes a passkey in the browser and answers what `createAuthenticators`, `createUsers` and the like take
 * (protocol/stamps 4.1).
 */
export async function createPasskey(options: CreatePasskeyOptions): Promise<AuthenticatorParams> {
  const challenge = random(32);
  const { name, displayName = name, id } = options.user;
  const created = await create(credentialsOf(options.credentials), {
    challenge,
    rp: options.rp,
    user: { id: id === undefined ? random(32) : toUtf8(id), name, displayName },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    // Without an account at hand the browser must be able to find the passkey by its domain.
    authenticatorSelection: options.authenticatorSelection ?? {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'preferred',
    },
    ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs }),
  });
  const response = created.response as AuthenticatorAttestationResponse;
  const transports = (response.getTransports?.() ?? []).flatMap((transport) => TRANSPORTS[transport] ?? []);
  return {
    authenticatorName: options.authenticatorName,
    challenge: toBase64url(challenge),
    attestation: {
      credentialId: toBase64url(toBytes(created.rawId)),
      clientDataJson: toBase64url(toBytes(response.clientDataJSON)),
      attestationObject: toBase64url(toBytes(response.attestationObject)),
      transports: [...new Set(transports)],
    },
  };
}

const random = (length: number): Uint8Array<ArrayBuffer> => globalThis.crypto.getRandomValues(new Uint8Array(length));

async function create(
  credentials: Pick<CredentialsContainer, 'create'>,
  publicKey: PublicKeyCredentialCreationOptions,
): Promise<PublicKeyCredential> {
  try {
    const created = await credentials.create({ publicKey });
    if (created !== null) return created as PublicKeyCredential;
  } catch (error) {
    throw passkeyFailed('the passkey was not created', error);
  }
  throw passkeyFailed('the browser created no passkey');
}
