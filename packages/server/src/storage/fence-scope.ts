import { type RawBuilder, sql } from 'kysely';

/**
 * Adds to a condition that an organization, or its parent, was accepted for a restore, so that those who are held take no places of
 * others. It only chooses: whoever does the work asks the fence, which knows verified rows alone.
 */
export const inScope = (organizationId: RawBuilder<unknown>, scope: unknown): RawBuilder<unknown> => sql`AND EXISTS (
  SELECT /* partial organization: whom the fence is asked about */ 1 FROM organization AS fenced
  LEFT JOIN organization AS above ON above.id = fenced.parent_id
  WHERE fenced.id = ${organizationId}
    AND (fenced.accepted_restoration = ${scope} OR above.accepted_restoration = ${scope}))`;
