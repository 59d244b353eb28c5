import { sql } from 'kysely';
import { looksOf, startOf } from '../../describe/values.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { Reader } from '../../storage/store.ts';

/** Addresses that begin alike are few; more are not compared. */
const COMPARED_MAX = 100;

interface Found {
  readonly address: string;
  readonly address_key: string;
  readonly name: string;
}

/** Own addresses that look like another one: the same at both ends. */
export class LookAlikes extends Reader {
  async find(
    organizationId: OrganizationId,
    address: string,
  ): Promise<{ readonly address: string; readonly name: string } | undefined> {
    const looks = looksOf(address);
    if (looks === undefined) return undefined;
    const start = startOf(address);
    // Every continuation of the start sorts between it and it with the last character of all.
    const { rows } = await sql<Found>`
      SELECT /* partial: a warning */ a.address, a.address_key, COALESCE(a.name, w.name) AS name FROM wallet_account a
        JOIN wallet w ON w.organization_id = a.organization_id AND w.id = a.wallet_id
        WHERE a.organization_id = ${organizationId} AND a.address_key >= ${start} AND a.address_key < ${`${start}\u{7f}`}
      UNION ALL
      SELECT d.address, d.address_key, k.name FROM private_key_address d
        JOIN private_key k ON k.organization_id = d.organization_id AND k.id = d.private_key_id
        WHERE d.organization_id = ${organizationId} AND d.address_key >= ${start} AND d.address_key < ${`${start}\u{7f}`}
      LIMIT ${COMPARED_MAX}`.execute(this.db);
    const alike = rows.find((row) => row.address_key !== address && looksOf(row.address_key) === looks);
    return alike === undefined ? undefined : { address: alike.address, name: alike.name };
  }
}
