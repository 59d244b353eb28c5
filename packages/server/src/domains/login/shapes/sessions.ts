import Type from 'typebox';
import { textShape } from '../../../lib/shapes.ts';

/** Judged with its own error code, so that the shape only bounds it. */
export const SecondsShape = Type.String({ maxLength: 32, 'x-decimal': true });

/** What every operation that makes a session key takes. */
export const SESSION_PARAMS = {
  publicKey: textShape(512),
  expirationSeconds: Type.Optional(SecondsShape),
  invalidateExisting: Type.Optional(Type.Boolean()),
  sessionProfileId: Type.Optional(textShape(64)),
};
