import type { Selectable } from 'kysely';
import type { SessionProfile } from '../../../core/model.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, SessionProfileId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import type { SessionProfileTable } from '../tables.ts';

const toProfile = (row: Selectable<SessionProfileTable>): SessionProfile => ({
  id: row.id as SessionProfileId,
  name: row.name,
  scope: row.scope,
  expirationSeconds: row.expiration_seconds ?? undefined,
  notes: row.notes,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertProfiles = insertion('session-profile-insert', 'session_profile', [
  'organization_id',
  'id',
  'name',
  'scope',
  'expiration_seconds',
  'notes',
  'created_at_ms',
  'updated_at_ms',
]);

/** Profiles never change, and belong to a parent organization. */
export class SessionProfileReader extends Reader {
  async find(rootId: OrganizationId, profileId: string): Promise<SessionProfile | undefined> {
    const row = await findRow(this.db, 'session_profile', rootId, profileId);
    return row === undefined ? undefined : toProfile(row);
  }

  async get(rootId: OrganizationId, profileId: string): Promise<SessionProfile> {
    const profile = await this.find(rootId, profileId);
    if (profile === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'session profile not found');
    return profile;
  }

  async page(rootId: OrganizationId, request: PageRequest): Promise<Page<SessionProfile>> {
    return await pageOfRows(this.db, 'session_profile', rootId, request, (rows) => rows.map(toProfile), {
      large: ['name', 'scope', 'notes'],
    });
  }
}

export class SessionProfileStore extends SessionProfileReader {
  static readonly writes = true;

  async insert(organizationId: OrganizationId, profile: SessionProfile): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: profile.id,
      name: profile.name,
      scope: profile.scope,
      expiration_seconds: profile.expirationSeconds ?? null,
      notes: profile.notes,
      created_at_ms: profile.createdAtMs,
      updated_at_ms: profile.updatedAtMs,
    };
    await insertProfiles(this.db, [row]);
  }
}
