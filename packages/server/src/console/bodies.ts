import Type, { type Static, type TSchema } from 'typebox';
import { BODY_BOUNDS } from '../engine/request.ts';
import { decoder } from '../lib/shape.ts';
import { IdShape, textShape } from '../lib/shapes.ts';
import { parseStrictJson } from '../lib/strict-json.ts';

/**
 * The body of a stamped call. A stamp covers bytes and not the path: `type` keeps these bytes from being anything else,
 * and anything else from being these.
 */
const stampedShape = (type: string) =>
  Type.Object({
    type: Type.String({ pattern: `^${type}$`, 'x-message': `must be ${type}` }),
    organizationId: IdShape,
    timestampMs: Type.String({
      pattern: '^[0-9]{1,15}$',
      'x-decimal': true,
      'x-message': 'must be milliseconds since 1970 as a decimal string',
    }),
  });

const bodyReader = <S extends TSchema>(shape: S): ((body: Uint8Array) => Static<S>) => {
  const decode = decoder(shape);
  return (body) => decode(parseStrictJson(body, BODY_BOUNDS));
};

export const readLinkBody = bodyReader(Type.Object({ token: textShape(64), publicKey: textShape(512) }));
export const readNewLinkBody = bodyReader(stampedShape('CONSOLE_NEW_LINK'));
export const readForgetBody = bodyReader(stampedShape('CONSOLE_FORGET_CREDENTIALS_FILE'));
