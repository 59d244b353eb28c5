import { sha256, toHex, toUtf8 } from '../bytes.ts';

/** The `nonce` to ask an OpenID issuer for, so that its token is good for this key alone: a digest of the hex text. */
export const oidcNonceOf = async (publicKey: string): Promise<string> => toHex(await sha256(toUtf8(publicKey)));
