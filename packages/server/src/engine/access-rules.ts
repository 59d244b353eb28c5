import { setImmediate } from 'node:timers/promises';
import type { IpAllowlist, MfaPolicy, Organization, Policy, VelocityControl } from '../core/model.ts';
import { Allowlists, MfaPolicies, Policies, VelocityControls } from '../core/rules.ts';
import { LIMITS } from '../lib/limits.ts';
import {
  type Compilation,
  createExpressionCache,
  type ExpressionCache,
  type ExpressionKind,
  type PolicySet,
  preparePolicies,
} from '../policy/index.ts';
import type { ReadStores } from '../storage/stores.ts';

/** What of an organization decides about requests, ready to be asked. */
export interface AccessRules {
  readonly policies: PolicySet;
  readonly controls: readonly VelocityControl[];
}

/** Some 200 MB of compiled policies at worst; one organization can have a third of it (LIMITS.policiesLength). */
const CHARACTERS_MAX = 3 * LIMITS.policiesLength;
const CHARACTERS_AT_ONCE = 8_000;
const LISTS_WEIGHT_MAX = 100_000;
const USERS_MAX = 10_000;

/**
 * Rules by organization and version. Every change of a rule raises the version, and a rule is read after the version it is
 * kept under, so what is found here is never older than the decision that uses it.
 */
export class AccessRulesCache {
  readonly expressions: ExpressionCache = createExpressionCache();
  readonly #outside: ReadStores;
  readonly #books = new VersionedCache<AccessRules>(CHARACTERS_MAX, weightOf);
  readonly #allowlists = new VersionedCache<readonly IpAllowlist[]>(LISTS_WEIGHT_MAX, (lists) =>
    lists.reduce((sum, { rules }) => sum + rules.length + 1, 1),
  );
  readonly #mfa = new VersionedCache<readonly MfaPolicy[]>(USERS_MAX, (policies) => policies.length + 1);

  /** `outside` is the database as it is outside of transactions. */
  constructor(outside: ReadStores) {
    this.#outside = outside;
  }

  /** Inside a transaction, `read` is the transaction's. */
  async of({ id, rulesVersion }: Organization, read: ReadStores): Promise<AccessRules> {
    return await this.#books.get(id, rulesVersion, read === this.#outside, async () => {
      const [policies, controls] = await Promise.all([read(Policies).all(id), read(VelocityControls).all(id)]);
      return { policies: preparePolicies(policies, await this.#compile(policies)), controls };
    });
  }

  /** Apart from the rest, because every request asks for them, queries too. */
  async allowlistsOf(
    { id, rulesVersion }: Pick<Organization, 'id' | 'rulesVersion'>,
    read: ReadStores,
  ): Promise<readonly IpAllowlist[]> {
    return await this.#allowlists.get(id, rulesVersion, read === this.#outside, () => read(Allowlists).allowlists(id));
  }

  /** In the order in which they are asked. */
  async mfaOf({ id, rulesVersion }: Organization, userId: string, read: ReadStores): Promise<readonly MfaPolicy[]> {
    return await this.#mfa.get(`${id} ${userId}`, rulesVersion, read === this.#outside, () =>
      read(MfaPolicies).ofUser(id, userId),
    );
  }

  /** Many texts take long to compile, and other requests must not wait for all of them. */
  async #compile(policies: readonly Policy[]): Promise<ExpressionCache> {
    const compiled = new Map<string, Compilation<ExpressionKind>>();
    const compile = <K extends ExpressionKind>(kind: K, text: string): Compilation<K> => {
      const key = `${kind} ${text}`;
      const compilation = compiled.get(key) ?? this.expressions.compile(kind, text);
      compiled.set(key, compilation);
      return compilation as Compilation<K>;
    };
    let characters = 0;
    for (const policy of policies) {
      for (const kind of ['condition', 'consensus', 'time'] as const) {
        if (policy[kind] !== '') compile(kind, policy[kind]);
        characters += policy[kind].length;
      }
      if (characters < CHARACTERS_AT_ONCE) continue;
      characters = 0;
      await setImmediate();
    }
    return { compile };
  }
}

const weightOf = ({ policies, controls }: AccessRules): number =>
  policies.policies.reduce(
    (sum, { policy }) =>
      sum + 100 + [policy.condition, policy.consensus, policy.time].reduce((all, text) => all + (text?.length ?? 0), 0),
    200 + 1000 * controls.length,
  );

interface Kept<T> {
  readonly version: number;
  readonly value: T;
  readonly weight: number;
}

/** One version of each entry; the least recently used go first when all together are too heavy. */
class VersionedCache<T> {
  readonly #weightMax: number;
  readonly #decideByRules: (value: T) => number;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #loading = new Map<string, Promise<T>>();
  #weight = 0;

  constructor(weightMax: number, decideByRules: (value: T) => number) {
    this.#weightMax = weightMax;
    this.#decideByRules = decideByRules;
  }

  /**
   * Requests that ask at the same moment share one reading, unless it is a transaction's, which may end in its failure.
   */
  async get(key: string, version: number, isShared: boolean, load: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept?.version === version) {
      // A Map iterates in insertion order, so inserting again makes the entry the youngest.
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.value;
    }
    const loadingKey = `${key} ${version}`;
    const loading = this.#loading.get(loadingKey);
    if (isShared && loading !== undefined) return await loading;
    const reading = load();
    // Nor is it kept: the transaction may see what is never committed.
    if (!isShared) return await reading;
    this.#loading.set(loadingKey, reading);
    try {
      return this.#keep(key, version, await reading);
    } finally {
      this.#loading.delete(loadingKey);
    }
  }

  #keep(key: string, version: number, value: T): T {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.version >= version) return value;
    this.#drop(key);
    const weight = this.#decideByRules(value);
    if (weight > this.#weightMax / 2) return value;
    this.#kept.set(key, { version, value, weight });
    this.#weight += weight;
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#weightMax) break;
      this.#drop(oldest);
    }
    return value;
  }

  #drop(key: string): void {
    this.#weight -= this.#kept.get(key)?.weight ?? 0;
    this.#kept.delete(key);
  }
}
