import { type Selectable, sql } from 'kysely';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { AuthorityVersions } from '../../storage/authority.ts';
import { amendOne } from '../../storage/integrity/amend.ts';
import { allOfOrganization, asRow, readOwned } from '../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../storage/integrity/owned-sets.ts';
import type { Row } from '../../storage/integrity/row.ts';
import { ask, insertion, quickStatement } from '../../storage/statement.ts';
import { Reader, type Transaction } from '../../storage/store.ts';
import type { SignUpProxyConfig, SignUpProxySettings } from './model.ts';
import type { SignUpProxyConfigTable } from './tables.ts';

/** What a configuration allows before anybody has changed it. */
export const DEFAULT_PROXY_SETTINGS: SignUpProxySettings = {
  allowedOrigins: ['*'],
  allowedAuthMethods: ['email', 'sms', 'passkey', 'wallet', 'google', 'apple', 'facebook', 'x', 'discord', 'oidc'],
  otpAlphanumeric: false,
  otpLength: 6,
  verificationTokenRequiredForGetAccountPii: true,
  socialLinkingClientIds: [],
  oidcIssuers: [],
  captchaEnabled: false,
};

const toConfig = (row: Selectable<SignUpProxyConfigTable>): SignUpProxyConfig => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  enabled: row.enabled === 1,
  identity:
    row.user_id === null || row.public_key === null || row.sealed_key === null
      ? undefined
      : { userId: row.user_id as UserId, publicKey: row.public_key, sealedKey: row.sealed_key },
  settings: { ...DEFAULT_PROXY_SETTINGS, ...(JSON.parse(row.settings) as Partial<SignUpProxySettings>) },
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

interface ById extends Record<string, unknown> {
  readonly id: string;
}
// Without names: a newer version may add a column while this one runs.
const configById = quickStatement(undefined, (db, { id }: ById) =>
  db.selectFrom('auth_proxy_config').selectAll().where('id', '=', id),
);
const organizationOfConfig = quickStatement(
  undefined,
  (
    _db,
    { id }: ById,
  ) => sql<Row>`SELECT /* partial auth_proxy_config: an id, which the configuration is compared with */ *
    FROM organization WHERE id IN (SELECT organization_id FROM auth_proxy_config WHERE id = ${id})`,
);

const insertConfigs = insertion('sign-up-proxy-insert', 'auth_proxy_config', [
  'organization_id',
  'id',
  'user_id',
  'public_key',
  'sealed_key',
  'enabled',
  'settings',
  'created_at_ms',
  'updated_at_ms',
]);

/** Configurations of the sign-up proxy, at most one for each parent organization. */
export class SignUpProxyReader extends Reader {
  /** By its id alone, which is all that a caller of the proxy knows. */
  async byId(configId: string): Promise<SignUpProxyConfig | undefined> {
    const asked = { id: configId };
    const [[row], [owner]] = await readOwned(
      this.db,
      () => ask(this.db, [configById.of(asked), organizationOfConfig.of(asked)]),
      ([[config], [owner]]) =>
        config === undefined || owner?.['id'] !== config.organization_id
          ? []
          : [{ owner, has: { auth_proxy_config: [asRow(config)] }, isAll: true }],
    );
    // Nothing vouches for a configuration whose organization is not there.
    return row === undefined || owner?.['id'] !== row.organization_id ? undefined : toConfig(row);
  }

  async ofOrganization(organizationId: OrganizationId): Promise<SignUpProxyConfig | undefined> {
    const [row] = await allOfOrganization(this.db, 'auth_proxy_config', organizationId);
    return row && toConfig(row);
  }
}

export class SignUpProxyStore extends SignUpProxyReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insert(config: SignUpProxyConfig): Promise<void> {
    await this.#authority.alters(config.organizationId, 'facts');
    await this.#owned.open('auth_proxy_config', config.organizationId);
    await insertConfigs(this.db, [{ organization_id: config.organizationId, id: config.id, ...columnsOf(config) }]);
  }

  async update(config: SignUpProxyConfig): Promise<void> {
    await this.#authority.alters(config.organizationId, 'facts');
    await this.#owned.open('auth_proxy_config', config.organizationId);
    const key = { organization_id: config.organizationId, id: config.id };
    await amendOne(this.db, 'auth_proxy_config', key, () => columnsOf(config));
  }
}

const columnsOf = ({ identity, enabled, settings, createdAtMs, updatedAtMs }: SignUpProxyConfig) => ({
  user_id: identity?.userId ?? null,
  public_key: identity?.publicKey ?? null,
  sealed_key: identity?.sealedKey ?? null,
  enabled: enabled ? 1 : 0,
  settings: JSON.stringify(settings),
  created_at_ms: createdAtMs,
  updated_at_ms: updatedAtMs,
});
