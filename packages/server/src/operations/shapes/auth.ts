import Type from 'typebox';
import { textShape } from './basic.ts';

/** Judged with its own error code, so that the shape only bounds it. */
export const SecondsShape = Type.String({ maxLength: 32, 'x-decimal': true });

/** protocol/login 5.1. */
export const ClientSignatureShape = Type.Object({
  publicKey: textShape(512),
  scheme: Type.Enum(['CLIENT_SIGNATURE_SCHEME_API_P256']),
  message: textShape(65_536),
  signature: textShape(1024),
});
export type ClientSignature = Type.Static<typeof ClientSignatureShape>;

/** What every operation that makes a session key takes. */
export const SESSION_PARAMS = {
  publicKey: textShape(512),
  expirationSeconds: Type.Optional(SecondsShape),
  invalidateExisting: Type.Optional(Type.Boolean()),
  sessionProfileId: Type.Optional(textShape(64)),
};

export const VerificationTokenShape = textShape(16_384);
export const OidcTokenShape = textShape(64 * 1024);
