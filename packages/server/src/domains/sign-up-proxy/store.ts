import type { Selectable } from 'kysely';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { AuthorityVersions } from '../../storage/authority.ts';
import { unnamed } from '../../storage/statement.ts';
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

const configById = unnamed((db, { id }: { readonly id: string }) =>
  db.selectFrom('auth_proxy_config').selectAll().where('id', '=', id),
);

/** Configurations of the sign-up proxy, at most one for each parent organization. */
export class SignUpProxyReader extends Reader {
  /** By its id alone, which is all that a caller of the proxy knows. */
  async byId(configId: string): Promise<SignUpProxyConfig | undefined> {
    const [row] = await configById(this.db, { id: configId });
    return row && toConfig(row);
  }

  async ofOrganization(organizationId: OrganizationId): Promise<SignUpProxyConfig | undefined> {
    const row = await this.db
      .selectFrom('auth_proxy_config')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .executeTakeFirst();
    return row && toConfig(row);
  }
}

export class SignUpProxyStore extends SignUpProxyReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  async insert(config: SignUpProxyConfig): Promise<void> {
    await this.#authority.alters(config.organizationId, 'facts');
    await this.db
      .insertInto('auth_proxy_config')
      .values({ organization_id: config.organizationId, id: config.id, ...columnsOf(config) })
      .execute();
  }

  async update(config: SignUpProxyConfig): Promise<void> {
    await this.#authority.alters(config.organizationId, 'facts');
    await this.db
      .updateTable('auth_proxy_config')
      .set(columnsOf(config))
      .where('organization_id', '=', config.organizationId)
      .where('id', '=', config.id)
      .execute();
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
