import type { Static, TSchema } from 'typebox';
import { bodyLimitOf } from '../../lib/body-limit.ts';
import { decoder } from '../../lib/shape.ts';
import type { Demand } from './methods.ts';
import type { Visit } from './visit.ts';

/** A call of the sign-up proxy: path, shapes and what it does in one value. */
export interface ProxyCall<Body = unknown, Reply = unknown> {
  readonly name: string;
  readonly summary: string;
  /** The largest body that is read, in bytes. */
  readonly bodyLimit: number;
  readonly body: TSchema;
  readonly reply: TSchema;
  readonly decode: (value: unknown) => Body;
  /** Whether clients may send no body at all. */
  readonly takesNothing: boolean;
  /** Which ways to authenticate the configuration must have turned on. */
  readonly demands: (visit: Visit, body: Body) => readonly Demand[];
  /** Whether a person has to be told from a program first, where the configuration wants it. */
  readonly needsCaptcha?: (body: Body) => boolean;
  /** Whether it sends a code, of which a client may have so many. */
  readonly sendsCode: boolean;
  /** Whether it answers from what is stored and does nothing: then it goes on behind the fence. */
  readonly onlyReads: boolean;
  /** As how many calls more than one it counts, for what it makes the service do. */
  readonly cost: (body: Body) => number;
  /** Whether it may wait for an identity provider. */
  readonly waitsOutside: boolean;
  readonly answer: (visit: Visit, body: Body) => Promise<Reply>;
}

interface ProxyCallDefinition<B extends TSchema, R extends TSchema> {
  readonly name: string;
  readonly summary: string;
  readonly bodyLimit?: number;
  readonly body: B;
  readonly reply: R;
  readonly takesNothing?: boolean;
  readonly demands?: (visit: Visit, body: Static<B>) => readonly Demand[];
  readonly needsCaptcha?: (body: Static<B>) => boolean;
  readonly sendsCode?: boolean;
  readonly onlyReads?: boolean;
  readonly cost?: (body: Static<B>) => number;
  readonly waitsOutside?: boolean;
  readonly answer: (visit: Visit, body: Static<B>) => Promise<Static<R>>;
}

export function defineProxyCall<B extends TSchema, R extends TSchema>(
  definition: ProxyCallDefinition<B, R>,
): ProxyCall {
  const decode = decoder(definition.body);
  const call: ProxyCall<Static<B>, Static<R>> = {
    name: definition.name,
    summary: definition.summary,
    bodyLimit: bodyLimitOf(definition.name, [definition.body], definition.bodyLimit),
    body: definition.body,
    reply: definition.reply,
    decode: (value) => decode(value),
    takesNothing: definition.takesNothing ?? false,
    waitsOutside: definition.waitsOutside ?? false,
    demands: definition.demands ?? (() => []),
    ...(definition.needsCaptcha && { needsCaptcha: definition.needsCaptcha }),
    sendsCode: definition.sendsCode ?? false,
    onlyReads: definition.onlyReads ?? false,
    cost: definition.cost ?? (() => 0),
    answer: definition.answer,
  };
  // Each call only ever meets what its own decoder made.
  return call as unknown as ProxyCall;
}
