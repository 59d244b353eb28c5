import { sql } from 'kysely';
import type { IpAllowlist, IpRule } from '../../../core/model.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';

/** The key under which the organization's own list is kept. */
const WHOLE_ORGANIZATION = '';

/** IP allowlists, of the organization and of single API keys. */
export class NetworkReader extends Reader {
  /** Every list of the organization: they are few, and judged on every request. */
  async allowlists(organizationId: OrganizationId): Promise<IpAllowlist[]> {
    const rows = await this.db
      .selectFrom('ip_allowlist')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .execute();
    return rows.map((row) => ({
      publicKey: row.public_key === WHOLE_ORGANIZATION ? undefined : row.public_key,
      enabled: row.enabled === 1,
      onEvaluationError: row.on_evaluation_error as IpAllowlist['onEvaluationError'],
      rules: JSON.parse(row.rules) as IpRule[],
    }));
  }
}

export class NetworkStore extends NetworkReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  /** Replaces the whole list. */
  async put(organizationId: OrganizationId, list: IpAllowlist, nowMs: number): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await sql`INSERT INTO ip_allowlist (organization_id, public_key, enabled, on_evaluation_error, rules, updated_at_ms)
      VALUES (${organizationId}, ${list.publicKey ?? WHOLE_ORGANIZATION}, ${list.enabled ? 1 : 0},
        ${list.onEvaluationError}, ${JSON.stringify(list.rules)}, ${nowMs})
      ON CONFLICT (organization_id, public_key) DO UPDATE SET enabled = excluded.enabled,
        on_evaluation_error = excluded.on_evaluation_error, rules = excluded.rules,
        updated_at_ms = excluded.updated_at_ms`.execute(this.db);
  }

  async remove(organizationId: OrganizationId, publicKeys: readonly (string | undefined)[]): Promise<void> {
    if (publicKeys.length === 0) return;
    await this.#authority.alters(organizationId, 'rules');
    await this.db
      .deleteFrom('ip_allowlist')
      .where('organization_id', '=', organizationId)
      .where(
        'public_key',
        'in',
        publicKeys.map((key) => key ?? WHOLE_ORGANIZATION),
      )
      .execute();
  }
}
