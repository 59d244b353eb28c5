import { type Kysely, sql } from 'kysely';
import { assert } from '../lib/assert.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { DatabaseKind } from './dialect.ts';
import { amendOne } from './integrity/amend.ts';
import type { Schema } from './schema.ts';
import { statement } from './statement.ts';

/** How a transaction holds an organization: `shared` where it cannot alter a decision, `exclusive` where it can. */
export type LockMode = 'shared' | 'exclusive';

/** What a write alters: what decisions read of users, keys and the quorum, or the rules themselves. */
type Altered = 'facts' | 'rules';

interface Hold {
  readonly mode: LockMode;
  readonly hasRules: boolean;
}

interface State {
  readonly held: ReadonlyMap<string, Hold>;
  readonly born: ReadonlySet<string>;
  readonly erased: ReadonlySet<string>;
  readonly raised: ReadonlyMap<string, Altered>;
}

const lockShared = statement('organization-lock-shared', (db, { id }: { id: string }) =>
  db.selectNoFrom(sql<unknown>`pg_advisory_xact_lock_shared(hashtextextended(${id}, 0))`.as('locked')),
);
const lockExclusive = statement('organization-lock-exclusive', (db, { id }: { id: string }) =>
  db.selectNoFrom(sql<unknown>`pg_advisory_xact_lock(hashtextextended(${id}, 0))`.as('locked')),
);

/**
 * The authority versions of the organizations that one transaction writes to (docs/decisions/0001). Stores call it before
 * they write what decisions read: it raises the version, once for each transaction, and refuses the write where the
 * organization is held so that a decision could be committed beside it. An operation that declares too weak a lock
 * therefore fails in its first test and opens no race.
 */
export class AuthorityVersions {
  readonly #db: Kysely<Schema>;
  readonly #kind: DatabaseKind;
  #held = new Map<string, Hold>();
  #born = new Set<string>();
  #erased = new Set<string>();
  #raised = new Map<string, Altered>();

  constructor(db: Kysely<Schema>, kind: DatabaseKind) {
    this.#db = db;
    this.#kind = kind;
  }

  /** Stores may outlive transactions; what one of them held says nothing about the next. */
  begin(): void {
    this.#held = new Map();
    this.#born = new Set();
    this.#erased = new Set();
    this.#raised = new Map();
  }

  /** For a savepoint: what is rolled back was not raised, and PostgreSQL gives up the locks that were taken since. */
  mark(): State {
    return {
      held: new Map(this.#held),
      born: new Set(this.#born),
      erased: new Set(this.#erased),
      raised: new Map(this.#raised),
    };
  }

  restore({ held, born, erased, raised }: State): void {
    this.#held = new Map(held);
    this.#born = new Set(born);
    this.#erased = new Set(erased);
    this.#raised = new Map(raised);
  }

  /** An advisory lock on PostgreSQL, which many can share without writing to the row. SQLite has one writer. */
  async lock(organizationId: OrganizationId, mode: LockMode): Promise<void> {
    if (this.#kind === 'sqlite') return;
    await (mode === 'shared' ? lockShared : lockExclusive)(this.#db, { id: organizationId });
  }

  holds({ id, rulesVersion }: { readonly id: OrganizationId; readonly rulesVersion: number }, mode: LockMode): void {
    const isExclusive = mode === 'exclusive' || this.#held.get(id)?.mode === 'exclusive';
    this.#held.set(id, { mode: isExclusive ? 'exclusive' : 'shared', hasRules: rulesVersion > FIRST_RULES_VERSION });
  }

  /** Nobody can have decided anything in an organization that this transaction makes. */
  bears(organizationId: OrganizationId): void {
    this.#born.add(organizationId);
  }

  /** What is written of it after this, in the same transaction, is kept as little as what was there before. */
  erases(organizationId: OrganizationId): void {
    this.#erased.add(organizationId);
  }

  hasErased(organizationId: string): boolean {
    return this.#erased.has(organizationId);
  }

  /** Call before writing what decisions read. Where nobody holds the organization yet, it is held from here on. */
  async alters(organizationId: OrganizationId, altered: Altered): Promise<void> {
    if (this.#born.has(organizationId)) return;
    const hold = this.#held.get(organizationId);
    if (hold === undefined) {
      await this.lock(organizationId, 'exclusive');
      this.#held.set(organizationId, { mode: 'exclusive', hasRules: true });
    } else {
      assert(hold.mode === 'exclusive', 'what decisions read is written only while the organization is held alone');
    }
    await this.#raise(organizationId, altered);
  }

  /** The same for what rules alone read, such as names: where there are no rules, it may happen beside decisions. */
  async altersWhatRulesRead(organizationId: OrganizationId): Promise<void> {
    const hold = this.#held.get(organizationId);
    if (hold?.mode === 'shared' && !hold.hasRules) return;
    await this.alters(organizationId, 'facts');
  }

  async #raise(organizationId: OrganizationId, altered: Altered): Promise<void> {
    const before = this.#raised.get(organizationId);
    if (before === 'rules' || before === altered) return;
    this.#raised.set(organizationId, altered);
    await amendOne(this.#db, 'organization', { id: organizationId }, (row) => ({
      ...(before === undefined && { authority_version: row.authority_version + 1 }),
      ...(altered === 'rules' && { rules_version: row.rules_version + 1 }),
    }));
  }
}

/** Of an organization whose rules never changed: it has none. */
export const FIRST_RULES_VERSION = 1;
