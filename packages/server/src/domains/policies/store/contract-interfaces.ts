import { type Selectable, sql } from 'kysely';
import type { ContractInterface, ContractInterfaceType } from '../../../core/model.ts';
import { chunks } from '../../../lib/collections.ts';
import { sha256Hex } from '../../../lib/encoding.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { ContractInterfaceId, OrganizationId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { someOfOrganization } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { listed } from '../../../storage/integrity/set-statements.ts';
import { placeAt } from '../../../storage/integrity/sets.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion, quickStatement } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { ContractInterfaceTable } from '../tables.ts';

const toInterface = (row: Selectable<ContractInterfaceTable>): ContractInterface => ({
  id: row.id as ContractInterfaceId,
  type: row.type as ContractInterfaceType,
  address: row.address,
  definition: row.definition,
  label: row.label,
  notes: row.notes,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

interface ContractInterfaceDigest {
  readonly id: string;
  readonly address: string;
  readonly digest: string;
}

/** Ethereum addresses are the same in any case, Solana's are not. */
const addressKey = (type: ContractInterfaceType, address: string): string =>
  type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' ? address.toLowerCase() : address;

const notFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'smart contract interface not found in this organization');

const insertInterfaces = insertion('contract-interface-insert', 'contract_interface', [
  'organization_id',
  'id',
  'type',
  'address',
  'address_key',
  'definition',
  'label',
  'notes',
  'created_at_ms',
  'updated_at_ms',
]);

const byAddresses = quickStatement(
  undefined,
  (
    db,
    { organizationId, type, keys }: { readonly organizationId: string; readonly type: string; readonly keys: string },
  ) => sql<Selectable<ContractInterfaceTable>>`SELECT * FROM contract_interface
    WHERE organization_id = ${organizationId} AND type = ${type} AND address_key IN (${listed(db, keys)})`,
);

const LARGE = ['definition', 'label', 'notes'] as const;

export class ContractInterfaceReader extends Reader {
  async get(organizationId: OrganizationId, id: string): Promise<ContractInterface> {
    const row = await findRow(this.db, 'contract_interface', organizationId, id);
    if (row === undefined) throw notFound();
    return toInterface(row);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<ContractInterface>> {
    return await pageOfRows(this.db, 'contract_interface', organizationId, request, (rows) => rows.map(toInterface), {
      large: LARGE,
    });
  }

  /** Where they are and their digests; of a batch of definitions only these are kept. */
  async digests(organizationId: OrganizationId, request: PageRequest): Promise<Page<ContractInterfaceDigest>> {
    const toItems = (rows: Selectable<ContractInterfaceTable>[]): ContractInterfaceDigest[] =>
      rows.map((row) => ({ id: row.id, address: row.address, digest: sha256Hex(row.definition) }));
    return await pageOfRows(this.db, 'contract_interface', organizationId, request, toItems, {
      large: LARGE,
      isUnbounded: true,
    });
  }

  /** Characters in all of them. */
  async length(organizationId: OrganizationId): Promise<number> {
    const { rows } = await sql<{ length: number | null }>`
      SELECT /* partial: a size, which a limit is compared with */ CAST(SUM(LENGTH(definition)) AS bigint) AS length FROM contract_interface
      WHERE organization_id = ${organizationId}`.execute(this.db);
    return Number(rows[0]?.length ?? 0);
  }

  /** What the contracts at these addresses are called, by address as look-ups compare it. */
  async labels(
    organizationId: OrganizationId,
    type: ContractInterfaceType,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const keys of chunks([...new Set(addresses.map((address) => addressKey(type, address)))])) {
      const rows = await this.db
        .selectFrom('contract_interface')
        .modifyFront(partial('names to be shown'))
        .select(['address_key', 'label'])
        .where('organization_id', '=', organizationId)
        .where('type', '=', type)
        .where('address_key', 'in', keys)
        .execute();
      for (const row of rows) found.set(row.address_key, row.label);
    }
    return found;
  }

  /** Those of the given contracts that were uploaded. */
  async ofAddresses(
    organizationId: OrganizationId,
    type: ContractInterfaceType,
    addresses: readonly string[],
  ): Promise<ContractInterface[]> {
    if (addresses.length === 0) return [];
    const keys = [...new Set(addresses.map((address) => addressKey(type, address)))];
    const rows = await someOfOrganization(
      this.db,
      'contract_interface',
      organizationId,
      keys.map((key) => [type, key]),
      () => byAddresses(this.db, { organizationId, type, keys: JSON.stringify(keys) }),
    );
    return rows.map(toInterface);
  }
}

export class ContractInterfaceStore extends ContractInterfaceReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insert(organizationId: OrganizationId, contract: ContractInterface): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('contract_interface', organizationId);
    const row = {
      organization_id: organizationId,
      id: contract.id,
      type: contract.type,
      address: contract.address,
      address_key: addressKey(contract.type, contract.address),
      definition: contract.definition,
      label: contract.label,
      notes: contract.notes,
      created_at_ms: contract.createdAtMs,
      updated_at_ms: contract.updatedAtMs,
    };
    await insertInterfaces(this.db, [row]);
  }

  async delete(organizationId: OrganizationId, id: string): Promise<void> {
    await this.#authority.alters(organizationId, 'rules');
    await this.#owned.open('contract_interface', organizationId);
    const row = await findRow(this.db, 'contract_interface', organizationId, id);
    if (row === undefined) throw notFound();
    this.#owned.remove('contract_interface', [organizationId], [placeAt([row.type, row.address_key])]);
    await this.db
      .deleteFrom('contract_interface')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .execute();
    await bury(this.db, organizationId, [id]);
  }
}
