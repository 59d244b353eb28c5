import type { Selectable } from 'kysely';
import type { Curve } from '../../../core/model.ts';
import { chunks, groupBy } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, PrivateKeyId, TagId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { addressKey } from '../../../storage/address-key.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { PrivateKey } from '../model.ts';
import type { PrivateKeyAddressTable, PrivateKeyTable, PrivateKeyTagTable } from '../tables.ts';

export const privateKeyNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'private key not found in this organization');

export class PrivateKeyReader extends Reader {
  async find(organizationId: OrganizationId, privateKeyId: string): Promise<PrivateKey | undefined> {
    const [key] = await this.many(organizationId, [privateKeyId]);
    return key;
  }

  async get(organizationId: OrganizationId, privateKeyId: string): Promise<PrivateKey> {
    const key = await this.find(organizationId, privateKeyId);
    if (key === undefined) throw privateKeyNotFound();
    return key;
  }

  async many(organizationId: OrganizationId, privateKeyIds: readonly string[]): Promise<PrivateKey[]> {
    const keys: PrivateKey[] = [];
    for (const ids of chunks(privateKeyIds)) {
      const rows = await this.db
        .selectFrom('private_key')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('id', 'in', ids)
        .orderBy('id')
        .execute();
      keys.push(...(await this.#complete(organizationId, rows)));
    }
    return keys;
  }

  /** What private keys are called, of those ids that are keys of the organization. */
  async namesOf(organizationId: OrganizationId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await namesOfRows(this.db, 'private_key', organizationId, ids);
  }

  async byAddress(organizationId: OrganizationId, address: string): Promise<PrivateKey | undefined> {
    const row = await this.db
      .selectFrom('private_key_address')
      .select('private_key_id')
      .where('organization_id', '=', organizationId)
      .where('address_key', '=', addressKey(address))
      .orderBy('private_key_id')
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? undefined : await this.find(organizationId, row.private_key_id);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<PrivateKey>> {
    return await pageOfRows(this.db, 'private_key', organizationId, request, (rows) =>
      this.#complete(organizationId, rows),
    );
  }

  async #complete(organizationId: OrganizationId, rows: readonly Selectable<PrivateKeyTable>[]): Promise<PrivateKey[]> {
    const addresses: Selectable<PrivateKeyAddressTable>[] = [];
    const tags: Selectable<PrivateKeyTagTable>[] = [];
    for (const ids of chunks(rows.map((row) => row.id))) {
      const [someAddresses, someTags] = await Promise.all([
        this.db
          .selectFrom('private_key_address')
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('private_key_id', 'in', ids)
          .orderBy('private_key_id')
          .orderBy('position')
          .execute(),
        this.db
          .selectFrom('private_key_tag')
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('private_key_id', 'in', ids)
          .orderBy('private_key_id')
          .orderBy('tag_id')
          .execute(),
      ]);
      addresses.push(...someAddresses);
      tags.push(...someTags);
    }
    const addressesOf = groupBy(addresses, (row) => row.private_key_id);
    const tagsOf = groupBy(tags, (row) => row.private_key_id);
    return rows.map((row) => ({
      id: row.id as PrivateKeyId,
      name: row.name,
      curve: row.curve as Curve,
      publicKey: row.public_key,
      sealedKey: row.sealed_key,
      addresses: (addressesOf.get(row.id) ?? []).map(({ address_format, address }) => ({
        format: address_format,
        address,
      })),
      tagIds: (tagsOf.get(row.id) ?? []).map((tag) => tag.tag_id as TagId),
      exported: row.exported === 1,
      imported: row.imported === 1,
      createdAtMs: row.created_at_ms,
      updatedAtMs: row.updated_at_ms,
    }));
  }

  async hasUnexported(organizationId: OrganizationId): Promise<boolean> {
    const row = await this.db
      .selectFrom('private_key')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('exported', '=', 0)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async keysWithTags(organizationId: OrganizationId, tagIds: readonly string[]): Promise<PrivateKeyId[]> {
    if (tagIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('private_key_tag')
      .select('private_key_id')
      .distinct()
      .where('organization_id', '=', organizationId)
      .where('tag_id', 'in', [...tagIds])
      .orderBy('private_key_id')
      .execute();
    return rows.map((row) => row.private_key_id as PrivateKeyId);
  }
}

export class PrivateKeyStore extends PrivateKeyReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  async insert(organizationId: OrganizationId, keys: readonly PrivateKey[]): Promise<void> {
    for (const some of chunks(keys)) {
      await this.db
        .insertInto('private_key')
        .values(
          some.map((key) => ({
            organization_id: organizationId,
            id: key.id,
            name: key.name,
            curve: key.curve,
            public_key: key.publicKey,
            sealed_key: key.sealedKey,
            exported: key.exported ? 1 : 0,
            imported: key.imported ? 1 : 0,
            created_at_ms: key.createdAtMs,
            updated_at_ms: key.updatedAtMs,
          })),
        )
        .execute();
    }
    const addresses = keys.flatMap((key) =>
      key.addresses.map((address, position) => ({ keyId: key.id, position, ...address })),
    );
    for (const some of chunks(addresses)) {
      await this.db
        .insertInto('private_key_address')
        .values(
          some.map(({ keyId, position, format, address }) => ({
            organization_id: organizationId,
            private_key_id: keyId,
            address_format: format,
            position,
            address,
            address_key: addressKey(address),
          })),
        )
        .execute();
    }
    await this.#tagEach(
      organizationId,
      keys.flatMap(({ id, tagIds }) => tagIds.map((tagId) => ({ keyId: id, tagId }))),
    );
  }

  async tag(organizationId: OrganizationId, keyIds: readonly string[], tagId: string): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    await this.#tagEach(
      organizationId,
      keyIds.map((keyId) => ({ keyId, tagId })),
    );
  }

  async #tagEach(
    organizationId: OrganizationId,
    pairs: readonly { readonly keyId: string; readonly tagId: string }[],
  ): Promise<void> {
    for (const some of chunks(pairs)) {
      await this.db
        .insertInto('private_key_tag')
        .values(
          some.map(({ keyId, tagId }) => ({ organization_id: organizationId, private_key_id: keyId, tag_id: tagId })),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }

  async untag(organizationId: OrganizationId, tagIds: readonly string[], keyIds?: readonly string[]): Promise<void> {
    if (tagIds.length === 0 || keyIds?.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    let query = this.db
      .deleteFrom('private_key_tag')
      .where('organization_id', '=', organizationId)
      .where('tag_id', 'in', [...tagIds]);
    if (keyIds !== undefined) query = query.where('private_key_id', 'in', [...keyIds]);
    await query.execute();
  }

  async markExported(organizationId: OrganizationId, privateKeyId: string, nowMs: number): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    const marked = await this.db
      .updateTable('private_key')
      .set({ exported: 1, updated_at_ms: nowMs })
      .where('organization_id', '=', organizationId)
      .where('id', '=', privateKeyId)
      .executeTakeFirst();
    if (marked.numUpdatedRows === 0n) throw privateKeyNotFound();
  }

  async delete(organizationId: OrganizationId, privateKeyIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...privateKeyIds];
    for (const table of ['private_key_address', 'private_key_tag'] as const) {
      await this.db
        .deleteFrom(table)
        .where('organization_id', '=', organizationId)
        .where('private_key_id', 'in', ids)
        .execute();
    }
    await this.db
      .deleteFrom('private_key')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute();
    await bury(this.db, organizationId, ids);
  }
}
