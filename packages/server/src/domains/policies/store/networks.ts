import type { IpAllowlist, IpRule } from '../../../core/model.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { allOfOrganization } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { replacement } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';

/** The key under which the organization's own list is kept. */
const WHOLE_ORGANIZATION = '';

const putLists = replacement(
  'ip-allowlist-put',
  'ip_allowlist',
  ['organization_id', 'public_key'],
  ['organization_id', 'public_key', 'enabled', 'on_evaluation_error', 'rules', 'updated_at_ms'],
);

/** IP allowlists, of the organization and of single API keys. */
export class NetworkReader extends Reader {
  /** Every list of the organization: they are few, and judged on every request. */
  async allowlists(organizationId: OrganizationId): Promise<IpAllowlist[]> {
    const rows = await allOfOrganization(this.db, 'ip_allowlist', organizationId);
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
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  /** Replaces the whole list. */
  async put(organizationId: OrganizationId, list: IpAllowlist, nowMs: number): Promise<void> {
    const row = {
      organization_id: organizationId,
      public_key: list.publicKey ?? WHOLE_ORGANIZATION,
      enabled: list.enabled ? 1 : 0,
      on_evaluation_error: list.onEvaluationError,
      rules: JSON.stringify(list.rules),
      updated_at_ms: nowMs,
    };
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('ip_allowlist', organizationId);
    await putLists(this.db, [row]);
  }

  async remove(organizationId: OrganizationId, publicKeys: readonly (string | undefined)[]): Promise<void> {
    if (publicKeys.length === 0) return;
    const keys = publicKeys.map((key) => key ?? WHOLE_ORGANIZATION);
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('ip_allowlist', organizationId);
    this.#owned.remove('ip_allowlist', [organizationId], keys);
    await this.db
      .deleteFrom('ip_allowlist')
      .where('organization_id', '=', organizationId)
      .where('public_key', 'in', keys)
      .execute();
  }
}
