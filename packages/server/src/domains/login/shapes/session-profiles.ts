import Type from 'typebox';
import { TimestampShape } from '../../../lib/shapes.ts';

/** protocol/login 9.1. */
export const SessionProfileShape = Type.Object({
  sessionProfileId: Type.String(),
  sessionProfileName: Type.String(),
  scope: Type.String(),
  expirationSeconds: Type.Optional(Type.String()),
  notes: Type.Optional(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});
