import { type RawBuilder, sql } from 'kysely';
import type { OrganizationId } from '../../lib/ids.ts';
import { partial } from '../../storage/integrity/partial.ts';
import type { Schema } from '../../storage/schema.ts';
import { Reader } from '../../storage/store.ts';
import { hasText, idsBeginWith, oldestSearched, PREFIX_MIN, valuesBeginWith } from '../../storage/text-match.ts';

export const MATCH_KINDS = [
  'USER',
  'WALLET',
  'WALLET_ACCOUNT',
  'PRIVATE_KEY',
  'POLICY',
  'TAG',
  'WEBHOOK_ENDPOINT',
  'ACTIVITY',
  'SEND',
  'SUB_ORGANIZATION',
] as const;
export type MatchKind = (typeof MATCH_KINDS)[number];

export interface Match {
  readonly kind: MatchKind;
  readonly id: string;
  readonly name: string;
  readonly detail?: string;
  /** What it is a part of: the wallet of an account, the activity of a send. */
  readonly parentId?: string;
  /** 0: it was named exactly, or by its beginning; 1: its name begins with the text; 2: it has the text. */
  readonly rank: 0 | 1 | 2;
}

interface MatchRow {
  readonly id: string;
  readonly name: string;
  readonly detail: string | null;
  readonly parent_id: string | null;
  readonly rank: number | string;
}

/** Where matches of a kind are kept, and as what they are shown. */
interface Source {
  readonly kind: MatchKind;
  readonly table: keyof Schema;
  readonly name: RawBuilder<unknown>;
  readonly detail?: RawBuilder<unknown>;
  readonly parent?: RawBuilder<unknown>;
  /** Columns that the text is looked for in; none where only ids are compared. */
  readonly texts: readonly string[];
}

const SOURCES: readonly Source[] = [
  { kind: 'USER', table: 'app_user', name: sql`name`, detail: sql`email`, texts: ['name', 'email'] },
  { kind: 'WALLET', table: 'wallet', name: sql`name`, texts: ['name'] },
  {
    kind: 'WALLET_ACCOUNT',
    table: 'wallet_account',
    name: sql`COALESCE(name, address)`,
    detail: sql`address`,
    parent: sql`wallet_id`,
    texts: ['name'],
  },
  { kind: 'PRIVATE_KEY', table: 'private_key', name: sql`name`, texts: ['name'] },
  { kind: 'POLICY', table: 'policy', name: sql`name`, detail: sql`effect`, texts: ['name'] },
  { kind: 'TAG', table: 'tag', name: sql`name`, detail: sql`type`, texts: ['name'] },
  {
    kind: 'WEBHOOK_ENDPOINT',
    table: 'webhook_endpoint',
    name: sql`name`,
    detail: sql`url`,
    texts: ['name', 'url'],
  },
  { kind: 'ACTIVITY', table: 'activity', name: sql`type`, detail: sql`status`, texts: [] },
  {
    kind: 'SEND',
    table: 'chain_send',
    name: sql`COALESCE(tx_hash, id)`,
    detail: sql`state`,
    parent: sql`activity_id`,
    texts: [],
  },
];

const toMatch =
  (kind: MatchKind) =>
  ({ id, name, detail, parent_id, rank }: MatchRow): Match => ({
    kind,
    id,
    name,
    rank: Number(rank) as Match['rank'],
    ...(detail !== null && { detail }),
    ...(parent_id !== null && { parentId: parent_id }),
  });

/** Whoever acts on a match names it by its id. */
const FOUND = partial('what something is found by and called');

const columnsOf = ({ name, detail = sql`NULL`, parent = sql`NULL` }: Source, rank: RawBuilder<unknown>) =>
  sql`${FOUND} id, ${name} AS name, ${detail} AS detail, ${parent} AS parent_id, ${rank} AS rank`;

/** Addresses and hashes of EVM chains are kept in lower case; those of others are compared as they are. */
const foldedHex = (text: string): string => (/^0x[0-9a-fA-F]*$/.test(text) ? text.toLowerCase() : text);

/** Hashes are those of all organizations: a shorter beginning would be that of many. */
const HASH_PREFIX_MIN = 10;

