import type { Actor } from '../core/actor.ts';
import { CredentialUses, type LastUse } from '../core/directory.ts';
import type { Clock } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/clock.ts';
import { chunks } from '../lib/collections.ts';
import type { Storage } from '../storage/storage.ts';

/** Each credential is written at most once in so long. */
const FLUSH_EVERY_MS = MINUTE_MS;
/** So many are remembered between two writes; those beyond are noted when they are used again. */
const CREDENTIALS_MAX = 20_000;
/** So many go into one transaction, which must not hold up those of requests. */
const BATCH = 200;

interface LastUsesParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly observe: { unavailable(operation: string, cause: unknown): void };
}

/**
 * When credentials were last used. A request costs a look into a map; what is there is written behind the requests, so
 * that a process that is killed forgets the last minute and nothing else.
 */
export class LastUses {
  readonly #parts: LastUsesParts;
  #uses = new Map<string, LastUse & { atMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #flushing = Promise.resolve();

  constructor(parts: LastUsesParts) {
    this.#parts = parts;
  }

  /** Notes that the actor's credential stamped a request that was let in. */
  note(actor: Actor): void {
    const credentialId = credentialOf(actor);
    const key = credentialId ?? actor.userId;
    const atMs = this.#parts.clock();
    const known = this.#uses.get(key);
    if (known !== undefined) known.atMs = atMs;
    else if (this.#uses.size < CREDENTIALS_MAX) {
      this.#uses.set(key, { organizationId: actor.homeId, credentialId, userId: actor.userId, atMs });
    }
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#flushing = this.flush();
    }, FLUSH_EVERY_MS).unref();
  }

  /** Writes what is left. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }

  async flush(): Promise<void> {
    const uses = this.#uses;
    this.#uses = new Map();
    try {
      for (const batch of chunks([...uses.values()], BATCH)) {
        // It may be lost, so nobody waits for the disk.
        await this.#parts.storage.write((store) => store(CredentialUses).noteLastUses(batch), { isRepeatable: true });
      }
    } catch (error) {
      this.#parts.observe.unavailable('last use of credentials', error);
    }
  }
}

/** What a list of credentials shows of the credential; tokens and read-only sessions are none of them. */
function credentialOf({ credential }: Actor): string | undefined {
  switch (credential.kind) {
    case 'api-key':
      return credential.apiKey.id;
    case 'passkey':
      return credential.authenticator.id;
    case 'attested':
      return credential.attested.providerId;
    case 'read-session':
      return undefined;
  }
}
