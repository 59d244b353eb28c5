import Type from 'typebox';
import { textShape } from '../lib/shapes.ts';

/** protocol/login 5.1. */
export const ClientSignatureShape = Type.Object({
  publicKey: textShape(512),
  scheme: Type.Enum(['CLIENT_SIGNATURE_SCHEME_API_P256']),
  message: textShape(65_536),
  signature: textShape(1024),
});

export type ClientSignature = Type.Static<typeof ClientSignatureShape>;

export const VerificationTokenShape = textShape(16_384);

export const OidcTokenShape = textShape(64 * 1024);
