import type { Selectable } from 'kysely';
import type { OrganizationId, SecretId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { pageOfRows } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { bury } from '../../storage/tombstones.ts';
import type { KeyValue, Secret } from './model.ts';
import type { SecretTable } from './tables.ts';

const toSecret = (row: Selectable<SecretTable>): Secret => ({
  id: row.id as SecretId,
  name: row.name ?? undefined,
  sealedSecret: row.sealed_secret,
  staticProperties: JSON.parse(row.static_properties) as KeyValue[],
  createdAtMs: row.created_at_ms,
});

const insertSecrets = insertion('secret-insert', 'secret', [
  'organization_id',
  'id',
  'name',
  'sealed_secret',
  'static_properties',
  'created_at_ms',
]);

export class SecretReader extends Reader {
  async find(organizationId: OrganizationId, secretIds: readonly string[]): Promise<Secret[]> {
    if (secretIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('secret')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...secretIds])
      .execute();
    return rows.map(toSecret);
  }

  /** Newest first. */
  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<Secret>> {
    const toItems = (rows: Selectable<SecretTable>[]): Secret[] => rows.map(toSecret);
    return await pageOfRows(this.db, 'secret', organizationId, request, toItems, {
      order: 'desc',
      large: ['name', 'sealed_secret', 'static_properties'],
    });
  }
}

export class SecretStore extends SecretReader {
  static readonly writes = true;

  async insert(organizationId: OrganizationId, secret: Secret): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: secret.id,
      name: secret.name ?? null,
      sealed_secret: secret.sealedSecret,
      static_properties: JSON.stringify(secret.staticProperties),
      created_at_ms: secret.createdAtMs,
    };
    await insertSecrets(this.db, [row]);
  }

  async delete(organizationId: OrganizationId, secretIds: readonly string[]): Promise<void> {
    const ids = [...secretIds];
    await this.db.deleteFrom('secret').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
    await bury(this.db, organizationId, ids);
  }
}
