import { type Selectable, sql } from 'kysely';
import type { Curve } from '../../../core/model.ts';
import { chunks, groupBy } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, PrivateKeyId, TagId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { addressKey } from '../../../storage/address-key.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amend, amendOne } from '../../../storage/integrity/amend.ts';
import { asRow, type Owned, readOwned } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion, replacement } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { PrivateKey } from '../model.ts';
import type { PrivateKeyAddressTable, PrivateKeyTable, PrivateKeyTagTable } from '../tables.ts';
import { exportedUnlessBefore } from './wallets.ts';

const insertKeys = insertion('private-key-insert', 'private_key', [
  'organization_id',
  'id',
  'name',
  'curve',
  'public_key',
  'sealed_key',
  'exported',
  'imported',
  'owned_digest',
  'created_at_ms',
  'updated_at_ms',
]);
const insertAddresses = insertion('private-key-address-insert', 'private_key_address', [
  'organization_id',
  'private_key_id',
  'address_format',
  'position',
  'address',
  'address_key',
]);
const KEY_TAG = ['organization_id', 'private_key_id', 'tag_id'] as const;
const putTags = replacement('private-key-tag-put', 'private_key_tag', KEY_TAG, KEY_TAG);

export const privateKeyNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'private key not found in this organization');

/** A private key with all that belongs to it. */
interface KeyRows {
  readonly row: Selectable<PrivateKeyTable>;
  readonly addresses: readonly Selectable<PrivateKeyAddressTable>[];
  readonly tags: readonly Selectable<PrivateKeyTagTable>[];
}

const ownedIn = ({ row, addresses, tags }: KeyRows): Owned => ({
  owner: asRow(row),
  has: { private_key_address: addresses.map(asRow), private_key_tag: tags.map(asRow) },
  isAll: true,
});

const toKey = ({ row, addresses, tags }: KeyRows): PrivateKey => ({
  id: row.id as PrivateKeyId,
  name: row.name,
  curve: row.curve as Curve,
  publicKey: row.public_key,
  sealedKey: row.sealed_key,
  addresses: addresses.map(({ address_format, address }) => ({ format: address_format, address })),
  tagIds: tags.map((tag) => tag.tag_id as TagId),
  exported: row.exported === 1,
  imported: row.imported === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

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
      const read = async (): Promise<KeyRows[]> => {
        const rows = await this.db
          .selectFrom('private_key')
          .selectAll()
          .where('organization_id', '=', organizationId)
          .where('id', 'in', ids)
          .orderBy('id')
          .execute();
        return await this.#complete(organizationId, rows);
      };
      keys.push(...(await readOwned(this.db, read, (found) => found.map(ownedIn))).map(toKey));
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
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('address_key', '=', addressKey(address))
      .orderBy('private_key_id')
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? undefined : await this.find(organizationId, row.private_key_id);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<PrivateKey>> {
    return await pageOfRows(this.db, 'private_key', organizationId, request, async (rows) =>
      (await this.#complete(organizationId, rows)).map(toKey),
    );
  }

  async #complete(organizationId: OrganizationId, rows: readonly Selectable<PrivateKeyTable>[]): Promise<KeyRows[]> {
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
    return rows.map((row) => ({ row, addresses: addressesOf.get(row.id) ?? [], tags: tagsOf.get(row.id) ?? [] }));
  }

  async hasUnexported(organizationId: OrganizationId): Promise<boolean> {
    const row = await this.db
      .selectFrom('private_key')
      .modifyFront(
        partial(
          'whether a key is there: it keeps a deletion from being a mistake, and whoever writes rows can delete them',
        ),
      )
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
      .modifyFront(partial('keys of tags that are being deleted with them'))
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
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insert(organizationId: OrganizationId, keys: readonly PrivateKey[]): Promise<void> {
    for (const { id } of keys) this.#owned.bears('private_key', organizationId, id);
    const addresses = keys.flatMap((key) =>
      key.addresses.map(({ format, address }, position) => ({
        organization_id: organizationId,
        private_key_id: key.id,
        address_format: format,
        position,
        address,
        address_key: addressKey(address),
      })),
    );
    await insertAddresses(this.db, addresses);
    await this.#tagEach(
      organizationId,
      keys.flatMap(({ id, tagIds }) => tagIds.map((tagId) => ({ keyId: id, tagId }))),
    );
    await insertKeys(
      this.db,
      keys.map((key) => ({
        organization_id: organizationId,
        id: key.id,
        name: key.name,
        curve: key.curve,
        public_key: key.publicKey,
        sealed_key: key.sealedKey,
        exported: key.exported ? 1 : 0,
        imported: key.imported ? 1 : 0,
        owned_digest: this.#owned.take('private_key', organizationId, key.id),
        created_at_ms: key.createdAtMs,
        updated_at_ms: key.updatedAtMs,
      })),
    );
  }

  async tag(organizationId: OrganizationId, keyIds: readonly string[], tagId: string): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    await this.#open(organizationId, keyIds);
    await this.#tagEach(
      organizationId,
      keyIds.map((keyId) => ({ keyId, tagId })),
    );
  }

  async #tagEach(
    organizationId: OrganizationId,
    pairs: readonly { readonly keyId: string; readonly tagId: string }[],
  ): Promise<void> {
    // One statement puts a row once.
    const distinct = new Map(pairs.map((pair) => [`${pair.keyId} ${pair.tagId}`, pair]));
    const rows = [...distinct.values()].map(({ keyId, tagId }) => ({
      organization_id: organizationId,
      private_key_id: keyId,
      tag_id: tagId,
    }));
    await putTags(this.db, rows);
  }

  async untag(organizationId: OrganizationId, tagIds: readonly string[], keyIds?: readonly string[]): Promise<void> {
    if (tagIds.length === 0 || keyIds?.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    const untagged = keyIds ?? (await this.keysWithTags(organizationId, tagIds));
    await this.#open(organizationId, untagged);
    for (const keyId of untagged) this.#owned.remove('private_key_tag', [organizationId, keyId], tagIds);
    let query = this.db
      .deleteFrom('private_key_tag')
      .where('organization_id', '=', organizationId)
      .where('tag_id', 'in', [...tagIds]);
    if (keyIds !== undefined) query = query.where('private_key_id', 'in', [...keyIds]);
    await query.execute();
  }

  async #open(organizationId: OrganizationId, keyIds: readonly string[]): Promise<void> {
    const keys = keyIds.map((keyId) => [organizationId, keyId]);
    await this.#owned.openEach('private_key_tag', keys);
  }

  async markExported(organizationId: OrganizationId, privateKeyId: string, nowMs: number): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    const key = { organization_id: organizationId, id: privateKeyId };
    const marked = await amendOne(this.db, 'private_key', key, () => ({ exported: 1, updated_at_ms: nowMs }));
    if (marked === undefined) throw privateKeyNotFound();
  }

  /** The same of many, those that are still there. */
  async markAllExported(
    organizationId: OrganizationId,
    privateKeyIds: readonly string[],
    nowMs: number,
  ): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    for (const ids of chunks(privateKeyIds)) {
      const condition = sql`organization_id = ${organizationId} AND id IN (${sql.join(ids)})`;
      await amend(this.db, 'private_key', condition, exportedUnlessBefore(nowMs));
    }
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