/** Finds what an organization has by ids, addresses, hashes and names. Each question reads a bounded number of rows. */
export class SearchReader extends Reader {
  async find(
    organizationId: OrganizationId,
    text: string,
    limit: number,
    chains: readonly string[],
  ): Promise<{ readonly matches: readonly Match[]; readonly isPartial: boolean }> {
    const matches = [
      ...(await this.#byId(organizationId, text, limit)),
      ...(await this.#byAddress(organizationId, text, limit)),
      ...(await this.#byHash(organizationId, text, limit, chains)),
    ];
    let isPartial = false;
    for (const source of SOURCES) {
      if (source.texts.length === 0) continue;
      const found = await this.#byText(organizationId, source, text, limit);
      matches.push(...found.matches);
      isPartial ||= found.isPartial;
    }
    return { matches, isPartial };
  }

  async #byId(organizationId: OrganizationId, text: string, limit: number): Promise<Match[]> {
    const isId = idsBeginWith('id', text);
    if (isId === undefined) return [];
    const matches: Match[] = [];
    for (const source of SOURCES) {
      const { rows } = await sql<MatchRow>`SELECT ${columnsOf(source, sql`0`)} FROM ${sql.table(source.table)}
        WHERE organization_id = ${organizationId} AND ${isId} ${shownOnly(source, organizationId)}
        ORDER BY id DESC LIMIT ${limit}`.execute(this.db);
      matches.push(...rows.map(toMatch(source.kind)));
    }
    return matches;
  }

  async #byAddress(organizationId: OrganizationId, text: string, limit: number): Promise<Match[]> {
    if (text.length < PREFIX_MIN) return [];
    const address = foldedHex(text);
    const { rows: accounts } = await sql<MatchRow>`SELECT ${FOUND} id,
        COALESCE(name, address) AS name, address AS detail,
        wallet_id AS parent_id, 0 AS rank FROM wallet_account
      WHERE organization_id = ${organizationId} AND ${valuesBeginWith('address_key', address)}
      ORDER BY address_key, id LIMIT ${limit}`.execute(this.db);
    const { rows: keys } = await sql<MatchRow>`SELECT ${FOUND} held.id,
        held.name, owned.address AS detail,
        NULL AS parent_id, 0 AS rank
      FROM (SELECT private_key_id, address FROM private_key_address
        WHERE organization_id = ${organizationId} AND ${valuesBeginWith('address_key', address)}
        ORDER BY address_key, private_key_id LIMIT ${limit}) AS owned
      JOIN private_key AS held ON held.organization_id = ${organizationId} AND held.id = owned.private_key_id`.execute(
      this.db,
    );
    return [...accounts.map(toMatch('WALLET_ACCOUNT')), ...keys.map(toMatch('PRIVATE_KEY'))];
  }

  async #byHash(
    organizationId: OrganizationId,
    text: string,
    limit: number,
    chains: readonly string[],
  ): Promise<Match[]> {
    if (text.length < HASH_PREFIX_MIN || chains.length === 0) return [];
    const { rows } =
      await sql<MatchRow>`SELECT ${FOUND} id, tx_hash AS name, state AS detail, activity_id AS parent_id, 0 AS rank
      FROM chain_send WHERE caip2 IN (${sql.join(chains)}) AND ${valuesBeginWith('tx_hash', foldedHex(text))}
        AND organization_id || '' = ${organizationId} ${ofLiving(organizationId)}
      ORDER BY id DESC LIMIT ${limit}`.execute(this.db);
    return rows.map(toMatch('SEND'));
  }

  async #byText(
    organizationId: OrganizationId,
    source: Source,
    text: string,
    limit: number,
  ): Promise<{ readonly matches: Match[]; readonly isPartial: boolean }> {
    const oldest = await oldestSearched(this.db, source.table, organizationId);
    const begins = sql`CASE WHEN ${hasText(this.kind, ['name'], text, 'beginning')} THEN 1 ELSE 2 END`;
    const { rows } = await sql<MatchRow>`SELECT ${columnsOf(source, begins)} FROM ${sql.table(source.table)}
      WHERE organization_id = ${organizationId} AND ${hasText(this.kind, source.texts, text)}
        ${oldest === undefined ? sql`` : sql`AND id >= ${oldest}`}
      ORDER BY rank, id DESC LIMIT ${limit}`.execute(this.db);
    return { matches: rows.map(toMatch(source.kind)), isPartial: oldest !== undefined };
  }
}

/** Sends of an erased organization are kept for their lanes, and shown to nobody. */
const ofLiving = (organizationId: OrganizationId): RawBuilder<unknown> =>
  sql`AND NOT EXISTS (SELECT /* partial organization: whether it was erased */ 1 FROM organization
    WHERE organization.id = ${organizationId} AND organization.deleted_at_ms IS NOT NULL)`;

const shownOnly = ({ table }: Source, organizationId: OrganizationId): RawBuilder<unknown> =>
  table === 'chain_send' ? ofLiving(organizationId) : sql``;
