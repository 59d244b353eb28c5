import type { Static, TSchema } from 'typebox';
import { type Decoder, decoder } from '../lib/shape.ts';

/** One accepted value of the request's `type`. */
export interface ActivityVersion<Parameters = unknown> {
  readonly type: string;
  readonly intentKey: string;
  readonly resultKey: string;
  readonly schema: TSchema;
  /** Parameters that never rest in the clear (protocol/activities 5.2), as dotted paths with `*` for list items. */
  readonly secrets: readonly string[];
  /** Fields of the result that only the credential that proposed it is shown, for a while. */
  readonly secretResults: readonly string[];
  /** The parameters that policies may read. */
  readonly policyParams: readonly string[];
  /** Checks the parameters as sent and turns them into the current version's. */
  readonly decode: (parameters: unknown) => Parameters;
  /** The same without a check, for what was stored: digests may stand there in the place of secrets. */
  readonly upgrade: (parameters: unknown) => Parameters;
  readonly result: TSchema;
  /** The result as this version has it. */
  readonly toResult: (result: unknown) => unknown;
}

/** What an operation says about the current version of its type. */
export interface CurrentVersion<S extends TSchema> {
  readonly type: string;
  readonly parameters: S;
  readonly resultKey?: string;
  readonly secrets?: readonly string[];
  /** Of the current version and of all older ones; `secretResult` has their values. */
  readonly secretResults?: readonly string[];
}

/** An older version of an operation's type, and how its parameters become the current ones. */
export interface LegacyVersion<Parameters> {
  readonly type: string;
  readonly resultKey: string | undefined;
  readonly schema: TSchema;
  readonly secrets: readonly string[];
  /** Undefined where they are those of the current version. */
  readonly policyParams: readonly string[] | undefined;
  readonly upgrade: (parameters: unknown) => Parameters;
  /** Undefined where it is that of the current version. */
  readonly result: TSchema | undefined;
  readonly toResult: (result: unknown) => unknown;
  readonly decoder: Decoder<TSchema>;
}

const sameResult = (result: unknown): unknown => result;

export function legacy<S extends TSchema, Parameters>(
  type: string,
  parameters: S,
  upgrade: (parameters: Static<S>) => Parameters,
  options: {
    readonly resultKey?: string;
    readonly secrets?: readonly string[];
    /** Where policies may read other parameters of the version than of today's. */
    readonly policyParams?: readonly string[];
    /** Where the result of the version is another one than today's: its shape, and how it is made of today's. */
    readonly result?: TSchema;
    readonly toResult?: (result: never) => unknown;
  } = {},
): LegacyVersion<Parameters> {
  return {
    type,
    schema: parameters,
    upgrade: upgrade as (parameters: unknown) => Parameters,
    decoder: decoder(parameters) as unknown as Decoder<TSchema>,
    resultKey: options.resultKey,
    secrets: options.secrets ?? [],
    policyParams: options.policyParams,
    result: options.result,
    toResult: (options.toResult ?? sameResult) as (result: unknown) => unknown,
  };
}

interface Versioned<S extends TSchema> extends CurrentVersion<S> {
  readonly older?: readonly LegacyVersion<Static<S>>[];
  readonly result: TSchema;
  readonly check?: (parameters: Static<S>) => void;
  readonly policy: { readonly governedBy: string; readonly params?: readonly string[] };
}

/** The current version first, then the older ones. */
export function versionsOf<S extends TSchema>(definition: Versioned<S>): ActivityVersion<Static<S>>[] {
  const { parameters, older = [], result, secrets = [], secretResults = [], check } = definition;
  const { params: policyParams = [] } = definition.policy;
  const decodeCurrent = decoder(parameters);
  const checked = (decode: (sent: unknown) => Static<S>) => (sent: unknown) => {
    const decoded = decode(sent);
    check?.(decoded);
    return decoded;
  };
  const current: ActivityVersion<Static<S>> = {
    type: definition.type,
    ...wireKeys(definition.type, definition.resultKey),
    schema: parameters,
    secrets,
    secretResults,
    policyParams,
    result,
    toResult: sameResult,
    decode: checked((sent) => decodeCurrent(sent, 'parameters')),
    upgrade: (sent) => sent as Static<S>,
  };
  return [
    current,
    ...older.map((old) => ({
      type: old.type,
      ...wireKeys(old.type, old.resultKey),
      schema: old.schema,
      secrets: old.secrets,
      secretResults,
      policyParams: old.policyParams ?? policyParams,
      result: old.result ?? result,
      toResult: old.toResult,
      decode: checked((sent) => old.upgrade(old.decoder(sent, 'parameters'))),
      upgrade: old.upgrade,
    })),
  ];
}

/**
 * Intent and result key of a type (protocol/activities 2.2): the name in lower camel case, `Intent` or `Result`, and
 * the version.
 */
export function wireKeys(type: string, resultKey?: string): { readonly intentKey: string; readonly resultKey: string } {
  const [, words = '', version = ''] = /^ACTIVITY_TYPE_(.+?)(?:_(V[0-9]+))?$/.exec(type) ?? [];
  const base = words.toLowerCase().replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
  return { intentKey: `${base}Intent${version}`, resultKey: resultKey ?? `${base}Result` };
}
