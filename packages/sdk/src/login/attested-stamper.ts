import { toBase64url, toHex, toUtf8 } from '../bytes.ts';
import { toDer } from '../der.ts';
import { CustosError } from '../errors.ts';
import type { Signer } from '../signer.ts';
import type { Stamp, Stamper } from '../stamper.ts';

/** A key, and one token that says whose it is. */
export type AttestedStamperOptions = { readonly key: Signer } & (
  | { readonly verificationToken: string; readonly oidcToken?: never }
  | { readonly oidcToken: string; readonly verificationToken?: never }
);

/**
 * Stamps for somebody who has no credential here yet, but a token: of a one-time code, bound to the key, or of an OpenID
 * issuer, whose nonce is `oidcNonceOf` the key (protocol/stamps 5.2). Accepted for `stampLogin`, and as an MFA proof.
 */
export class AttestedStamper implements Stamper {
  readonly #key: Signer;
  readonly #token: string;
  readonly #scheme: string;

  constructor({ key, verificationToken, oidcToken }: AttestedStamperOptions) {
    const token = verificationToken ?? oidcToken;
    if (token === undefined || (verificationToken !== undefined && oidcToken !== undefined)) {
      throw new CustosError('INVALID_OPTION', 'an attested stamp needs a verificationToken or an oidcToken');
    }
    this.#key = key;
    this.#token = token;
    this.#scheme =
      verificationToken === undefined
        ? 'STAMP_ATTESTED_SCHEME_P256_OIDC'
        : 'STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN';
  }

  async stamp(body: Uint8Array<ArrayBuffer>): Promise<Stamp> {
    const value = {
      publicKeyAttestation: this.#token,
      scheme: this.#scheme,
      publicKey: this.#key.publicKey,
      signature: toHex(toDer(await this.#key.sign(body))),
    };
    return { headerName: 'X-Stamp-Attested', headerValue: toBase64url(toUtf8(JSON.stringify(value))) };
  }
}
