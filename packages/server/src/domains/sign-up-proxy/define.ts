import type { Static, TSchema } from 'typebox';
import type { Organization } from '../../core/model.ts';
import type { App } from '../../engine/app.ts';
import type { WireActivity } from '../../engine/render-activity.ts';
import { bodyLimitOf } from '../../lib/body-limit.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { decoder } from '../../lib/shape.ts';
import type { Demand } from './methods.ts';
import type { SignUpProxyConfig } from './model.ts';

/** An activity that the proxy asks for with its own key. */
export interface ProxyActivity {
  readonly type: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Where, if not in the parent organization. */
  readonly organizationId?: OrganizationId;
  readonly generateAppProofs?: boolean | undefined;
}

/** One call of the proxy after its configuration and origin were found good. */
export interface Visit {
  readonly app: App;
  readonly config: SignUpProxyConfig;
  /** The parent organization of the configuration. */
  readonly parent: Organization;
  readonly clientAddress: string | undefined;
  readonly nowMs: number;
  /** The finished activity, and what it resulted in with the secrets that only a direct answer shows. */
  readonly run: <Result>(activity: ProxyActivity) => Promise<{ activity: WireActivity; result: Result }>;
}

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
    cost: definition.cost ?? (() => 0),
    answer: definition.answer,
  };
  // Each call only ever meets what its own decoder made.
  return call as unknown as ProxyCall;
}
