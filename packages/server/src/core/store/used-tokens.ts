import type { OrganizationId } from '../../lib/ids.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { sweepExpired } from '../../storage/sweep.ts';

const EXPIRING = { table: 'used_token', key: 'token_id', expiry: 'expires_at_ms' } as const;

const insertUses = insertion(
  'used-token-insert',
  'used_token',
  ['organization_id', 'token_id', 'purpose', 'activity_id', 'expires_at_ms'],
  (query) => query.onConflict((conflict) => conflict.columns(['organization_id', 'token_id', 'purpose']).doNothing()),
);

/** What tokens were used for. */
export class UsedTokenReader extends Reader {
  async isUsed(organizationId: OrganizationId, tokenId: string, purpose: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('used_token')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('token_id', '=', tokenId)
      .where('purpose', '=', purpose)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Whether a token was used, for whatever purpose. */
  async isUsedAtAll(organizationId: OrganizationId, tokenId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('used_token')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('token_id', '=', tokenId)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }
}

export class UsedTokenStore extends UsedTokenReader {
  static readonly writes = true;

  /** Notes what a token was used for; false if it was used for that before. */
  async useToken(
    organizationId: OrganizationId,
    token: {
      readonly tokenId: string;
      readonly purpose: string;
      readonly activityId: string;
      readonly expiresAtMs: number;
    },
    nowMs: number,
  ): Promise<boolean> {
    await sweepExpired(this.db, this.kind, EXPIRING, organizationId, nowMs);
    const row = {
      organization_id: organizationId,
      token_id: token.tokenId,
      purpose: token.purpose,
      activity_id: token.activityId,
      expires_at_ms: token.expiresAtMs,
    };
    return (await insertUses(this.db, [row])) === 1;
  }
}
